# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that are lost: overwritten, never taken, or sent to a reader that is gone."""

from __future__ import annotations

from case import Case, Truth
from judge_entities import Lost
from magnitude import Count

from cases.graphs import Spec, pipeline, with_input, with_source

_HOP = ("/objects", "/detector", "/planner")
_OVERWRITTEN = ("overwritten",)


def _missed(after: int | None = None) -> Count:
    """Plant what the detector published (from a number on) and the planner was not called for."""

    def count(truth: Truth) -> int:
        published = {row["number"] for row in truth.rows("detector", "publish", "/objects")}
        taken = {row["number"] for row in truth.rows("planner", "callback", "/objects")}
        return len({number for number in published - taken if after is None or int(number) > after})

    return count


def _missed_images(truth: Truth) -> int:
    """Plant the images that the detector missed after the first that it got."""
    taken = {int(row["number"]) for row in truth.rows("detector", "callback", "/image")}
    return sum(
        int(row["number"]) > min(taken) and int(row["number"]) not in taken
        for row in truth.rows("camera", "publish", "/image")
    )


def _objects(**qos: object) -> Spec:
    # What the detector publishes before it and the planner know each other is no loss.
    graph = pipeline(settle_s=2)
    detector = graph["processes"]["detector"]["nodes"]["detector"]["inputs"][0]
    detector["publish"] = [{"topic": "/objects", "bytes": 200, **qos}]
    return graph


CASES = [
    Case(
        "loss-never-matched",
        "The planner wants reliable messages, the detector's are best effort: it gets none.",
        Lost(*_HOP, ("reader never took anything",), _missed()),
        with_input(_objects(reliability="best_effort", readers=0), "planner"),
    ),
    Case(
        "loss-process-killed",
        "The planner's process is killed at message 40.",
        Lost(*_HOP, ("process ended",), _missed(after=40)),
        with_input(_objects(), "planner", kill_at=40),
    ),
    Case(
        "loss-reader-hangs",
        "The planner's callback never returns from message 40 on.",
        Lost(*_HOP, ("reader went silent",), _missed(after=40)),
        with_input(_objects(), "planner", hang_at=40),
    ),
    Case(
        "loss-overwritten",
        "The planner needs 120 ms for each message, which come each 50, and keeps one.",
        Lost(*_HOP, _OVERWRITTEN, _missed()),
        with_input(_objects(), "planner", work_ms=120, depth=1),
    ),
    Case(
        "loss-overwritten-best-effort",
        "The same, of best effort, three kept.",
        Lost(*_HOP, _OVERWRITTEN, _missed()),
        with_input(
            _objects(reliability="best_effort"),
            "planner",
            work_ms=150,
            depth=3,
            reliability="best_effort",
        ),
    ),
    Case(
        "loss-on-the-way",
        "300 KB of best effort over UDP, which the reader's socket buffer cannot hold.",
        Lost(
            "/image",
            "/camera",
            "/detector",
            ("lost on the way",),
            _missed_images,
        ),
        with_source(
            with_input(pipeline(period_ms=80, count=80), "detector", reliability="best_effort"),
            "camera",
            publish=[{"topic": "/image", "bytes": 300_000, "reliability": "best_effort"}],
        ),
        options=("--rmw-profile", "fastdds_udp_small_buffers"),
    ),
]
