# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of how long threads ran and waited for a CPU, which `strata record` keeps by a trace.

The files are described where they are written, in strata.record.thread_sampler.
"""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt

from strata.read.manifest import read_manifest, session_of

Ints = npt.NDArray[np.int64]
Texts = npt.NDArray[np.object_]

DIRECTORY, THREADS, SAMPLES = "thread_cpu", "threads.csv", "samples.csv"
SAMPLER = 0
"""Number of the sampler's own thread."""

_IDS = ("thread", "pid", "tid", "vpid", "vtid")
_SAMPLES = ("thread", "monotonic_ns", "read_ns", "cpu_ns", "wait_ns", "slices")
_NAMES = ("process", "name")


@dataclass(frozen=True)
class ThreadCpu:
    """What was sampled of the threads of a recorded command, on CLOCK_MONOTONIC.

    Columns by name. `threads`: one row a thread (thread, pid, tid, vpid, vtid), `names` what they
    are called (process, name); `samples`: rows where a figure changed (thread, monotonic_ns,
    read_ns, cpu_ns, wait_ns, slices), in order of thread and time. `host` is the name of the
    machine; empty when no manifest says it.
    """

    host: str
    threads: Mapping[str, Ints]
    names: Mapping[str, Texts]
    samples: Mapping[str, Ints]


def read_thread_cpu(path: Path) -> ThreadCpu | None:
    """Read the samples of a session, given its directory or its trace; null where there are none.

    Rows that are not whole are left out: of a recording that was killed, the last one may be.
    """
    session = session_of(path) or (path if (path / DIRECTORY).is_dir() else path.resolve().parent)
    place = session / DIRECTORY
    if not place.is_dir():
        return None
    try:
        described = list(_rows(place / THREADS, (*_IDS, *_NAMES)))
        samples = _samples(place / SAMPLES)
    except (OSError, ValueError, csv.Error):
        return None
    # The last row of a thread has its name.
    last = {row[0]: row for row in described}
    rows = [last[thread] for thread in sorted(last)]
    threads = np.array([row[: len(_IDS)] for row in rows], np.int64).reshape(-1, len(_IDS))
    names = np.array([row[len(_IDS) :] for row in rows], object).reshape(-1, len(_NAMES))
    samples = samples[np.isin(samples[:, 0], threads[:, 0])]
    samples = samples[np.lexsort((samples[:, 1], samples[:, 0]))]
    host = ((read_manifest(session) or {}).get("host") or {}).get("name") or ""
    return ThreadCpu(
        str(host),
        dict(zip(_IDS, threads.T, strict=True)),
        dict(zip(_NAMES, names.T, strict=True)),
        dict(zip(_SAMPLES, samples.T.copy(), strict=True)),
    )


def _samples(path: Path) -> Ints:
    """Return the whole rows of the file of samples, with the columns `_SAMPLES`."""
    with path.open(encoding="utf-8", errors="replace") as file:
        header, first = (file.readline() for _ in range(2))
        if header.rstrip() == ",".join(_SAMPLES):
            if not first:
                return np.empty((0, len(_SAMPLES)), np.int64)
            with suppress(ValueError):
                lines = chain([first], file)
                return np.loadtxt(lines, np.int64, comments=None, delimiter=",", ndmin=2).reshape(
                    -1, len(_SAMPLES)
                )
    # Some row is not whole, or there are other columns.
    figures = array("q")
    for row in _rows(path, _SAMPLES):
        figures.extend(map(int, row))
    return np.array(figures, np.int64).reshape(-1, len(_SAMPLES))


def _rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int | str, ...]]:
    """Give the rows that have a value for each column, whole numbers but for names.

    Raises ValueError for a file without these columns.
    """
    with path.open(newline="", encoding="utf-8", errors="replace") as file:
        lines = csv.reader(file)
        header = next(lines, [])
        places = [header.index(name) for name in columns]
        reads = [str if name in _NAMES else _whole for name in columns]
        for line in lines:
            if len(line) != len(header):
                continue
            with suppress(ValueError):
                yield tuple(read(line[at]) for read, at in zip(reads, places, strict=True))


def _whole(text: str) -> int:
    value = int(text)
    if not -(1 << 63) <= value < 1 << 63:
        raise ValueError(text)
    return value
