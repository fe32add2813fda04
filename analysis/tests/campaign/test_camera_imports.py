# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of gscam_stress fill every table of the camera's campaign that their columns allow."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from strata.campaign.model import Figure
from strata.cli.campaign_import import command as import_command
from strata.cli.campaign_report import command as report_command
from strata.study.campaign_results import Results, open_results
from strata.study.long_frames import long_frame
from strata.study.tables import Table, table_of

SECONDS = 60
HEAD = (
    "timestamp,width,height,fps,byte_rate,message_rate,frame_loss_pct,latency_avg_ms,"
    "latency_min_ms,latency_max_ms"
)
SUMMARY_HEAD = (
    "rmw_type,config,resolution,fps,data_rate_mbps,avg_frame_loss_pct,max_frame_loss_pct,"
    "avg_latency_ms,max_latency_ms,avg_message_rate,test_duration_sec,timestamp"
)
SIZES = {"720p30": (1280, 720, 30), "1080p60": (1920, 1080, 60), "2160p60": (3840, 2160, 60)}
# Of each: images missed in each of the first seconds, and the mean latency, ms.
RUNS = {
    ("cyclonedds", "720p30"): ((), 1.6),
    ("cyclonedds", "1080p60"): ((1,), 5.0),
    ("cyclonedds", "2160p60"): ((3, 3), 16.7),
    ("zenoh", "720p30"): ((), 2.6),
    ("zenoh", "1080p60"): ((), 4.4),
    ("zenoh", "2160p60"): ((13,) * SECONDS, 27.3),
}
LEVELS = {"cyclonedds": "cyclonedds_iceoryx", "zenoh": "zenoh_shm_512m"}


def run_text(configuration: str, missed: tuple[int, ...], latency: float) -> str:
    width, height, fps = SIZES[configuration]
    lines = [HEAD]
    for second in range(SECONDS):
        lost = missed[second] if second < len(missed) else 0
        got = fps - lost
        # Means of seconds that differ, and have the mean that is asked for.
        mean = latency + (0.01 if second % 2 else -0.01)
        lines.append(
            f"2025-10-22_14-00-{second:02},{width},{height},{fps},{got * width * height * 3:.2f},"
            f"{got:.2f},{100 * lost / fps:.10f},{mean:.4f},{mean - 0.5:.4f},{mean + 2:.4f}"
        )
    return "\n".join(lines) + "\n"


def shortfall(rmw: str, configuration: str) -> float:
    """Give what was asked for and did not come, in percent."""
    missed, fps = sum(RUNS[rmw, configuration][0]), SIZES[configuration][2]
    return 100.0 * missed / (SECONDS * fps)


def invoke(command: object, *words: str) -> str:
    done = CliRunner().invoke(command, words)  # type: ignore[arg-type]
    assert done.exit_code == 0, done.output
    return done.stdout


def import_runs(base: Path, runs: dict[tuple[str, str], tuple[tuple[int, ...], float]]) -> Path:
    """Write the files of runs, and a campaign that imports them."""
    files = []
    for (rmw, configuration), (missed, latency) in runs.items():
        file = base / rmw / f"{rmw}_{configuration}.csv"
        file.parent.mkdir(exist_ok=True)
        file.write_text(run_text(configuration, missed, latency))
        files.append(str(file))
    place = "middleware:configuration={height}p{fps},middleware={directory}"
    campaign = base / "campaign"
    invoke(import_command, str(campaign), *files, "--new", "camera", "--name", "own", "--as", place)
    return campaign


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return import_runs(tmp_path_factory.mktemp("camera"), RUNS)


@pytest.fixture(scope="module")
def results(directory: Path) -> Results:
    return open_results(directory)


def table(results: Results, kind: str, **asked: object) -> Table:
    figure = Figure.model_validate({"kind": kind, **asked})
    return table_of(results, "middleware", figure)


def test_the_loss_table_has_the_shortfall_and_says_so(results: Results) -> None:
    rows = ["configuration", "middleware"]
    made = table(results, "loss", rows=rows, over="middleware", classes=True)
    found = {
        (row["middleware"], row["configuration"]): row for row in made.frame.to_dict("records")
    }
    assert len(found) == len(RUNS)
    for (rmw, configuration), (missed, _) in RUNS.items():
        row, fps = found[LEVELS[rmw], configuration], SIZES[configuration][2]
        assert (row["origin"], row["class_of"]) == ("own", "shortfall")
        assert (row["asked"], row["received"]) == (SECONDS * fps, SECONDS * fps - sum(missed))
        assert row["shortfall"] == pytest.approx(shortfall(rmw, configuration), abs=1e-6)
    seen = {key: (row["class"], row["seen"]) for key, row in found.items()}
    # 1,800 images without a loss are too few for excellent, 3,600 are not; one lost of them is.
    assert seen["zenoh_shm_512m", "720p30"] == ("good", "excellent")
    assert seen["zenoh_shm_512m", "1080p60"] == ("excellent", "excellent")
    assert seen["cyclonedds_iceoryx", "1080p60"] == ("good", "excellent")
    assert seen["cyclonedds_iceoryx", "2160p60"] == ("good", "good")
    assert seen["zenoh_shm_512m", "2160p60"] == ("severe", "severe")
    best = {row["configuration"]: row["lost_least"] for row in found.values()}
    assert best == {"720p30": "tie", "1080p60": "tie", "2160p60": "cyclonedds_iceoryx"}
    # What was published is not known, so there is no loss.
    assert "loss" not in made.frame or made.frame["loss"].isna().all()


