# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Is an executor saturated? What its callbacks ask of it in a cell, and whether it kept up.

The work of a message is the mean time of each callback that a measured topic or a called service
triggers, with the take before it, and of the timer that sends it where the sender has the same
executor, summed over them. What is asked of an executor is this work as often as the stated rate
has it, and its other callbacks as they ran. Responses to a client are no callbacks in a trace: what
their handling takes is in how busy the threads were, and not in what is asked. Callbacks of a node
exclude each other (it has one callback group, unless it made others), so each node has one thread
at most.

The largest rate: `parallel / work of a message`, and not above what the busiest node allows.
`parallel` is the number of the executor's threads that can run at once: in rclpy one, as Python
runs on one thread at a time (the GIL); in rclcpp as many as there are threads and CPUs. In rclpy
the time in which callbacks of several threads were open at once counts once: they waited for each
other.

The verdict: the load is the largest of what is asked of the threads, what is asked of the busiest
node, and how busy the threads were. `saturated`: the load is SATURATED or more, and the executor
did not keep up (`keeps_up`). `near`: the load is NEAR or more. Else `not`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from strata.errors import StrataError
from strata.stats.drift import MIN_COUNT, drift
from strata.study.cell_tables import CellTables
from strata.study.client_libraries import RCLPY
from strata.study.wording import natural_key

SATURATED, NEAR = 0.95, 0.80
LEAST_RECEIVED = 0.95
"""Of the rate at which messages were published; an executor that takes fewer falls behind."""
LEAST_GROWTH_NS = 1_000_000
LEAST_SHARE = 0.5
"""A latency that grows over the run by less, or by less than that of its median, is steady."""

VERDICTS = ("saturated", "near", "not")
_SAME_RATE = 0.01
"""A timer whose rate differs from the stated one by this share at most sends at the stated rate."""
_S = 1_000_000_000


@dataclass(frozen=True)
class Growth:
    """How a latency changes over a run, in ns per second, with its interval; `rises`: it grows."""

    slope: float
    low: float
    high: float
    rises: bool


@dataclass(frozen=True)
class Saturation:
    """One executor in one cell. Shares are of 1; `work_ns` is that of one message.

    `demanded` is in threads: 1.0 is one thread all the time. `busy` is null where waits were not
    recorded. `received_hz` is of the hop that got the least: 0 where less than two of its messages
    came, null without any hop or call. `largest_hz` is null without work.
    """

    nodes: str
    threads: int
    parallel: int
    work_ns: float
    demanded: float
    busiest_node: str
    busiest: float
    executing: float
    busy: float | None
    received_hz: float | None
    asked_hz: float
    loss: float | None
    growth: Growth | None
    largest_hz: float | None

    @property
    def load(self) -> float:
        """Return the largest share that the executor is filled to."""
        busy = self.executing if self.busy is None else self.busy
        return max(self.demanded / self.parallel, self.busiest, busy)

    @property
    def keeps_up(self) -> bool:
        """Tell whether it took messages as they came, and none waited longer than the last."""
        behind = self.received_hz is None or self.received_hz < LEAST_RECEIVED * self.asked_hz
        return not (behind or (self.growth is not None and self.growth.rises))

    @property
    def is_saturated(self) -> bool:
        """Tell whether it is full and does not keep up."""
        return self.load >= SATURATED and not self.keeps_up

    @property
    def verdict(self) -> str:
        """Return one of VERDICTS."""
        if self.is_saturated:
            return VERDICTS[0]
        return VERDICTS[1] if self.load >= NEAR else VERDICTS[2]


def saturations(
    measured: CellTables, latency: pd.DataFrame, nominal_hz: float, cpus: int | None
) -> list[Saturation]:
    """Return the executors of a cell that take measured messages, in the order of the analysis.

    `latency` has `value` (ns) and `t_ns` of the cell's messages, `cpus` is the number of CPUs of
    the machine, null where it is not known.
    """
    executors = measured.read("executors")
    work = measured.read("work")
    work = work.assign(is_sender=_sends(measured, work, nominal_hz))
    found = growth(latency)
    return [
        _saturation(
            measured, row, work[work["executor"] == row["executor"]], nominal_hz, cpus, found
        )
        for row in executors.to_dict("records")
    ]


