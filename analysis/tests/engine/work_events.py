# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What threads did, made up: of few threads, callbacks and instants, so that events collide.

    tables, losses = work(Random(7))

Two kinds of sequences: any events in any order, and threads of executors as they work, of whose
events some are missing. The threads' first events are in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scene import BASE, Scene

from strata.engine.windows import NO_LOSSES, Windows
from strata.schema.event import Kind
from strata.schema.events import CATALOGUE
from strata.schema.rclpy_events import RCLPY_IDS

THREADS = ((1, 1), (1, 2), (1, 3), (2, 4), (3, 5), (3, 6))
"""Process and thread ids; nothing tells that process 3 began."""
_PAUSES = (0, 0, 0, 1, 1, 5, 100)
_WORK = ("ros2:callback_start", "ros2:callback_end")
_WAITS = (
    "ros2:rclcpp_executor_wait_for_work",
    "ros2:rclcpp_executor_get_next_ready",
    "ros2:rclcpp_executor_execute",
    "dds:wait_begin",
    "dds:wait_end",
)
_AWAITS = ("rclpy:callback_suspend", "rclpy:callback_resume")
_NAMES = (
    "rclpy:callback_suspend",
    "ros2:callback_end",
    "ros2:rmw_send_response",
    "ros2:rclcpp_executor_wait_for_work",
    "dds:wait_begin",
    "dds:wait_end",
    "ros2:rclcpp_executor_get_next_ready",
    "ros2:rclcpp_executor_execute",
    "dds:take_begin",
    "dds:deserialize_begin",
    "dds:deserialize_end",
    "dds:take_end",
    "ros2:rmw_take",
    "ros2:rmw_take_request",
    "ros2:rmw_take_response",
    "ros2:rcl_take",
    "ros2:rclcpp_take",
    "ros2:rclcpp_ring_buffer_dequeue",
    "rclpy:callback_resume",
    "ros2:callback_start",
    "driver:packet_received",
    "driver:buffer_pulled",
    "driver:frame_boundary",
    "driver:cloud_ready",
    "driver:copy_done",
    "ros2:rclcpp_intra_publish",
    "ros2:rclcpp_ring_buffer_enqueue",
    "ros2:rclcpp_publish",
    "ros2:rcl_publish",
    "ros2:rmw_publish",
    "dds:write_begin",
    "dds:serialize_begin",
    "dds:serialize_end",
    "dds:writer_history_add",
    "dds:send_begin",
    "dds:send_end",
    "dds:write_end",
    "ros2:rmw_send_request",
    "dds:receive",
    "dds:send_sample",
)

Step = tuple[str, int, tuple[int, int], dict[str, Any]]
"""Name, time since the one before, process and thread, fields that are not by chance."""


def work(chance: Random) -> tuple[dict[str, pa.Table], Windows]:
    """Return event tables and the windows in which events were lost."""
    steps = chance.choice((_anything, _executors))(chance)
    return tables_of(steps, chance), lost(chance, sum(step[1] for step in steps))


def entities() -> Scene:
    """Nodes with subscriptions and timers; `unknown` and `coroutine` were never registered."""
    made = Scene()
    made.subscription("/t", node="/n", pid=1, symbol="f")
    made.subscription("/u", node="/n", pid=1, symbol="g")
    made.timer(node="/n", pid=1, symbol="h")
    made.timer(node="/m", pid=1, symbol="i")
    made.publisher("/t", node="/n", pid=1)
    made.subscription("/t", node="/o", pid=2, symbol="j")
    made.publisher("/u", node="/o", pid=2)
    return made


def tables_of(steps: list[Step], chance: Random) -> dict[str, pa.Table]:
    """Return tables of the entities and steps; what steps leave open is chosen."""
    made = entities()
    values = _values(made)
    nulls = chance.choice((0, 0, 0.02))
    for pid, tid in THREADS:
        _add(made, "dds:receive", -2_000_000, (pid, tid), _fields("dds:receive", values, chance, 0))
    at = 0
    for name, pause, thread, given in steps:
        at += pause
        _add(made, name, at, thread, _fields(name, values, chance, nulls) | given)
    return made.tables()


def lost(chance: Random, length: int) -> Windows:
    """Return up to three windows within some time."""
    begins = [chance.randint(-5, length) for _ in range(chance.choice((0, 0, 1, 3)))]
    ends = [begin + chance.choice((0, 1, 10, 200)) for begin in begins]
    return np.asarray(begins, np.int64) + BASE, np.asarray(ends, np.int64) + BASE


