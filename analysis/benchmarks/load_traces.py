# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The traces that bench_analysis.py reads: recorded loads and samples of the tests."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from bench_processes import HERE, run_reader
from record_load import CHAINS, EXECUTOR, record

SAMPLES = HERE.parent / "tests/traces"
# At the last of them a busy machine loses nothing: events a second and thread; ns of a wait.
_PACES = {
    CHAINS: [f"--rate={rate}" for rate in (50_000, 25_000, 10_000)],
    EXECUTOR: [f"--wait-ns={ns}" for ns in (1_900, 4_000, 10_000)],
}
_LABELS = {CHAINS: "relay chains", EXECUTOR: "spinning executor"}


@dataclass(frozen=True)
class Trace:
    """A trace, its size in bytes, and how many events it has."""

    directory: Path
    label: str
    events: int
    size: int
    is_chains: bool = False


class Traces:
    """Finds traces in `given`, or records them: there if `keep` is set, else in `place`."""

    def __init__(
        self, place: Path, given: Path | None, *, keep: bool, note: Callable[[str], None]
    ) -> None:
        self._place = place
        self._given = given
        self._target = given if given is not None and keep else place
        self._note = note

    def chains(self, events: int) -> Trace:
        """Return a trace of relay chains."""
        return self._load(CHAINS, f"chain_{events}", events)

    def executor(self, events: int) -> Trace:
        """Return a trace of an executor that spins."""
        return self._load(EXECUTOR, f"executor_{events}", events)

    def sample(self, name: str, label: str) -> Trace:
        """Return a sample of the tests."""
        with tarfile.open(SAMPLES / f"{name}.tar.xz") as archive:
            archive.extractall(self._place)
        return known(self._place / name, label)

    def _load(self, load: str, name: str, events: int) -> Trace:
        label = f"{_LABELS[load]}, {events / 1e6:g} M events"
        for place in (self._given, self._place):
            if place is not None and (place / name).is_dir():
                return known(place / name, label, is_chains=load == CHAINS)
        self._note(f"recording {name}")
        record_all(self._target / name, load, events)
        return known(self._target / name, label, is_chains=load == CHAINS)


def record_all(directory: Path, load: str, events: int) -> None:
    """Record a load without losses; a slower one where a faster one lost events."""
    for pace in _PACES[load]:
        recording = record(directory, [f"--events={events}", pace], load)
        if not recording.discarded:
            return
        shutil.rmtree(directory)
    raise click.ClickException(f"Cannot record {events:,} events without losing some.")


def known(directory: Path, label: str, *, is_chains: bool = False) -> Trace:
    """Count a trace's events and bytes."""
    events = int(run_reader("chunks", directory).printed["events"])
    files: Sequence[Path] = [path for path in directory.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    return Trace(directory, label, events, size, is_chains)
