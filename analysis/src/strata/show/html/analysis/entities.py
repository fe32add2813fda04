# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the page's tables of timers and of the states of lifecycle nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strata.show.html.analysis.tables import records, statistics
from strata.show.html.names import Name
from strata.show.terminal.entities import fire_remarks
from strata.symbols import shorten
from strata.units import as_float

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TimerRow:
    """A timer that fired; durations in ns, `remarks` say what is not in a column."""

    node: str
    symbol: Name
    period_ns: float | None
    count: int
    interval: dict[str, float | None]
    lateness: dict[str, float | None]
    skipped: int
    overruns: int
    remarks: list[str]


@dataclass(frozen=True)
class StateRow:
    """A state that a lifecycle node was in; `share` is of the time of all its states.

    `is_first` of the node's states: the others need not name it again.
    """

    node: str
    is_first: bool
    state: str
    count: int
    total_ns: float | None
    share: float | None
    duration: dict[str, float | None]


def timer_rows(timers: pd.DataFrame) -> list[TimerRow]:
    """Return all timers: those that skipped the most first, then those that fired the most."""
    ordered = timers.sort_values(["skipped", "count"], ascending=False, kind="stable")
    return [
        TimerRow(
            node=row["node"],
            symbol=Name(shorten(row["symbol"]), row["symbol"]),
            period_ns=as_float(row["period_ns"]),
            count=int(row["count"]),
            interval=statistics(row, "interval_"),
            lateness=statistics(row, "lateness_"),
            skipped=int(row["skipped"]),
            overruns=int(row["overruns"]),
            remarks=fire_remarks(row, but=("overruns",)),
        )
        for row in records(ordered)
    ]


def state_rows(states: pd.DataFrame) -> list[StateRow]:
    """Return the states of each lifecycle node, that of the most time first."""
    whole = states.groupby("lifecycle_node_id")["total_ns"].transform("sum")
    rows = states.assign(
        share=states["total_ns"] / whole.where(whole > 0),
        is_first=~states["lifecycle_node_id"].duplicated(),
    )
    return [
        StateRow(
            node=row["node"],
            is_first=bool(row["is_first"]),
            state=row["state"],
            count=int(row["count"]),
            total_ns=as_float(row["total_ns"]),
            share=as_float(row["share"]),
            duration=statistics(row, "duration_"),
        )
        for row in records(rows)
    ]
