# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the subscriber counts, against streams whose losses are known; needs no ROS."""

from __future__ import annotations

import csv
import random
import struct
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Load = Callable[[str], ModuleType]
S = 1_000_000_000
PERIOD_NS = S // 30


def stamp(number: int) -> int:
    return 1_700_000_000 * S + number * PERIOD_NS


def a_stream(seed: int) -> tuple[int, list[tuple[str, int]]]:
    """Publish some images, lose some, and deliver the rest in order, each near its camera_info."""
    chance = random.Random(seed)
    published = chance.randrange(2, 200)
    kept = [number for number in range(1, published + 1) if chance.random() < 0.7] or [1]
    # An image may come up to three periods after its camera_info.
    arrivals = [("info", number, number + 0.5) for number in range(1, published + 1)]
    arrivals += [
        ("image", number, number + chance.random() * 0.1 + 3 * (seed % 2)) for number in kept
    ]
    ordered = sorted(arrivals, key=lambda one: one[2])
    return published, [(kind, number) for kind, number, _ in ordered]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", ["SequenceLoss", "StampLoss"])
def test_every_image_is_received_or_lost(load: Load, kind: str, seed: int) -> None:
    published, events = a_stream(seed)
    loss = getattr(load("loss"), kind)()
    received = 0
    changes = 0
    for what, number in events:
        if what == "image":
            received += 1
            changes += loss.on_image(stamp(number), number)
        else:
            changes += loss.on_info(stamp(number))
    last = max(number for what, number in events if what == "image")
    assert loss.after_last == published - last
    assert loss.lost == last - received == changes
    assert loss.give_up() == published - last
    assert received + loss.lost == published
    assert not loss.before_first


def test_images_from_before_the_subscription_are_not_lost(load: Load) -> None:
    loss = load("loss").SequenceLoss()
    # Of number 7 the camera_info came, its image did not.
    loss.on_info(stamp(7))
    assert loss.on_image(stamp(8), 8) == 1
    assert (loss.before_first, loss.lost) == (6, 1)
    # That of number 6 only comes now.
    assert loss.on_info(stamp(6)) == 1
    assert (loss.before_first, loss.lost) == (5, 2)


def test_an_image_that_comes_late_is_lost_no_more(load: Load) -> None:
    loss = load("loss").SequenceLoss()
    changes = [loss.on_image(stamp(number), number) for number in (1, 2, 5, 3, 6)]
    assert changes == [0, 0, 2, -1, 0]
    assert (loss.lost, loss.late) == (1, 1)
    stamps = load("loss").StampLoss()
    for number in (1, 2, 3, 4):
        stamps.on_info(stamp(number))
    assert [stamps.on_image(stamp(number), None) for number in (1, 4, 3)] == [0, 2, -1]
    assert (stamps.lost, stamps.late) == (1, 1)


def test_a_publisher_that_begins_anew_loses_nothing(load: Load) -> None:
    loss = load("loss").SequenceLoss()
    for number, sequence in enumerate([4, 5, 1, 2, 4]):
        loss.on_image(stamp(number), sequence)
    assert (loss.lost, loss.restarts, loss.late) == (1, 1, 0)


def an_image(metrics: ModuleType, number: int, latency_ns: int, arrival_ns: int | None = None):
    arrival = stamp(number) + latency_ns if arrival_ns is None else arrival_ns
    return metrics.Image(arrival, arrival - latency_ns, number, 1000, 20, 10, 60, "rgb8")