def _saturation(
    measured: CellTables,
    row: Mapping[Hashable, Any],
    work: pd.DataFrame,
    nominal_hz: float,
    cpus: int | None,
    found: Growth | None,
) -> Saturation:
    traffic_ns, threads = int(row["traffic_ns"]), int(row["threads"])
    is_asked = work["is_traffic"] | work["is_sender"]
    own = work[is_asked & (work["count"] > 0)]
    times = own["senders"].where(own["is_traffic"], 1)
    per_message = (own["callback_ns"] + own["take_ns"]) / own["count"] * times
    of_nodes = per_message.groupby(own["node"]).sum()
    rest = work[~is_asked]
    rest_ns = float((rest["callback_ns"] + rest["take_ns"]).sum())
    work_ns = float(per_message.sum())
    executing_ns, any_ns = float(row["executing_ns"]), float(row["any_executing_ns"])
    # Where Python's threads waited for each other, the time of one callback has that of others.
    overlap = max(1.0, executing_ns / any_ns) if any_ns else 1.0
    is_python = row["client"] == RCLPY
    parallel = 1 if is_python else min(threads, cpus or threads)
    shared = overlap if is_python else 1.0
    busy = row["busy_ns"]
    asked_hz, received_hz, loss = _received(measured, str(row["nodes"]), nominal_hz)
    busiest = float(of_nodes.max()) / shared if len(of_nodes) else 0.0
    slowest_ns = max(work_ns / shared / parallel, busiest)
    return Saturation(
        nodes=", ".join(sorted(str(row["nodes"]).split(", "), key=natural_key)),
        threads=threads,
        parallel=parallel,
        work_ns=work_ns / shared,
        demanded=(work_ns / shared * nominal_hz / _S) + rest_ns / shared / max(traffic_ns, 1),
        busiest_node=str(of_nodes.idxmax()) if len(of_nodes) else "",
        busiest=busiest * nominal_hz / _S,
        executing=executing_ns / max(int(row["threads_ns"]), 1),
        busy=None if pd.isna(busy) else int(busy) / max(int(row["threads_ns"]), 1),
        received_hz=received_hz,
        asked_hz=asked_hz,
        loss=loss,
        growth=found,
        largest_hz=_S / slowest_ns if slowest_ns else None,
    )


def _sends(measured: CellTables, work: pd.DataFrame, nominal_hz: float) -> pd.Series[bool]:
    """Flag the timers that send what is measured: of nodes that begin, at the stated rate.

    Where all nodes that send take something, too, any of them may.
    """
    hops = measured.read("hops", ["publisher_node", "subscription_node"])
    calls = measured.read("calls", ["client_node", "service_node"])
    senders = {*hops["publisher_node"], *calls["client_node"]}
    begin = senders - {*hops["subscription_node"], *calls["service_node"]} or senders
    rate = _S / work["period_ns"].astype("Float64")
    is_alike = ((rate - nominal_hz).abs() <= _SAME_RATE * nominal_hz).fillna(value=False)
    return is_alike.astype(bool) & work["node"].isin(begin) & ~work["is_traffic"]


def _received(
    measured: CellTables, nodes: str, nominal_hz: float
) -> tuple[float, float | None, float | None]:
    """Return the rate that is asked of an executor, the lowest that it took of one hop, and loss.

    Asked is the stated rate; where the source runs elsewhere, what it published, if that is less.
    What it took is 0 where less than two messages came of a hop, and null without any hop or call.
    """
    names = set(nodes.split(", "))
    hops = measured.read("hops")
    own = hops[hops["subscription_node"].isin(names)]
    columns = ["topic", "publisher_node", "publish_ns", "warm_up"]
    sent = measured.read("publications", columns)
    sent = sent[~sent["warm_up"] & ~sent["publisher_node"].isin(names)]
    sent = sent[sent["topic"].isin(own["topic"])]
    rates = [_rate(one) for _, one in sent.groupby(["topic", "publisher_node"], observed=True)]
    known = [rate for rate in rates if rate is not None]
    asked = min([nominal_hz, *known])
    took: list[float] = []
    for row in own.to_dict("records"):
        count, first, last = int(row["received"]), row["first_ns"], row["last_ns"]
        took.append((count - 1) * _S / int(last - first) if count > 1 and last > first else 0.0)
    calls = measured.read("calls", ["hop", "service_node", "served_ns", "warm_up"])
    calls = calls[calls["service_node"].isin(names) & ~calls["warm_up"]]
    for _, one in calls.groupby("hop", observed=True):
        rate = _rate(one[one["served_ns"].notna()].rename(columns={"served_ns": "publish_ns"}))
        took.append(rate or 0.0)
    received, lost = int(own["received"].sum()), int(own["lost"].sum())
    unserved = int(calls["served_ns"].isna().sum())
    received, lost = received + len(calls) - unserved, lost + unserved
    share = lost / (received + lost) if received + lost else None
    return asked, min(took) if took else None, share


def _rate(rows: pd.DataFrame) -> float | None:
    at = rows["publish_ns"].dropna().to_numpy(np.int64)
    span = int(at.max() - at.min()) if len(at) > 1 else 0
    return (len(at) - 1) * _S / span if span else None


def growth(latency: pd.DataFrame) -> Growth | None:
    """Return how a latency changes over a run; null for too few messages.

    It rises when the interval of the slope (95 %) is above 0 and it grows over the run by
    LEAST_GROWTH_NS and by LEAST_SHARE of its median or more.
    """
    rows = latency.dropna(subset=["t_ns"]).sort_values("t_ns", kind="stable")
    if len(rows) < MIN_COUNT:
        return None
    times_s = rows["t_ns"].to_numpy(np.float64) / _S
    values = rows["value"].to_numpy(np.float64)
    try:
        found = drift(times_s, values)
    except (StrataError, ValueError):
        return None
    slope, low, high = (one / 3600 for one in (found.slope_per_hour, found.low, found.high))
    grown = slope * float(times_s[-1] - times_s[0])
    rises = low > 0 and grown >= max(LEAST_GROWTH_NS, LEAST_SHARE * float(np.median(values)))
    return Growth(slope, low, high, rises)
