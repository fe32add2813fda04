# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of spreads, segmented fits, neighbouring pairs and three factors, of planted latencies."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from measured_campaign import made, make_campaign
from rich.console import Console
from statsmodels.stats.multitest import multipletests

from strata.show.document.campaign import document, sheets
from strata.show.html.campaign.page import render_page
from strata.show.terminal.campaign import print_contents
from strata.study import segmented_fits
from strata.study.campaign_results import HERE, Results, open_results
from strata.study.gather_report import gather
from strata.study.report_contents import Chart

SIZES = [2**power for power in range(10, 22)]
BREAKPOINT, BELOW, ABOVE, INTERCEPT = 70_000, 0.2, 1.5, 3e5
"""In ns and B: slopes are ns per B, which are ms per MB."""

TEXT = f"""\
question: What do size and load do?
studies:
  sizes:
    question: What does the size do?
    scenario: messages
    duration: 150
    measured: {{topic: /messages}}
    factors:
      transport: {{levels: {{bent: {{}}, straight: {{}}}}}}
      size: {{set: size, unit: B, levels: {SIZES}}}
    figures:
      - {{kind: curve, of: latency, statistic: p50, x: size, by: transport, fit: segmented}}
      - {{kind: segmented, of: latency, over: size, within: transport}}
      - {{kind: curve, of: latency, statistic: p50, x: size, fit: segmented}}
      - {{kind: pairs, of: latency, over: size, within: transport, consecutive: true}}
      - {{kind: spread, of: latency, over: size, within: transport, consecutive: true}}
  loads:
    question: What does load do?
    scenario: messages
    duration: 150
    repetitions: 2
    measured: {{topic: /messages}}
    factors:
      priority: {{levels: {{normal: {{}}, real_time: {{}}}}}}
      load: {{levels: {{idle: {{}}, busy: {{}}}}}}
      size: {{set: size, unit: B, levels: [1024, 65536]}}
    figures:
      - {{kind: spread, of: latency, over: load, within: [priority, size]}}
      - {{kind: spread_interaction, of: latency, over: load, by: priority, within: size}}
      - {{kind: anova, of: latency, factors: [priority, load, size]}}
"""
WIDTHS = {("normal", "busy"): 4.0, ("real_time", "busy"): 1.6}
"""Standard deviations in units of that of idle cells, 0.02 ms."""


def latencies(study: str, levels: dict[str, str], count: int, random: np.random.Generator):
    """Planted latencies in ns of one cell."""
    size = float(levels["size"])
    if study == "sizes":
        bent = levels["transport"] == "bent"
        middle = INTERCEPT + BELOW * size
        middle += (ABOVE - BELOW) * max(0, size - BREAKPOINT) if bent else 0
        # Beyond 64 KiB the bent one is three times as wide.
        width = 0.02 * INTERCEPT * (3 if bent and size > 65536 else 1)
        return middle * random.normal(1, 0.01) + random.normal(0, width, count)
    width = 0.02e6 * WIDTHS.get((levels["priority"], levels["load"]), 1.0)
    middle = 1e6 + (0.01e6 if levels["load"] == "busy" else 0) + size
    return middle + random.normal(0, width, count)


