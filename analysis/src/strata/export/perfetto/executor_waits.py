# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""When each thread of an executor waited for work: read from the trace again, no table has it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from strata.analysis import Analysis
from strata.errors import TraceError
from strata.export.perfetto.processes import ThreadKey
from strata.read import open_trace
from strata.read.namespaces import machine_of
from strata.schema.rows import Flags, Ints
from strata.stats.partition import partition

_BEGIN = "ros2:rclcpp_executor_wait_for_work"
_END = "ros2:rclcpp_executor_get_next_ready"


def executor_waits(analysis: Analysis) -> Iterator[tuple[ThreadKey, Ints, Ints]]:
    """Yield the begins and ends (ns since the epoch) of the waits of each thread, in order.

    A wait lasts from wait_for_work to the thread's next get_next_ready; one that has no end, to
    the last event of the trace. One that is followed by another wait is left out: events between
    them were lost. Nothing is yielded where the trace is gone, or has no events of executors, nor
    for threads that are handed their work (the pool of rclpy's MultiThreadedExecutor).
    """
    try:
        tables = open_trace(analysis.trace.place).tables({_BEGIN, _END})
    except TraceError:
        return
    if _BEGIN not in tables:
        return
    columns = ["host", "vpid", "vtid", "timestamp"]
    parts = [
        (tables[name].select(columns), name == _BEGIN) for name in (_BEGIN, _END) if name in tables
    ]
    events = pa.concat_tables([_plain(table) for table, _ in parts])
    begins = np.repeat([is_begin for _, is_begin in parts], [len(table) for table, _ in parts])
    hosts, vpids = events["host"], events["vpid"].to_numpy()
    vtids, ns = events["vtid"].to_numpy(), events["timestamp"].to_numpy()
    for host in pc.unique(hosts).to_pylist():
        of_host = np.flatnonzero(pc.equal(hosts, host).to_numpy())
        for vpid, of_process in partition(vpids[of_host]):
            in_process = of_host[of_process]
            for vtid, of_thread in partition(vtids[in_process]):
                rows = in_process[of_thread]
                # At one instant a wait ends before the next begins.
                rows = rows[np.lexsort((begins[rows], ns[rows]))]
                waits = paired(ns[rows], begins[rows], analysis.trace.end_ns)
                yield (machine_of(host), vpid, vtid), *waits


def paired(ns: Ints, is_begin: Flags, last_ns: int) -> tuple[Ints, Ints]:
    """Return begins and ends of waits from one thread's events in order; see `executor_waits`."""
    followed = np.r_[is_begin[1:], False]
    begun = np.flatnonzero(is_begin & ~followed)
    after = np.r_[ns[1:], last_ns]
    return ns[begun], after[begun]


def _plain(table: pa.Table) -> pa.Table:
    return table.set_column(0, "host", pc.cast(table["host"], pa.string()))
