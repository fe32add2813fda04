# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of pairs of levels: all pairs, or each level against the next one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.stats.dependence import FEW
from strata.study.campaign_results import HERE, Results
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import find_measure
from strata.study.tables.statistics import SEED, put_together, why_no_rows
from strata.study.tables.table import Column, Rows, Table, factor_columns, first_ones
from strata.study.wording import name_words
from strata.units import format_count

Floats = npt.NDArray[np.float64]

_CONFIDENCE = 0.95


def pairs(results: Results, study: str, figure: Figure) -> Table:
    """Return each pair of levels of a factor, within each level of another: shift and means."""
    from strata.stats.shift import holm

    measure = find_measure(figure.of or "latency")
    over, within = str(figure.over), listed(figure.within)
    frame = long_frame(results, study, measure.name, where=figure.where)
    # Of one machine each: two levels of an import differ, an import and a cell need not.
    apart = [*(["origin"] if (frame["origin"] != HERE).any() else []), *within]
    columns = _pair_columns(apart, over, measure.unit)
    out = Rows(columns)
    parts = frame.groupby(apart, observed=True) if apart else [((), frame)]
    for key, own in parts:
        levels = dict(zip(apart, (str(one) for one in key), strict=True))
        out.rows += [{**levels, **row} for row in _pairs(own, over)]
    told = [row["p"] for row in out.rows if row["p"] is not None]
    for row, p in zip([row for row in out.rows if row["p"] is not None], holm(told), strict=True):
        row["p"] = float(p)
    doubtful = sum(bool(row.pop("doubtful", False)) for row in out.rows)
    notes = (
        *_doubts(doubtful, len(out.rows)),
        "Shift: the median of all differences of two values; its interval allows for messages "
        "that follow each other. p is corrected for all pairs of this table (Holm). Means: "
        "Games-Howell, for variances that differ; its p takes messages as independent.",
        "With one run per level, a difference may come from the run: only repetitions can show "
        "that.",
        *put_together(results, study, figure, frame),
    )
    empty = why_no_rows(results, study, figure, frame)
    if not empty and not out.rows:
        empty = f"there is one level of {name_words(over)} with values: nothing to compare"
    return Table(
        "pairs",
        f"{name_words(measure.name)}: pairs of {name_words(over)} ({measure.shown_unit})",
        columns,
        out.frame(),
        notes,
        empty,
        measure.name,
    )


def _doubts(doubtful: int, count: int) -> tuple[str, ...]:
    """Say how many pairs have a p of values that depend on each other too much."""
    if not doubtful:
        return ()
    return (
        f"In {doubtful} of {format_count(count, 'pair', 'pairs')} the values depend on each other "
        f"so much that they count as fewer than {FEW}: p is too small there and the interval of "
        "the shift too narrow, although both allow for it. Believe several runs instead.",
    )


def _pair_columns(apart: Sequence[str], over: str, unit: str) -> tuple[Column, ...]:
    """Return what a pair has: ranks first, then means."""
    return (
        *factor_columns(apart),
        Column("a", name_words(over), of=over),
        Column("b", f"against {name_words(over)}", of=over),
        Column("shift", "shift", unit, "number", "Hodges-Lehmann: b - a"),
        Column("low", "from", unit, "number"),
        Column("high", "to", unit, "number"),
        Column("relative", "of a's median", form="share"),
        Column("effect", "Cliff's delta", form="number"),
        Column("p", "p (Holm)", form="p", text="Mann-Whitney, for all pairs of the table"),
        Column("mean_difference", "mean b - a", unit, "number"),
        Column("mean_low", "from", unit, "number"),
        Column("mean_high", "to", unit, "number"),
        Column("mean_p", "p (Games-Howell)", form="p"),
        Column("runs", "runs", text="of a and b"),
    )


def _pairs(frame: pd.DataFrame, over: str) -> list[dict[str, Any]]:
    from strata.stats.shift import shift

    names, samples, runs = [], [], []
    order = [name for name in ("cell", "hop", "number") if name in frame.columns]
    for name, own in frame.groupby(over, observed=True):
        names.append(str(name))
        samples.append(own.sort_values(order, kind="stable")["value"].to_numpy(np.float64))
        runs.append(own["cell"].nunique())
    means = _means(samples, names)
    rows = []
    for a, b in combinations(range(len(names)), 2):
        row: dict[str, Any] = {"a": names[a], "b": names[b], "runs": f"{runs[a]} and {runs[b]}"}
        try:
            found = shift(samples[a], samples[b], _CONFIDENCE, seed=SEED, quantiles=())
            row |= {
                "shift": found.estimate,
                "low": found.low,
                "high": found.high,
                "relative": found.relative,
                "effect": found.effect,
                "p": found.p,
                "doubtful": found.is_doubtful,
            }
        except ValueError:
            # All values of both are equal: there is no shift, and nothing to test.
            row |= {"shift": 0.0, "p": None}
        rows.append({**row, **means.get((names[a], names[b]), {})})
    return rows


def _means(samples: list[Floats], names: list[str]) -> dict[tuple[str, str], dict[str, float]]:
    from strata.stats.variance import games_howell

    try:
        found = games_howell(samples, names, _CONFIDENCE)
    except ValueError:
        return {}
    return {
        (str(row["a"]), str(row["b"])): {
            "mean_difference": row["difference"],
            "mean_low": row["low"],
            "mean_high": row["high"],
            "mean_p": row["p"],
        }
        for row in found.to_dict("records")
    }
