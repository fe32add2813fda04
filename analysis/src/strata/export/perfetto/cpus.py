# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A track for each CPU: which thread had it, where the kernel's scheduler was recorded.

Slices of the trace's own clock, and no ftrace packets: those would give thread ids of the initial
pid namespace to tracks of containers, and be counted by another clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strata.errors import TraceError
from strata.export.chosen import Chosen
from strata.export.perfetto.lanes import Lanes, Slice
from strata.export.perfetto.packets import Details, PacketWriter, Value
from strata.export.perfetto.tracks import Tracks
from strata.read import open_trace
from strata.schema.kernel_events import SCHED_SWITCH
from strata.schema.rows import Flags, Ints
from strata.stats.partition import partition

IDLE = 0
LOST = "Events were lost: another thread left the CPU at the end of this slice."
# In the lowest eight bits of prev_state: the thread could have gone on.
_RUNNABLE, _STATE = 0, 0xFF


@dataclass(frozen=True)
class Occupancy:
    """Which thread had one CPU when, in order and apart; without the times in which it was idle.

    `runnable`: the thread was preempted, it could have gone on. `lost`: another thread than this
    one left the CPU next.
    """

    host: str
    cpu: int
    begin_ns: Ints
    end_ns: Ints
    tid: Ints
    comm: pa.Array
    runnable: Flags
    lost: Flags


def occupancies(switches: pa.Table) -> Iterator[Occupancy]:
    """Yield who had each CPU, from the events sched_switch in the order of their time."""
    hosts = pc.cast(switches["host"], pa.string())
    cpus, ns = switches["cpu_id"].to_numpy(), switches["timestamp"].to_numpy()
    came, left = switches["next_tid"].to_numpy(), switches["prev_tid"].to_numpy()
    state = switches["prev_state"].to_numpy()
    for host in pc.unique(hosts).to_pylist():
        of_host = np.flatnonzero(pc.equal(hosts, host).to_numpy())
        for cpu, of_cpu in partition(cpus[of_host]):
            rows = of_host[np.sort(of_cpu)]
            rows, after = rows[:-1], rows[1:]
            busy = came[rows] != IDLE
            rows, after = rows[busy], after[busy]
            lost = left[after] != came[rows]
            # What perf records has the name of the thread that leaves only.
            came_as, left_as = (
                _words(switches["next_comm"], rows),
                _words(switches["prev_comm"], after),
            )
            yield Occupancy(
                host,
                int(cpu),
                ns[rows],
                ns[after],
                came[rows],
                pc.if_else(pa.array(lost), came_as, left_as),
                (state[after] & _STATE) == _RUNNABLE,
                lost,
            )


def _words(column: pa.ChunkedArray, rows: Ints) -> pa.Array:
    return pc.cast(column.take(pa.array(rows)), pa.string()).combine_chunks()


class CpuSlices:
    """Writes the CPUs while something chosen was on its way; nothing without kernel events."""

    def __init__(self, chosen: Chosen, packets: PacketWriter, tracks: Tracks) -> None:
        self._chosen, self._packets, self._tracks = chosen, packets, tracks

    def write(self) -> None:
        """Write all CPUs, by host and number."""
        try:
            tables = open_trace(self._chosen.analysis.trace.place).tables({SCHED_SWITCH})
        except TraceError:
            return
        if SCHED_SWITCH not in tables:
            return
        found = sorted(occupancies(tables[SCHED_SWITCH]), key=lambda one: (one.host, one.cpu))
        several = len({one.host for one in found}) > 1
        words = "Which thread had each CPU, by the kernel's scheduler; a gap is an idle CPU."
        root = self._tracks.group("CPUs", words, rank=5)
        for rank, one in enumerate(found):
            name = f"{one.host}: CPU {one.cpu}" if several else f"CPU {one.cpu}"
            track = self._tracks.group(name, words, parent=root, rank=rank)
            lanes = Lanes(self._packets, lambda _, track=track: track, nested=False)  # type: ignore[misc]
            lanes.write(self._slices(one))

    def _slices(self, one: Occupancy) -> Iterator[Slice]:
        shown = np.flatnonzero(self._chosen.overlapping(one.begin_ns, one.end_ns))
        names = one.comm.take(pa.array(shown)).to_pylist()
        for row, name in zip(shown.tolist(), names, strict=True):
            left = "It could have gone on: it was preempted." if one.runnable[row] else "It waits."
            notes: dict[str, Value] = {
                "tid": int(one.tid[row]),
                "then": LOST if one.lost[row] else left,
            }
            begin, end = int(one.begin_ns[row]), int(one.end_ns[row])
            yield Slice(begin, end, name or "(unknown)", "cpu", Details(notes))
