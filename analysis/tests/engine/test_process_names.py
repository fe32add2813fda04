# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of processes that come once, where events have none."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from scene import BASE

from strata.engine._model import Engine
from strata.engine.from_tables import engine_of_tables
from strata.read.columns import declared_schema

NAMED = "lttng_ust_statedump:procname"
Row = dict[str, Any]


def at(ns: int, vpid: int, vtid: int, **fields: Any) -> Row:
    place = {"timestamp": BASE + ns, "host": "h", "vpid": vpid, "vtid": vtid, "procname": None}
    return place | fields


def engine(**events: list[Row]) -> Engine:
    tables: dict[str, pa.Table] = {}
    for name, rows in events.items():
        full_name = name.replace("__", ":")
        schema = declared_schema(full_name, {})
        plain = pa.schema(
            [
                pa.field(item.name, pa.string()) if pa.types.is_dictionary(item.type) else item
                for item in schema
            ]
        )
        tables[full_name] = pa.Table.from_pylist(rows, schema=plain).cast(schema)
    return engine_of_tables(tables)


def names(of: Engine) -> dict[tuple[int, int], str | None]:
    """Name of each thread, by process and thread id."""
    rows, texts = of.rows(), of.texts
    threads, processes = rows["threads"], rows["processes"]
    found: dict[tuple[int, int], str | None] = {}
    for thread, name in zip(rows["names"]["thread"], rows["names"]["name"], strict=True):
        vpid = processes["vpid"][threads["process"][thread]]
        found[int(vpid), int(threads["vtid"][thread])] = None if name < 0 else texts[name]
    return found


PUBLISH = {"rmw_publisher_handle": 5, "message": 6, "source_timestamp": BASE}


def test_threads_are_called_like_their_process() -> None:
    of = engine(
        ros2__rmw_publish=[at(1, 10, 10, **PUBLISH), at(2, 10, 11), at(3, 20, 20), at(4, 30, 30)],
        lttng_ust_statedump__procname=[
            # LTTng's own thread; it may come after the first events.
            at(2, 10, 99, process_name="talker"),
            at(0, 20, 98, process_name="listener"),
        ],
    )
    assert names(of) == {
        (10, 10): "talker",
        (10, 11): "talker",
        (20, 20): "listener",
        (30, 30): None,
    }
    publishes = of.rows()["publishes"]
    assert of.texts[publishes["procname"][0]] == "talker"
    # They are events, and no threads of the system.
    assert of.counts[NAMED] == 2
    assert len(of.rows()["threads"]["vtid"]) == 4
    bystanders = of.rows()["bystanders"]
    assert sorted(of.texts[name] for name in bystanders["name"]) == ["listener", "talker"]


def test_a_name_that_was_recorded_with_the_event_counts() -> None:
    of = engine(
        ros2__rmw_publish=[at(1, 10, 10) | {"procname": "main"}, at(2, 10, 11)],
        lttng_ust_statedump__procname=[at(0, 10, 99, process_name="talker")],
    )
    assert names(of) == {(10, 10): "main", (10, 11): "talker"}


def test_of_several_names_of_a_process_the_last_one_counts() -> None:
    of = engine(
        ros2__rmw_publish=[at(5, 10, 10)],
        lttng_ust_statedump__procname=[
            at(1, 10, 99, process_name="sh"),
            at(3, 10, 99, process_name="talker"),
            at(9, 10, 99, process_name="later"),
        ],
    )
    assert names(of) == {(10, 10): "talker"}


def test_an_id_that_is_used_again_is_told_by_the_name_that_comes_once() -> None:
    """As in containers, where ids are small: nothing else differs."""
    version = {"version": "8.2.2"}
    of = engine(
        ros2__rcl_init=[
            at(1, 10, 10, context_handle=1, **version),
            at(100, 10, 10, context_handle=1, **version),
        ],
        ros2__rcl_node_init=[
            at(2, 10, 10, node_handle=7, node_name="talker", namespace="/"),
            at(101, 10, 10, node_handle=8, node_name="camera", namespace="/"),
        ],
        lttng_ust_statedump__procname=[
            at(0, 10, 98, process_name="talker"),
            at(99, 10, 99, process_name="camera"),
        ],
    )
    rows = of.rows()
    assert rows["processes"]["vpid"].tolist() == [10, 10]
    assert [of.texts[name] for name in rows["names"]["name"]] == ["talker", "camera"]
    assert {name: count for name, _, _, count, *_ in of.findings} == {"reused_process_ids": 1}
