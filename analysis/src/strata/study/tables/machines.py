# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables over several machines: what each has, and each beside against the first."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from strata.campaign.machine_description import changes, flat_facts
from strata.campaign.model import Figure
from strata.study.campaign_results import HERE, Results
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import find_measure
from strata.study.tables.comparisons import correct
from strata.study.tables.statistics import SEED
from strata.study.tables.table import ORIGIN, Column, Rows, Table, factor_columns, written
from strata.study.wording import name_words
from strata.units import format_number

_CONFIDENCE = 0.95
_QUANTILES = ((0.5, "p50", "median"), (0.9, "p90", "p90"), (0.99, "p99", "p99"))
_ALWAYS = ("host.cpu_model", "host.cpu_count", "host.distribution", "host.kernel")
"""Facts that are shown although they are alike, in this order."""

_LONGEST = 80


def machine_facts(results: Results) -> Table | None:
    """Return the facts in which the machines differ, a column each; null without others."""
    if not results.beside:
        return None
    every = [(HERE, results), *results.beside]
    facts = {name: _facts(one) for name, one in every}
    changed = {
        change["key"]
        for _, other in results.beside
        for change in changes(_environment(results), _environment(other))
    }
    names = [*_ALWAYS, *sorted(changed - set(_ALWAYS))]
    rows = [{"fact": fact, **{name: facts[name].get(fact) for name in facts}} for fact in names]
    columns = (Column("fact", "fact"), *(Column(name, name) for name, _ in every))
    notes = (
        "At the last start of each campaign. What passes, such as the load, is left out, and what "
        "is alike on all machines.",
    )
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    return Table("machine_facts", "in what the machines differ", columns, frame, notes)


def _environment(results: Results) -> Mapping[str, Any]:
    environments: list[dict[str, Any]] = results.directory.document.get("environments") or [{}]
    return environments[-1]


def _facts(results: Results) -> dict[str, str]:
    return {
        name: str(value)[:_LONGEST]
        for name, value in flat_facts(_environment(results))
        if value is not None
    }


def machine_pairs(results: Results, study: str, measure_name: str) -> Table:
    """Return a row per combination of levels and machine: its quantiles, and the shift from ours.

    Cells of the same levels are compared; those that one machine has alone have no shift. p is
    corrected over the table (Holm).
    """
    measure = find_measure(measure_name)
    found = results.study(study)
    names = [factor.name for factor in found.factors]
    frame = long_frame(results, study, measure_name)
    machines = [HERE, *(name for name, _ in results.beside)]
    frame = frame[frame[ORIGIN].isin(machines)]
    columns = _pair_columns(names, measure.unit, measure.each)
    out = Rows(columns)
    groups = frame.groupby(names, observed=True, sort=True) if names else [((), frame)]
    for key, own in groups:
        levels = dict(zip(names, map(str, key if isinstance(key, tuple) else (key,)), strict=True))
        out.rows += [{**levels, **row} for row in _machines(own, machines)]
    correct(out.rows, "p")
    notes = (
        f"{name_words(measure.name)}: {measure.text}.",
        "Shift: the median of all differences of two values of the same levels; its interval "
        f"({format_number(100 * _CONFIDENCE)} %) allows for messages that follow each other. With "
        "one run per machine, a difference may come from the run.",
    )
    title = f"{name_words(measure.name)} by machine ({measure.shown_unit})"
    empty = "" if out.rows else "no machine has values"
    made = Table("machines", title, columns, out.frame(), notes, empty, measure.name)
    return written(made, found, keep=("p50",))


def _pair_columns(names: Sequence[str], unit: str, each: str) -> tuple[Column, ...]:
    return (
        *factor_columns(names),
        Column(ORIGIN, "machine"),
        Column("count", "n", form="count", text=f"one value per {each}"),
        Column("runs", "runs", form="count"),
        *(Column(key, label, unit, "number") for _, key, label in _QUANTILES),
        Column("shift", "shift from here", unit, "number", "Hodges-Lehmann: this machine - here"),
        Column("low", "from", unit, "number"),
        Column("high", "to", unit, "number"),
        Column("relative", "of the median here", form="share"),
        Column("effect", "Cliff's delta", form="number"),
        Column("p", "p (Holm)", form="p", text="Mann-Whitney, for all rows of the table"),
    )


def _machines(own: pd.DataFrame, machines: list[str]) -> list[dict[str, Any]]:
    from strata.stats.shift import shift

    order = [name for name in ("cell", "hop", "process", "number") if name in own.columns]
    own = own.sort_values(order, kind="stable")
    values = {name: own.loc[own[ORIGIN] == name, "value"].to_numpy(np.float64) for name in machines}
    rows = []
    for name in machines:
        if not len(values[name]):
            continue
        cells = own.loc[own[ORIGIN] == name, "cell"].nunique()
        row: dict[str, Any] = {ORIGIN: name, "count": len(values[name]), "runs": cells}
        row |= {key: float(np.quantile(values[name], at)) for at, key, _ in _QUANTILES}
        if name != HERE and len(values[HERE]):
            try:
                found = shift(values[HERE], values[name], _CONFIDENCE, seed=SEED, quantiles=())
                row |= {
                    "shift": found.estimate,
                    "low": found.low,
                    "high": found.high,
                    "relative": found.relative,
                    "effect": found.effect,
                    "p": found.p,
                }
            except ValueError:
                # Too few values, or all of both are equal: nothing to test.
                row |= {"shift": None, "p": None}
        rows.append(row)
    return rows


def of_every_machine(
    make: Callable[[Results, str, Figure], Table], results: Results, study: str, figure: Figure
) -> Table:
    """Return a table of whole cells with the rows of the machines beside, and their names.

    Imports of this campaign keep their rows and their name; those of the others are left out, as
    in every figure and table.
    """
    there = [(name, other) for name, other in results.beside if study in other.studies]
    if not there:
        return make(results, study, figure)
    own = make(replace(results, beside=()), study, figure)
    frames = [own.frame if ORIGIN in own.frame else own.frame.assign(**{ORIGIN: HERE})]
    columns = {column.name: column for column in own.columns if column.name != ORIGIN}
    for name, other in there:
        table = make(other, study, figure)
        frame = table.frame
        if ORIGIN in frame:
            frame = frame[frame[ORIGIN] == HERE]
        frames.append(frame.assign(**{ORIGIN: name}))
        for column in table.columns:
            if column.name != ORIGIN:
                columns.setdefault(column.name, column)
    every = (Column(ORIGIN, "machine"), *columns.values())
    names = [column.name for column in every]
    having = [frame for frame in frames if len(frame)]
    joined = pd.concat(having, ignore_index=True) if having else frames[0]
    empty = "" if having else own.empty
    return replace(own, columns=every, frame=joined.reindex(columns=names), empty=empty)
