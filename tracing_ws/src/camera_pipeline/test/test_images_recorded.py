# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The results that the image subscriber in C++ has made of what arrived; needs no ROS."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
SECOND = 1_000_000_000
START = 1_700_000_000 * SECOND


def run(directory: Path, arrivals: list[str]) -> tuple[dict, list[dict[str, str]], str]:
    lines = [
        "node\t/eye/image_subscriber",
        "topic\t/camera/image_raw",
        "expected_fps\t10",
        f"csv\t{directory / 'images.csv'}",
        f"summary\t{directory / 'images.json'}",
        *arrivals,
    ]
    done = subprocess.run(
        [sys.executable, "-m", "camera_pipeline.recorded"],
        input="".join(f"{line}\n" for line in lines),
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        capture_output=True,
        text=True,
        check=True,
    )
    with (directory / "images.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return json.loads((directory / "images.json").read_text()), rows, done.stderr


def image(number: int, sequence: int) -> str:
    """An image each 100 ms, 2 ms on its way."""
    stamp = START + number * SECOND // 10
    return f"image\t{stamp + 2_000_000}\t{stamp}\t{sequence}\t600\t20\t10\t60\trgb8"


def info(number: int) -> str:
    stamp = START + number * SECOND // 10
    return f"info\t{stamp + 1_000_000}\t{stamp}"


def test_numbers_tell_what_was_lost(tmp_path: Path) -> None:
    arrivals = [image(n, n + 1) for n in range(25) if n not in (3, 4, 20)]
    summary, rows, text = run(tmp_path, [*arrivals, f"end\t{START + 3 * SECOND}\t0"])
    assert (summary["node"], summary["topic"]) == ("/eye/image_subscriber", "/camera/image_raw")
    assert (summary["received"], summary["lost"]) == (22, 3)
    assert (summary["loss_from"], summary["published_before_first"]) == ("sequence_numbers", 0)
    assert summary["image"] == {
        "width": 20,
        "height": 10,
        "step": 60,
        "encoding": "rgb8",
        "bytes": 600,
    }
    assert summary["latency_ns"]["min"] == summary["latency_ns"]["max"] == 2_000_000
    assert [(row["received"], row["lost"]) for row in rows[:3]] == [
        ("8", "2"),
        ("10", "0"),
        ("4", "1"),
    ]
    assert "image_subscriber: received 22 images" in text


def test_stamps_tell_it_where_there_are_no_numbers(tmp_path: Path) -> None:
    arrivals = [word for n in range(10) for word in (info(n), image(n, 0)) if word != image(5, 0)]
    summary, _, _ = run(tmp_path, [*arrivals, info(10), f"end\t{START + 2 * SECOND}\t1"])
    # The fifth, and the one of which only the camera_info came before the subscriber gave up.
    assert (summary["received"], summary["lost"]) == (9, 2)
    assert summary["loss_from"] == "camera_info_stamps"


def test_an_image_before_the_first_is_lost_when_its_camera_info_came(tmp_path: Path) -> None:
    arrivals = [info(3), info(4), image(4, 5)]
    summary, _, _ = run(tmp_path, [*arrivals, f"end\t{START + SECOND}\t0"])
    assert (summary["received"], summary["lost"], summary["published_before_first"]) == (1, 1, 3)


def test_nothing_came(tmp_path: Path) -> None:
    summary, rows, text = run(tmp_path, [f"end\t{START}\t0"])
    assert (summary["received"], summary["image"], rows) == (0, None, [])
    assert "received 0 images" in text


def test_a_loss_that_may_be_more_says_at_least(tmp_path: Path) -> None:
    # 300 images, of which 83 came, without numbers; most of camera_info was lost, too.
    kept = {round(n * 299 / 82) for n in range(83)}
    told = set(sorted(set(range(300)) - kept)[::25])
    arrivals = []
    for number in range(300):
        arrivals += [info(number)] if number in told else []
        arrivals += [image(number, 0)] if number in kept else []
    summary, rows, text = run(tmp_path, [*arrivals, f"end\t{START + 31 * SECOND}\t0"])
    assert (summary["received"], summary["lost"]) == (83, len(told)) == (83, 9)
    assert summary["lost_is_lower_bound"] is True
    assert {row["lost_is_lower_bound"] for row in rows} == {"1"}
    assert "lost at least 9 of at least 92 (9.78 % or more)" in text
    # Named apart, and in no other number: the camera may have made fewer.
    assert summary["grid_loss"] == {"expected": 300, "lost": 217}
    assert "grid loss: 217 of 300 points of the grid of stamps (10 a second) have no image" in text


def test_numbers_tell_a_loss_exactly_between_the_first_and_the_last(tmp_path: Path) -> None:
    arrivals = [image(n, n + 1) for n in range(25) if n not in (3, 4, 20)]
    summary, rows, text = run(tmp_path, [*arrivals, f"end\t{START + 3 * SECOND}\t0"])
    assert summary["lost_is_lower_bound"] is False
    assert {row["lost_is_lower_bound"] for row in rows} == {"0"}
    assert "lost 3 of 25 (12.00 %)" in text
    # Nothing came any more of what was still to come: how many that were nobody tells.
    (tmp_path / "ended").mkdir()
    summary, _, text = run(tmp_path / "ended", [*arrivals, f"end\t{START + 9 * SECOND}\t1"])
    assert summary["lost_is_lower_bound"] is True
    assert "lost at least 3 of at least 25" in text


def test_stamps_that_are_on_no_grid_have_no_grid_loss(tmp_path: Path) -> None:
    off = [image(n, n + 1).replace("000000\t6", "000000\t6") for n in range(20)]
    moved = [f"image\t{START + n * n * 7_000_000}\t{START + n * n * 7_000_000}" for n in range(20)]
    lines = [f"{m}\t" + "\t".join(o.split("\t")[3:]) for m, o in zip(moved, off, strict=True)]
    summary, _, text = run(tmp_path, [*lines, f"end\t{START + 9 * SECOND}\t0"])
    assert summary["grid_loss"] is None
    assert "grid" not in text
