# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Camera and subscriber, run as a user would: every image counted, every failure told."""

from __future__ import annotations

import csv
import itertools
import json
import subprocess
import time
from pathlib import Path

import pytest
from camera_process import SOURCES, SUBSCRIBERS, end, finish, pictures, run, run_program, start

MS = 1_000_000
CALIBRATION = """\
image_width: 640
image_height: 480
camera_name: eye
camera_matrix: {rows: 3, cols: 3, data: [400.5, 0, 320, 0, 400, 240, 0, 0, 1]}
distortion_model: plumb_bob
distortion_coefficients: {rows: 1, cols: 5, data: [0.1, -0.2, 0, 0, 0]}
rectification_matrix: {rows: 3, cols: 3, data: [1, 0, 0, 0, 1, 0, 0, 0, 1]}
projection_matrix: {rows: 3, cols: 4, data: [400, 0, 320, -50, 0, 400, 240, 0, 0, 0, 1, 0]}
"""


def test_pixels_of_every_encoding_come_through() -> None:
    run_program("pixels.py")


FAILURES = {
    "nosuchthing ! videoconvert as rgb8": 'no element "nosuchthing". No known package has it',
    "videotestsrc ! video/x-raw,width=64 as rgb8": "a caps filter cannot be last: put ' ! identity",
    "videotestsrc ! fakesink as rgb8": "End it before the sink: the node puts an appsink",
    "videotestsrc ! jpegenc as rgb8": "must end in video/x-raw,format=RGB: try ' ! videoconvert'",
    "videotestsrc as jpeg": "it must end in image/jpeg: try ' ! jpegenc' at its end",
    "filesrc location=/no ! decodebin as rgb8": 'not found (No such file "/no")',
    "videotestsrc colour=3 as rgb8": 'no property "colour" in element "videotestsrc"',
    "appsrc ! video/x-raw,format=RGB ! identity as rgb8": "no buffer came in time",
}


def test_a_pipeline_that_fails_says_why() -> None:
    lines = run_program("pixels.py", *FAILURES).splitlines()
    for line, (given, says) in zip(lines, FAILURES.items(), strict=True):
        assert line.startswith(f"Cannot run pipeline '{given.partition(' as ')[0]}': ")
        assert says in line
        assert line.endswith(".")


