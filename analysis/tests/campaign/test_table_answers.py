# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What an answer calls a difference of spreads: by the interval of runs, where there is one."""

from __future__ import annotations

import pandas as pd
import pytest

from strata.study.report_contents import Study
from strata.study.table_answers import table_answers
from strata.study.tables.segmented import in_proportion
from strata.study.tables.table import Column, Table

STUDY = Study("spreads", "What widens it?", "relay_chain", (), ())
ENDS = {"": 0.0, "_low": -1.0, "_high": 1.0}
WITHIN = "(within one run: another run may differ by as much)"
PAIRS = (Column("a", "load", of="load"), Column("b", "against load", of="load"))
GROUPS = (*PAIRS, Column("first", "first", of="priority"), Column("second", "second"))


def said(kind: str, columns: tuple[Column, ...], row: dict[str, object]) -> str:
    (text,) = table_answers(STUDY, [Table(kind, "spreads", columns, pd.DataFrame([row]))])
    return text


def pair(**of_runs: float | None) -> str:
    row = {"a": "idle", "b": "busy", "p": 0.001, "mad_ratio": 2.0, "mad_low": 1.5, "mad_high": 3.0}
    return said("spread", PAIRS, {**row, **of_runs})


def test_a_spread_that_runs_alone_would_explain_is_chance() -> None:
    assert pair(mad_runs_low=0.5, mad_runs_high=8.0).endswith("chance in 0 of 1 pairs of levels")
    apart = pair(mad_runs_low=1.2, mad_runs_high=4.0)
    assert "in 1 of 1 pairs of levels; the furthest" in apart
    assert "2.00 [1.20 to 4.00]" in apart
    assert f"in 1 of 1 pairs of levels {WITHIN}; the" in pair()
    assert f"in 1 of 1 pairs of levels {WITHIN}; the" in pair(mad_runs_low=None, mad_runs_high=None)


def test_answers_say_how_many_pairs_have_one_run() -> None:
    row = {"a": "idle", "b": "busy", "p": 0.001, "mad_ratio": 2.0, "mad_low": 1.5, "mad_high": 3.0}
    rows = [row, {**row, "mad_runs_low": 1.2, "mad_runs_high": 4.0}, {**row, "mad_low": 0.5}]
    (text,) = table_answers(STUDY, [Table("spread", "spreads", PAIRS, pd.DataFrame(rows))])
    assert "in 2 of 3 pairs of levels (1 of these within one run: another" in text


def test_an_interaction_is_judged_by_runs_too() -> None:
    row: dict[str, object] = {
        "a": "idle",
        "b": "busy",
        "first": "normal",
        "second": "real_time",
        "statistic": "mad",
        "first_ratio": 4.0,
        "second_ratio": 1.6,
        "ratio": 2.5,
        "low": 2.0,
        "high": 3.0,
    }
    assert said("spread_interaction", GROUPS, row).endswith(f"changes what load does {WITHIN}")
    chance = said("spread_interaction", GROUPS, row | {"runs_low": 0.4, "runs_high": 9.0})
    assert chance.endswith("is 2.50 [0.400 to 9.00], which may be chance")
    sure = said("spread_interaction", GROUPS, row | {"runs_low": 1.1, "runs_high": 9.0})
    assert sure.endswith("an interaction: priority changes what load does")


@pytest.mark.parametrize(
    ("row", "text"),
    [
        (
            {"shape": "line", "line_slope_low": 0.1},
            "it may be in proportion to size (at 0 the fit is 0 ns [-1 ns to 1",
        ),
        ({"shape": "line", "line_intercept_low": 0.5}, "it is not in proportion to size: at 0 "),
        ({"shape": "breakpoint"}, "it is not in proportion to size: the slope changes at 64.0 KiB"),
        ({"shape": "bend"}, "it is not in proportion to size: the slope changes"),
    ],
)
def test_what_the_slope_changes_in_is_not_in_proportion(row: dict[str, object], text: str) -> None:
    names = ("breakpoint", "below", "above", "intercept", "line_slope", "line_intercept")
    units = {"breakpoint": "B", "intercept": "ns", "line_intercept": "ns"}
    columns = (
        Column("points", "points", text="levels of size"),
        *(Column(name, name, units.get(name, "ms/MB"), "number") for name in names),
    )
    bounds = {f"{name}{end}": at for name in names for end, at in ENDS.items()}
    full = {**bounds, "breakpoint": 65536.0, "p": 0.001, "scatter": 0.49, **row}
    said_of = said("segmented", columns, full | {"in_proportion": in_proportion(full)})
    assert text in said_of
    assert said_of.count("in proportion") == 1


def test_a_slope_that_may_be_0_is_said_to_be_chance() -> None:
    names = ("line_slope", "line_intercept")
    columns = (
        Column("points", "points", text="levels of size"),
        *(Column(name, name, "ns", "number") for name in ("breakpoint", *names)),
    )
    bounds = {f"{name}{end}": at for name in names for end, at in ENDS.items()}
    full = {**bounds, "shape": "line", "scatter": 0.49}
    said_of = said("segmented", columns, full | {"in_proportion": in_proportion(full)})
    chance = "; that it grows at all may be chance: the scatter about the fit is 49 %"
    assert said_of.endswith(chance)


def test_only_one_line_may_be_in_proportion() -> None:
    holds = {"line_intercept_low": -1.0, "line_intercept_high": 1.0}
    holds |= {"line_slope_low": 0.1, "line_slope_high": 0.3}
    bent = {"intercept_low": -1.0, "intercept_high": 1.0}
    assert in_proportion({"shape": "line", **holds})
    assert not in_proportion({"shape": "line", **holds, "line_intercept_low": 0.5})
    assert not in_proportion({"shape": "line", **holds, "line_slope_low": -0.1})
    assert not in_proportion({"shape": "breakpoint", **holds, **bent})
    assert not in_proportion({"shape": "bend", **holds, **bent})
