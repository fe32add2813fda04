# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the subscriber writes: a CSV row a second, a JSON summary, and lines to read."""

from __future__ import annotations

import csv
import itertools
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from camera_pipeline.metrics import (
    MB,
    MIB,
    SECOND_NS,
    Image,
    Metrics,
    Window,
    grid_loss,
    loss_percent,
    statistics,
)

COLUMNS = (
    "timestamp",
    "width",
    "height",
    "fps",
    "byte_rate",
    "message_rate",
    "frame_loss_pct",
    "latency_avg_ms",
    "latency_min_ms",
    "latency_max_ms",
    "latency_p50_ms",
    "latency_p99_ms",
    "received",
    "lost",
    "lost_is_lower_bound",
)
"""Columns of the CSV. timestamp: end of the second (UTC, ISO 8601); fps: the rate that was asked
for (parameter expected_fps; empty when it is not given); byte_rate: bytes of pixels a second;
message_rate: images a second; frame_loss_pct: lost of published, from numbers or stamps;
lost_is_lower_bound: 1 where more may be lost than is known, and 0 where `lost` is exact."""


class CsvRows:
    """Writes a row a window, each at once, so that an ended run leaves what it measured."""

    def __init__(self, path: Path, expected_fps: float) -> None:
        """Make the file with its heading."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._fps = f"{expected_fps:g}" if expected_fps else ""
        self._file = path.open("w", newline="")
        self._writer = csv.writer(self._file)
        self._writer.writerow(COLUMNS)

    def add(self, window: Window, last: Image, *, is_lower_bound: bool = False) -> None:
        """Write a window's row."""
        latency = statistics(window.latencies_ns)
        order = ("mean", "min", "max", "p50", "p99")
        times = [f"{latency[key] / 1e6:.3f}" for key in order] if latency else [""] * len(order)
        end_s = window.begin_ns / SECOND_NS + window.seconds
        self._writer.writerow(
            [
                datetime.fromtimestamp(end_s, UTC).isoformat(timespec="milliseconds"),
                last.width,
                last.height,
                self._fps,
                f"{window.bytes / window.seconds:.0f}",
                f"{window.received / window.seconds:.3f}",
                f"{loss_percent(window.received, window.lost):.4f}",
                *times,
                window.received,
                window.lost,
                int(is_lower_bound),
            ]
        )
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def summary(metrics: Metrics, node: str, topic: str, expected_fps: float) -> dict[str, Any]:
    """Make the summary's document; times are in ns, rates of bytes in MB (1e6) and MiB (2^20).

    `node` and `topic` are full names: several nodes may subscribe to one topic.
    """
    loss, last = metrics.loss, metrics.last
    arrivals = metrics.arrivals_ns
    grid = grid_loss(metrics.stamps_ns, expected_fps)
    periods = [after - before for before, after in itertools.pairwise(arrivals)]
    return {
        "schema": 1,
        "node": node,
        "topic": topic,
        "image": None
        if last is None
        else {
            "width": last.width,
            "height": last.height,
            "step": last.step,
            "encoding": last.encoding,
            "bytes": last.bytes,
        },
        "expected_fps": expected_fps or None,
        "received": metrics.received,
        "lost": loss.lost,
        "loss_pct": loss_percent(metrics.received, loss.lost),
        "loss_from": loss.source,
        "lost_is_lower_bound": loss.is_lower_bound,
        "grid_loss": None if grid is None else {"expected": grid.expected, "lost": grid.lost},
        "late": loss.late,
        "published_before_first": loss.before_first,
        "published_after_last": loss.after_last,
        "publisher_restarts": loss.restarts,
        "span_s": metrics.span_s,
        "rate_hz": metrics.rate_hz,
        "rate_mb_s": metrics.bytes_per_s / MB,
        "rate_mib_s": metrics.bytes_per_s / MIB,
        "latency_ns": statistics(metrics.latencies_ns),
        "period_ns": statistics(periods),
    }


class Results:
    """The files of a run, of which each may be left out: a row a window, a summary at the end."""

    def __init__(
        self, csv_path: Path | None, summary_path: Path | None, expected_fps: float
    ) -> None:
        """Make the CSV."""
        self._rows = CsvRows(csv_path, expected_fps) if csv_path else None
        self._summary_path = summary_path
        self._expected_fps = expected_fps

    def add(self, window: Window, metrics: Metrics) -> None:
        """Write a window that ended."""
        if self._rows is not None and metrics.last is not None:
            self._rows.add(window, metrics.last, is_lower_bound=metrics.loss.is_lower_bound)

    def close(self, metrics: Metrics, node: str, topic: str) -> str:
        """Write the rest, with the full names of both; returns the line that sums it up."""
        for window in metrics.finish():
            self.add(window, metrics)
        if self._rows is not None:
            self._rows.close()
        if self._summary_path is not None:
            document = summary(metrics, node, topic, self._expected_fps)
            self._summary_path.parent.mkdir(parents=True, exist_ok=True)
            self._summary_path.write_text(json.dumps(document, indent=2) + "\n")
        text = line(
            metrics.received,
            metrics.loss.lost,
            metrics.bytes_per_s,
            metrics.rate_hz,
            metrics.latencies_ns,
            is_lower_bound=metrics.loss.is_lower_bound,
        )
        grid = grid_loss(metrics.stamps_ns, self._expected_fps)
        if grid is not None:
            text += (
                f"; grid loss: {grid.lost} of {grid.expected} points of the grid of stamps "
                f"({self._expected_fps:g} a second) have no image"
            )
        return f"received {metrics.received} images, {text}"


def line(
    received: int,
    lost: int,
    bytes_per_s: float,
    rate_hz: float,
    times: list[int],
    *,
    is_lower_bound: bool = False,
) -> str:
    """Give one line to read, of a second or of all; a loss that may be more says "at least"."""
    latency = statistics(times)
    at_least, or_more = ("at least ", " or more") if is_lower_bound else ("", "")
    text = (
        f"{rate_hz:.2f} images/s, {bytes_per_s / MB:.1f} MB/s ({bytes_per_s / MIB:.1f} MiB/s), "
        f"lost {at_least}{lost} of {at_least}{received + lost} "
        f"({loss_percent(received, lost):.2f} %{or_more})"
    )
    if latency is None:
        return text
    avg, low, p50, p99, high = (latency[key] / 1e6 for key in ("mean", "min", "p50", "p99", "max"))
    return (
        f"{text}, latency avg {avg:.2f} ms (min {low:.2f}, p50 {p50:.2f}, p99 {p99:.2f}, "
        f"max {high:.2f})"
    )
