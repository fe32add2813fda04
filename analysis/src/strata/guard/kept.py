# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots that a guard keeps: sessions in one directory, bounded in rate, number and size.

DIR/20261128T035150Z_chain-max/trace/ manifest.json announced.json incident.json
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from strata.guard.trim import trim
from strata.guard.watch import Occurrence
from strata.live.known_names import KnownNames
from strata.read.announced import ANNOUNCED, announced_text
from strata.read.incident import INCIDENT
from strata.record.directory import MANIFEST, TRACE, write_text
from strata.record.former import written_files
from strata.record.kept_names import bytes_below

VERDICT = "verdict.txt"
SCHEMA = 1
_NO_WORD = re.compile(r"[^a-z0-9]+")
_LONGEST = 40
_OWN_NAME = re.compile(r"\d{8}T\d{6}Z_[a-z0-9-]+(_\d+)?")


@dataclass(frozen=True)
class Bounds:
    """At most one snapshot in `every_ns`; at most `keep` of them, and `max_size` bytes, on disk."""

    every_ns: int
    keep: int
    max_size: int


class KeptSnapshots:
    """The snapshots in a directory, those of former guards included."""

    def __init__(self, directory: Path, bounds: Bounds) -> None:
        self._directory, self._bounds = directory, bounds
        # By a clock that nobody sets; null before one was kept.
        self._kept_ns: int | None = None

    def places(self) -> list[Path]:
        """Return all snapshots, the oldest first.

        Only directories that a guard has named: one that the user renamed is the user's.
        """
        found = [
            path.parent
            for path in self._directory.glob(f"*/{INCIDENT}")
            if _OWN_NAME.fullmatch(path.parent.name) and not path.parent.is_symlink()
        ]
        return sorted(found, key=lambda place: (_kept_ns(place), place.name))

    def wait_ns(self) -> int:
        """Return for how long no further snapshot is kept."""
        if self._kept_ns is not None:
            return max(0, self._bounds.every_ns - (time.monotonic_ns() - self._kept_ns))
        newest = max(map(_kept_ns, self.places()), default=None)
        # That of a former guard in the future is of before the clock was set back.
        passed_ns = -1 if newest is None else time.time_ns() - newest
        return 0 if passed_ns < 0 else max(0, self._bounds.every_ns - passed_ns)

    def kept(self) -> None:
        """Note that a snapshot was kept just now."""
        self._kept_ns = time.monotonic_ns()

    def new_place(self, at_ns: int, name: str) -> Path:
        """Return where a snapshot of a fault goes; `at_ns` is since the epoch."""
        utc = datetime.fromtimestamp(at_ns / 1e9, UTC).strftime("%Y%m%dT%H%M%SZ")
        word = _NO_WORD.sub("-", name.lower()).strip("-")[:_LONGEST] or "fault"
        first = self._directory / f"{utc}_{word}"
        place, number = first, 1
        while place.exists():
            number += 1
            place = first.with_name(f"{first.name}_{number}")
        return place

    def drop_oldest(self, newest: Path) -> tuple[list[Path], list[Path]]:
        """Remove the oldest beyond the bounds, never `newest`.

        Return what was removed, and what could not be.
        """
        places = [place for place in self.places() if place != newest]
        count = len(places) + 1
        sizes = {place: bytes_below(place) for place in places}
        size = sum(sizes.values()) + bytes_below(newest)
        dropped: list[Path] = []
        left: list[Path] = []
        for place in places:
            if count <= self._bounds.keep and size <= self._bounds.max_size:
                break
            shutil.rmtree(place, ignore_errors=True)
            (left if place.exists() else dropped).append(place)
            count, size = count - 1, size - sizes[place]
        return dropped, left


def make_session(
    place: Path,
    ring_manifest: Path,
    names: KnownNames,
    span_ns: tuple[int, int],
    incident: Mapping[str, Any],
) -> None:
    """Make a session of a snapshot whose trace is in `place`/trace: one that every verb reads.

    The trace is cut to `span_ns`, since the epoch, by whole packets. Raises OSError, TraceError,
    OutputError.
    """
    trim(place / TRACE, *span_ns)
    if names.tables:
        write_text(place / ANNOUNCED, announced_text(names.tables))
    content = json.loads(ring_manifest.read_text(encoding="utf-8"))
    content |= {
        "complete": True,
        "problems": [],
        "discarded_events": 0,
        "empty": False,
        "incident": dict(incident),
    }
    content["files"] = written_files(place, content)
    write_text(place / MANIFEST, json.dumps(content, indent=1) + "\n")
    document = {"schema": SCHEMA, **incident}
    write_text(place / INCIDENT, json.dumps(document, indent=1) + "\n")


def incident_document(
    faults: Sequence[Occurrence], span_ns: tuple[int, int], passed_over: int
) -> dict[str, Any]:
    """Return what incident.json says of faults; `span_ns` is that of the snapshot.

    `passed_over` counts the faults since the last snapshot of which none was kept.
    """
    return {
        "faults": [
            {
                "name": fault.when.name,
                "condition": str(fault.when.condition),
                "kind": fault.when.condition.subject,
                "subject": fault.subject,
                "text": fault.text,
                "at_ns": fault.at_ns,
                "cause": None,
            }
            for fault in faults
        ],
        "begin_ns": span_ns[0],
        "end_ns": span_ns[1],
        "passed_over": passed_over,
        "verdict": None,
    }


def has_verdict(place: Path) -> bool:
    """Return whether the verdict of a snapshot was written."""
    return (place / VERDICT).exists()


def _kept_ns(place: Path) -> int:
    """Return when a snapshot was kept, in ns since the epoch: its manifest is written only then."""
    try:
        return (place / MANIFEST).stat().st_mtime_ns
    except OSError:
        return 0
