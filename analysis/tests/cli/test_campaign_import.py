# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign import`: campaign A's own data in our figures, and what is refused."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner
from strata_command import strata

from strata.campaign.directory import open_directory
from strata.cli.campaign_import import command
from strata.errors import CampaignError, StrataError
from strata.stats.summary import describe
from strata.study.campaign_results import open_results
from strata.study.imported_results import SUMMARIES, imported_frame, read_imports

DATA = Path(__file__).parents[1] / "campaigns" / "data"
CASES = ("tc-01-2048x10", "tc-02-512x10", "tc-03-1024x10", "tc-04-1024x10", "tc-05-1024x10")

# Median, MAD, mean, std (n - 1), min, max in ms, computed from the raw data by another program.
RIGHT = {
    ("tc1", "period"): (128.174, 14.007, 108.399, 38.795, 22.504, 275.481),
    ("tc1", "sent_period"): (100.001, 3.064, 108.114, 52.255, 0.781, 305.468),
    ("tc1", "stamp_latency"): (1455.072, 39.688, 1445.436, 65.089, 1112.399, 1588.456),
    ("tc2", "period"): (99.987, 0.459, 100.013, 4.003, 81.976, 118.057),
    ("tc2", "sent_period"): (99.999, 0.043, 99.998, 0.068, 99.678, 100.284),
    ("tc2", "stamp_latency"): (132.086, 0.327, 131.633, 2.930, 115.987, 141.478),
    ("tc3", "period"): (100.206, 12.595, 99.992, 14.286, 69.359, 131.822),
    ("tc3", "sent_period"): (99.999, 0.042, 100.000, 0.071, 99.723, 100.246),
    ("tc3", "stamp_latency"): (131.483, 7.144, 130.347, 8.143, 114.474, 147.851),
    ("tc4", "period"): (101.392, 13.549, 100.000, 15.042, 71.789, 132.708),
    ("tc4", "sent_period"): (100.002, 0.129, 100.001, 0.260, 97.634, 102.389),
    ("tc4", "stamp_latency"): (26.965, 7.145, 24.620, 8.555, 7.990, 45.079),
    ("tc5", "period"): (100.102, 6.436, 99.987, 8.009, 80.368, 124.105),
    ("tc5", "sent_period"): (100.000, 0.075, 100.001, 0.138, 98.923, 100.774),
    ("tc5", "stamp_latency"): (18.164, 4.256, 17.596, 4.982, 4.953, 34.753),
}
CAMERA = """\
question: What does a middleware do to images?
studies:
  middleware:
    question: What does a middleware do to images?
    scenario: camera_720p30
    factors:
      configuration: {levels: {720p30: {}, 1080p60: {scenario: camera_1080p60}}}
      middleware: {levels: {cyclonedds_iceoryx: {also: [cyclonedds]}, zenoh: {}}}
"""
NAMES = ("p50", "mad", "mean", "std", "min", "max")
MS = 1_000_000

STAMPS = "recv_stamp,msg_stamp\n" + "".join(
    f"{1587228153000000000 + i * 100000000 + 5000000},{1587228153000000000 + i * 100000000}\n"
    for i in range(4)
)


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The five raw files of campaign A, as they were published."""
    place = tmp_path_factory.mktemp("originals")
    files = []
    for name in CASES:
        files.append(place / f"{name}.txt")
        files[-1].write_bytes(lzma.decompress((DATA / f"{name}.csv.xz").read_bytes()))
    return files


def places() -> list[str]:
    """--as for each of the five files, in their order."""
    return [word for number in range(1, 6) for word in ("--as", f"test_cases:test_case=tc{number}")]


@pytest.fixture(scope="module")
def imported(originals: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign that holds campaign A's own data alone."""
    target = tmp_path_factory.mktemp("campaign") / "ouster"
    done = strata(
        "campaign", "import", target, *originals, "--new", "ouster", "--name", "2020", *places()
    )
    assert done.returncode == 0, done.stderr
    assert f"Wrote {target}/imported/2020 (5 files, 5 runs, 14,995 values)" in done.stderr
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines), max(lines, key=len)
    assert "2020: tc-01-2048x10.txt (perf_node), test_cases: test_case tc1" in lines
    return target


@pytest.fixture
def frame(imported: Path) -> Callable[[str], pd.DataFrame]:
    """The imported values of a measure."""
    campaign = open_directory(imported).loaded.campaign
    return lambda measure: imported_frame(read_imports(imported), campaign, "test_cases", measure)


