# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Faults that happen once in a system that was healthy for seconds, for `strata guard`."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cases.graphs import Spec, pipeline, with_input, with_node, with_process, with_source

_COUNT, _AT = 220, 130
"""Of messages, 50 ms apart; the fault is at this one, after 6.5 s."""
_SLOW = "chain max > 60 ms"
_WAITING = ("executor wait", "wake-up + executor wait")
_READING = (
    *_WAITING,
    "transport",
    "dds receive",
    "wake-up",
    "take",
    "client take",
    "transport + dds receive",
)


@dataclass(frozen=True)
class GuardCase:
    """A planted fault: the conditions of the guard, and what its verdict has to say.

    `layers` are those that may be named (the cause, of losses), empty for any; `words` all have to
    occur in the place or the text. `meanwhile` is called with the place of the truth.
    """

    name: str
    about: str
    graph: Spec
    when: Sequence[str | dict[str, str]]
    layers: Sequence[str] = ()
    words: Sequence[str] = ()
    options: Sequence[str] = ()
    meanwhile: Callable[[Path], None] | None = None
    limit_s: float | None = None


def _once(milliseconds: float, at: int = _AT, times: int = 1) -> list[float]:
    """Work for a message, or some in a row, and for no other."""
    work = [0.0] * _COUNT
    work[at : at + times] = [milliseconds] * times
    return work


def _pipeline(**changes: Any) -> Spec:
    return pipeline(**{"period_ms": 50, "count": _COUNT, **changes})


def _with_command(work_ms: float, node: str = "detector") -> Spec:
    """Have the camera publish /command 1 ms before each image; a node of the detector works."""
    graph = _pipeline()
    timer = graph["processes"]["camera"]["nodes"]["camera"]["timers"][0]
    images = [{**image, "pause_ms": 1} for image in timer["publish"]]
    graph = with_source(graph, "camera", publish=[{"topic": "/command", "bytes": 16}, *images])
    command = {"topic": "/command", "work_ms": _once(work_ms)}
    if node != "detector":
        return with_node(graph, "detector", node, {"inputs": [command]})
    graph["processes"]["detector"]["nodes"]["detector"]["inputs"].insert(0, command)
    return graph


def _with_timer(process: str, timer: Spec) -> Spec:
    """Give the node of a process a further timer, which publishes nothing."""
    graph = _pipeline()
    node = graph["processes"][process]["nodes"][process]
    node["timers"] = [*node.get("timers", []), {"wait_for_readers": False, **timer}]
    return graph


def _objects(**qos: object) -> Spec:
    graph = _pipeline(settle_s=2)
    detector = graph["processes"]["detector"]["nodes"]["detector"]["inputs"][0]
    detector["publish"] = [{"topic": "/objects", "bytes": 200, **qos}]
    return graph


