# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of how long threads ran and waited for a CPU, which `strata record` keeps by a trace.

The files are described where they are written, in strata.record.thread_sampler.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from strata.lazy import arrow_compute as pc
from strata.lazy import arrow_csv as csv
from strata.lazy import pyarrow as pa
from strata.read.manifest import read_manifest, session_of

DIRECTORY, THREADS, SAMPLES = "thread_cpu", "threads.csv", "samples.csv"
SAMPLER = 0
"""Number of the sampler's own thread."""

_THREADS = ("thread", "pid", "tid", "vpid", "vtid", "process", "name")
_SAMPLES = ("thread", "monotonic_ns", "read_ns", "cpu_ns", "wait_ns", "slices")
_TEXTS = ("process", "name")


@dataclass(frozen=True)
class ThreadCpu:
    """What was sampled of the threads of a recorded command, on CLOCK_MONOTONIC.

    `threads`: one row a thread (thread, pid, tid, vpid, vtid, process, name); `samples`: rows where
    a figure changed (thread, monotonic_ns, read_ns, cpu_ns, wait_ns, slices), in order of thread
    and time. `host` is the name of the machine; empty when no manifest says it.
    """

    host: str
    threads: pa.Table
    samples: pa.Table


def read_thread_cpu(path: Path) -> ThreadCpu | None:
    """Read the samples of a session, given its directory or its trace; null where there are none.

    Rows that are not whole are left out: of a recording that was killed, the last one may be.
    """
    session = session_of(path) or (path if (path / DIRECTORY).is_dir() else path.resolve().parent)
    place = session / DIRECTORY
    if not place.is_dir():
        return None
    try:
        threads = _read(place / THREADS, _THREADS)
        samples = _read(place / SAMPLES, _SAMPLES)
    except (OSError, pa.ArrowInvalid):
        return None
    # The last row of a thread has its name.
    last = threads.append_column("row", pa.array(range(len(threads)))).group_by(
        "thread", use_threads=False
    )
    threads = threads.take(last.aggregate([("row", "max")])["row_max"])
    samples = samples.filter(pc.is_in(samples["thread"], threads["thread"].combine_chunks()))
    order = [("thread", "ascending"), ("monotonic_ns", "ascending")]
    host = ((read_manifest(session) or {}).get("host") or {}).get("name") or ""
    return ThreadCpu(str(host), threads.sort_by("thread"), samples.sort_by(order))


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    types = {name: pa.string() if name in _TEXTS else pa.int64() for name in columns}
    table = csv.read_csv(
        path,
        parse_options=csv.ParseOptions(invalid_row_handler=lambda _: "skip"),
        convert_options=csv.ConvertOptions(
            column_types=types, include_columns=list(columns), strings_can_be_null=False
        ),
    )
    return table.drop_null()
