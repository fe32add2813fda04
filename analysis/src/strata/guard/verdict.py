# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict of a snapshot, in words, and its page. Run as a module: verdict SNAPSHOT_DIR."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.errors import StrataError, TraceError
from strata.guard.explain import Cause, explain
from strata.guard.judging import say
from strata.guard.kept import VERDICT
from strata.pipeline.run import analyze
from strata.read.incident import INCIDENT
from strata.record.directory import write_text

PAGE = "report.html"
_MOST_FAULTS = 5


@dataclass(frozen=True)
class Verdict:
    """The faults of a snapshot with their causes (null where it does not show one)."""

    faults: tuple[tuple[Mapping[str, Any], Cause | None], ...]
    system: str

    @property
    def text(self) -> str:
        """Say it: a line for each fault, the first ones, and one for the whole system."""
        lines = []
        for fault, cause in self.faults[:_MOST_FAULTS]:
            why = "the snapshot does not show why." if cause is None else cause.text
            lines.append(f"{fault['text']}: {why}")
        left = len(self.faults) - _MOST_FAULTS
        lines += [f"({left} more in {INCIDENT})"] if left > 0 else []
        lines += [f"In the whole snapshot: {self.system}"] if self.system else []
        return "\n".join(lines)


def judge_snapshot(place: Path) -> Verdict:
    """Return the verdict of a snapshot, from nothing but its directory. Raises TraceError."""
    incident = read_incident(place)
    analysis = analyze(place)
    faults = tuple((fault, explain(analysis, fault)) for fault in incident["faults"])
    system = analysis.system
    return Verdict(faults, system.text if system.stands_out else "")


def read_incident(place: Path) -> dict[str, Any]:
    """Return incident.json of a snapshot. Raises TraceError."""
    try:
        content = json.loads((place / INCIDENT).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _no_incident(place, str(error)) from error
    if not isinstance(content, dict) or not isinstance(content.get("faults"), list):
        raise _no_incident(place, "it has no list of faults")
    return content


def _no_incident(place: Path, why: str) -> TraceError:
    return TraceError(f"Cannot read {place / INCIDENT}: {why}. Give the directory of a snapshot.")


def write_verdict(place: Path) -> Verdict:
    """Write the verdict of a snapshot into its directory. Raises TraceError, OutputError."""
    verdict = judge_snapshot(place)
    incident = read_incident(place)
    incident["verdict"] = verdict.text
    for fault, (_, cause) in zip(incident["faults"], verdict.faults, strict=True):
        fault["cause"] = None if cause is None else cause.as_json()
    write_text(place / INCIDENT, json.dumps(incident, indent=1) + "\n")
    write_text(place / VERDICT, verdict.text + "\n")
    return verdict


def main() -> None:
    """Write verdict and page of a snapshot, and say where they are."""
    place = Path(sys.argv[1])
    try:
        verdict = write_verdict(place)
    except Exception as error:
        # The snapshot is there all the same.
        text = str(error) if isinstance(error, StrataError) else repr(error)
        say(f"kept {place}, but there is no verdict: {text}")
        # It is not tried again.
        with contextlib.suppress(StrataError):
            write_text(place / VERDICT, f"There is no verdict: {text}\n")
        sys.exit(1)
    say(f"kept {place}: {verdict.text.splitlines()[0]}")
    line = [sys.executable, "-m", "strata", "report", str(place), "-o", str(place / PAGE)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        say(f"the page of {place} was not made: {done.stderr.strip()}")


if __name__ == "__main__":
    main()