def test_the_report_says_how_many_scans_the_first_test_case_lost(imported: Path) -> None:
    done = strata("campaign", "report", imported, "--format", "json")
    assert done.returncode == 0, done.stderr
    tables = [one for study in json.loads(done.stdout)["studies"] for one in study["tables"]]
    (grid,) = [one for one in tables if one["kind"] == "summary" and one["measure"] == "grid_loss"]
    shares = {row["test_case"]: row["mean"] for row in grid["rows"]}
    # 81 of the 1081 places of the grid have no scan; of the others none is empty.
    assert shares == {"tc1": pytest.approx(100 * 81 / 1081)} | dict.fromkeys(
        ("tc2", "tc3", "tc4", "tc5"), 0.0
    )
    text = strata("campaign", "report", imported, "--format", "text").stdout
    rows = [line.split() for line in text.split("Grid loss (%)")[1].splitlines()]
    first = next(words for words in rows if words[:2] == ["tc1", "2020"])
    assert "7.49" in first


def test_campaign_a_in_our_figures(frame: Callable[[str], pd.DataFrame]) -> None:
    for (case, measure), right in RIGHT.items():
        made = frame(measure)
        chosen = made[(made["test_case"] == case) & (made["statistic"] == "each")]
        statistics = describe(chosen["value"].to_numpy())
        assert statistics["count"] == (1000 if measure == "stamp_latency" else 999)
        assert [
            round(float(statistics[name] or 0) / (1 if name == "count" else MS), 3)
            for name in NAMES
        ] == list(right)


def test_the_scans_that_test_case_1_lost_show(frame: Callable[[str], pd.DataFrame]) -> None:
    lost = frame("grid_loss").set_index("test_case")["value"]
    # 1000 of the 1081 scans from the first stamp to the last.
    assert lost["tc1"] == pytest.approx(100 * 81 / 1081)
    assert list(lost[["tc2", "tc3", "tc4", "tc5"]]) == [0.0] * 4


def test_jitter_is_what_the_nominal_rate_leaves_of_a_period(
    frame: Callable[[str], pd.DataFrame],
) -> None:
    jitter, period = frame("jitter"), frame("period")
    assert list(jitter["value"]) == list(abs(period["value"] - 100 * MS))
    assert jitter["value"].dtype == period["value"].dtype == "int64"
    assert list(jitter["number"]) == list(period["number"])


def test_an_imported_frame_has_the_campaigns_factors(frame: Callable[[str], pd.DataFrame]) -> None:
    made = frame("period")
    assert list(made.columns) == [
        *("test_case", "repetition", "cell", "number", "value", "origin", "statistic", "count")
    ]
    assert made["test_case"].dtype.ordered
    assert list(made["test_case"].cat.categories)[:2] == ["tc1", "tc1_cured"]
    assert set(made["origin"]) == {"2020"}
    assert frame("latency").empty
    assert made["cell"].iloc[0] == "imported/2020/test_cases/tc1/r1"


def test_campaign_a_in_our_report(imported: Path) -> None:
    done = strata("campaign", "report", imported, "--format", "text")
    assert done.returncode == 0, done.stderr
    rows = [tuple(line.split()) for line in done.stdout.splitlines()]
    # Period, then latency: n, runs, min, p25, median, p75, MAD, mean.
    period = ("tc1", "2020", "999", "1", "22.5", "76.9", "128", "138", "14.0", "108")
    assert period in {row[:10] for row in rows}
    four = ("tc4", "2020", "1,000", "1", "7.99", "16.1", "27.0", "31.9", "7.14", "24.6")
    five = ("tc5", "2020", "1,000", "1", "4.95", "13.8", "18.2", "22.4", "4.26", "17.6")
    assert {four, five} <= {row[:10] for row in rows}
    # The sensor's stamps are steady to some us: three digits would say 100 in every column.
    stamps = {row[4:] for row in rows if row[:4] == ("tc4", "2020", "999", "1")}
    assert any("97.634" in row and "100.002" in row for row in stamps)
    assert any("102.389" in row for row in (row for row in rows if row[:2] == ("tc4", "2020")))
    # What the original never tested: its fifth test case against the fourth.
    pairs = [row[3:] for row in rows if row[:3] == ("2020", "tc4", "tc5")]
    assert sum(pairs, ())[:5] == ("-7.76", "-8.37", "-6.91", "-28.8", "%")
    # The medians' intervals, which allow for neighbours that depend on each other.
    medians = {row[0]: row[5:8] for row in rows if row[2:5] == ("median", "95", "%")}
    assert medians["tc4"] == ("27.0", "26.2", "28.2")
    assert medians["tc5"] == ("18.2", "17.0", "18.3")


def test_levels_that_only_an_import_has_stand_in_figures(imported: Path) -> None:
    factor = open_results(imported).study("test_cases").factor("test_case")
    assert factor is not None
    assert factor.levels == ("tc1", "tc2", "tc3", "tc4", "tc5")


def test_the_files_are_kept_byte_for_byte(imported: Path, originals: list[Path]) -> None:
    document = json.loads((imported / "imported" / "2020" / "import.json").read_text())
    for original, entry in zip(originals, document["files"], strict=True):
        kept = (imported / "imported" / "2020" / entry["file"]).read_bytes()
        assert kept == original.read_bytes()
        assert hashlib.sha256(kept).hexdigest() == entry["sha256"]


