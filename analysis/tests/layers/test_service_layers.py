# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of a call: every instant in one of them, whatever was not recorded."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pandas as pd
import pytest
from scene import BASE, Scene

from strata.layers.service_calls import cut_calls
from strata.layers.service_frames import service_calls_rows
from strata.schema.service_layers import SERVICE_LAYERS
from strata.stats.services import service_tables

WHOLE = """
     50 2.2 wait
    100 1.1 rmw_send_request ana 1
    102 1.1 wait
    120 2.2 ready
    123 2.2 execute on_add
    130 2.2 rmw_take_request on_add ana 1
    135 2.2 callback_start on_add
    200 2.2 callback_end on_add
    202 2.2 rmw_send_response on_add ana 1 202
    230 1.1 ready
    240 1.1 rmw_take_response ana 1 202
    300 2.2 wait
"""


def scene() -> Scene:
    made = Scene()
    made.service("/add", node="/server", pid=2, symbol="on_add")
    made.client("ana", "/add", node="/a", pid=1)
    return made


def cut(lines: str) -> tuple[dict[str, int], dict[str, int], int]:
    """Layers of the one call, what was counted, and the latency."""
    made = scene()
    made.play(lines)
    model = made.model()
    found, findings = cut_calls(model)
    (row,) = service_calls_rows(model, found).frame().to_dict("records")
    layers = {
        layer.name: row[layer.column]
        for layer in SERVICE_LAYERS
        if isinstance(row[layer.column], int)
    }
    return layers, (model.findings + findings).counts, row["latency_ns"]


def without(*events: str) -> str:
    lines = WHOLE.splitlines()
    return "\n".join(line for line in lines if not any(event in line for event in events))


def test_a_whole_call() -> None:
    layers, counts, latency = cut(WHOLE)
    assert layers == {
        "request middleware": 20,
        "request executor wait": 3,
        "request take": 7,
        "client take": 5,
        "callback": 65,
        "respond": 2,
        "response middleware": 28,
        "response executor wait + take": 10,
    }
    assert latency == sum(layers.values()) == 140
    assert counts == {}


def test_rclcpp_picks_no_service() -> None:
    layers, _, _ = cut(without("execute"))
    assert layers["request middleware"] == 20
    assert layers["request executor wait + take"] == 10
    assert "request take" not in layers


@pytest.mark.parametrize(
    ("lost", "merged"),
    [
        (("wait", "ready"), {"request middleware + executor wait": 23}),
        (("wait", "ready", "execute"), {"request middleware + executor wait + take": 30}),
        (("wait", "ready"), {"response middleware + executor wait + take": 38}),
        (("callback_end",), {"callback + respond": 67}),
        (("callback",), {"service": 72}),
        (("take_request",), {"request + service": 102}),
        (("send_response",), {"callback": 65, "respond + response": 40}),
        (("callback_end", "send_response"), {"callback + respond + response": 105}),
        (("callback", "send_response"), {"service + response": 110}),
        (("take_request", "send_response"), {"request + service + response": 140}),
    ],
)
def test_a_missing_checkpoint_merges_layers(lost: tuple[str, ...], merged: dict[str, int]) -> None:
    layers, _, latency = cut(without(*lost))
    assert layers.items() >= merged.items()
    assert sum(layers.values()) == latency == 140


def test_where_events_were_lost_waits_are_not_known() -> None:
    made = scene()
    made.play(WHOLE)
    lost = np.asarray([BASE + 110], np.int64)
    model = made.model(losses=(lost, lost))
    (row,) = service_calls_rows(model, cut_calls(model)[0]).frame().to_dict("records")
    # The request was under way then; the response was not.
    assert row["request_middleware_executor_wait_ns"] == 23
    assert row["response_middleware_ns"] == 28
    assert row["latency_ns"] == 140


INNER = ("wait", "ready", "execute", "take_request", "_start", "_end", "send_response")


def test_a_wait_whose_begin_was_lost_before_is_not_known() -> None:
    made = scene()
    made.play(without(" 50 2.2 wait"))
    made.play("40 2.2 ready")
    lost = np.asarray([BASE + 50], np.int64)
    model = made.model(losses=(lost, lost))
    (row,) = service_calls_rows(model, cut_calls(model)[0]).frame().to_dict("records")
    assert row["request_middleware_executor_wait_ns"] == 23
    assert row["response_middleware_ns"] == 28


EVERY_LOSS = [
    lost for count in range(len(INNER) + 1) for lost in itertools.combinations(INNER, count)
]
LENGTH = 1000