def test_boundaries_are_by_data_rate(results: Results) -> None:
    made = table(results, "boundaries", of="loss", over="configuration", by="middleware")
    rows = {(row["middleware"], row["class"]): row for row in made.frame.to_dict("records")}
    good = rows["zenoh_shm_512m", "good"]
    assert (good["up_to"], good["next"], good["of"]) == ("1080p60", "2160p60", "shortfall")
    assert good["up_to_rate"] == pytest.approx(1920 * 1080 * 3 * 60 / 1e6)
    assert good["next_rate"] == pytest.approx(3840 * 2160 * 3 * 60 / 1e6)
    excellent = rows["zenoh_shm_512m", "excellent"]
    assert excellent["undecided"] == "720p30"
    # The lower data rate is passed over: more images came at the higher one, and none was lost.
    assert (excellent["up_to"], excellent["seen_up_to"]) == ("1080p60", "1080p60")
    # A shortfall is all that these files count: no level is left out for it.
    assert "not_reached" not in made.frame
    whole = rows["cyclonedds_iceoryx", "good"]
    assert whole["up_to"] == "2160p60"
    assert pd.isna(whole["next"])
    assert good["measured"] == "720p30 (83 MB/s), 1080p60 (373 MB/s), 2160p60 (1,493 MB/s)"


def test_levels_are_side_by_side_with_a_winner_by_shortfall(results: Results) -> None:
    made = table(results, "side_by_side", rows="configuration", over="middleware")
    winners = {
        row["configuration"]: (row["winner"], row["winner_by"])
        for row in made.frame.to_dict("records")
    }
    assert winners == {
        "720p30": ("cyclonedds_iceoryx", "latency"),
        "1080p60": ("zenoh_shm_512m", "latency"),
        "2160p60": ("cyclonedds_iceoryx", "shortfall"),
    }
    for row in made.frame.to_dict("records"):
        assert row["shortfall_low"] <= row["shortfall"] + 1e-6
        assert row["shortfall"] <= row["shortfall_high"]


def test_pairs_and_summary_are_of_means_of_seconds(results: Results) -> None:
    pairs = table(results, "pairs", of="latency", over="middleware", within="configuration").frame
    assert set(pairs["values"]) == {"means of seconds"}
    rows = pairs.set_index("configuration")
    assert list(rows.index) == ["720p30", "1080p60", "2160p60"]
    assert rows.loc["720p30", "mean_difference"] == pytest.approx(1.0e6)
    assert rows.loc["1080p60", "mean_difference"] == pytest.approx(-0.6e6)
    made = table(results, "summary", of="latency", rows=["configuration", "middleware"]).frame
    assert len(made) == len(RUNS)
    row = made[(made["configuration"] == "2160p60") & (made["middleware"] == LEVELS["zenoh"])]
    (found,) = row.to_dict("records")
    assert (found["count"], found["values"]) == (SECONDS, "means of seconds")
    assert found["mean"] == pytest.approx(27.3e6)
    assert (found["min"], found["max"]) == (pytest.approx(26.79e6), pytest.approx(29.31e6))
    assert "p50" not in made


def test_findings_are_sentences(results: Results) -> None:
    made = table(results, "findings", over="configuration", by="middleware").frame
    found = {(row["about"], row["subject"]): [] for row in made.to_dict("records")}
    for row in made.to_dict("records"):
        found[row["about"], row["subject"]].append(row["text"])
    sure, seen = found["classes", "zenoh_shm_512m"]
    assert sure == (
        "shortfall at most (95 % sure): excellent (below 0.1 %) at 1080p60; good (below 1 %) at "
        "720p30; severe (above 5 %) at 2160p60"
    )
    assert "as observed: excellent (below 0.1 %) at 720p30, 1080p60; severe" in seen
    assert found["reliable up to", "zenoh_shm_512m"][1] == (
        "good (shortfall below 1 %) up to 373 MB/s (1080p60), and not at 1,493 MB/s (2160p60); at "
        "1080p60: shortfall 0 %, mean latency 4.40 ms, largest 6.41 ms; at 2160p60: shortfall "
        "22 %, mean latency 27.3 ms, largest 29.3 ms"
    )
    assert "too few messages decide at 720p30" in found["reliable up to", "zenoh_shm_512m"][0]
    (winner,) = found["winner", "2160p60 (1,493 MB/s)"]
    assert winner.startswith("cyclonedds_iceoryx wins by shortfall: cyclonedds_iceoryx: shortfall")
    assert found["recommended", "middleware"] == [
        "none for all; by data rate, 720p30 (83 MB/s): cyclonedds_iceoryx; 1080p60 (373 MB/s): "
        "zenoh_shm_512m; 2160p60 (1,493 MB/s): cyclonedds_iceoryx"
    ]