def test_an_import_is_replaced_only_by_force(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(STAMPS)
    target = tmp_path / "campaign"
    first = CliRunner().invoke(command, [str(target), str(file), "--new", "ouster"])
    assert first.exit_code == 0, first.output
    again = strata("campaign", "import", target, file)
    assert again.returncode == 1
    assert f"Cannot write {target}/imported/a: it exists already" in again.stderr
    file.write_text(STAMPS.replace("005000000,", "006000000,"))
    forced = strata("campaign", "import", target, file, "--force", "--json")
    assert forced.returncode == 0, forced.stderr
    (run,) = json.loads(forced.stdout)["imports"][0]["runs"]
    latency = next(one for one in run["measures"] if one["measure"] == "stamp_latency")
    assert latency["statistics"]["max"] == 6.0
    assert run["study"] is None
    (target / "imported/a/notes.txt").write_text("mine")
    kept = strata("campaign", "import", target, file, "--force")
    assert kept.returncode == 1
    assert "it holds notes.txt, which no import wrote" in kept.stderr
    assert (target / "imported/a/notes.txt").read_text() == "mine"
    assert [one.name for one in read_imports(target)] == ["a"]
    assert sorted(path.name for path in (target / "imported").iterdir()) == ["a"]


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ((), "it holds no campaign"),
        (("--new", "ouster", "--as", "cases:test_case=tc1"), "there is no study 'cases'"),
        (("--new", "ouster", "--as", "test_cases:case=tc1"), "has no factor 'case'"),
        (("--new", "ouster", "--as", "test_cases:test_case=tc99"), "has no level 'tc99'"),
        (("--new", "ouster", "--as", "test_cases:test_case={mode}"), "has no fact called 'mode'"),
        (("--new", "ouster", "--as", "test_cases"), "factor test_case of study test_cases is not"),
        (("--new", "ouster", "--as", "test_cases:tc1"), "'tc1' names no level"),
        (("--new", "ouster", "--name", "here"), "Cannot name an import 'here'"),
        (("--new", "ouster", "--name", "../x"), "Cannot name an import '../x'"),
        (("--new", "ouster", "--as", "a", "--as", "b"), "--as is given 2 times"),
        (("--new", "ouster", "--format", "gscam_stress"), "line 1 is 'recv_stamp,msg_stamp'"),
    ],
)
def test_what_cannot_be_imported_leaves_nothing(
    tmp_path: Path, options: tuple[str, ...], fact: str
) -> None:
    file = tmp_path / "a.txt"
    file.write_text(STAMPS)
    words = [str(tmp_path / "campaign"), str(file), *options]
    done = CliRunner().invoke(command, words)
    assert isinstance(done.exception, StrataError)
    assert fact in str(done.exception)
    assert done.stdout == ""
    assert not (tmp_path / "campaign").exists()


def test_facts_of_a_run_choose_its_level(tmp_path: Path) -> None:
    header = (
        "timestamp,width,height,fps,byte_rate,message_rate,frame_loss_pct,latency_avg_ms,"
        "latency_min_ms,latency_max_ms"
    )
    files = []
    for middleware in ("cyclonedds", "zenoh"):
        (tmp_path / middleware).mkdir()
        files.append(tmp_path / middleware / f"{middleware}.csv")
        row = "2025-10-22_14-32-07,1920,1080,60,373248000.00,60.00,0.00,5.012,2.000,9.000"
        files[-1].write_text(f"{header}\n{row}\n")
    target = tmp_path / "campaign"
    level = "middleware:configuration={height}p{fps},middleware={directory}"
    (tmp_path / "camera.yaml").write_text(CAMERA)
    words = [target, *files, "--new", tmp_path / "camera.yaml", "--name", "october", "--as", level]
    done = CliRunner().invoke(command, list(map(str, words)))
    assert done.exit_code == 0, done.output
    campaign = open_directory(target).loaded.campaign
    made = imported_frame(read_imports(target), campaign, "middleware", "shortfall")
    assert list(made["configuration"]) == ["1080p60", "1080p60"]
    assert list(made["middleware"]) == ["cyclonedds_iceoryx", "zenoh"]
    # Of each second there is a mean, which is no message's latency.
    assert imported_frame(read_imports(target), campaign, "middleware", "latency").empty
    ranges = imported_frame(read_imports(target), campaign, "middleware", "latency", SUMMARIES)
    assert set(ranges["statistic"]) == {"interval_min", "interval_mean", "interval_max"}
    assert sorted(ranges["value"]) == [2 * MS, 2 * MS, 5_012_000, 5_012_000, 9 * MS, 9 * MS]
    assert imported_frame(read_imports(target), campaign, "middleware", "loss").empty


def test_a_damaged_import_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(STAMPS)
    target = tmp_path / "campaign"
    made = CliRunner().invoke(command, [str(target), str(file), "--new", "ouster"])
    assert made.exit_code == 0, made.output
    document = target / "imported" / "a" / "import.json"
    document.write_text(document.read_text()[:40])
    with pytest.raises(CampaignError, match="Import the files again"):
        read_imports(target)
