# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How old the points of a cloud are at the callback: the oldest, the newest, and between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.study.campaign_results import FINISHED, HERE, Outcome, Results, keeps
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import find_measure
from strata.study.stamp_modes import StampMode, mode_of_session
from strata.study.tables.clock_offsets import ClockErrors
from strata.study.tables.statistics import put_together, why_no_rows
from strata.study.tables.table import Column, Rows, Table, groups, label_columns

POINT_AGE = "point_age"
_MOST = {"p50": 0.5, "p99": 0.99, "max": 1.0}


def ages(results: Results, study: str, figure: Figure) -> Table:
    """Return the age of the oldest and the newest points of each scan, per combination of levels.

    A group whose stamps allow no age has a row without one, and the reason.
    """
    rows = listed(figure.rows)
    frame = long_frame(results, study, POINT_AGE, where=figure.where)
    errors = ClockErrors(results, study, POINT_AGE)
    columns = (*_columns(rows, frame), *errors.columns)
    out = Rows(columns)
    modes = _modes(results, study, figure)
    for levels, own in groups(frame, rows):
        cells = own["cell"].astype(str).unique()
        names = dict.fromkeys(modes[cell].name for cell in cells if cell in modes)
        out.rows.append({**levels, "mode": ", ".join(names), **_described(own), **errors.of(own)})
    out.rows += _without(results, study, rows, frame, modes)
    made = _in_order(out.frame(), results, study, rows)
    notes = (
        "Age of points: the node's own time in the callback less the time at which the sensor "
        "measured their column. Only the noted columns count: every N-th (perf_node's column_step) "
        "and the last. Ages of neighbouring columns of a scan depend on each other.",
        # What has no age has a row that says why.
        *(one for one in put_together(results, study, figure, frame) if "Cells without" not in one),
        *errors.notes(),
    )
    empty = why_no_rows(results, study, figure, made)
    return Table(
        "ages", "Age of the points at the callback (ms)", columns, made, notes, empty, POINT_AGE
    )


def _columns(rows: Sequence[str], frame: pd.DataFrame) -> tuple[Column, ...]:
    unit = find_measure(POINT_AGE).unit
    return (
        *label_columns(rows, frame),
        Column("mode", "stamp", text="time stamp mode of the sensor or the driver"),
        Column("count", "scans", form="count"),
        *(
            Column(f"oldest_{name}", f"oldest, {label}", unit, "number")
            for name, label in (("p50", "median"), ("p99", "p99"), ("max", "max"))
        ),
        *(
            Column(f"newest_{name}", f"newest, {label}", unit, "number")
            for name, label in (("min", "min"), ("p50", "median"), ("p99", "p99"))
        ),
        Column("spread", "spread, median", unit, "number", text="oldest less newest of a scan"),
        Column("why", "no age because"),
    )


def scan_ages(own: pd.DataFrame) -> pd.DataFrame:
    """Return `oldest` and `newest` of each scan, ns, by cell, hop and number."""
    keys = ["cell", "hop", "number"]
    grouped = own.groupby(keys, observed=True, sort=False)["value"]
    return grouped.agg(oldest="max", newest="min").reset_index()


def _described(own: pd.DataFrame) -> dict[str, float | int]:
    each = scan_ages(own)
    oldest, newest = (each[name].to_numpy(np.float64) for name in ("oldest", "newest"))
    return {
        "count": len(each),
        **{f"oldest_{name}": float(np.quantile(oldest, q)) for name, q in _MOST.items()},
        "newest_min": float(newest.min()),
        **{f"newest_{name}": float(np.quantile(newest, _MOST[name])) for name in ("p50", "p99")},
        "spread": float(np.median(oldest - newest)),
    }


def _modes(results: Results, study: str, figure: Figure) -> dict[str, StampMode]:
    """Return the stamp mode of each finished cell that noted columns, by its id in long frames."""
    found = {}
    for cell, one, ran, _ in _outcomes(results, study):
        if one.status != FINISHED or not keeps(figure.where, one.cell.levels):
            continue
        mode = mode_of_session(one.directory)
        if mode is not None and len(ran.measured(one).read("column_times", ["number"])):
            found[cell] = mode
    return found


def _outcomes(results: Results, study: str) -> Iterator[tuple[str, Outcome, Results, str]]:
    """Give each cell of all machines: its id in long frames, itself, its results and origin."""
    for one in results.study(study).outcomes:
        yield one.id, one, results, HERE
    for name, other in results.beside:
        if study in other.studies:
            for one in other.study(study).outcomes:
                yield f"{name}/{one.id}", one, other, name


def _without(
    results: Results,
    study: str,
    rows: Sequence[str],
    frame: pd.DataFrame,
    modes: Mapping[str, StampMode],
) -> list[dict[str, Any]]:
    """Return a row for each group of cells of which there is no age, with the reason."""
    having = set(frame["cell"].astype(str)) if len(frame) else set()
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for cell, one, _, origin in _outcomes(results, study):
        mode = modes.get(cell)
        if mode is None or cell in having:
            continue
        levels = {name: one.cell.levels[name] for name in rows if name in one.cell.levels}
        why = mode.no_age or "no message was left after the warm-up"
        row = {**levels, "origin": origin, "mode": mode.name, "why": why}
        found.setdefault((origin, *levels.values(), mode.name), row)
    return list(found.values())


def _in_order(
    made: pd.DataFrame, results: Results, study: str, rows: Sequence[str]
) -> pd.DataFrame:
    for name in rows:
        factor = results.study(study).factor(name)
        if factor is not None and name in made:
            made[name] = pd.Categorical(made[name], list(factor.levels), ordered=True)
    names = [name for name in rows if name in made]
    if not names:
        return made
    ordered = made.sort_values(names, kind="stable", ignore_index=True)
    return ordered.astype(dict.fromkeys(names, object))
