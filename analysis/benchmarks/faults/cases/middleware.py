# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Writers, readers and what is between them."""

from __future__ import annotations

import copy
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
from case import Case, Graph, Truth
from judge import ANY, SLOWEST, Cause, Mean, Said, StartUp
from magnitude import constant, mean_of, mean_sending, mean_way, median_way

from cases.graphs import CHAIN, Spec, pipeline, with_input, with_process, with_source

# Network namespaces and stopped threads are planted as the live tests do it.
_TESTS = Path(__file__).resolve().parents[3] / "tests"
sys.path += [str(_TESTS), str(_TESTS / "live")]

from networks import slow_link  # noqa: E402
from stopping import (  # noqa: E402
    StoppableThread,
    find_process,
    find_receiver,
    stop_in_sends,
)

_SENDER = ("client publish", "serialize", "dds write", "serialize + dds write")
_UDP = {"FASTDDS_BUILTIN_TRANSPORTS": "UDPv4", "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}
_READER = ("transport", "dds receive", "wake-up", "executor wait", "take", "client take")
_RATE = 20_000_000
_BURST = 4096
_PAYLOAD = 200_000
_ON_THE_WIRE = _PAYLOAD * 1514 / 1480 - _BURST
"""Ethernet, IP and UDP around at most 1480 bytes; the first burst passes at once."""


def _of_poses(poses: int, *, raw: bool) -> Spec:
    graph = with_source(
        pipeline(period_ms=100, count=60), "camera", publish=[{"topic": "/image", "poses": poses}]
    )
    return with_input(graph, "detector", type="poses", raw=raw)


@contextmanager
def _over_a_slow_link(graph: Graph) -> Iterator[Graph]:
    with slow_link(rate=_RATE, burst=_BURST) as link:
        placed = copy.deepcopy(graph)
        for name, process in placed["processes"].items():
            process["network_of"] = (link.near if name == "camera" else link.far).pid
        yield placed


def _stop_receiver(transport: str, recorder: int, truth: Truth) -> None:
    """Stop the detector's receiving thread for 150 of each 180 ms, while messages come."""
    detector = find_process(recorder, "graph.py", "\0detector\0")
    while not (truth.place / "started").exists():
        time.sleep(0.01)
    with StoppableThread.seized(find_receiver(detector, transport)) as thread:
        for _ in range(20):
            time.sleep(0.03)
            thread.stop(0.15)
    _write_stops(truth, thread.stops)


def _stop_reader(recorder: int, truth: Truth) -> None:
    """Stop the whole process of the detector for 150 of each 180 ms, while messages come."""
    detector = find_process(recorder, "graph.py", "\0detector\0")
    while not (truth.place / "started").exists():
        time.sleep(0.01)
    stops = []
    for _ in range(20):
        time.sleep(0.03)
        os.kill(detector, signal.SIGSTOP)
        begin_ns = time.monotonic_ns()
        time.sleep(0.15)
        stops.append((begin_ns, time.monotonic_ns()))
        os.kill(detector, signal.SIGCONT)
    _write_stops(truth, stops)


def _write_stops(truth: Truth, stops: list[tuple[int, int]]) -> None:
    rows = [f"{begin_ns},{end_ns}" for begin_ns, end_ns in stops]
    (truth.place / "stops").write_text("\n".join(rows))


def _stopped(truth: Truth) -> float:
    """Plant the mean time from an image's publish to when the receiver went on."""
    lines = (truth.place / "stops").read_text().splitlines()
    stops = [tuple(map(int, line.split(","))) for line in lines]
    sent = [int(row["begin_ns"]) for row in truth.rows("camera", "publish", "/image")]
    left = [sum(end - at for begin, end in stops if begin < at < end) for at in sent]
    return float(np.mean(left))


def _stop_sender(recorder: int, truth: Truth) -> None:
    """Stop the camera's thread before it sends, from the first image on."""
    camera = find_process(recorder, "graph.py", "\0camera\0")
    while not (truth.place / "started").exists():
        time.sleep(0.01)
    # The executor runs in the main thread.
    if stop_in_sends(camera, 0.02, 90) < 90:
        raise RuntimeError("the camera's thread ended before")


def _late() -> Spec:
    """Return mapper -> /map, robot: the robot's process starts when all was published."""
    kept = {"topic": "/map", "durability": "transient_local"}
    outputs = [{**kept, "readers": 0}]
    timer = {"period_ms": 30, "count": 30, "wait_for_readers": False, "publish": outputs}
    return {
        "processes": {
            "mapper": {"nodes": {"mapper": {"timers": [timer]}}, "drain_s": 6},
            "robot": {"nodes": {"robot": {"inputs": [kept]}}, "after_s": 4},
        }
    }


def _starting() -> Spec:
    """Have the detector keep its messages for a planner that comes late."""
    objects = {"topic": "/objects", "bytes": 200, "durability": "transient_local", "readers": 0}
    graph = with_input(pipeline(), "detector", publish=[objects])
    graph = with_input(graph, "planner", durability="transient_local")
    return with_process(graph, "planner", after_s=3)


def _early(truth: Truth) -> int:
    """Plant the images that were published before the planner's first callback."""
    first = min(int(row["begin_ns"]) for row in truth.rows("planner", "callback", "/objects"))
    sent = truth.rows("camera", "publish", "/image")
    return sum(int(row["begin_ns"]) < first for row in sent)


_STARVED_SENDER = Said(
    Cause(
        CHAIN,
        _SENDER,
        ("/camera",),
        mean_sending("camera", "detector", "/image"),
        SLOWEST,
        Mean(_SENDER, ("/camera",)),
    ),
    ("waiting for a CPU",),
)

CASES = [
    *(
        Case(
            f"conversion-{poses}-poses",
            f"rclpy converts a message of {poses} poses before it publishes.",
            Cause(
                CHAIN,
                ("client publish",),
                ("/camera",),
                mean_sending("camera", "detector", "/image"),
                mean=Mean(_SENDER, ("/camera",)),
            ),
            _of_poses(poses, raw=True),
        )
        for poses in (8000, 16000)
    ),
    Case(
        "conversion-when-taken",
        "rclpy converts a message of 1000 poses before the callback.",
        Cause(
            CHAIN,
            ("client take",),
            ("/detector",),
            mean_of("detector", "take", "/image"),
            mean=Mean(("take", "client take"), ("/detector",)),
        ),
        with_process(_of_poses(1000, raw=False), "detector", executor="timing"),
    ),
    Case(
        "small-socket-buffers",
        "300 KB over UDP, which the reader's socket buffer cannot hold: resends.",
        Cause(CHAIN, ("dds receive",), ("resends of /image",), group=ANY),
        pipeline(period_ms=100, count=60, size=300_000),
        options=("--rmw-profile", "fastdds_udp_small_buffers"),
    ),
    Case(
        "slow-link",
        "200 KB over a link of 20 Mbit/s.",
        Cause(CHAIN, ("transport",), ("/image", "/detector"), constant(_ON_THE_WIRE * 8e3 / _RATE)),
        pipeline(period_ms=200, count=40, size=_PAYLOAD),
        environment=_UDP,
        around=_over_a_slow_link,
    ),
    *(
        Case(
            f"stopped-receiver-{transport}",
            f"The detector's thread that receives ({transport}) is stopped for 150 of each 180 ms.",
            Cause(
                CHAIN,
                ("transport",),
                ("/image", "/detector"),
                _stopped,
                mean=Mean(("transport",), ("/image", "/detector")),
            ),
            pipeline(period_ms=10, count=500),
            options=("--rmw-profile", f"fastdds_{transport}"),
            meanwhile=partial(_stop_receiver, transport),
        )
        for transport in ("shm", "udp")
    ),
    Case(
        "stopped-reader",
        "The detector's whole process is stopped for 150 of each 180 ms.",
        Said(
            Cause(
                CHAIN,
                ("transport",),
                ("/image", "/detector"),
                _stopped,
                mean=Mean(("transport",), ("/image", "/detector")),
            ),
            ("no thread of /detector",),
        ),
        pipeline(period_ms=10, count=500),
        meanwhile=_stop_reader,
    ),
    Case(
        "starved-sender",
        "The camera runs when nothing else wants its CPU, and something does.",
        _STARVED_SENDER,
        with_process(pipeline(count=60), "camera", idle=True, cpu=0, rivals=1),
    ),
    Case(
        "nice-sender",
        "The camera has nice 19, and two programs compute on its CPU.",
        _STARVED_SENDER,
        with_process(pipeline(count=60), "camera", nice=19, cpu=0, rivals=2),
    ),
    Case(
        "stopped-sender",
        "The camera's thread is stopped for 20 ms when it is about to send a message by UDP.",
        Cause(
            CHAIN,
            ("dds write",),
            ("/image", "/camera"),
            mean_sending("camera", "detector", "/image"),
            mean=Mean(_SENDER, ("/camera",)),
        ),
        pipeline(count=100),
        options=("--rmw-profile", "fastdds_udp"),
        meanwhile=_stop_sender,
    ),
    Case(
        "late-joiner",
        "A reader starts seconds after the messages were written, and gets them nevertheless.",
        Cause("/map", ("history",), ("/map", "/robot"), median_way("mapper", "robot", "/map")),
        _late(),
    ),
    Case(
        "start-up",
        "The planner starts 3 s after the others, and gets what was published before.",
        StartUp(CHAIN, "/planner", _early),
        _starting(),
    ),
    Case(
        "starved-reader",
        "The detector runs when nothing else wants its CPU, and something does.",
        Said(
            Cause(
                CHAIN,
                (*_READER, "hold"),
                ("/detector",),
                mean_way("camera", ("detector",), "/image", last="planner"),
                SLOWEST,
                Mean(_READER, ("/detector",)),
            ),
            ("waiting for a CPU", "short of CPU"),
        ),
        with_process(
            with_process(pipeline(count=60), "detector", idle=True, cpu=0, rivals=1),
            "camera",
            drain_s=6,
        ),
    ),
]
