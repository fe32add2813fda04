# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What sensor drivers did, made up: of few sources, numbers, threads and instants.

tables, losses = driver_work(Random(7))
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from scene import BASE
from work_events import THREADS, Step, lost, tables_of

from strata.engine.windows import Windows

_OTHER = (
    "ros2:callback_start",
    "ros2:callback_end",
    "ros2:rmw_take",
    "ros2:rclcpp_executor_wait_for_work",
)
_PUBLISH = ("ros2:rcl_publish", "ros2:rmw_publish", "ros2:rmw_publish")
_WITHIN = ("ros2:rclcpp_intra_publish", "ros2:rclcpp_ring_buffer_dequeue")
_PACKETS = ("driver:packet_received", "driver:packet_received", "driver:frame_boundary")
_MARKS = ("driver:cloud_ready", "driver:copy_done")
_NUMBERS = (0, 0, 1, 1, 2, 3, 4, 5, -1)
"""Of which -1 is what is not recorded."""


def driver_work(chance: Random) -> tuple[dict[str, pa.Table], Windows]:
    """Return event tables and the windows in which events were lost."""
    names = [*_PUBLISH, *_PACKETS, "driver:buffer_pulled"]
    for some in (_OTHER, _MARKS, _PACKETS, _PUBLISH, _WITHIN, ("driver:buffer_pulled",)):
        names += [*some] * chance.choice((0, 0, 1, 2))
    names = chance.choice(
        (names, names, [name for name in names if name not in (_PACKETS[2], *_MARKS)])
    )
    threads = chance.sample(THREADS, chance.randint(1, 3))
    sources = chance.sample(range(4), chance.randint(1, 3))
    pauses = chance.choice(((0, 1, 5), (0, 0, 0, 1), (1, 10, 100)))
    steps: list[Step] = [
        (
            "driver:source_init",
            0,
            chance.choice(threads),
            _init(chance, source),
        )
        for source in sources
        if chance.random() < 0.5
    ]
    counter = dict.fromkeys(sources, 0)
    rises = chance.random() < 0.7
    for number in range(chance.randint(5, 100)):
        name, source = chance.choice(names), chance.choice(sources)
        steps.append(
            (
                name,
                chance.choice(pauses),
                chance.choice(threads),
                _fields(chance, name, source, number // 4 if rises else None, counter),
            )
        )
    return tables_of(steps, chance), lost(chance, sum(step[1] for step in steps))


def _init(chance: Random, source: int) -> dict[str, Any]:
    return {
        "source": source,
        "kind": chance.choice(("udp", "appsink")),
        "name": chance.choice(("", "", "lidar")),
        "address": chance.choice(("", "0.0.0.0:7502", "sink")),
    }


def _fields(
    chance: Random, name: str, source: int, place: int | None, counter: dict[int, int]
) -> dict[str, Any]:
    """Fields of an event; its numbers are about `place`, where that is given."""

    def number() -> int | None:
        some = chance.choice(_NUMBERS) if place is None else max(place - chance.choice(_LATE), 0)
        return None if some < 0 else some

    def count() -> int:
        return chance.choice((0, 1, 1, 2, 5))

    if not name.startswith("driver:"):
        return {"source_timestamp": BASE + chance.randint(1, 9)} if "rmw" in name else {}
    own: dict[str, Any] = {"source": source}
    if name in _MARKS:
        return own | {"frame": number()}
    if name == "driver:frame_boundary":
        return own | {
            "frame": number(),
            "packets": count(),
            "missing": chance.choice((None, 0, count())),
            "first_sequence": number(),
            "last_sequence": number(),
        }
    counter[source] += chance.choice((0, 0, 0, 1, 3))
    numbered = "sequence" if name == "driver:packet_received" else "frame"
    return own | {
        numbered: number(),
        "bytes": count(),
        "queue_ns": chance.choice((-1, 0, 3, 30)),
        "dropped": max(counter[source] - chance.choice((0, 0, 0, 2)), 0),
    }


_LATE = (0, 0, 0, 1, 2)
