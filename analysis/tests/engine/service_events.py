# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Clients and services, made up: of few objects, numbers and instants, so that events collide.

    tables, losses = traffic(Random(7))

Processes 1 and 2 have hooks and may have events of the rmw; of calls some events are missing,
doubled or of other calls, and threads do anything in between.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
from scene import BASE

from strata.engine.windows import Windows
from strata.read.columns import declared_schema
from strata.schema.event import Kind
from strata.schema.events import CATALOGUE
from strata.schema.rclpy_events import RCLPY_IDS

_THREADS = ((1, 1), (1, 2), (2, 3), (3, 4))
_NAMES = ("/s", "/a/_action/send_goal", "/a/_action/cancel_goal", "/a/_action/get_result")
_GIDS = (b"A" * 16, b"B" * 16, b"A" * 12 + b"C" * 4, bytes(16))
_PAUSES = (0, 0, 0, 1, 1, 5, 50)
_GOAL = RCLPY_IDS.start
_WORK = (
    "ros2:callback_start",
    "ros2:callback_end",
    "ros2:rclcpp_executor_execute",
    "ros2:rclcpp_executor_wait_for_work",
    "ros2:rclcpp_executor_get_next_ready",
    "ros2:rmw_take",
    "ros2:rmw_publish",
    "ros2:rclcpp_ring_buffer_dequeue",
)
_RMW = (
    "ros2:rmw_send_request",
    "ros2:rmw_take_request",
    "ros2:rmw_send_response",
    "ros2:rmw_take_response",
)
_HOOKS = (
    "dds:write_begin",
    "dds:take_end",
    "dds:write_related",
    "dds:take_related",
    "dds:send_begin",
    "dds:writer_history_add",
    "dds:write_end",
)
_INITS = (
    "ros2:rmw_client_init",
    "ros2:rcl_client_init",
    "ros2:rcl_service_init",
    "ros2:rclcpp_service_callback_added",
    "dds:create_writer",
    "dds:create_reader",
)
_VALUES: dict[str, tuple[Any, ...]] = {
    "rmw_client_handle": (100, 101),
    "rmw_service_handle": (200, 201, 202, 203),
    "client_handle": (110, 111),
    "service_handle": (210, 211, 212, _GOAL, _GOAL + 1),
    "handle": (210, 211, 212, 213, _GOAL, _GOAL + 1),
    "node_handle": (5, 6),
    "callback": (40, 41, 42, _GOAL + 8),
    "service_name": _NAMES,
    "gid": _GIDS,
    "client_gid": _GIDS,
    "related_guid": _GIDS,
    "writer_guid": _GIDS,
    "sequence_number": (0, 1, 2, 3),
    "related_sequence": (0, 1, 2, 3),
    "source_timestamp": (0, BASE + 1, BASE + 2),
    "taken": (0, 1, 1, 1),
    "writer": (300, 301, 302, 303),
    "reader": (400, 401, 402, 403),
    "gid_prefix": (b"A" * 12, b"B" * 12),
    "gid_entity": (b"AAAA", b"BBBB", b"CCCC"),
}
_Step = tuple[str, int, tuple[int, int], dict[str, Any]]


def traffic(chance: Random) -> tuple[dict[str, pa.Table], Windows]:
    """Return event tables and the windows in which events were lost."""
    steps = _made(chance)
    if chance.random() < 0.5:
        steps += _anything(chance)
    else:
        steps += _calls(chance)
    rows: dict[str, list[dict[str, Any]]] = {}
    ns = BASE
    for name, pause, (pid, tid), given in steps:
        ns += pause
        place = {"timestamp": ns, "host": "h", "vpid": pid, "vtid": tid, "procname": "p"}
        rows.setdefault(name, []).append(place | _fields(name, chance) | given)
    begins = [chance.randint(0, ns - BASE) for _ in range(chance.choice((0, 0, 1, 2)))]
    begin = np.asarray(begins, np.int64) + BASE
    return {name: _table(name, own) for name, own in rows.items()}, (begin, begin + 3)


