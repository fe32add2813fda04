# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What threads did with ring buffers, made up: of few buffers, slots and instants.

    tables, losses = ring_work(Random(7))

Two kinds of sequences: any events in any order, and publishers and takers as they work, of whose
events some are missing.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
from intra_scene import IntraScene
from scene import BASE
from work_events import lost

from strata.engine.windows import Windows

_THREADS = ((1, 1), (1, 2), (2, 3))
_PAUSES = (0, 0, 1, 1, 5, 100)
_RINGS = ("on_t", "on_u", "on_v", "own", "nobody")
_CALLBACKS = ("on_t", "on_u", "on_v", "on_t.dds", "nobody")
_PUBLISHERS = ("/t", "/u", "nobody")

Step = tuple[str, dict[str, Any]]


def ring_work(chance: Random) -> tuple[dict[str, pa.Table], Windows]:
    """Return event tables and the windows in which events were lost."""
    made = IntraScene()
    for topic in ("/t", "/u"):
        made.publisher(topic, node="/n", pid=1)
    known = chance.random() < 0.8
    for topic, symbol in (("/t", "on_t"), ("/u", "on_u"), ("/t", "on_v")):
        made.ring(topic, node="/n", pid=1, symbol=symbol)
        if chance.random() < 0.2:
            made.rows.pop(f"ros2:{_LINKS[chance.randrange(len(_LINKS))]}", None)
    made.own_buffer("own", pid=1)
    if not known:
        made.rows = {}
    play = chance.choice((_anything, _publishers))
    at = 0
    for _ in range(chance.randint(1, 60)):
        thread = chance.choice(_THREADS)
        for name, fields in play(made, chance):
            at += chance.choice(_PAUSES)
            if chance.random() < 0.05:
                continue
            _add(made, name, at, thread, fields)
    return made.tables(), lost(chance, at)


_LINKS = ("rclcpp_construct_ring_buffer", "rclcpp_buffer_to_ipb", "rclcpp_ipb_to_subscription")


def _add(
    made: IntraScene, name: str, at: int, thread: tuple[int, int], fields: dict[str, Any]
) -> None:
    row = {"timestamp": BASE + at, "host": "h", "vpid": thread[0], "vtid": thread[1]}
    made.rows.setdefault(f"ros2:{name}", []).append(row | {"procname": "p"} | fields)


def _handle(made: IntraScene, name: str, key: str) -> int:
    return int(made.entities.get(name, {}).get(key, 7))


def _step(made: IntraScene, chance: Random, name: str) -> Step:
    publisher = chance.choice(_PUBLISHERS)
    fields: dict[str, Any] = {}
    if name == "rclcpp_intra_publish":
        fields = {"publisher_handle": _handle(made, publisher, "handle"), "message": 1}
    elif name == "rcl_publish":
        fields = {"publisher_handle": _handle(made, publisher, "handle"), "message": 2}
    elif name == "rmw_publish":
        handle = _handle(made, publisher, "rmw_handle")
        stamp = BASE + chance.randint(1, 9)
        fields = {"rmw_publisher_handle": handle, "message": 2, "source_timestamp": stamp}
    elif name == "rmw_take":
        handle = _handle(made, chance.choice(_CALLBACKS), "rmw_handle")
        stamp = BASE + chance.randint(1, 9)
        fields = {"rmw_subscription_handle": handle, "message": 3, "taken": 1}
        fields["source_timestamp"] = stamp
    elif name == "rclcpp_ring_buffer_clear":
        fields = {"buffer": _handle(made, chance.choice(_RINGS), "buffer")}
    elif name.startswith("rclcpp_ring_buffer"):
        fields = {"buffer": _handle(made, chance.choice(_RINGS), "buffer")}
        fields |= {"index": chance.randint(0, 1), "size": chance.choice((0, 0, 1, 2))}
        if name.endswith("enqueue"):
            fields["overwritten"] = chance.choice((0, 0, 1))
    elif name == "rclcpp_construct_ring_buffer":
        fields = {"buffer": _handle(made, chance.choice(_RINGS), "buffer"), "capacity": 2}
    elif name == "rclcpp_executor_execute":
        fields = {"handle": _handle(made, chance.choice(_CALLBACKS), "handle")}
    elif name in ("callback_start", "callback_end"):
        fields = {"callback": _handle(made, chance.choice(_CALLBACKS), "callback")}
        if name == "callback_start":
            fields["is_intra_process"] = chance.randint(0, 1)
    elif name == "rclcpp_executor_wait_for_work":
        fields = {"timeout": 0}
    return name, fields


_NAMES = (
    *("rclcpp_intra_publish", "rcl_publish", "rmw_publish", "rmw_take", "callback_start"),
    *("callback_end", "rclcpp_executor_execute", "rclcpp_executor_wait_for_work"),
    *("rclcpp_ring_buffer_enqueue", "rclcpp_ring_buffer_enqueue", "rclcpp_ring_buffer_dequeue"),
    "rclcpp_construct_ring_buffer",
    *("rclcpp_executor_get_next_ready", "rclcpp_ring_buffer_clear"),
)


def _anything(made: IntraScene, chance: Random) -> list[Step]:
    return [_step(made, chance, chance.choice(_NAMES))]


def _publishers(made: IntraScene, chance: Random) -> list[Step]:
    """One publish, one take or one buffer made, with most of its steps."""
    what = chance.randint(0, 5)
    if what == 0:
        late = ["rclcpp_construct_ring_buffer"]
        late += ["rclcpp_ring_buffer_enqueue"] * chance.randint(0, 3)
        return [_step(made, chance, name) for name in late]
    if what <= 3:
        names = ["rclcpp_intra_publish"]
        names += ["rclcpp_ring_buffer_enqueue"] * chance.randint(0, 3)
        names += chance.choice(([], ["rcl_publish", "rmw_publish"]))
        steps = [_step(made, chance, name) for name in names]
        if chance.random() < 0.8:
            handle = _handle(made, chance.choice(_PUBLISHERS[:2]), "handle")
            for _, fields in steps:
                if "publisher_handle" in fields:
                    fields["publisher_handle"] = handle
        return steps
    names = [chance.choice(("rclcpp_ring_buffer_dequeue", "rmw_take"))]
    names += ["callback_start", "callback_end"] * chance.randint(0, 1)
    return [_step(made, chance, name) for name in names]
