# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executors that are busy with something else when a message comes."""

from __future__ import annotations

import numpy as np
from case import Case, Truth
from judge import Cause, Grows, Mean
from judge_entities import Skipped, System
from magnitude import Magnitude, mean_way, median_way

from cases.graphs import CHAIN, Spec, pipeline, with_input, with_node, with_process, with_source

_WAIT = ("executor wait",)
_IN_THREADS = ("wake-up + executor wait",)


def _with_command(graph: Spec) -> Spec:
    """Have the camera publish /command just before each /image."""
    timer = graph["processes"]["camera"]["nodes"]["camera"]["timers"][0]
    # The image comes when the command is being worked on.
    images = [{**image, "pause_ms": 1} for image in timer["publish"]]
    outputs = [{"topic": "/command", "bytes": 16}, *images]
    return with_source(graph, "camera", publish=outputs)


def _beside(milliseconds: float) -> Spec:
    """Give the detector a second subscription, which takes so long for each command."""
    graph = _with_command(pipeline(period_ms=80, count=80))
    detector = graph["processes"]["detector"]["nodes"]["detector"]
    command = {"topic": "/command", "work_ms": milliseconds}
    detector["inputs"].insert(0, command)
    return graph


def _until_free(node: str) -> Magnitude:
    """Plant, for each image, what was left of the command's work when it was published."""

    def magnitude(truth: Truth) -> float:
        sent = {
            row["number"]: int(row["end_ns"]) for row in truth.rows("camera", "publish", "/image")
        }
        left = [
            int(row["end_ns"]) - sent[row["number"]]
            for row in truth.rows(node, "callback", "/command")
        ]
        return float(np.median(left))

    return magnitude


_until_called = median_way("camera", "detector", "/image")


def _growth(truth: Truth) -> float:
    """Plant by how much longer a callback is in coming than its message, ns a second."""
    sent = [int(row["begin_ns"]) for row in truth.rows("camera", "publish", "/image")]
    begun = [int(row["begin_ns"]) for row in truth.rows("detector", "callback", "/image")]
    period, work = (float(np.mean(np.diff(each))) for each in (sent, begun))
    return (work - period) / period * 1e9


def _behind(name: str, about: str, graph: Spec, node: str = "detector") -> Case:
    place = ("behind", "/command", f"/{node}")
    return Case(name, about, Cause(CHAIN, _WAIT, place, _until_free(node)), graph)


_LOGGER = {"inputs": [{"topic": "/command", "work_ms": 15}]}
_ORDERED = with_node(_with_command(pipeline(period_ms=80, count=80)), "detector", "logger", _LOGGER)
_ORDERED["processes"]["detector"]["nodes"] = dict(
    reversed(_ORDERED["processes"]["detector"]["nodes"].items())
)


_WORKERS = tuple(f"worker_{number}" for number in range(9))


def _crowded() -> Spec:
    """Put further nodes into the detector's executor; each works on each image."""
    graph = pipeline(period_ms=100, count=70)
    for name in _WORKERS:
        worker = {"inputs": [{"topic": "/image", "work_ms": 12}]}
        graph = with_node(graph, "detector", name, worker)
    return graph


def _with_slow_timer() -> Spec:
    """Give the camera a second timer, whose callback takes longer than the first one's period."""
    graph = pipeline(period_ms=40, count=120)
    graph["processes"]["camera"]["nodes"]["camera"]["timers"].append(
        {"period_ms": 500, "work_ms": 130}
    )
    return graph


def _skipped(truth: Truth) -> int:
    """Plant the periods of 40 ms in which the camera's timer did not fire."""
    rows = truth.rows("camera", "fired")
    fired = [int(row["begin_ns"]) for row in rows if row["number"] == "40"]
    return round((fired[-1] - fired[0]) / 40e6) - (len(fired) - 1)


def _poses_at_once(poses: int) -> Spec:
    """Publish eight messages at once, each of which takes long to be taken."""
    image = {"topic": "/image", "poses": poses, "serialized": True}
    graph = with_source(pipeline(period_ms=600, count=80), "camera", publish=[image], burst=8)
    graph = with_input(graph, "detector", type="poses", counted=True)
    return with_process(graph, "detector", executor="timing")


CASES = [
    Case(
        "crowded-executor",
        "Nine more nodes in the detector's executor work for 12 ms on each image: it is full.",
        System(
            "executor",
            ("/detector", "/worker_"),
            "/worker_",
            (0.9, 1.0),
            mean_way("camera", ("detector", *_WORKERS), "/image"),
        ),
        _crowded(),
    ),
    Case(
        "behind-own-takes",
        "Eight messages at once, whose conversion takes some 8 ms each: they wait for each other.",
        Cause(
            CHAIN,
            _WAIT,
            ("behind", "take", "/image"),
            mean_way("camera", ("detector",), "/image", "take"),
            mean=Mean(_WAIT, ("/detector",)),
        ),
        _poses_at_once(1000),
    ),
    *(
        _behind(
            f"behind-{milliseconds}ms",
            f"Each image waits for a callback of its own node, of {milliseconds} ms.",
            _beside(milliseconds),
        )
        for milliseconds in (8, 15, 40)
    ),
    _behind(
        "behind-another-node",
        "Each image waits for another node of its executor.",
        _ORDERED,
        "logger",
    ),
    Case(
        "waits-in-threads",
        "Image and command, of 15 ms, exclude each other in an executor of several threads, which "
        "looks again at what it held back only when something else wakes it.",
        # Which thread would have taken it is not known: when it woke up is neither.
        Cause(
            CHAIN,
            _IN_THREADS,
            ("/detector",),
            mean_way("camera", ("detector",), "/image", last="planner"),
            mean=Mean(_IN_THREADS, ("/detector",)),
        ),
        with_process(_beside(15), "detector", executor="multi"),
    ),
    Case(
        "timer-overruns",
        "Another timer of the camera's executor works for 130 ms each 500: its own skips periods.",
        Skipped("/camera", 40, _skipped),
        _with_slow_timer(),
    ),
    Case(
        "polled-executor",
        "The detector's loop sleeps 30 ms between two spin_once.",
        Cause(CHAIN, _WAIT, ("/detector",), _until_called),
        with_process(pipeline(period_ms=47, count=150), "detector", poll_ms=30),
    ),
    Case(
        "backlog",
        "The detector needs 30 ms for each message, which come each 25.",
        Cause(CHAIN, _WAIT, ("behind", "/image", "/detector"), _until_called, reason="backlog"),
        with_input(pipeline(period_ms=25, count=150), "detector", work_ms=30),
    ),
    Case(
        "backlog-grows",
        "The detector needs 24 ms for each message, which come each 20: by how much it grows.",
        Grows(
            Cause(CHAIN, _WAIT, ("behind", "/image", "/detector"), reason="backlog"),
            _growth,
        ),
        with_input(pipeline(period_ms=20, count=150), "detector", work_ms=24),
    ),
]