def later(lines: str, number: int, thread: str) -> str:
    """The lines of the call as those of call `number`, which is answered by `thread`."""
    out = []
    for line in filter(None, map(str.strip, lines.splitlines())):
        ns, own, event, *rest = line.split()
        if event.startswith("rmw"):
            rest[-1 if event.endswith("_request") else -2] = str(number)
        if event.endswith("_response"):
            rest[-1] = str(int(rest[-1]) + LENGTH * number)
        own = thread if event == "rmw_send_response" else own
        out.append(" ".join((str(int(ns) + LENGTH * number), own, event, *rest)))
    return "\n".join(out)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_lost_the_layers_add_up(seed: int) -> None:
    """Calls one after the other, each without other events: none gets those of a neighbour."""
    chance, made = random.Random(seed), scene()
    losses = chance.sample(EVERY_LOSS, len(EVERY_LOSS))
    for number, lost in enumerate(losses, start=1):
        thread = chance.choice(("2.2", "2.9"))
        made.play(later(without(*lost), number, thread))
    model = made.model()
    rows = service_calls_rows(model, cut_calls(model)[0]).frame().to_dict("records")
    assert len(rows) == len(losses)
    for row, lost in zip(rows, losses, strict=True):
        layers = [row[layer.column] for layer in SERVICE_LAYERS]
        known = [ns for ns in layers if not pd.isna(ns)]
        assert sum(known) == row["latency_ns"] == 140, lost
        assert min(known) >= 0, lost
        begin = row["begin_ns"] - 100
        start, end = row["callback_start_ns"], row["callback_end_ns"]
        assert pd.isna(start) or (start == begin + 135 and "_start" not in lost), lost
        assert pd.isna(end) or end == begin + 200 or "_end" in lost, lost


def test_a_response_from_within_the_callback_ends_its_part() -> None:
    layers, _, latency = cut(
        """
        100 1.1 rmw_send_request ana 1
        130 2.2 rmw_take_request on_add ana 1
        135 2.2 callback_start on_add
        150 2.2 rmw_send_response on_add ana 1 150
        200 2.2 callback_end on_add
        240 1.1 rmw_take_response ana 1 150
        """
    )
    assert layers["callback"] == 15
    assert layers["respond"] == 0
    assert sum(layers.values()) == latency == 140


def test_a_callback_that_began_after_the_response_is_another_calls() -> None:
    made = scene()
    made.play(
        """
        100 1.1 rmw_send_request ana 1
        130 2.2 rmw_take_request on_add ana 1          its callback and what followed: not recorded
        150 2.9 rmw_send_response on_add ana 1 150
        235 2.2 callback_start on_add
        240 2.2 callback_end on_add
        250 1.1 rmw_take_response ana 1 150
        """
    )
    model = made.model()
    (row,) = service_calls_rows(model, cut_calls(model)[0]).frame().to_dict("records")
    assert pd.isna(row["instance_id"])
    assert pd.isna(row["callback_start_ns"])
    assert (row["service_ns"], row["latency_ns"]) == (20, 150)
    assert model.findings.counts["requests_without_callback"] == 1


@pytest.mark.parametrize(
    ("lost", "instant"),
    [("callback_start_ns", 132), ("callback_end_ns", 150), ("picked_ns", 125)],
)
def test_nothing_of_a_call_reaches_over_lost_events(lost: str, instant: int) -> None:
    made = scene()
    made.play(WHOLE)
    window = np.asarray([BASE + instant], np.int64)
    model = made.model(losses=(window, window))
    (row,) = service_calls_rows(model, cut_calls(model)[0]).frame().to_dict("records")
    assert pd.isna(row[lost])
    layers = [row[layer.column] for layer in SERVICE_LAYERS]
    assert sum(ns for ns in layers if not pd.isna(ns)) == row["latency_ns"] == 140


def test_a_response_that_is_sent_later_waits_in_respond() -> None:
    layers, _, _ = cut(
        """
        100 1.1 rmw_send_request ana 1
        130 2.2 rmw_take_request on_add ana 1
        135 2.2 callback_start on_add
        150 2.2 callback_end on_add
        200 2.9 rmw_send_response on_add ana 1 200
        240 1.1 rmw_take_response ana 1 200
        """
    )
    assert (layers["callback"], layers["respond"]) == (15, 50)


def test_a_request_that_is_taken_before_its_event_begins_with_the_take() -> None:
    layers, counts, latency = cut(
        """
         50 2.2 wait
         90 2.2 ready
         95 2.2 rmw_take_request on_add ana 1
        100 1.1 rmw_send_request ana 1
        150 2.2 rmw_send_response on_add ana 1 150
        240 1.1 rmw_take_response ana 1 150
        """
    )
    assert layers["request middleware"] == layers["request executor wait + take"] == 0
    assert latency == sum(layers.values()) == 240 - 95
    assert counts["late_request_events"] == 1