def test_a_winner_at_few_configurations_is_not_recommended_for_all(tmp_path: Path) -> None:
    alike = {key: run if key == ("zenoh", "2160p60") else ((), 4.0) for key, run in RUNS.items()}
    results = open_results(import_runs(tmp_path, alike))
    made = table(results, "findings", over="configuration", by="middleware").frame
    assert made.set_index("about")["text"]["recommended"] == (
        "none for all; cyclonedds_iceoryx wins at 1 of 3 configurations, and no other wins at any: "
        "no clear winner at the others"
    )


def test_the_printed_table_is_made_again_of_the_files(results: Results) -> None:
    for of, digits in (("shortfall", 6), ("latency", 4)):
        asked = {"of": of, "rows": ["configuration", "middleware"], "file": "camera-rmw.csv"}
        made = table(results, "published", **asked)
        (theirs,) = [one.name for one in made.columns if one.label == "imported: own"]
        frame = made.frame.dropna(subset=[theirs])
        assert len(frame) == len(RUNS)
        for row in frame.to_dict("records"):
            (rmw,) = (name for name, level in LEVELS.items() if level == row["middleware"])
            _, latency = RUNS[rmw, row["configuration"]]
            wanted = latency if of == "latency" else shortfall(rmw, row["configuration"])
            assert round(row[theirs], digits) == pytest.approx(wanted, abs=1e-5)
            # The original's own row of Cyclone DDS and of Zenoh is beside it.
            assert row["printed"] not in (None, "")


def test_measures_of_seconds_have_their_values(results: Results) -> None:
    short = long_frame(results, "middleware", "shortfall_by_second")
    assert len(short) == SECONDS * len(RUNS)
    worst = short.groupby(["middleware", "configuration"], observed=True)["value"].max()
    assert worst[LEVELS["cyclonedds"], "2160p60"] == pytest.approx(5.0)
    rate = long_frame(results, "middleware", "rate")
    means = rate.set_index(["middleware", "configuration"])["value"]
    assert means[LEVELS["zenoh"], "2160p60"] == pytest.approx(47.0)


def test_text_page_and_json_have_the_findings(directory: Path, tmp_path: Path) -> None:
    text = invoke(report_command, str(directory), "--format", "text")
    assert "cyclonedds_iceoryx wins by" in " ".join(text.split())
    document = json.loads(invoke(report_command, str(directory), "--format", "json"))
    (study,) = [one for one in document["studies"] if one["name"] == "middleware"]
    (made,) = [one for one in study["tables"] if one["kind"] == "findings"]
    assert {row["about"] for row in made["rows"]} == {
        "classes",
        "reliable up to",
        "winner",
        "recommended",
    }
    page = tmp_path / "page.html"
    invoke(report_command, str(directory), "-o", str(page))
    assert "none for all; by data rate" in page.read_text(encoding="utf-8")


def test_a_summary_file_has_values_of_runs(tmp_path: Path) -> None:
    rows = [
        f"{rmw},any,1920x1080,60,355.9,{lost},9.00,{mean},1.0,60.0,60,2025-10-22_14-00-0{run}"
        for rmw, lost, means in (("cyclonedds", 0.0, (5.0, 5.2)), ("zenoh", 1.5, (4.4, 4.6)))
        for run, mean in enumerate(means)
    ]
    file = tmp_path / "summary.csv"
    file.write_text("\n".join([SUMMARY_HEAD, *rows]) + "\n")
    place = "middleware:configuration={height}p{fps},middleware={rmw}"
    campaign = str(tmp_path / "campaign")
    invoke(import_command, campaign, str(file), "--new", "camera", "--name", "runs", "--as", place)
    results = open_results(Path(campaign))
    made = table(results, "loss", rows=["configuration", "middleware"], classes=True).frame
    counts = {row["middleware"]: (row["asked"], row["received"]) for row in made.to_dict("records")}
    assert counts == {"cyclonedds_iceoryx": (7200, 7200), "zenoh_shm_512m": (7200, 7092)}
    pairs = table(results, "pairs", of="latency", over="middleware", within="configuration").frame
    (row,) = pairs.to_dict("records")
    assert (row["values"], row["runs"]) == ("means of runs", "2 and 2")
    assert row["mean_difference"] == pytest.approx(-0.6e6)
