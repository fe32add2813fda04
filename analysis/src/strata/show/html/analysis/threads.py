# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of what threads did: those of executors, and those of the layers of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from strata.show.html.analysis.tables import Part, Split, cpu_name, records, split
from strata.show.html.names import Name
from strata.show.html.theme import MICRO
from strata.show.terminal.executors import EXECUTOR_STATES, state_shares
from strata.show.terminal.scheduling import worth_telling
from strata.stats.scheduling import STATES
from strata.symbols import shorten_place
from strata.units import as_float, format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strata.analysis import Analysis

STATE_DOCS = {
    "executing": "it ran callbacks",
    "waiting": "it waited for work",
    "mutex": "it waited for the mutex that another thread holds while that waits for work",
    "ready": "the rest: taking, picking, and what the program did between two spins",
    "running": "it had a CPU",
    "preempted": "it could run, and had no CPU",
    "blocked": "it waited for something: sleep, lock, input, its turn in a wait",
    "unknown": "the kernel's events do not tell",
}


@dataclass(frozen=True)
class ThreadRow:
    """A thread of an executor; `shares` by state are null where they are not known.

    `is_first` of the executor's threads: the others need not name it again.
    """

    kind: str
    process: str
    nodes: list[str]
    is_first: bool
    vtid: int
    executions: int
    shares: dict[str, float | None]
    parts: tuple[Part, ...]
    cpu: Name


@dataclass(frozen=True)
class LayerThreadRow:
    """What the threads of a layer of a chain did; `means` in ns by state."""

    hop: int
    layer: str
    where: Name
    preempted_by: str
    means: dict[str, float | None]
    parts: tuple[Part, ...]


def thread_rows(analysis: Analysis) -> list[ThreadRow]:
    """Return every thread of every executor, those of the executor with the busiest one first."""
    threads = analysis.executor_threads
    busy = threads["executing_ns"] / (threads["end_ns"] - threads["begin_ns"]).clip(lower=1)
    ordered = (
        threads.assign(busiest=busy.groupby(threads["executor_id"]).transform("max"))
        .sort_values(["busiest", "executor_id", "vtid"], ascending=[False, True, True])
        .drop(columns="busiest")
    )
    executors = {row["executor_id"]: row for row in records(analysis.executors)}
    names = {(item.host, item.vpid): item.procname for item in analysis.trace.processes}
    firsts = ~ordered["executor_id"].duplicated()
    return [
        _thread_row(row, executors[row["executor_id"]], names, is_first=first)
        for row, first in zip(records(ordered), firsts.tolist(), strict=True)
    ]


def _thread_row(
    row: dict[str, Any],
    executor: dict[str, Any],
    names: Mapping[tuple[str, int], str],
    *,
    is_first: bool,
) -> ThreadRow:
    times = {name: as_float(row[f"{name}_ns"]) for name in EXECUTOR_STATES}
    span = row["end_ns"] - row["begin_ns"]
    name = names.get((row["host"], row["vpid"]), "")
    return ThreadRow(
        kind=executor["kind"],
        process=f"{name} {row['vpid']}".strip(),
        nodes=executor["nodes"].split(", ") if executor["nodes"] else [],
        is_first=is_first,
        vtid=int(row["vtid"]),
        executions=int(row["executions"]),
        shares=state_shares(row),
        parts=_parts(times, EXECUTOR_STATES, span),
        cpu=cpu_name(row),
    )


def layer_thread_rows(analysis: Analysis, chain_id: int, latency_ns: float) -> Split:
    """Return the layers of a chain whose threads the kernel tells of, in its order.

    Layers that neither ran long nor were held up are the rest; `latency_ns` is the chain's mean.
    """
    scheduling = analysis.rows("chain_scheduling")
    own = scheduling.take(scheduling["chain_id"] == chain_id)
    own = own.take(np.argsort(own["position"], kind="stable"))
    return split(
        [_layer_thread_row(row) for row in own.records()], worth_telling(own, latency_ns).tolist()
    )


def _layer_thread_row(row: dict[str, Any]) -> LayerThreadRow:
    means = {name: as_float(row[f"{name}_mean_ns"]) for name in STATES}
    was_preempted = bool(means["preempted"]) and isinstance(row["preempted_by"], str)
    return LayerThreadRow(
        hop=int(row["hop"]),
        layer=row["layer"],
        where=Name(shorten_place(row["where"]), row["where"]),
        preempted_by=row["preempted_by"] if was_preempted else "",
        means=means,
        parts=_parts(means, STATES, sum(ns or 0.0 for ns in means.values())),
    )


def _parts(
    times: Mapping[str, float | None], states: Sequence[str], whole: float
) -> tuple[Part, ...]:
    """States with some time, as parts of `whole` ns; what is not known stays empty."""
    return tuple(
        Part(
            slug=state,
            percent=round(100 * ns / whole, 3),
            title=f"{state} {format_share(ns / whole)}, {format_ns(ns, micro=MICRO)}",
        )
        for state in states
        if whole and (ns := times[state])
    )