def test_calibrations_are_found_by_their_urls(tmp_path: Path) -> None:
    (tmp_path / "camera_info").mkdir()
    good = tmp_path / "camera_info/eye.yaml"
    good.write_text(CALIBRATION)
    short = tmp_path / "short.yaml"
    short.write_text(CALIBRATION.replace("[400.5, 0, 320, ", "["))
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [")
    urls = [
        f"file://{good}",
        f"file://{tmp_path}/camera_info/${{NAME}}.yaml",
        "",
        "package://sensor_msgs/package.xml",
        "package://nosuchpackage/a.yaml",
        "https://example.org/a.yaml",
        f"file://{short}",
        f"file://{broken}",
        f"file://{tmp_path}/none.yaml",
    ]
    lines = run_program("calibrations.py", "eye", *urls, ROS_HOME=str(tmp_path)).splitlines()
    right = "640 480 plumb_bob [0.1, -0.2, 0.0, 0.0, 0.0] [400.5, 0.0, 320.0] -50.0"
    assert lines[:3] == [right] * 3
    assert lines[3].startswith("Cannot read calibration ")
    assert lines[4].endswith("no package nosuchpackage is installed.")
    assert lines[5].endswith("it is neither file:///PATH nor package://PACKAGE/PATH.")
    assert lines[6].endswith("camera_matrix has 6 values, not 9.")
    assert lines[7].startswith(f"Cannot read calibration {broken}: while parsing")
    assert lines[8] == f"none at {tmp_path}/none.yaml"


@pytest.mark.parametrize(
    ("encoding", "topic", "end_of_pipeline", "begin"),
    [
        ("rgb8", "camera/image_raw", "videoconvert", "204080"),
        ("jpeg", "camera/image_raw/compressed", "jpegenc", "ffd8"),
    ],
)
@pytest.mark.parametrize("source_program", SOURCES)
def test_messages_are_gscams(
    encoding: str, topic: str, end_of_pipeline: str, begin: str, source_program: str
) -> None:
    config = (
        "gscam_config:=videotestsrc pattern=solid-color foreground-color=0xff204080 ! "
        f"video/x-raw,width=321,height=40,framerate=20/1 ! {end_of_pipeline}"
    )
    source = start(
        source_program, config, f"image_encoding:={encoding}", "frame_id:=eye", "peers:=1"
    )
    try:
        run_program("one_image.py", encoding, topic, begin)
    finally:
        ended = end(source)
    assert ended.status == 0, ended.errors


def results(directory: Path) -> tuple[dict, list[dict[str, str]], list[dict[str, int]]]:
    summary = json.loads((directory / "images.json").read_text())
    with (directory / "images.csv").open() as file:
        rows = list(csv.DictReader(file))
    with (directory / "camera.csv").open() as file:
        stamps = [{name: int(text) for name, text in row.items()} for row in csv.DictReader(file)]
    return summary, rows, stamps


def stream(
    directory: Path,
    images: int,
    source: list[str],
    subscriber: list[str],
    program: str = "image_subscriber",
    source_program: str = "camera_source",
) -> None:
    """Run a stream to its end; both processes must end well by themselves."""
    files = [f"csv:='{directory}/images.csv'", f"summary:='{directory}/images.json'"]
    taker = start(program, f"images:={images}", "quiet_s:=10.0", *files, *subscriber)
    giver = start(source_program, "peers:=1", f"log:='{directory}/camera.csv'", *source)
    given, taken = finish(giver), finish(taker)
    assert given.status == 0, given.errors
    assert taken.status == 0, taken.errors
    assert f"camera_source: published {images} images, dropped 0" in given.errors


@pytest.mark.parametrize("program", SUBSCRIBERS)
@pytest.mark.parametrize("raw", ["false", "true"])
@pytest.mark.parametrize("source_program", SOURCES)
def test_every_image_of_a_patient_stream_comes(
    tmp_path: Path, raw: str, program: str, source_program: str
) -> None:
    stream(
        tmp_path,
        60,
        [pictures(60), "depth:=60"],
        ["depth:=60", f"raw:={raw}", "expected_fps:=100.0"],
        program,
        source_program,
    )
    summary, rows, stamps = results(tmp_path)
    assert (summary["received"], summary["lost"], summary["loss_from"]) == (
        60,
        0,
        "sequence_numbers",
    )
    assert (summary["published_before_first"], summary["published_after_last"]) == (0, 0)
    assert summary["image"] == {
        "width": 320,
        "height": 240,
        "step": 960,
        "encoding": "rgb8",
        "bytes": 230400,
    }
    assert sum(int(row["received"]) for row in rows) == 60
    assert {row["fps"] for row in rows} == {"100"}
    assert 0 < summary["latency_ns"]["min"] <= summary["latency_ns"]["p99"]
    assert [row["frame"] for row in stamps] == list(range(60))
    for row in stamps:
        order = ("arrived_mono_ns", "pulled_mono_ns", "publish_mono_ns", "published_mono_ns")
        assert sorted(row[name] for name in order) == [row[name] for name in order]
    # Not a rate that is asked for, but what came: 59 periods of 10 ms of the picture's own clock.
    assert {b["pts_ns"] - a["pts_ns"] for a, b in itertools.pairwise(stamps)} == {10 * MS}
    assert summary["span_s"] >= 0.5


@pytest.mark.parametrize("program", SUBSCRIBERS)
def test_images_from_before_the_subscription_count_for_nothing(
    tmp_path: Path, program: str
) -> None:
    log = tmp_path / "images.json"
    giver = start("camera_source", pictures(-1), "peers:=1", "peers_s:=30.0")
    try:
        first = run("image_subscriber", "images:=40")
        second = run(program, "images:=30", f"summary:='{log}'")
    finally:
        end(giver)
    assert (first.status, second.status) == (0, 0), first.errors + second.errors
    summary = json.loads(log.read_text())
    assert summary["published_before_first"] >= 39
    assert summary["received"] + summary["lost"] >= 30


@pytest.mark.parametrize("program", SUBSCRIBERS)
def test_a_stream_that_stops_early_is_told(program: str) -> None:
    taker = start(program, "images:=50", "quiet_s:=1.0", "discovery_s:=50.0")
    giver = start("camera_source", "peers:=1", pictures(20), "depth:=20")
    given, taken = finish(giver), finish(taker)
    assert (given.status, taken.status) == (0, 0), given.errors + taken.errors
    assert "No image for 1 s: ends with" in taken.errors
    assert "of 50" in taken.errors


def test_what_a_hasty_stream_loses_is_counted(tmp_path: Path) -> None:
    # As fast as they come, into a history of one image: the taker cannot keep up.
    stream(
        tmp_path,
        200,
        [pictures(200, 640, 480), "depth:=200", "sync_sink:=false"],
        ["depth:=1"],
    )
    summary, rows, stamps = results(tmp_path)
    assert len(stamps) == 200
    assert summary["lost"] > 0
    # Those before the first that came are known as lost by their camera_info alone.
    counted = summary["received"] + summary["lost"]
    assert counted + summary["published_before_first"] == 200
    assert sum(int(row["lost"]) for row in rows) == summary["lost"]
    assert summary["loss_pct"] == pytest.approx(100 * summary["lost"] / counted)


@pytest.mark.parametrize("source_program", SOURCES)
def test_reopening_counts_on(tmp_path: Path, source_program: str) -> None:
    log = tmp_path / "camera.csv"
    done = run(
        source_program, pictures(4), "reopen_on_eof:=true", "images:=10", f"log:='{log}'",
        "use_gst_timestamps:=true",
    )  # fmt: skip
    assert (done.status, "published 10 images" in done.errors) == (0, True), done.errors
    with log.open() as file:
        rows = [{name: int(text) for name, text in row.items()} for row in csv.DictReader(file)]
    assert [row["frame"] for row in rows] == list(range(10))
    assert [row["pts_ns"] for row in rows] == [n * 10 * MS for n in (0, 1, 2, 3, 0, 1, 2, 3, 0, 1)]
    # By the pipeline's clock, not by when each was pulled.
    assert {b["stamp_ns"] - a["stamp_ns"] for a, b in itertools.pairwise(rows[:4])} == {10 * MS}


@pytest.mark.parametrize("source_program", SOURCES)
def test_a_signal_ends_each_at_once(source_program: str) -> None:
    source = start(source_program, pictures(-1))
    subscriber = start("image_subscriber")
    wait_for(source, "Publishing images")
    wait_for(subscriber, "Waiting for images")
    for process in (source, subscriber):
        began = time.monotonic()
        ended = end(process)
        assert ended.status == 0, ended.errors
        assert time.monotonic() - began < 10


def wait_for(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr
    for line in process.stderr:
        if words in line:
            return
    pytest.fail(f"ended without {words!r}")


REFUSALS = [
    ("camera_source", [], {}, "neither the parameter gscam_config nor the environment's GSCAM"),
    ("camera_source", [pictures(1)], {"GSCAM_CONFIG": "videotestsrc"}, "both the environment's"),
    (
        "camera_source",
        ["image_encoding:=bgr8"],
        {"GSCAM_CONFIG": "videotestsrc"},
        "'bgr8' is none of rgb8, mono8, yuv422, jpeg.",
    ),
    (
        "camera_source",
        [pictures(1), "peers:=1", "peers_s:=0.5"],
        {"ROS_DOMAIN_ID": "67"},
        "Cannot begin: 0 of 1 subscribers are ready after 0.5 s.",
    ),
    (
        "image_subscriber",
        ["discovery_s:=0.5"],
        {"ROS_DOMAIN_ID": "68"},
        "Cannot measure: no image on /camera/image_raw after 0.5 s (0 publishers found).",
    ),
    ("image_subscriber", ["depth:=-1"], {}, "Cannot use parameter depth: -1 is below 0."),
]


@pytest.mark.parametrize("source_program", SOURCES)
def test_what_cannot_run_says_why(source_program: str) -> None:
    programs = {"camera_source": source_program}
    running = [
        start(programs.get(name, name), *settings, **variables)
        for name, settings, variables, _ in REFUSALS
    ]
    for ended, (*_, says) in zip([finish(one) for one in running], REFUSALS, strict=True):
        assert ended.status == 1
        assert says in ended.errors
        assert "Traceback" not in ended.errors


def test_a_qos_that_does_not_fit_is_told() -> None:
    giver = start("camera_source", pictures(-1))
    try:
        done = run("image_subscriber", "durability:=transient_local", "discovery_s:=2.0")
    finally:
        end(giver)
    assert done.status == 1
    assert "A publisher is there, but its QoS does not fit" in done.errors


@pytest.mark.parametrize("source_program", SOURCES)
def test_a_failed_pipeline_and_a_calibration_are_told(tmp_path: Path, source_program: str) -> None:
    given = "nosuchthing ! videoconvert as rgb8"
    failed = run(source_program, f"gscam_config:={given.partition(' as ')[0]}")
    assert failed.status == 1
    assert FAILURES[given] in failed.errors
    (tmp_path / "eye.yaml").write_text(CALIBRATION)
    (tmp_path / "plain.yaml").write_text(CALIBRATION.replace("plumb_bob", '""'))
    (tmp_path / "broken.yaml").write_text(CALIBRATION.replace("400.5", "x"))
    answers = {
        "eye": "Read calibration file://",
        "plain": "Read calibration file://",
        "broken": "Going on uncalibrated.",
        "none": "No calibration at ",
    }
    for name, says in answers.items():
        url = f"camera_info_url:=file://{tmp_path}/{name}.yaml"
        done = run(source_program, pictures(2), url)
        assert done.status == 0, done.errors
        assert says in done.errors


@pytest.mark.parametrize("source_program", SOURCES)
def test_a_second_camera_has_topics_of_its_own(tmp_path: Path, source_program: str) -> None:
    topics = [
        word
        for name in ("image_raw", "camera_info", "ready")
        for word in ("-r", f"camera/{name}:=/second/{name}")
    ]
    summary = tmp_path / "images.json"
    taker = start("image_subscriber", "images:=20", f"summary:='{summary}'", remappings=topics)
    # Without the remapped name of `ready` it would wait for its peer, in vain.
    giver = start(source_program, pictures(20), "peers:=1", "depth:=20", remappings=topics)
    given, taken = finish(giver), finish(taker)
    assert (given.status, taken.status) == (0, 0), given.errors + taken.errors
    document = json.loads(summary.read_text())
    assert (document["topic"], document["received"]) == ("/second/image_raw", 20)


def test_existing_results_are_kept(tmp_path: Path) -> None:
    old = tmp_path / "images.csv"
    old.write_text("old")
    done = run("image_subscriber", f"csv:='{old}'")
    assert done.status == 1
    assert f"Cannot write {old}: it is there already." in done.errors
    assert old.read_text() == "old"
