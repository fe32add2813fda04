# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Imported logs of clocks at the cells of a recorded campaign, and the age of its points."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from measured_campaign import LIDAR, make_campaign
from strata_command import strata

from strata.campaign.model import Figure
from strata.show.html.campaign.dataflow import flow
from strata.show.html.campaign.figure_parts import figure_part
from strata.study.campaign_results import Results, open_results
from strata.study.clock_logs import clock_errors, monotonic_window, unlocked_ns
from strata.study.gather_report import gather
from strata.study.long_frames import long_frame
from strata.study.report_contents import Chart
from strata.study.stamp_modes import mode_at, modes_of, parse_mode
from strata.study.tables import table_of

S = 10**9
LINE = "ptp4l[{:.3f}]: master offset {:10d} s2 freq      +7 path delay      1900"
SYSTEM = "phc2sys[{:.3f}]: CLOCK_REALTIME phc offset {:9d} s2 freq      +7 delay   900"
COLUMNS = (0, 64, 128, 511)
COLUMN_NS = 195_312
"""Between two columns of 512 a turn, ten turns a second."""


@pytest.fixture
def campaign(tmp_path: Path, sample: Callable[[str], Path]) -> Results:
    """One finished cell of a lidar with PTP stamps, and another that did not run."""
    return make_campaign(tmp_path, LIDAR, {"test_cases/tc2": sample("cell_lidar")})


def cell_of(results: Results) -> Path:
    return results.study("test_cases").finished[0].directory


def write_log(place: Path, results: Results, line: str, offsets: dict[float, int]) -> Path:
    """Write offsets by seconds since the cell's begin, at the time when that was."""
    window = monotonic_window(cell_of(results))
    assert window is not None
    begin, _, boot = window
    times = {begin / S + at: offset for at, offset in offsets.items()}
    place.write_text("".join(line.format(at, offset) + "\n" for at, offset in times.items()))
    written = boot + round(max(times) * S)
    os.utime(place, ns=(written, written))
    return place


def imported(results: Results, *words: str | Path) -> Results:
    path = results.directory.path
    done = strata("campaign", "import", str(path), *map(str, words))
    assert done.returncode == 0, done.stderr
    return open_results(path)


def test_a_log_belongs_to_the_cells_that_ran_while_it_was_written(
    campaign: Results, tmp_path: Path
) -> None:
    # The cell lasts 5.4 s: 9,000 ns is before the last line before it, and 8,000 after its end.
    offsets = {-4.0: 9000, -2.0: 10, 1.0: -700, 2.0: 300, 7.0: 20, 9.0: 8000}
    ptp4l = write_log(tmp_path / "ptp4l.log", campaign, LINE, offsets)
    phc2sys = write_log(tmp_path / "phc2sys.log", campaign, SYSTEM, {-1.0: 5, 3.0: -60, 8.0: 9})
    results = imported(campaign, ptp4l, phc2sys)
    (error,) = clock_errors(results, "test_cases").values()
    assert (error.value_ns, error.is_whole) == (700 + 60, True)
    assert error.series == ("phc2sys CLOCK_REALTIME phc", "ptp4l master")
    for kind in ("summary", "intervals"):
        table = table_of(
            results, "test_cases", Figure(kind=kind, of="stamp_latency", rows="test_case")
        )
        assert set(table.frame["clock_error"]) == {0.76}
        assert any(one.startswith("+/- clocks: the largest |offset| of") for one in table.notes)
    frame = long_frame(results, "test_cases", "clock_offset")
    assert len(frame) == 9 and frame["test_case"].notna().sum() == 3
    assert set(frame["origin"]) == {"here"}
    # No other measure has the column.
    table = table_of(results, "test_cases", Figure(kind="summary", of="period", rows="test_case"))
    assert "clock_error" not in table.frame


def test_a_log_of_another_boot_belongs_to_no_cell(campaign: Results, tmp_path: Path) -> None:
    log = write_log(tmp_path / "ptp4l.log", campaign, LINE, {1.0: 5, 2.0: 6})
    os.utime(log)
    results = imported(campaign, log)
    assert clock_errors(results, "test_cases") == {}
    assert long_frame(results, "test_cases", "clock_offset").empty
    assert not any(part.title.startswith("clock") for part in _tables(results))


def test_a_log_at_a_place_is_taken_at_its_word(campaign: Results, tmp_path: Path) -> None:
    log = write_log(tmp_path / "ptp4l.log", campaign, LINE, {1.0: 5, 2.0: -60})
    os.utime(log)
    results = imported(campaign, log, "--as", "test_cases:test_case=tc2")
    (error,) = clock_errors(results, "test_cases").values()
    assert error.value_ns == 60


