# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Is a recording complete? What the manifests of its sessions say, as findings.

The keys are those of docs/recording.md: `complete`, `problems`, `stopped_early` and
`discarded_events`. A manifest without `complete` is of a version that did not say it: then the
recording is complete unless it names problems.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.printable import path_text
from strata.read.manifest import MANIFEST, ManifestError, load_manifest, session_of

_NOT_SAID = "its manifest says so, without a reason"


@dataclass(frozen=True)
class Problem:
    """What a manifest says of its recording: a code of strata.schema.findings.recording, in words.

    `text` is empty where the finding needs none.
    """

    code: str
    text: str


def sessions_of(path: Path, directories: Iterable[Path]) -> list[Path]:
    """Return the sessions whose manifests tell of the traces in `directories`, found below `path`.

    These are `path` itself or the session that it lies in, and those between it and the traces.
    """
    found = dict.fromkeys(filter(None, [session_of(path)]))
    for directory in directories:
        for place in (directory, *directory.parents):
            if place == path or path not in place.parents:
                break
            if _has_manifest(place):
                found[place] = None
    return list(found)


def _has_manifest(place: Path) -> bool:
    try:
        return (place / MANIFEST).is_file()
    except OSError:
        # What cannot be looked into is told as such by those who find the traces.
        return False


def recording_problems(path: Path, directories: Iterable[Path]) -> list[Problem]:
    """Return what the manifests of the traces found at and below `path` say of the recording."""
    sessions = sessions_of(path, directories)
    found = []
    for session in sessions:
        place = f"{path_text(session.name or session.resolve().name)}: "
        for problem in _problems(session):
            text = f"{place}{problem.text}" if len(sessions) > 1 and problem.text else problem.text
            found.append(Problem(problem.code, text))
    return found


def _problems(session: Path) -> list[Problem]:
    try:
        manifest = load_manifest(session)
        return _told(manifest)
    except FileNotFoundError:
        return []
    except ManifestError as error:
        return [Problem("damaged_manifest", f"{path_text(session / MANIFEST)}: {error}")]


def _told(manifest: dict[str, Any]) -> list[Problem]:
    """Raise ManifestError for a key of a wrong type."""
    texts = manifest.get("problems") or []
    complete = manifest.get("complete", not texts)
    stopped, discarded = manifest.get("stopped_early"), manifest.get("discarded_events", 0)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ManifestError("its `problems` is not a list of strings")
    if not isinstance(complete, bool):
        raise ManifestError("its `complete` is neither true nor false")
    if not isinstance(stopped, dict | None):
        raise ManifestError("its `stopped_early` is not an object")
    if not isinstance(discarded, int | None):
        raise ManifestError("its `discarded_events` is not a number")
    reasons = [text.strip().removesuffix(".") for text in texts if text.strip()]
    code = "recording_problems" if complete else "incomplete_recording"
    found = [Problem(code, text) for text in reasons]
    if not complete and not reasons and not stopped:
        found.append(Problem(code, _NOT_SAID))
    if stopped:
        why = str(stopped.get("text") or stopped.get("reason") or _NOT_SAID)
        why = why.strip().removesuffix(".")
        found = [problem for problem in found if problem.text != why]
        found.append(Problem("stopped_early", why))
    if discarded is None:
        found.append(Problem("discarded_unknown", ""))
    return found
