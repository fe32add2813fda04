# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace holds: hosts, processes, counts of events, buffers, time span and loss."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from strata.read.decoder import Selection
from strata.read.discover import CtfTrace
from strata.read.losses import Loss
from strata.read.manifest import read_manifest, session_of
from strata.read.processes import ProcessCount, Threads, count_processes, count_threads
from strata.read.trace import Trace
from strata.schema.kernel_events import is_of_kernel
from strata.schema.quality import Findings


@dataclass(frozen=True)
class CtfDescription:
    """One CTF trace directory. `buffering` is LTTng's scheme (uid, pid); empty when not said.

    `largest_packet` is in bytes: the size of LTTng's sub-buffers. `clock` tells whether the
    metadata declare one.
    """

    directory: Path
    host: str
    domain: str
    tracer: str
    ctf: str
    buffering: str
    streams: int
    packets: int
    bytes: int
    largest_packet: int
    clock: bool


@dataclass(frozen=True)
class Buffers:
    """The ring buffers of each channel and CPU, as they were ordered: so many of so many bytes."""

    count: int
    bytes: int


@dataclass(frozen=True)
class Contents:
    """What a trace holds. `processes` are those of its userspace events.

    Times are ns since the epoch, null when there is no event of a trace with a clock. `buffers` is
    null without a manifest that tells of them.
    """

    path: Path
    traces: tuple[CtfDescription, ...]
    processes: tuple[ProcessCount, ...]
    events: dict[str, int]
    begin_ns: int | None
    end_ns: int | None
    buffers: Buffers | None
    losses: tuple[Loss, ...]
    findings: Findings

    @property
    def has_clock(self) -> bool:
        """Whether any of the CTF traces has a clock."""
        return any(trace.clock for trace in self.traces)

    @property
    def hosts(self) -> tuple[str, ...]:
        """Host names, sorted."""
        return tuple(sorted({trace.host for trace in self.traces}))

    @property
    def event_count(self) -> int:
        """Events of all names."""
        return sum(self.events.values())


def describe(trace: Trace) -> Contents:
    """Count what a trace holds, in memory that does not grow with it. Raises TraceError."""
    events: Counter[str] = Counter()
    threads: Threads = Counter()
    begin: int | None = None
    end: int | None = None
    clocks = [bool(item.metadata.clocks) for item in trace.traces]
    # Of every process of the machine; other tracers' names may have no provider either.
    kernel = any(_domain(item) == "kernel" for item in trace.traces)
    wanted = frozenset({"timestamp", "host", "vpid", "vtid", "procname", "process_name"})
    for chunk in trace.chunks(Selection(columns=wanted)):
        for event, batches in chunk.items():
            for batch in batches:
                events[event] += len(batch)
                times = batch.column("timestamp").to_numpy()
                if not all(clocks):
                    # Without a clock an event's time is 0, which is no time.
                    times = times[times != 0]
                if len(times):
                    first, last = int(times.min()), int(times.max())
                    begin = first if begin is None else min(begin, first)
                    end = last if end is None else max(end, last)
                if not (kernel and is_of_kernel(event)):
                    threads.update(count_threads(pa.Table.from_batches([batch])))
    return Contents(
        trace.path,
        _descriptions(trace),
        tuple(count_processes(threads)),
        dict(sorted(events.items(), key=lambda item: (-item[1], item[0]))),
        begin,
        end,
        _buffers(trace.path),
        trace.losses,
        trace.findings,
    )


def _domain(trace: CtfTrace) -> str:
    return str(trace.metadata.environment.get("domain", ""))


def _buffers(path: Path) -> Buffers | None:
    """Read the buffers of a session's manifest; null when it has none."""
    session = session_of(path)
    try:
        channel = (read_manifest(session) or {})["config"]["channel"] if session else {}
        return Buffers(int(channel["num_subbuf"]), int(channel["subbuf_size"]))
    except (KeyError, TypeError, ValueError):
        return None


def _descriptions(trace: Trace) -> tuple[CtfDescription, ...]:
    decoder = trace.decoder
    of_file = np.array([file.trace for file in decoder.files], np.int64)
    packets = decoder.packets
    of_packet = of_file[packets["file"]] if len(of_file) else np.empty(0, np.int64)
    found = []
    for number, item in enumerate(trace.traces):
        own = of_packet == number
        environment = item.metadata.environment
        version = [str(environment.get(f"tracer_{part}", "")) for part in ("major", "minor")]
        found.append(
            CtfDescription(
                item.directory,
                item.hostname,
                _domain(item),
                " ".join(
                    [str(environment.get("tracer_name", "")), ".".join(filter(None, version))]
                ),
                "1.8" if item.metadata.version == 1 else "2",
                str(environment.get("tracer_buffering_scheme", "")),
                len(np.unique(packets["stream"][own])),
                int(own.sum()),
                sum(file.size for file in decoder.files if file.trace == number),
                int(packets["bytes"][own].max(initial=0)),
                bool(item.metadata.clocks),
            )
        )
    return tuple(found)