def test_the_log_of_a_master_is_imported_and_adds_no_error(
    campaign: Results, tmp_path: Path
) -> None:
    master = write_log(
        tmp_path / "ptp4l.log",
        campaign,
        "ptp4l[{:.3f}]: port 1 (eth0): assuming the grand master role",
        {-1.0: 0},
    )
    phc2sys = write_log(tmp_path / "phc2sys.log", campaign, SYSTEM, {-1.0: 5, 3.0: -60, 8.0: 9})
    results = imported(campaign, master, phc2sys)
    (error,) = clock_errors(results, "test_cases").values()
    assert (error.value_ns, error.series) == (60, ("phc2sys CLOCK_REALTIME phc",))
    found = [one.read_text() for one in results.directory.path.rglob("import.json")]
    assert sum("ptp4l is the master" in text for text in found) == 1
    table = table_of(
        results, "test_cases", Figure(kind="summary", of="stamp_latency", rows="test_case")
    )
    assert any("The sensor's own offset is not in it" in note for note in table.notes)


def test_a_report_shows_the_log_without_being_asked(campaign: Results, tmp_path: Path) -> None:
    offsets = {at / 2: 100 * (-1) ** at for at in range(12)}
    results = imported(campaign, write_log(tmp_path / "p.log", campaign, LINE, offsets))
    (table,) = (part for part in _tables(results) if part.kind == "clocks")
    (row,) = table.frame.to_dict("records")
    assert (row["clock"], row["count"], row["max"]) == ("ptp4l master", 12, 0.1)
    assert row["unlocked_s"] == 0 and row["gap_s"] == pytest.approx(0.5)
    parts = gather(results.directory.path).studies[0].parts
    charts = [part for part in parts if isinstance(part, Chart)]
    assert ("timeline", "clock_offset") in {(one.request.kind, one.measure.name) for one in charts}