def _stopped(name: str, seconds: float) -> Callable[[Path], None]:
    """Stop the process of a name for some time, once messages have gone for 6 s."""

    def plant(truth: Path) -> None:
        while not (truth / "started").exists():
            time.sleep(0.05)
        time.sleep(6)
        (pid,) = [
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and _is_child(entry, str(truth), name)
        ]
        os.kill(pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(pid, signal.SIGCONT)

    return plant


def _is_child(process: Path, truth: str, name: str) -> bool:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return words[-3:-1] == [truth.encode(), name.encode()]


def healthy(minutes: float) -> GuardCase:
    """Return a healthy system under all kinds of conditions."""
    when = [
        "chain max > 100 ms",
        "loss > 0 %",
        {"when": "period max > 200 ms", "topic": "/image"},
        {"when": "period max > 200 ms", "topic": "/objects"},
        "executor busy > 95 % for 2 s",
    ]
    count = int(minutes * 60 * 1000 / 50)
    graph = {**pipeline(period_ms=50, count=count), "limit_s": minutes * 60 + 60}
    return GuardCase("healthy", "Nothing.", graph, when, limit_s=minutes * 60 + 120)


def _limited(graph: Spec) -> Spec:
    """End the graph also where a process never does."""
    return {**graph, "limit_s": 30}


CASES = [
    GuardCase(
        "callback",
        "The planner's callback takes 120 ms, once.",
        with_input(_pipeline(), "planner", work_ms=_once(120)),
        [_SLOW],
        ("callback",),
        ("/objects", "/planner"),
    ),
    GuardCase(
        "hold",
        "The detector works for 120 ms before it publishes, once.",
        with_input(_pipeline(), "detector", work_ms=_once(120)),
        [_SLOW],
        ("hold",),
        ("/image", "/detector"),
    ),
    GuardCase(
        "hop",
        "The same, asked for as a hop.",
        with_input(_pipeline(), "detector", work_ms=_once(120)),
        [{"when": "hop max > 60 ms", "hop": "/image*"}],
        ("callback", "hold"),
        ("/detector",),
    ),
    GuardCase(
        "layer",
        "The same, asked for as a layer.",
        with_input(_pipeline(), "detector", work_ms=_once(120)),
        ["hold max > 60 ms"],
        ("hold",),
        ("/image", "/detector"),
    ),
    GuardCase(
        "several",
        "The detector works for 70 ms on each of ten messages, which come each 50.",
        with_input(_pipeline(), "detector", work_ms=_once(70, times=10)),
        [_SLOW],
        (*_WAITING, "hold"),
        ("/image", "/detector"),
    ),
    GuardCase(
        "behind-callback",
        "Another callback of the detector takes 150 ms, once, and the image waits.",
        _with_command(150),
        [_SLOW],
        _WAITING,
        ("behind", "/command"),
    ),
    GuardCase(
        "behind-node",
        "A callback of another node in the detector's executor takes 150 ms, once.",
        _with_command(150, "logger"),
        [_SLOW],
        _WAITING,
        ("behind", "/command", "/logger"),
    ),
    GuardCase(
        "behind-timer",
        "A timer of the detector takes 200 ms, once.",
        _with_timer("detector", {"period_ms": 33, "work_ms": _once(200, at=200, times=1)}),
        [_SLOW],
        _WAITING,
        ("behind", "/detector"),
    ),
    GuardCase(
        "timer-skipped",
        "A timer of the camera takes 200 ms, once, and its other timer misses periods.",
        _with_timer("camera", {"period_ms": 33, "work_ms": _once(200, at=200, times=1)}),
        [{"when": "timer skipped > 1", "node": "/camera"}],
        (),
        ("callback", "/camera"),
    ),
    GuardCase(
        "timer-late",
        "The same, asked for as lateness.",
        _with_timer("camera", {"period_ms": 33, "work_ms": _once(200, at=200, times=1)}),
        [{"when": "timer max > 80 ms", "node": "/camera"}],
        (),
        ("callback", "/camera"),
    ),
    GuardCase(
        "executor-full",
        "The detector needs 60 ms for each message from one on, which come each 50.",
        with_input(_pipeline(), "detector", work_ms=[0.0] * 100 + [60.0] * 120),
        ["executor busy > 95 % for 2 s"],
        ("executor",),
        ("/image", "/detector"),
    ),
    GuardCase(
        "loss-overwritten",
        "The planner keeps one message, and is busy for 400 ms, once.",
        with_input(_objects(), "planner", work_ms=_once(400), depth=1),
        ["loss > 0 %"],
        ("overwritten",),
        ("/objects", "/planner"),
    ),
    GuardCase(
        "loss-process-ended",
        "The planner's process is killed.",
        with_input(_objects(), "planner", kill_at=_AT),
        ["loss > 0 %"],
        ("process ended", "reader went silent"),
        ("/objects", "/planner"),
    ),
    GuardCase(
        "loss-reader-hangs",
        "The planner's callback never returns.",
        with_input(_objects(), "planner", hang_at=_AT),
        ["loss > 0 %"],
        ("reader went silent",),
        ("/objects", "/planner"),
    ),
    GuardCase(
        "period-of-source",
        "The camera's callback takes 500 ms, once: no image comes.",
        with_source(_pipeline(), "camera", work_ms=_once(500)),
        [{"when": "period max > 150 ms", "topic": "/image"}],
        (),
        ("callback", "/camera"),
    ),
    GuardCase(
        "period-of-input",
        "The same, seen at the topic that the detector makes of it.",
        with_source(_pipeline(), "camera", work_ms=_once(500)),
        [{"when": "period max > 150 ms", "topic": "/objects"}],
        (),
        ("/image", "callback", "/camera"),
    ),
    GuardCase(
        "source-stopped",
        "The camera's process is stopped for 800 ms (SIGSTOP).",
        _pipeline(),
        [{"when": "period max > 200 ms", "topic": "/image"}],
        (),
        ("/camera",),
        meanwhile=_stopped("camera", 0.8),
    ),
    GuardCase(
        "reader-stopped",
        "The detector's process is stopped for 500 ms (SIGSTOP).",
        _pipeline(),
        ["chain max > 150 ms"],
        _READING,
        ("/detector",),
        meanwhile=_stopped("detector", 0.5),
    ),
    GuardCase(
        "throws",
        "The detector's callback throws for 4 of 5 messages: nothing is published.",
        with_input(_pipeline(), "detector", throws_of_five=4),
        [{"when": "period max > 150 ms", "topic": "/objects"}],
        (),
        ("published nothing",),
    ),
    GuardCase(
        "await",
        "The detector's callback awaits something for 120 ms.",
        with_input(_pipeline(period_ms=200, count=60), "detector", await_ms=120),
        ["chain max > 100 ms"],
        ("suspended", "hold"),
        ("/detector",),
    ),
    GuardCase(
        "gil",
        "Another thread of the detector's process computes in Python all the time.",
        with_process(_pipeline(), "detector", gil=True),
        ["chain max > 8 ms"],
        (*_READING, "hold", "client publish", "callback"),
        ("/detector",),
    ),
    GuardCase(
        "event-field",
        "A callback of the planner runs: the event that says so, by one of its fields.",
        _pipeline(),
        ["event ros2:callback_start is_intra_process == 0"],
        (),
        (),
    ),
]