def test_seconds_add_up_and_empty_ones_are_there(load: Load) -> None:
    metrics = load("metrics")
    measured = metrics.Metrics()
    windows = []
    # 30 a second for 2 s, 2.5 s nothing, then 5 more; every tenth is lost.
    arrivals = [n * S // 30 for n in [*range(60), *range(135, 140)]]
    for number, arrival in enumerate(arrivals, 1):
        if number % 10:
            windows += measured.add(an_image(metrics, number, 7_000_000, arrival))
    windows += measured.finish()
    assert [window.begin_ns for window in windows] == [0, S, 2 * S, 3 * S, 4 * S]
    assert [window.seconds for window in windows] == [1, 1, 1, 1, pytest.approx(139 / 30 - 4)]
    assert [window.received for window in windows] == [27, 27, 0, 0, 5]
    # A loss belongs to the second in which it was found.
    assert [window.lost for window in windows] == [2, 3, 0, 0, 1]
    assert sum(window.bytes for window in windows) == measured.bytes == 59_000
    assert measured.loss.lost == 6
    assert measured.span_s == pytest.approx((arrivals[-1] - arrivals[0]) / S)
    assert measured.rate_hz == pytest.approx(58 / measured.span_s)
    assert measured.bytes_per_s == pytest.approx(58_000 / measured.span_s)


def test_statistics_are_of_measured_values(load: Load) -> None:
    metrics = load("metrics")
    assert metrics.statistics([]) is None
    values = list(range(1, 101))
    random.Random(1).shuffle(values)
    found = metrics.statistics(values)
    assert found == {"count": 100, "min": 1, "p50": 50, "p99": 99, "max": 100, "mean": 50.5}


def test_rates_are_in_the_units_that_they_name(load: Load) -> None:
    # 4K rgb8 at 60 a second: 1493 MB/s, which are 1424 MiB/s.
    text = load("results").line(60, 0, 3840 * 2160 * 3 * 60, 60.0, [1_000_000])
    assert "1493.0 MB/s (1423.8 MiB/s)" in text
    assert "latency avg 1.00 ms (min 1.00, p50 1.00, p99 1.00, max 1.00)" in text
    assert "latency" not in load("results").line(0, 0, 0, 0, [])


def test_a_row_has_the_true_maximum(load: Load, tmp_path: Path) -> None:
    metrics, results = load("metrics"), load("results")
    rows = results.CsvRows(tmp_path / "own" / "images.csv", 30)
    times = [3_000_000, 1_000_000, 8_000_000]
    window = metrics.Window(stamp(0), received=3, lost=1, bytes=3000, latencies_ns=times)
    rows.add(window, an_image(metrics, 1, 5))
    rows.add(metrics.Window(stamp(0) + S), an_image(metrics, 1, 5))
    rows.close()
    with (tmp_path / "own" / "images.csv").open() as file:
        first, empty = csv.DictReader(file)
    assert list(first) == list(results.COLUMNS)
    assert first["timestamp"] == "2023-11-14T22:13:21.000+00:00"
    assert (first["width"], first["height"], first["fps"]) == ("20", "10", "30")
    assert (first["byte_rate"], first["message_rate"]) == ("3000", "3.000")
    assert first["frame_loss_pct"] == "25.0000"
    assert (first["latency_min_ms"], first["latency_max_ms"]) == ("1.000", "8.000")
    assert (first["latency_avg_ms"], first["latency_p50_ms"]) == ("4.000", "3.000")
    assert (empty["message_rate"], empty["latency_max_ms"], empty["lost"]) == ("0.000", "", "0")


@pytest.mark.parametrize("frame_id", ["", "c", "cam", "camera", "camera_frame"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_the_head_of_a_serialized_image(load: Load, frame_id: str, order: str) -> None:
    def text(value: str) -> bytes:
        raw = value.encode() + b"\0"
        return struct.pack(f"{order}I", len(raw)) + raw

    body = struct.pack(f"{order}iI", 12, 34) + text(frame_id)
    body += b"\0" * (-len(body) % 4) + struct.pack(f"{order}II", 10, 20) + text("rgb8") + b"\0"
    body += b"\0" * (-len(body) % 4) + struct.pack(f"{order}II", 60, 600) + bytes(600)
    message = (b"\0\1\0\0" if order == "<" else b"\0\0\0\0") + body
    found = load("serialized").image_header(message, 5)
    assert found == (12 * S + 34, 5, 600, 20, 10, 60, "rgb8")