def _table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    schema = declared_schema(name, {})
    plain = pa.schema(
        [
            pa.field(item.name, pa.string()) if pa.types.is_dictionary(item.type) else item
            for item in schema
        ]
    )
    return pa.Table.from_pylist(rows, schema=plain).cast(schema)


def _fields(name: str, chance: Random) -> dict[str, Any]:
    plain = {Kind.BYTES: bytes(16), Kind.STRING: "", Kind.HANDLES: []}
    out: dict[str, Any] = {}
    for field in CATALOGUE[name].fields:
        column = field.column or field.name
        if column in _VALUES:
            out[column] = chance.choice(_VALUES[column])
        elif column == "topic_name":
            way = chance.choice((("rq", "Request"), ("rr", "Reply"), ("rt", "")))
            out[column] = way[0] + chance.choice(_NAMES) + way[1]
        else:
            out[column] = plain.get(field.kind, chance.choice((0, 1)))
    return out


def _made(chance: Random) -> list[_Step]:
    """What makes clients and services, some of it missing; some processes have an rmw's events."""
    steps: list[_Step] = [("dds:receive", 1, thread, {}) for thread in _THREADS]
    feedback = {"topic_name": "/a/_action/feedback", "rmw_subscription_handle": 1}
    steps += [("ros2:rcl_subscription_init", 1, thread, feedback) for thread in _THREADS[1:]]
    goal = {"service_handle": _GOAL, "callback": _GOAL + 8}
    steps += [("ros2:rclcpp_service_callback_added", 1, thread, goal) for thread in _THREADS[1:]]
    for number, name in enumerate(_NAMES):
        thread = chance.choice(_THREADS)
        handle = 200 + number
        own: list[_Step] = [
            ("dds:create_writer", 1, thread, {"topic_name": f"rr{name}Reply"}),
            ("dds:create_reader", 0, thread, {"topic_name": f"rq{name}Request"}),
            (
                "ros2:rcl_service_init",
                1,
                thread,
                {
                    "service_name": name,
                    "rmw_service_handle": handle,
                    "service_handle": 210 + number,
                },
            ),
            (
                "ros2:rclcpp_service_callback_added",
                0,
                thread,
                {"service_handle": 210 + number, "callback": 40 + number % 3},
            ),
        ]
        steps += [step for step in own if chance.random() < 0.9]
    for number in range(chance.randint(1, 2)):
        thread, name = chance.choice(_THREADS), chance.choice(_NAMES)
        known = {"rmw_client_handle": 100 + number}
        own = [
            ("dds:create_writer", 1, thread, {"topic_name": f"rq{name}Request"}),
            ("dds:create_reader", 0, thread, {"topic_name": f"rr{name}Reply"}),
            ("ros2:rcl_client_init", 1, thread, known | {"service_name": name}),
        ]
        if chance.random() < 0.4:
            own.insert(2, ("ros2:rmw_client_init", 1, thread, known))
        steps += [step for step in own if chance.random() < 0.9]
    return steps


def _anything(chance: Random) -> list[_Step]:
    names = [*_WORK, *chance.choice((_RMW, _HOOKS, _RMW + _HOOKS)), *chance.choice(((), _INITS))]
    names = chance.sample(names, chance.randint(2, len(names)))
    threads = chance.sample(_THREADS, chance.randint(1, len(_THREADS)))
    return [
        (chance.choice(names), chance.choice(_PAUSES), chance.choice(threads), {})
        for _ in range(chance.randint(5, 100))
    ]


