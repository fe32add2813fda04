# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of `program_kinds.py`, and runs them as they are or within a recording."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from program_kinds import Kind

HERE = Path(__file__).parent
SOURCES = HERE / "programs"
CONFIGS = ("light", "ros2", "full")


@dataclass(frozen=True)
class Ended:
    """How a program ended: `status` as subprocess gives it, null when it had not ended in time."""

    status: int | None
    out: str


def runs_here(kind: Kind) -> bool:
    """Tell whether all that a kind needs is installed."""
    return all(shutil.which(word.format(place="", here="")) for word in kind.needs)


def build(kinds: Iterable[Kind], place: Path) -> None:
    """Build what they need into a directory; raises CalledProcessError."""
    place.chmod(0o755)
    for line in {kind.build for kind in kinds if kind.build}:
        words = _filled(line, place)
        subprocess.run(words, check=True, capture_output=True, text=True, cwd=place)


def _filled(words: Iterable[str], place: Path) -> list[str]:
    return [word.replace("{place}", str(place)).replace("{here}", str(SOURCES)) for word in words]


def mark_of(kind: Kind, kinds: list[Kind]) -> int:
    """Give what a kind's events bear."""
    return 1000 + kinds.index(kind)


def line_for_all(kinds: list[Kind], place: Path, results: Path) -> list[str]:
    """Give the command that runs them all, those that emit events also with a mark.

    The latter are `NAME+` in its results.
    """
    programs = []
    for kind in kinds:
        words = _filled(kind.command, place)
        programs.append([(kind.name, words, str(place))])
        if kind.emits is not None:
            marked = [*words, str(mark_of(kind, kinds))]
            programs[-1].append((f"{kind.name}+", marked, str(place)))
    listed = results.with_suffix(".programs.json")
    listed.write_text(json.dumps(programs))
    return [sys.executable, str(HERE / "each.py"), str(listed), str(results)]


def results_in(results: Path) -> dict[str, Ended]:
    """Read what `line_for_all` has left."""
    return {name: Ended(**one) for name, one in json.loads(results.read_text()).items()}


def events_by_mark(trace: Path) -> Counter[int]:
    """Count the events of `emit` in a trace by their mark."""
    from strata.read import open_trace

    table = open_trace(trace).tables(["ros2:callback_start"])["ros2:callback_start"]
    return Counter(table.column("callback").to_pylist())