@pytest.fixture(scope="module")
def planted(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    session = sample("cell_messages_shm")
    made = make_campaign(tmp_path_factory.mktemp("planted"), TEXT, {"": session})
    return replanted(made)


def replanted(results: Results) -> Results:
    """Give every cell its planted latencies: 300 of them, and 200 where the machine is busy."""
    for at, outcome in enumerate(results.outcomes):
        path = outcome.directory / "measured" / "transfers.parquet"
        random = np.random.default_rng(at)
        rows = pd.read_parquet(path)
        count = 200 if outcome.cell.levels.get("load") == "busy" else 300
        rows = rows.iloc[np.arange(count) % len(rows)].reset_index(drop=True)
        rows["number"] = np.arange(count)
        values = latencies(outcome.cell.study, outcome.cell.levels, len(rows), random)
        rows["latency_ns"] = np.rint(values).astype(np.int64)
        rows.to_parquet(path, index=False)
    return open_results(results.directory.path)


def test_a_breakpoint_is_found_where_it_was_planted(planted: Results) -> None:
    table = made(planted, "sizes", "segmented", of="latency", over="size", within="transport")
    bent, straight = table.frame.to_dict("records")
    assert (bent["transport"], bent["shape"], bent["points"]) == ("bent", "breakpoint", 12)
    assert bent["breakpoint_low"] < BREAKPOINT < bent["breakpoint_high"]
    assert bent["below_low"] < BELOW < bent["below_high"] < bent["above_low"] < ABOVE
    assert bent["above_high"] > ABOVE
    assert bent["above"] == pytest.approx(ABOVE, rel=0.1)
    assert bent["intercept"] == pytest.approx(INTERCEPT, rel=0.03)
    assert not bent["in_proportion"]
    assert (straight["transport"], straight["shape"]) == ("straight", "line")
    assert straight["line_slope"] == pytest.approx(BELOW, rel=0.1)
    units = {column.name: column.unit for column in table.columns}
    assert (units["below"], units["breakpoint"], units["intercept"]) == ("ms/MB", "B", "ns")
    assert any(note.startswith("The point of bent furthest off") for note in table.notes)


def test_a_fit_needs_numbers_and_levels(planted: Results) -> None:
    few = made(planted, "loads", "segmented", of="latency", over="size")
    assert "there are 2, and at least 6 are needed" in few.empty
    named = made(planted, "loads", "segmented", of="latency", over="load")
    assert named.empty == "load is no factor of numbers"


def test_only_neighbours_are_compared_by_number(planted: Results) -> None:
    asked = {"of": "latency", "over": "size", "within": "transport"}
    table = made(planted, "sizes", "pairs", **asked, consecutive=True)
    pairs = list(zip(table.frame["a"], table.frame["b"], strict=True))
    assert pairs == [(str(a), str(2 * a)) for a in SIZES[:-1]] * 2
    every = made(planted, "sizes", "pairs", **asked, where={"size": SIZES[:4]})
    assert len(every.frame) == 2 * 6
    # Of the same pair the shift is the same, and the correction is for fewer of them.
    one = every.frame.query("transport == 'bent' and a == '1024' and b == '2048'").iloc[0]
    assert table.frame["shift"].iloc[0] == one["shift"]
    labels = {column.name: column.label for column in table.columns}
    assert labels["mean_p"] == "p (Welch, Holm)"
    large = table.frame.query("transport == 'bent' and a == '1048576'").iloc[0]
    assert large["shift"] == pytest.approx(ABOVE * 2**20, rel=0.1)
    assert large["mean_low"] < large["mean_difference"] < large["mean_high"]
    assert large["mean_p"] < 1e-6
    # A level without values is no neighbour: those on both sides of it are.
    gap = made(planted, "sizes", "pairs", **asked, consecutive=True, where={"size": [1024, 4096]})
    assert list(zip(gap.frame["a"], gap.frame["b"], strict=True)) == [("1024", "4096")] * 2


def test_the_spread_is_wider_where_it_was_planted(planted: Results) -> None:
    asked = {"of": "latency", "over": "size", "within": "transport"}
    table = made(planted, "sizes", "spread", **asked, consecutive=True).frame
    assert len(table) == 2 * (len(SIZES) - 1)
    wider = table[table["p"] < 0.05]
    assert [(row.transport, row.a, row.b) for row in wider.itertuples()] == [
        ("bent", "65536", "131072")
    ]
    row = wider.iloc[0]
    for name in ("mad", "std"):
        assert row[f"{name}_low"] < 3 < row[f"{name}_high"]
        assert row[f"{name}_ratio"] == pytest.approx(row[f"{name}_b"] / row[f"{name}_a"])
    assert "mad_runs_low" not in table, "one run of each level has no interval of runs"


def test_an_interaction_of_spread_is_a_ratio_of_ratios(planted: Results) -> None:
    spread = made(
        planted, "loads", "spread", of="latency", over="load", within=["priority", "size"]
    )
    normal = spread.frame[spread.frame["priority"] == "normal"]
    assert ((normal["mad_low"] < 4) & (normal["mad_high"] > 4)).all()
    assert (spread.frame["runs"] == "2 and 2").all()
    assert (normal["std_runs_low"] < 4.4).all() and (normal["std_runs_high"] > 3.6).all()
    table = made(
        planted,
        "loads",
        "spread_interaction",
        of="latency",
        over="load",
        by="priority",
        within="size",
    )
    assert len(table.frame) == 2 * 2
    for row in table.frame.to_dict("records"):
        assert (row["a"], row["b"]) == ("idle", "busy")
        assert (row["first"], row["second"]) == ("normal", "real_time")
        assert row["ratio"] == pytest.approx(row["first_ratio"] / row["second_ratio"])
        assert row["low"] < 4.0 / 1.6 < row["high"]
        assert row["low"] > 1
        assert row["runs"] == "2, 2, 2, 2"
    assert not any("levels of priority" in note for note in table.notes)
    one = made(
        planted,
        "loads",
        "spread_interaction",
        of="latency",
        over="load",
        by="priority",
        where={"priority": "normal"},
    )
    assert "do not have two levels each" in one.empty


def test_three_factors_and_levels_that_are_missing(
    sample: Callable[[str], Path], tmp_path: Path, planted: Results
) -> None:
    factors = ["priority", "load", "size"]
    table = made(planted, "loads", "anova", of="latency", factors=factors)
    terms = table.frame.set_index("term")
    assert terms.index.tolist()[-2:] == ["priority:load:size", "Residual"]
    assert len(terms) == 8
    assert terms.loc["size", "eta_sq"] > 0.3
    assert terms.loc["load", "p"] < 1e-6
    assert terms.loc["Residual", "df"] == 4 * 2 * (300 + 200) - 8, "groups of unequal counts"
    assert terms.loc["Residual", "runs_df"] == 8
    words = next(column for column in table.columns if column.name == "term").texts
    assert words["priority:load:size"] == "priority x load x size"
    # No right to real-time priority: one level of it is left, and so two factors.
    where = {"priority": "normal"}
    two = made(planted, "loads", "anova", of="latency", factors=factors, where=where)
    assert two.frame["term"].tolist() == ["load", "size", "load:size", "Residual"]
    assert "priority left out: all values are of normal." in two.notes
    # A cell of real_time that failed: that level is left out, and then the factor.
    sessions = dict.fromkeys(
        ("loads/normal", "loads/real_time+idle", "loads/real_time+busy+1024"),
        sample("cell_messages_shm"),
    )
    gone = make_campaign(tmp_path, TEXT, sessions)
    left = made(gone, "loads", "anova", of="latency", factors=factors)
    assert left.frame["term"].tolist() == ["load", "size", "load:size", "Residual"]
    assert "priority real_time left out: not measured with every load and size." in left.notes
    assert "priority left out: all values are of normal." in left.notes


def test_the_same_fit_has_the_same_shape_in_table_and_curve(planted: Results) -> None:
    sizes = gather(planted.directory.path).studies[0]
    apart, together = (one for one in sizes.parts if isinstance(one, Chart))
    (table,) = (one for one in sizes.tables.values() if one.kind == "segmented")
    assert set(apart.fits) == {("bent", HERE), ("straight", HERE)}
    assert set(together.fits) == {(HERE,)}
    fits = {level: apart.fits[level, HERE] for level in ("bent", "straight")}
    for row in table.frame.to_dict("records"):
        assert (fits[row["transport"]].p, fits[row["transport"]].shape) == (row["p"], row["shape"])
    # Those of the table and of the first curve are the same two: there are three in all.
    every = [*fits.values(), together.fits[HERE,]]
    corrected = multipletests([one.points.fit.p for one in every], method="holm")[1]
    assert [one.p for one in every] == pytest.approx(list(corrected))
    assert len({one.points.key for one in every}) == 3


def test_no_fit_is_computed_while_a_page_is_drawn(
    planted: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = gather(planted.directory.path)

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a page computed a fit")

    monkeypatch.setattr("strata.stats.segmented.fit_segmented", refused)
    segmented_fits._fit.cache_clear()
    with pytest.raises(AssertionError, match="computed a fit"):
        gather(planted.directory.path)
    assert "two straight lines that meet at a breakpoint" in render_page(contents)


def test_answers_page_and_files_have_them(planted: Results) -> None:
    contents = gather(planted.directory.path)
    said = {part.study.name: " ".join(part.answer) for part in contents.studies}
    assert "transport bent: the median latency by size grows by" in said["sizes"]
    assert "not in proportion to size: the slope changes at " in said["sizes"]
    assert "transport straight: the median latency by size has no breakpoint" in said["sizes"]
    assert "differs by more than chance in 1 of 22 pairs of neighbouring levels" in said["sizes"]
    assert "the furthest apart are 64 KiB and 128 KiB" in said["sizes"]
    assert "an interaction: priority changes what load does" in said["loads"]
    files = sheets(contents)
    assert "below_ms_per_mb" in files["sizes.1_segmented_latency"].columns
    assert len(files["loads.2_spread_interaction_latency"].rows) == 4
    page = render_page(contents)
    assert "two straight lines that meet at a breakpoint" in page
    assert "In 1 of 2 curves no breakpoint is supported" in page
    console = Console(file=io.StringIO(), width=100)
    print_contents(contents, console)
    text = console.file.getvalue()
    assert "Median latency by size: slopes and breakpoint (ms, ms/MB)" in text
    tables = json.loads(json.dumps(document(contents)))["studies"][0]["tables"]
    (table,) = (one for one in tables if one["kind"] == "segmented")
    assert table["rows"][0]["shape"] == "breakpoint"
