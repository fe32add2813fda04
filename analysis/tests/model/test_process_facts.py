# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes: ids that change hands, and the distribution of each."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from scene import BASE, Scene

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.entity_frames import contexts_rows, processes_rows
from strata.model.frames import callback_objects_rows, nodes_rows


def context(made: Scene, ns: int, version: str, *, name: str = "p", handle: int = 500) -> None:
    fields = {"context_handle": handle, "version": version}
    made._row("rcl_init", ns, 1, 1, fields)
    made.rows["ros2:rcl_init"][-1]["procname"] = name


def named(made: Scene, since: int, name: str) -> None:
    """Give the main thread another name from a time on."""
    for rows in made.rows.values():
        for row in rows:
            if row["timestamp"] >= BASE + since:
                row["procname"] = name


def registered(made: Scene, ns: int, symbol: str, callback: int = 900) -> None:
    made._row("rclcpp_callback_register", ns, 1, 1, {"callback": callback, "symbol": symbol})


def ran(made: Scene, ns: int, callback: int = 900) -> None:
    made._row("callback_start", ns, 1, 1, {"callback": callback, "is_intra_process": 0})
    made._row("callback_end", ns + 1, 1, 1, {"callback": callback})


def counts_of(model: Model) -> dict[str, int]:
    codes = ("reused_process_ids", "repeated_contexts")
    return {code: n for code, n in model.findings.counts.items() if code in codes}


def symbols(model: Model) -> list[str | None]:
    return [
        model.entities.callbacks.symbol[row] if row != NONE else None
        for row in model.executions.callback
    ]


def test_another_version_is_another_process_and_its_addresses_are_its_own() -> None:
    made = Scene()
    context(made, 0, "8.2.2")
    registered(made, 1, "f")
    ran(made, 10)
    context(made, 100, "8.6.0")
    ran(made, 110)  # its registration was lost: not f
    model = made.model()
    assert counts_of(model) == {"reused_process_ids": 1}
    assert symbols(model) == ["f", None]
    assert model.processes.vpid.tolist() == [1, 1]
    assert (model.processes.end_ns - BASE).tolist()[0] == 100
    assert model.processes.end_ns[1] == NONE
    facts = model.facts.process_facts()[0]
    assert facts.distro.tolist() == ["jazzy", "kilted"]
    assert (facts.begin_ns - BASE).tolist() == [0, 100]
    assert (facts.end_ns - BASE).tolist() == [11, 111]


def test_entities_end_with_their_process() -> None:
    made = Scene()
    context(made, 0, "8.2.2")
    registered(made, 1, "f")
    ran(made, 10)
    context(made, 100, "8.6.0")
    registered(made, 101, "g", callback=901)
    model = made.model()
    objects = callback_objects_rows(model).frame()
    ends = objects.set_index("symbol")["end_ns"]
    assert ends["f"] == BASE + 100
    assert ends.isna().tolist() == [False, True]


def test_another_name_of_the_main_thread_is_another_process() -> None:
    made = Scene()
    context(made, 0, "8.2.2")
    registered(made, 1, "f")
    ran(made, 10)
    context(made, 100, "8.2.2")
    registered(made, 101, "g", callback=901)
    ran(made, 110, callback=901)
    named(made, 100, "other")
    model = made.model()
    assert counts_of(model) == {"reused_process_ids": 1}
    facts = model.facts.process_facts()[0]
    assert facts.procname.tolist() == ["p", "other"]


def test_the_new_process_begins_with_the_first_event_of_its_name() -> None:
    made = Scene()
    context(made, 0, "8.2.2")
    made.play("90 1.1 wait\n95 1.1 ready")
    context(made, 100, "8.2.2")
    named(made, 95, "other")
    model = made.model()
    assert (model.processes.end_ns[0] - BASE) == 95


def test_a_rename_is_no_other_process_while_old_handles_are_used() -> None:
    made = Scene()
    context(made, 0, "8.2.2")
    registered(made, 1, "f")
    context(made, 100, "8.2.2", handle=501)
    ran(made, 110)
    named(made, 100, "renamed")
    model = made.model()
    assert counts_of(model) == {"repeated_contexts": 1}
    assert symbols(model) == ["f"]


def test_a_name_that_returns_tells_nothing() -> None:
    made = Scene()
    context(made, 0, "8.2.2")
    context(made, 100, "8.2.2", handle=501)
    made.play("110 1.1 ready\n200 1.1 ready")
    named(made, 100, "other")
    named(made, 200, "p")
    model = made.model()
    assert counts_of(model) == {"repeated_contexts": 1}


def alternating(*rounds: tuple[int, str]) -> Scene:
    """Processes of one id, each with an rcl_init and a callback of its own at a like address."""
    made = Scene()
    for ns, name in rounds:
        context(made, ns, "8.2.2")
        registered(made, ns + 1, name)
        ran(made, ns + 10)
        named(made, ns, name)
    return made


def test_names_that_alternate_are_a_process_each() -> None:
    made = alternating((0, "talker"), (100, "listener"), (200, "talker"), (300, "listener"))
    model = made.model()
    assert counts_of(model) == {"reused_process_ids": 3}
    facts = model.facts.process_facts()[0]
    assert facts.procname.tolist() == ["talker", "listener"] * 2
    ends = model.processes.end_ns
    assert (ends[:3] - BASE).tolist() == [100, 200, 300]
    assert ends[3] == NONE


def test_a_process_before_its_rcl_init_ends_the_one_before() -> None:
    made = alternating((0, "talker"), (100, "listener"))
    made.play("190 1.1 wait\n195 1.1 ready")
    context(made, 200, "8.2.2")
    named(made, 190, "talker")
    model = made.model()
    assert counts_of(model) == {"reused_process_ids": 2}
    assert (model.processes.end_ns - BASE).tolist()[:2] == [100, 190]