def test_figures_of_stamps_have_the_error_of_their_cells(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    kinds = ("boxplot", "quantiles", "samples")
    asked = "".join(f"      - {{kind: {kind}, of: stamp_latency}}\n" for kind in kinds)
    text = f"{LIDAR}    figures:\n{asked}      - {{kind: samples, of: period}}\n"
    made = make_campaign(tmp_path, text, {"test_cases/tc2": sample("cell_lidar")})
    log = write_log(tmp_path / "p.log", made, LINE, {-1.0: 5, 3.0: -60_000, 8.0: 9})
    results = imported(made, log)
    (part,) = gather(results.directory.path).studies
    charts = [one for one in part.parts if isinstance(one, Chart)]
    cell = results.study("test_cases").finished[0].id
    for chart in charts:
        is_of_stamps = chart.measure.name == "stamp_latency"
        assert dict(chart.errors) == ({cell: 60_000.0} if is_of_stamps else {})
        captions = figure_part(chart, part.study, "place").caption
        assert any("(+-)" in caption for caption in captions) == is_of_stamps
    assert [chart.request.kind for chart in charts if chart.errors] == list(kinds)


def _tables(results: Results) -> list:
    contents = gather(results.directory.path)
    return [part for part in contents.studies[0].parts if not isinstance(part, Chart)]


def test_logs_beside_the_results_of_others_are_of_these(campaign: Results, tmp_path: Path) -> None:
    stamps = [(at * S // 10 + 7_000_000, at * S // 10) for at in range(20)]
    perf = tmp_path / "perf.txt"
    lines = ["recv_stamp,msg_stamp", *(f"{recv + S},{sent + S}" for recv, sent in stamps)]
    perf.write_text("\n".join(lines) + "\n")
    log = write_log(tmp_path / "ptp4l.log", campaign, LINE, {1.0: 5, 2.0: -60})
    place = ("--as", "test_cases:test_case=tc2", "--name", "theirs")
    results = imported(campaign, perf, log, *place)
    table = table_of(
        results, "test_cases", Figure(kind="summary", of="stamp_latency", rows="test_case")
    )
    errors = table.frame.set_index("origin")["clock_error"]
    assert errors["theirs"] == 0.06 and pd.isna(errors["here"])


@pytest.mark.parametrize(
    ("shift_s", "code", "says"),
    [
        (0, None, ""),
        (37, "stamps_of_tai", "-36.9 s: one clock has TAI"),
        (-37, "stamps_of_tai", "37.1 s: one clock has TAI"),
        (2, "stamps_ahead", "below 0: the stamps' clock is ahead"),
        # That is another clock altogether: there is no latency by such stamps.
        (-7200, None, ""),
    ],
)
def test_stamps_that_cannot_be_of_the_hosts_clock_are_a_finding(
    campaign: Results, shift_s: int, code: str | None, says: str
) -> None:
    file = cell_of(campaign) / "scenario/results/perf_points.csv"
    stamps = pd.read_csv(file)
    stamps["msg_stamp"] += shift_s * S
    stamps.to_csv(file, index=False)
    contents = gather(campaign.directory.path)
    found = {one.code: one for one in contents.findings if one.code.startswith("stamps_")}
    assert set(found) == ({code} if code else set())
    if code:
        assert says in found[code].text and found[code].cells == 1


def test_time_in_which_a_clock_is_not_locked() -> None:
    rows = pd.DataFrame({"t_ns": [0, 1, 2, 3, 13, 14], "state": [0, 1, 2, 2, 2, 2]})
    # Two steps before it was locked, and a gap.
    assert unlocked_ns(rows) == 2 + 10
    assert unlocked_ns(rows.assign(state=pd.NA)) is None


def note_columns(cell: Path) -> pd.DataFrame:
    """Write the times of columns as perf_node does; return its stamps."""
    results = cell / "scenario/results"
    stamps = pd.read_csv(results / "perf_points.csv")
    lines = [f"{scan},{one},{one * COLUMN_NS}" for scan in range(len(stamps)) for one in COLUMNS]
    text = "\n".join(["scan,column,t_ns", *lines])
    (results / "perf_points_columns.csv").write_text(text + "\n")
    return stamps


def test_the_age_of_points_is_reception_less_the_time_of_their_column(campaign: Results) -> None:
    stamps = note_columns(cell_of(campaign))
    results = open_results(campaign.directory.path)
    frame = long_frame(results, "test_cases", "point_age")
    assert frame["value"].dtype == np.int64
    assert len(frame) == (len(stamps) - 5) * len(COLUMNS)
    for row in frame.to_dict("records"):
        recv, sent = stamps.loc[row["number"], ["recv_stamp", "msg_stamp"]]
        assert row["value"] == recv - sent - row["column"] * COLUMN_NS
    table = table_of(results, "test_cases", Figure(kind="ages", rows="test_case"))
    (row,) = table.frame.to_dict("records")
    latency = (stamps["recv_stamp"] - stamps["msg_stamp"]).iloc[5:]
    assert row["oldest_p50"] == latency.median() and row["oldest_max"] == latency.max()
    assert row["spread"] == 511 * COLUMN_NS and row["newest_min"] == latency.min() - row["spread"]


@pytest.mark.parametrize(
    "mode", ["TIME_FROM_ROS_RECEPTION", "TIME_FROM_INTERNAL_OSC", "TIME_FROM_X"]
)
def test_stamps_that_allow_no_age_have_a_row_that_says_why(campaign: Results, mode: str) -> None:
    cell = cell_of(campaign)
    note_columns(cell)
    manifest = json.loads((cell / "manifest.json").read_text())
    manifest["scenario"]["settings"]["timestamp_mode"] = mode
    (cell / "manifest.json").write_text(json.dumps(manifest))
    results = open_results(campaign.directory.path)
    assert long_frame(results, "test_cases", "point_age").empty
    table = table_of(results, "test_cases", Figure(kind="ages", rows="test_case"))
    (row,) = table.frame.to_dict("records")
    assert row["mode"] == mode.removeprefix("TIME_FROM_") and row["why"]
    assert "oldest_p50" not in table.frame
    # Nor has their latency the error of two clocks.
    assert clock_errors(results, "test_cases") == {}


def test_stamp_modes_come_from_the_settings_of_cells(campaign: Results) -> None:
    modes = modes_of(campaign, "test_cases")
    assert {mode.name: levels for mode, levels in modes.items()} == {
        "PTP_1588": [{"test_case": "tc2"}, {"test_case": "tc3"}]
    }
    found = mode_at(campaign, "test_cases", {"test_case": "tc3"})
    assert found is not None and found.where.startswith("sensor, at the first column of the scan")
    closed = parse_mode({"timestamp_mode": "TIME_FROM_ROS_RECEPTION", "closing": "next"})
    assert closed is not None and "the first packet of the next scan" in closed.where
    assert parse_mode({"rate": 10}) is None


def test_the_drawing_shows_where_stamps_are_taken(campaign: Results) -> None:
    study = gather(campaign.directory.path).studies[0]
    drawn = flow(study.present_layers, {study.study.name: study.stamps})
    assert drawn is not None
    assert [(one.name, one.mode, one.cells) for one in drawn.stamps] == [
        ("msg_stamp", "PTP_1588", "all of test_cases"),
        ("recv_stamp", "", ""),
    ]
    assert flow(study.present_layers).stamps == ()