@pytest.mark.parametrize(
    ("sample", "between", "latency"),
    [
        ("A1", "", 155),
        ("A2", "", 140),
        ("B1", "", 140),
        ("A1", "90 1.1 rmw_send_request A 9", 140),
        # What was written before is a message, of the same number by chance.
        ("A1", "84 1.1 rmw_publish /t 7", 140),
    ],
)
def test_a_call_begins_with_the_write_of_its_request(
    sample: str, between: str, latency: int
) -> None:
    made = scene()
    made.publisher("/t", node="/a", pid=1)
    # The writer's GUID has the participant of the client's GID.
    made.client("A", "/add", node="/a", pid=1)
    made.play(
        f"""
         85 1.1 write_begin
         86 1.1 writer_history_add sample={sample}
         87 1.1 write_end
        {between}
        100 1.1 rmw_send_request A 1
        130 2.2 rmw_take_request on_add A 1
        240 1.1 rmw_take_response A 1 202
        """
    )
    model = made.model()
    frame = service_calls_rows(model, cut_calls(model)[0]).frame()
    (row,) = frame[frame["sequence_number"] == 1].to_dict("records")
    assert row["latency_ns"] == latency
    layers = [row[layer.column] for layer in SERVICE_LAYERS]
    assert sum(ns for ns in layers if not pd.isna(ns)) == latency


def test_checkpoints_after_the_end_are_not_used() -> None:
    layers, counts, latency = cut(
        """
        100 1.1 rmw_send_request ana 1
        530 2.2 rmw_take_request on_add ana 1          later than the end
        550 2.2 rmw_send_response on_add ana 1 150
        240 1.1 rmw_take_response ana 1 150
        """
    )
    assert layers == {"request + service + response": 140}
    assert latency == 140
    assert counts["disordered_service_checkpoints"] == 1


def test_a_call_without_an_answer_goes_as_far_as_it_was_seen() -> None:
    layers, _, latency = cut(without("send_response", "take_response"))
    assert list(layers)[-1] == "callback"
    assert latency == sum(layers.values()) == 100


def test_statistics_are_of_complete_calls() -> None:
    made = scene()
    made.play(WHOLE)
    made.play(
        """
        400 1.1 rmw_send_request ana 2
        900 2.2 rmw_take_request on_add ana 2
        """
    )
    model = made.model()
    services, layers = service_tables(service_calls_rows(model, cut_calls(model)[0]))
    (row,) = services.records()
    assert (row["service"], row["client_node"], row["service_node"]) == ("/add", "/a", "/server")
    assert (row["count"], row["lost"]) == (2, 1)
    assert (row["latency_count"], row["latency_max_ns"]) == (1, 140)
    assert set(layers["count"]) == {1}
    assert layers["share"].sum() == pytest.approx(1)


def test_of_clients_outside_the_trace_the_services_part_counts() -> None:
    made = Scene()
    made.service("/add", node="/server", pid=2, symbol="on_add")
    made.play(
        """
        130 2.2 rmw_take_request on_add ana 1
        135 2.2 callback_start on_add
        200 2.2 callback_end on_add
        202 2.2 rmw_send_response on_add ana 1 202
        """
    )
    model = made.model()
    services, layers = service_tables(service_calls_rows(model, cut_calls(model)[0]))
    (row,) = services.records()
    assert row["client_node"].startswith("(unknown ")
    assert (row["count"], row["lost"], row["latency_p50_ns"]) == (1, 1, 72)
    assert layers.texts("layer").tolist() == ["client take", "callback", "respond"]


def test_of_two_services_of_a_name_a_call_counts_once() -> None:
    made = scene()
    made.service("/add", node="/other", pid=3, symbol="on_add_too")
    for number in range(1, 6):
        at = 1000 * number
        made.play(
            f"""
            {at} 1.1 rmw_send_request ana {number}
            {at + 10} 2.2 rmw_take_request on_add ana {number}
            {at + 11} 3.3 rmw_take_request on_add_too ana {number}
            {at + 20} 2.2 rmw_send_response on_add ana {number} {at + 20}
            {at + 40} 3.3 rmw_send_response on_add_too ana {number} {at + 40}
            {at + 50} 1.1 rmw_take_response ana {number} {at + 20}
            """
        )
    model = made.model()
    calls = service_calls_rows(model, cut_calls(model)[0])
    assert calls["further"].sum() == 5
    (row,) = service_tables(calls)[0].records()
    assert (row["count"], row["lost"], row["latency_count"]) == (5, 0, 5)
    assert row["service_node"] == "/other, /server"
    assert model.findings.counts["requests_taken_by_several"] == 5
    assert "unmatched_requests" not in model.findings.counts


def test_clients_of_one_node_name_in_two_processes_are_two_rows() -> None:
    made = scene()
    del made.nodes["/a"]
    made.client("bob", "/add", node="/a", pid=3)
    for name, pid in (("ana", 1), ("bob", 3)):
        made.play(f"{100 * pid} {pid}.{pid} rmw_send_request {name} 1")
    model = made.model()
    calls = service_calls_rows(model, cut_calls(model)[0])
    rows = service_tables(calls)[0].records()
    assert [(row["client_node"], row["count"]) for row in rows] == [
        ("/a (pid 1)", 1),
        ("/a (pid 3)", 1),
    ]