def test_a_name_that_returns_after_another_context_tells_nothing() -> None:
    made = Scene()
    context(made, 0, "8.2.2")
    context(made, 100, "8.2.2", handle=501)
    context(made, 200, "8.2.2", handle=502)
    made.play("110 1.1 ready\n300 1.1 ready")
    named(made, 100, "other")
    named(made, 300, "p")
    model = made.model()
    assert counts_of(model) == {"repeated_contexts": 2}


def test_a_second_context_is_of_the_same_process() -> None:
    made = Scene()
    context(made, 0, "8.2.2")
    registered(made, 1, "f")
    context(made, 100, "8.2.2", handle=501)
    context(made, 200, "8.2.2", handle=500)
    ran(made, 110)
    model = made.model()
    assert counts_of(model) == {"repeated_contexts": 2}
    assert symbols(model) == ["f"]
    frame = contexts_rows(model).frame()
    assert frame["handle"].tolist() == [500, 501, 500]
    assert frame["process_id"].tolist() == [0, 0, 0]
    assert frame["end_ns"].isna().tolist() == [False, True, True]
    assert frame["end_ns"].iloc[0] == BASE + 200


def test_a_handle_that_is_made_again_is_another_entity() -> None:
    made = Scene()
    for ns, name in ((0, "a"), (50, "b")):
        fields = {"node_handle": 700, "namespace": "/", "node_name": name, "rmw_handle": 1}
        made._row("rcl_node_init", ns, 1, 1, fields)
    nodes = nodes_rows(made.model()).frame()
    assert nodes["name"].tolist() == ["/a", "/b"]
    assert nodes["end_ns"].isna().tolist() == [False, True]
    assert nodes["end_ns"].iloc[0] == BASE + 50


def test_threads_of_two_processes_with_one_id_are_apart() -> None:
    made = Scene()
    context(made, 0, "8.2.2")
    made._row("callback_start", 10, 1, 1, {"callback": 900, "is_intra_process": 0})
    context(made, 100, "8.6.0")
    made._row("callback_end", 110, 1, 1, {"callback": 900})
    model = made.model()
    assert model.findings.counts["callbacks_without_end"] == 1
    assert model.findings.counts["callback_ends_without_start"] == 1


GID24, GID16 = bytes(24), bytes(16)


def told(made: Scene) -> tuple[list[Any], list[Any], dict[str, int]]:
    model = made.model()
    facts, findings = model.facts.process_facts()
    frame = processes_rows(model, facts).frame()
    distro = [None if pd.isna(value) else str(value) for value in frame["distro"]]
    return distro, frame["told_by"].tolist(), findings.counts


@pytest.mark.parametrize(
    ("event", "fields", "distro"),
    [
        ("rmw_publish", {"message": 1}, "humble"),
        ("rclcpp_ring_buffer_clear", {"buffer": 1}, "iron"),
        ("rmw_publish", {"message": 1, "rmw_publisher_handle": 2, "source_timestamp": 3}, "jazzy"),
        ("rmw_publisher_init", {"rmw_publisher_handle": 1, "gid": GID16}, "kilted"),
        ("rmw_take_request", {"request": 1}, "kilted"),
        ("rmw_publisher_init", {"rmw_publisher_handle": 1, "gid": GID24}, "humble"),
    ],
)
def test_without_a_version_what_is_there_tells(
    event: str, fields: dict[str, Any], distro: str
) -> None:
    made = Scene()
    made._row(event, 5, 1, 1, fields)
    assert told(made) == ([distro], ["fields"], {})


def test_evidence_adds_up() -> None:
    made = Scene()
    made._row("rmw_publisher_init", 4, 1, 1, {"rmw_publisher_handle": 1, "gid": GID24})
    made._row("rmw_publish", 5, 1, 1, {"message": 1, "rmw_publisher_handle": 2})
    made.rows["ros2:rmw_publish"][0]["source_timestamp"] = BASE
    assert told(made) == (["jazzy"], ["fields"], {})


def test_a_process_of_common_events_only_is_of_unknown_distro() -> None:
    made = Scene()
    made.play("5 1.1 ready")
    assert told(made) == ([None], ["unknown"], {})


@pytest.mark.parametrize(
    ("version", "distro", "by", "codes"),
    [
        ("8.2.2", "jazzy", "version", {}),
        ("8.4.1", "jazzy", "version", {"contradicted_versions": 1}),
        ("4.1.1", "humble", "version", {"contradicted_versions": 1}),
        ("9.0.0", "lyrical", "newer version", {"contradicted_versions": 1, "newer_versions": 1}),
        ("2.3.0", None, "version", {"contradicted_versions": 1}),
        ("unknown", "jazzy", "fields", {}),
    ],
)
def test_a_version_is_believed_and_held_against_what_is_there(
    version: str, distro: str | None, by: str, codes: dict[str, int]
) -> None:
    made = Scene()
    context(made, 0, version)
    made._row("rmw_publisher_init", 4, 1, 1, {"rmw_publisher_handle": 1, "gid": GID24})
    made._row("rmw_publish", 5, 1, 1, {"message": 1, "rmw_publisher_handle": 2})
    made.rows["ros2:rmw_publish"][0]["source_timestamp"] = BASE
    assert told(made) == ([distro], [by], codes)


def test_each_process_of_a_trace_has_its_own_distro() -> None:
    made = Scene()
    context(made, 0, "8.2.2")
    made._row("rmw_take_request", 5, 2, 2, {"request": 1})
    made._row("rmw_publish", 6, 3, 3, {"message": 1})
    assert told(made)[0] == ["jazzy", "kilted", "humble"]