def lost_within(chance: Random, first_ns: int, last_ns: int) -> Windows:
    """Return up to three windows that are some share of the time between two instants."""
    begins = sorted(chance.randint(first_ns, last_ns) for _ in range(chance.choice((0, 1, 1, 3))))
    ends = [begin + chance.randint(0, (last_ns - first_ns) // 8) for begin in begins]
    return np.asarray(begins, np.int64), np.asarray(ends, np.int64)


def _add(made: Scene, name: str, at: int, thread: tuple[int, int], fields: dict[str, Any]) -> None:
    pid, tid = thread
    row = {"timestamp": BASE + at, "host": "h", "vpid": pid, "vtid": tid, "procname": "p"}
    made.rows.setdefault(name, []).append(row | fields)


def _values(made: Scene) -> dict[str, tuple[Any, ...]]:
    """What fields may have, by column."""
    known = list(made.entities.values())

    def of(key: str) -> tuple[int, ...]:
        return (*(handles[key] for handles in known if key in handles), 7)

    return {
        "callback": (*of("callback"), RCLPY_IDS.start, RCLPY_IDS.start + 1),
        "handle": of("handle"),
        "publisher_handle": of("handle"),
        "message": (70, 71, *of("handle")),
        "rmw_publisher_handle": of("rmw_handle"),
        "rmw_subscription_handle": of("rmw_handle"),
        "execution": (1, 2, 3),
        "is_intra_process": (0, 0, 0, 1),
        "timeout": (0, -1, 1000),
        "taken": (0, 1, 1, 1),
        "source_timestamp": (0, BASE + 1, BASE + 2, BASE + 3),
        "sequence_number": (0, 1, 2),
    }


def _fields(
    name: str, values: dict[str, tuple[Any, ...]], chance: Random, nulls: float
) -> dict[str, Any]:
    plain = {Kind.BYTES: bytes(16), Kind.STRING: "", Kind.HANDLES: []}
    out: dict[str, Any] = {}
    for field in CATALOGUE[name].fields:
        column = field.column or field.name
        default = (plain[field.kind],) if field.kind in plain else (0, 1)
        out[column] = chance.choice(values.get(column, default))
        if chance.random() < nulls:
            out[column] = None
    return out


def _anything(chance: Random) -> list[Step]:
    names = chance.sample(_NAMES, chance.randint(0, len(_NAMES) - 1))
    for some in (_WORK, _WAITS, _AWAITS):
        names += [*some] * chance.choice((0, 1, 3))
    names = names or [*_WORK]
    threads = chance.sample(THREADS, chance.randint(1, len(THREADS)))
    few = chance.choice((None, None, (1, 7)))
    given = {} if few is None else {"callback": chance.choice(few)}
    return [
        (name, chance.choice(_PAUSES), chance.choice(threads), _only(name, given))
        for name in (chance.choice(names) for _ in range(chance.randint(5, 80)))
    ]


def _only(name: str, given: dict[str, Any]) -> dict[str, Any]:
    columns = {field.column or field.name for field in CATALOGUE[name].fields}
    return {column: value for column, value in given.items() if column in columns}


def _executors(chance: Random) -> list[Step]:
    """Threads that wait, take and run callbacks, some of them coroutines; some events are lost."""
    threads = chance.sample(THREADS, chance.randint(1, 4))
    made = entities()
    callbacks = [handles["callback"] for handles in made.entities.values() if "callback" in handles]
    running = [_thread(chance, callbacks) for _ in threads]
    missing = chance.choice((0, 0, 0.03, 0.2))
    steps: list[Step] = []
    for _ in range(chance.randint(10, 120)):
        place = chance.randrange(len(threads))
        name, given = running[place]()
        if chance.random() >= missing:
            steps.append((name, chance.choice(_PAUSES), threads[place], given))
    return steps


def _thread(chance: Random, callbacks: list[int]) -> Callable[[], tuple[str, dict[str, Any]]]:
    """Return what gives a thread's next event."""
    coming: list[tuple[str, dict[str, Any]]] = []
    throws, awaits = chance.choice((0, 0.1)), chance.choice((0, 0.4))
    waits = chance.choice((_WAITS[:2], _WAITS[:2], _WAITS[3:], ()))
    number = iter(range(chance.randint(1, 2), 1000))
    suspended: list[tuple[int, int]] = []

    def run(depth: int) -> None:
        if suspended and chance.random() < 0.5:
            callback, execution = suspended.pop(chance.randrange(len(suspended)))
            own = {"callback": callback, "execution": execution}
            coming.append(("rclpy:callback_resume", own))
        else:
            callback, execution = chance.choice(callbacks), next(number)
            own = {"callback": callback, "execution": execution}
            if depth == 0:
                coming.extend((name, {}) for name in ("ros2:rclcpp_executor_execute",) if waits)
                coming.extend((name, {}) for name in ("ros2:rmw_take",) if chance.random() < 0.7)
        coming.append(("ros2:callback_start", {"callback": callback}))
        for _ in range(chance.choice((0, 0, 1, 2))):
            if depth < 2 and chance.random() < 0.3:
                run(depth + 1)
            else:
                coming.extend((name, {}) for name in ("ros2:rcl_publish", "ros2:rmw_publish"))
        if chance.random() < throws:
            return
        if chance.random() < awaits:
            coming.append(("rclpy:callback_suspend", own))
            suspended.append((callback, execution))
        coming.append(("ros2:callback_end", {"callback": callback}))

    def step() -> tuple[str, dict[str, Any]]:
        while not coming:
            if chance.random() < 0.5:
                coming.extend((name, {}) for name in waits)
            else:
                run(0)
        return coming.pop(0)

    return step


def scenes_of(*modules: Any) -> list[Any]:
    """Return the tests of modules that take no arguments, to be compared as they are built."""
    return [
        pytest.param(getattr(module, name), id=f"{module.__name__}.{name}")
        for module in modules
        for name in dir(module)
        if name.startswith("test_") and not _arguments(getattr(module, name))
    ]


def _arguments(test: Callable[..., None]) -> set[str]:
    return set(signature(test).parameters)


def play(test: Callable[[], None], patch: pytest.MonkeyPatch, compare: Callable[..., None]) -> None:
    """Run a test of the model; `compare` gets the tables and losses of each of its scenes."""
    build = Scene.model

    def compared(scene: Scene, losses: Windows = NO_LOSSES) -> Any:
        compare(scene.tables(), losses)
        return build(scene, losses)

    patch.setattr(Scene, "model", compared)
    test()
