# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Imported logs of clocks, and what they say of the latencies by the clocks' stamps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.study.campaign_results import Results
from strata.study.clock_logs import LARGEST_WORDS, clock_errors, unlocked_ns
from strata.study.long_frames import long_frame
from strata.study.tables.table import Column, Rows, Table, groups, label_columns
from strata.study.wording import MICRO, NANOSECONDS, count_words, value_text

CLOCK_ERROR = "clock_error"
STAMP_LATENCY = "stamp_latency"
OF_TWO_CLOCKS = (STAMP_LATENCY, "point_age")
"""Measures that compare the stamps of a sensor with the clock of the host."""
_NS_PER_US = 1e3
_S = 1e9


def clocks(results: Results, study: str, figure: Figure) -> Table:
    """Return offset and state of each clock that an imported log of the study follows."""
    rows = listed(figure.rows) or ["clock"]
    frame = long_frame(results, study, "clock_offset", where=figure.where)
    columns = (
        *label_columns(rows, frame),
        Column("count", "lines", form="count"),
        Column("span_s", "log", "s", "number", text="from its first line to its last"),
        Column("p50", "median offset", MICRO, "number"),
        Column("p99", "p99 |offset|", MICRO, "number"),
        Column("max", "max |offset|", MICRO, "number"),
        Column("unlocked_s", "not locked", "s", "number"),
        Column("gap_s", "longest gap", "s", "number", text="between two lines"),
    )
    out = Rows(columns)
    for levels, own in groups(frame, rows):
        out.rows.append({**levels, **_described(own)})
    notes = (
        "Offsets are what the program estimates of its clock, by packets whose delay it takes for "
        "the same both ways; it does not see an error of that. They are of the host's clocks: the "
        "sensor's own offset is not in them. Not locked: the servo was in s0 or s1, or the log had "
        "no line for over three times its usual distance; lines of a summary do not tell.",
    )
    empty = "" if len(frame) else "no log of ptp4l or phc2sys was imported for these cells"
    title = f"clock offset ({MICRO})"
    return Table("clocks", title, columns, out.frame(), notes, empty, "clock_offset")


def _described(own: pd.DataFrame) -> dict[str, float | int | None]:
    own = own.sort_values("t_ns", kind="stable")
    values = own["value"].to_numpy(np.float64) / _NS_PER_US
    at = own["t_ns"].to_numpy(np.int64)
    each = [unlocked_ns(one) for _, one in own.groupby(["cell", "clock"], observed=True)]
    told = [one for one in each if one is not None]
    is_largest = own["clock"].astype(str).str.endswith(LARGEST_WORDS).any()
    return {
        "count": len(own),
        "span_s": float(at[-1] - at[0]) / _S,
        # The median of largest values would be no median offset.
        "p50": None if is_largest else float(np.median(values)),
        "p99": float(np.quantile(np.abs(values), 0.99)),
        "max": float(np.abs(values).max()),
        "unlocked_s": sum(told) / _S if told else None,
        "gap_s": float(np.diff(at).max()) / _S if len(at) > 1 else None,
    }


class ClockErrors:
    """The error of a study's stamps by synchronised clocks, for tables and figures of them."""

    def __init__(self, results: Results, study: str, measure: str) -> None:
        """Of another measure than those of two clocks there is none."""
        self._known = clock_errors(results, study) if measure in OF_TWO_CLOCKS else {}

    @property
    def by_cell(self) -> dict[str, float]:
        """Return the error of each cell, ns; one without a log is not in it."""
        return {cell: float(one.value_ns) for cell, one in self._known.items()}

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the column; without any log it has no value, and is left out."""
        text = (
            "the largest offset of the host's clocks from their master while the cells ran, by "
            "imported logs: every value may be off by so much, and by the sensor's own offset"
        )
        return (Column(CLOCK_ERROR, "+/- clocks", MICRO, "number", text=text),)

    def of(self, own: pd.DataFrame) -> dict[str, Any]:
        """Return the value of a group of rows: the largest error of its cells; null without one."""
        cells = own["cell"].astype(str).unique()
        found = [self._known[one].value_ns for one in cells if one in self._known]
        return {CLOCK_ERROR: max(found) / _NS_PER_US if found else None}

    def caption(self) -> str:
        """Say in a sentence how far the values of all cells may be off; empty without a log."""
        if not self._known:
            return ""
        largest = max(one.value_ns for one in self._known.values())
        return (
            "the host's clocks differed from their master by up to "
            f"{value_text(largest, NANOSECONDS)} (imported logs): values by the sensor's stamps "
            "may be off by so much, and by the "
            "sensor's own offset, which is not in it"
        )

    def notes(self) -> tuple[str, ...]:
        """Say which clocks the errors are of, and where a log is shorter than its cell."""
        if not self._known:
            return ()
        series = list(dict.fromkeys(name for one in self._known.values() for name in one.series))
        said = (
            f"+/- clocks: the largest |offset| of {' plus that of '.join(series)}, the host's "
            "clocks. The sensor's own offset is not in it."
        )
        short = sum(not one.is_whole for one in self._known.values())
        if short:
            cells = count_words(short, "cell", "cells")
            said += f" The log is shorter than the run of {cells}: more may have been off."
        return (said,)