def _calls(chance: Random) -> list[_Step]:
    """Calls as they go, by events of the rmw or of the hooks."""
    steps: list[_Step] = []
    hooked = chance.random() < 0.6
    wrong = chance.choice((0, 0.05, 0.2))
    for number in range(1, chance.randint(2, 9)):
        call = _hooked(chance, number) if hooked else _traced(chance, number)
        place = chance.randint(max(0, len(steps) - 10), len(steps))
        for step in call:
            if chance.random() < wrong:
                continue
            steps.insert(min(place, len(steps)), step)
            place += chance.choice((1, 1, 1, 2, 4))
            if chance.random() < 0.1:
                extra = (chance.choice(_WORK), chance.choice(_PAUSES), step[2], {})
                steps.insert(min(place, len(steps)), extra)
                place += 1
    return steps


def _traced(chance: Random, number: int) -> list[_Step]:
    asker, server = chance.choice(_THREADS), chance.choice(_THREADS)
    service, client = chance.randint(0, 3), chance.randint(0, 1)
    call = {"sequence_number": number, "client_gid": _GIDS[client], "taken": 1}
    stamp = {"source_timestamp": BASE + number} if chance.random() < 0.8 else {}
    asked = {"rmw_client_handle": 100 + client, "sequence_number": number}
    served = call | {"rmw_service_handle": 200 + service}
    answered = served | stamp
    del answered["taken"]
    return [
        (name, chance.choice(_PAUSES), thread, given)
        for name, thread, given in (
            ("dds:write_begin", asker, {}),
            ("dds:writer_history_add", asker, {"sequence_number": number}),
            ("ros2:rmw_send_request", asker, asked),
            ("ros2:rclcpp_executor_execute", server, {"handle": 210 + service}),
            ("ros2:rmw_take_request", server, served),
            ("ros2:callback_start", server, {"callback": 40 + service % 3}),
            ("ros2:callback_end", server, {"callback": 40 + service % 3}),
            ("ros2:rmw_send_response", server, answered),
            *_goal(chance, server),
            ("ros2:rmw_take_response", asker, asked | stamp | {"taken": 1}),
        )
    ]


def _hooked(chance: Random, number: int) -> list[_Step]:
    asker, server = chance.choice(_THREADS), chance.choice(_THREADS)
    guid = {"related_guid": chance.choice(_GIDS), "related_sequence": number}
    sample = {"sequence_number": number, "writer_guid": chance.choice(_GIDS)}
    writer, reader = {"writer": chance.choice((300, 302))}, {"reader": chance.choice((400, 402))}
    relates = chance.random() < 0.7
    events = (
        ("dds:write_related", asker, writer | guid),
        ("dds:write_begin", asker, writer),
        ("dds:writer_history_add", asker, sample),
        ("dds:send_begin", asker, sample),
        ("ros2:rclcpp_executor_execute", server, {"handle": chance.choice(_VALUES["handle"])}),
        ("dds:take_end", server, reader | sample | {"taken": 1}),
        ("dds:take_related", server, reader | guid),
        ("ros2:callback_start", server, {}),
        ("ros2:callback_end", server, {}),
        ("dds:write_related", server, {"writer": 301} | guid),
        ("dds:write_begin", server, {"writer": 301}),
        ("dds:send_begin", server, sample),
        *_goal(chance, server),
        ("dds:take_end", asker, {"reader": 401} | sample | {"taken": 1}),
        ("dds:take_related", asker, {"reader": 401} | guid),
    )
    return [
        (name, chance.choice(_PAUSES), thread, given)
        for name, thread, given in events
        if relates or "related" not in name
    ]


def _goal(chance: Random, server: tuple[int, int]) -> list[tuple[str, tuple[int, int], Any]]:
    if chance.random() < 0.5:
        return []
    goal = {"service_handle": _GOAL + chance.randint(0, 1)}
    return [
        ("ros2:rmw_publish", server, {}),
        ("ros2:rclcpp_service_callback_added", server, goal),
        ("ros2:rclcpp_executor_execute", server, {"handle": goal["service_handle"]}),
        ("ros2:callback_start", server, {"callback": _GOAL + 8}),
    ]
