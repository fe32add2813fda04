# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""States of lifecycle nodes from their transitions."""

from __future__ import annotations

import pandas as pd
from scene import BASE, Scene

from strata.model.entity_frames import lifecycle_nodes_rows, lifecycle_states_rows
from strata.model.lifecycle import find_states
from strata.schema.rows import Rows
from strata.schema.tables import LIFECYCLE_STATES, NODES
from strata.stats.lifecycle import lifecycle_table

Spans = list[tuple[str, int | None, int | None]]


def scene() -> Scene:
    made = Scene()
    machine(made, 0, 300)
    return made


def machine(made: Scene, ns: int, address: int, node: str = "/managed") -> None:
    fields = {"node_handle": made._node(node, 1), "state_machine": address}
    made._row("rcl_lifecycle_state_machine_init", ns, 1, 1, fields)


def change(made: Scene, ns: int, start: str, goal: str, address: int = 300) -> None:
    fields = {"state_machine": address, "start_label": start, "goal_label": goal}
    made._row("rcl_lifecycle_transition", ns, 1, 1, fields)


def states_of(made: Scene) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, int]]:
    model = made.model()
    machines, states, findings = find_states(model.events, model.entities.nodes)
    frame = lifecycle_states_rows(machines, states).frame()
    return frame, lifecycle_nodes_rows(model, machines).frame(), findings.counts


def rows(frame: pd.DataFrame) -> Spans:
    def at(value: object) -> int | None:
        return None if pd.isna(value) else int(value) - BASE  # type: ignore[call-overload, no-any-return]

    return [
        (row["state"], at(row["begin_ns"]), at(row["end_ns"])) for row in frame.to_dict("records")
    ]


def test_a_node_stays_in_a_state_from_one_transition_to_the_next() -> None:
    made = scene()
    change(made, 10, "unconfigured", "configuring")
    change(made, 15, "configuring", "inactive")
    frame, nodes, counts = states_of(made)
    assert rows(frame) == [
        ("unconfigured", 0, 10),
        ("configuring", 10, 15),
        ("inactive", 15, None),
    ]
    assert frame["position"].tolist() == [0, 1, 2]
    assert nodes["node_id"].tolist() == [0]
    assert counts == {}


def test_a_node_without_transitions_stays_unconfigured() -> None:
    frame, _, counts = states_of(scene())
    assert rows(frame) == [("unconfigured", 0, None)]
    assert counts == {}


def test_a_transition_from_another_state_tells_of_lost_ones() -> None:
    made = scene()
    change(made, 10, "unconfigured", "configuring")
    change(made, 50, "inactive", "activating")
    frame, _, counts = states_of(made)
    assert rows(frame) == [
        ("unconfigured", 0, 10),
        ("(unknown)", 10, 50),
        ("activating", 50, None),
    ]
    assert counts == {"missing_transitions": 1}


def test_a_lost_first_transition_is_counted() -> None:
    made = scene()
    change(made, 50, "inactive", "activating")
    frame, _, counts = states_of(made)
    assert rows(frame) == [("(unknown)", 0, 50), ("activating", 50, None)]
    assert counts == {"missing_transitions": 1}


def test_a_trace_that_began_late_begins_in_the_state_of_the_first_transition() -> None:
    made = Scene()
    change(made, 50, "inactive", "activating")
    frame, nodes, counts = states_of(made)
    assert rows(frame) == [("inactive", None, 50), ("activating", 50, None)]
    assert nodes["begin_ns"].isna().all()
    assert nodes["node_id"].isna().all()
    assert counts == {}


def test_an_address_that_is_used_again_is_another_machine() -> None:
    made = scene()
    change(made, 10, "unconfigured", "configuring")
    machine(made, 100, 300, node="/second")
    change(made, 110, "unconfigured", "configuring")
    frame, nodes, counts = states_of(made)
    assert nodes["node_id"].tolist() == [0, 1]
    assert rows(frame) == [
        ("unconfigured", 0, 10),
        ("configuring", 10, 100),
        ("unconfigured", 100, 110),
        ("configuring", 110, None),
    ]
    assert frame["lifecycle_node_id"].tolist() == [0, 0, 1, 1]
    assert counts == {}


def test_a_machine_from_before_the_trace_ends_where_its_address_is_made_again() -> None:
    made = Scene()
    change(made, 10, "inactive", "activating")
    machine(made, 100, 300)
    frame, nodes, _ = states_of(made)
    assert nodes["end_ns"].isna().tolist() == [True, False]
    assert rows(frame) == [
        ("unconfigured", 100, None),
        ("inactive", None, 10),
        ("activating", 10, 100),
    ]


def test_time_in_states_counts_to_the_ends_of_the_trace() -> None:
    made = scene()
    change(made, 10, "unconfigured", "configuring")
    change(made, 15, "configuring", "inactive")
    change(made, 30, "inactive", "cleaningup")
    change(made, 31, "cleaningup", "unconfigured")
    frame, _, _ = states_of(made)
    known = {"host": "host", "vpid": 1, "handle": 1, "begin_ns": BASE}
    nodes = Rows.of_records(NODES, [{**known, "node_id": 0, "name": "/managed"}])
    states = Rows.of_frame(LIFECYCLE_STATES, frame)
    table = lifecycle_table(states, nodes, BASE - 5, BASE + 41).frame().set_index("state")
    assert table["total_ns"].to_dict() == {
        "unconfigured": 20,
        "inactive": 15,
        "configuring": 5,
        "cleaningup": 1,
    }
    assert table["count"].to_dict()["unconfigured"] == 2
    assert table["duration_count"].to_dict()["unconfigured"] == 1
    assert table["node"].unique().tolist() == ["/managed"]
