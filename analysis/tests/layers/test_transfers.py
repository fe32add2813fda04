# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers of single messages, on scenes of a few events."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scene import Scene

from strata.layers.blockers import find_blockers
from strata.layers.transfers import Transfers, cut_layers
from strata.model.build import Model
from strata.schema.layers import HOP_LAYERS


def scene() -> Scene:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.publisher("/u", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.subscription("/u", node="/sink", pid=2, symbol="on_u")
    return made


def rows(transfers: Transfers) -> list[dict[str, int]]:
    """The layers that each message has, by name."""
    return [
        {
            layer.name: int(transfers.durations[layer.column][index])
            for layer in HOP_LAYERS
            if transfers.durations[layer.column][index] != -1
        }
        for index in range(len(transfers))
    ]


def cut(made: Scene) -> tuple[Model, Transfers]:
    model = made.model()
    transfers, _ = cut_layers(model)
    for index, row in enumerate(rows(transfers)):
        assert sum(row.values()) == transfers.latency_ns[index]
    return model, transfers


def blockers(made: Scene) -> list[tuple[int, str, int]]:
    model, transfers = cut(made)
    found = find_blockers(model, transfers)
    symbols = model.entities.callbacks.symbol
    return [
        (int(message), f"{'take ' if take else ''}{symbols[callback]}", int(ns))
        for message, callback, take, ns in zip(
            found.message, found.callback, found.take, found.duration_ns, strict=True
        )
    ]


def test_a_waiting_thread_makes_the_time_middleware() -> None:
    #            98   100              150  160    170  180   190
    # publisher  rcl  rmw
    # taker      .....wait.............ready exec  take start end
    made = scene()
    made.play(
        """
        50  2.2 wait
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        150 2.2 ready
        160 2.2 execute on_t
        170 2.2 rmw_take on_t 100
        180 2.2 callback_start on_t
        190 2.2 callback_end on_t
        """
    )
    _, transfers = cut(made)
    assert rows(transfers) == [
        {
            "client publish": 2,
            "middleware": 50,
            "executor wait": 10,
            "take": 10,
            "client take": 10,
            "callback": 10,
        }
    ]
    assert transfers.ready_ns.tolist()[0] % 1000 == 150


def test_a_thread_busy_with_a_callback_makes_the_time_executor_wait_behind_it() -> None:
    #            100                  300    305  310
    # publisher  rmw
    # taker      on_u running.........end    wait ready exec
    made = scene()
    made.play(
        """
        10  2.2 wait
        20  2.2 ready
        40  2.2 callback_start on_u
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        300 2.2 callback_end on_u
        305 2.2 wait
        310 2.2 ready
        312 2.2 execute on_t
        320 2.2 rmw_take on_t 100
        330 2.2 callback_start on_t
        390 2.2 callback_end on_t
        """
    )
    _, transfers = cut(made)
    (row,) = rows(transfers)
    assert row["middleware"] == 5
    assert row["executor wait"] == 207
    assert blockers(made) == [(0, "on_u", 200)]


def test_a_message_that_was_ready_with_another_waits_behind_it() -> None:
    made = scene()
    made.play(
        """
        50  2.2 wait
        98  1.1 rcl_publish /u
        99  1.1 rmw_publish /u 99
        100 1.1 rcl_publish /t
        101 1.1 rmw_publish /t 101
        150 2.2 ready
        152 2.2 execute on_u            picked first of the two
        154 2.2 rmw_take on_u 99
        156 2.2 callback_start on_u
        256 2.2 callback_end on_u
        258 2.2 execute on_t
        260 2.2 rmw_take on_t 101
        262 2.2 callback_start on_t
        270 2.2 callback_end on_t
        """
    )
    _, transfers = cut(made)
    first, second = rows(transfers)
    assert (first["middleware"], first["executor wait"]) == (51, 2)
    assert (second["middleware"], second["executor wait"]) == (49, 108)
    assert blockers(made) == [(1, "on_u", 100), (1, "take on_u", 4)]


def test_time_in_several_turns_of_the_executor_is_divided_by_what_it_did() -> None:
    # The message is long on the wire while a timer fires twice on the thread that will take it.
    made = scene()
    made.timer(node="/sink", pid=2, symbol="tick")
    made.play(
        """
        90  2.2 wait
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        200 2.2 ready
        210 2.2 callback_start tick
        220 2.2 callback_end tick
        230 2.2 wait
        300 2.2 ready
        310 2.2 callback_start tick
        320 2.2 callback_end tick
        330 2.2 wait
        400 2.2 ready
        401 2.2 execute on_t
        402 2.2 rmw_take on_t 100
        403 2.2 callback_start on_t
        404 2.2 callback_end on_t
        """
    )
    _, transfers = cut(made)
    (row,) = rows(transfers)
    assert row["middleware"] == 100 + 70 + 70
    assert row["executor wait"] == 30 + 30 + 1
    assert blockers(made) == [(0, "tick", 20)]


def test_without_waits_of_the_thread_two_layers_are_one() -> None:
    made = scene()
    made.play(
        """
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        160 2.2 execute on_t
        170 2.2 rmw_take on_t 100
        180 2.2 callback_start on_t
        190 2.2 callback_end on_t
        """
    )
    _, transfers = cut(made)
    (row,) = rows(transfers)
    assert row["middleware + executor wait"] == 60
    assert "middleware" not in row
    assert transfers.ready_ns.tolist() == [-1]


def test_without_any_executor_event_three_layers_are_one() -> None:
    made = scene()
    made.play(
        """
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        170 2.2 rmw_take on_t 100
        """
    )
    _, transfers = cut(made)
    assert rows(transfers) == [{"client publish": 2, "middleware + executor wait + take": 70}]


def test_without_execute_the_wait_still_splits() -> None:
    made = scene()
    made.play(
        """
        90  2.2 wait
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        150 2.2 ready
        170 2.2 rmw_take on_t 100
        """
    )
    _, transfers = cut(made)
    assert rows(transfers) == [{"client publish": 2, "middleware": 50, "executor wait + take": 20}]


def test_an_execute_of_another_entity_is_not_the_takes() -> None:
    made = scene()
    made.play(
        """
        90  2.2 wait
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        150 2.2 ready
        160 2.2 execute on_u
        170 2.2 rmw_take on_t 100
        """
    )
    _, transfers = cut(made)
    assert transfers.picked_ns.tolist() == [-1]


def test_a_callback_of_another_subscription_is_not_the_takes() -> None:
    made = scene()
    made.play(
        """
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        170 2.2 rmw_take on_t 100
        180 2.2 callback_start on_u
        190 2.2 callback_end on_u
        """
    )
    _, transfers = cut(made)
    assert transfers.callback_start_ns.tolist() == [-1]


def test_a_message_published_after_its_entity_was_picked_is_not_picked_before_it() -> None:
    # A full queue of depth one: the entity was ready for an older message.
    made = scene()
    made.play(
        """
        90  2.2 wait
        95  2.2 ready
        99  2.2 execute on_t
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        170 2.2 rmw_take on_t 100
        """
    )
    _, transfers = cut(made)
    assert rows(transfers) == [{"client publish": 2, "middleware": 0, "executor wait + take": 70}]


def test_a_callback_without_end_leaves_the_row_open() -> None:
    made = scene()
    made.play(
        """
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        170 2.2 rmw_take on_t 100
        180 2.2 callback_start on_t
        """
    )
    _, transfers = cut(made)
    assert transfers.callback_end_ns.tolist() == [-1]
    assert transfers.latency_ns.tolist() == [82]


def test_waiting_inside_a_callback_is_no_blocking() -> None:
    # on_u spins the executor: what it waits for in there is the middleware's time.
    made = scene()
    made.play(
        """
        40  2.2 callback_start on_u
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        150 2.2 wait
        250 2.2 ready
        300 2.2 callback_end on_u
        312 2.2 execute on_t
        320 2.2 rmw_take on_t 100
        """
    )
    _, transfers = cut(made)
    (row,) = rows(transfers)
    assert (row["middleware"], row["executor wait"]) == (100, 112)
    assert blockers(made) == [(0, "on_u", 100)]


_STEPS = st.sampled_from(["wait", "ready", "callback_start on_u", "callback_end on_u"])


@given(st.lists(st.tuples(st.integers(1, 50), _STEPS), max_size=30), st.integers(1, 400))
def test_whatever_the_thread_did_the_layers_add_up_and_blockers_fit(
    script: list[tuple[int, str]], published: int
) -> None:
    made = scene()
    now = 0
    for gap, step in script:
        now += gap
        made.play(f"{now} 2.2 {step}")
    end = max(now, published) + 10
    made.play(f"{published - 1} 1.1 rcl_publish /t\n{published} 1.1 rmw_publish /t {published}")
    made.play(f"{end} 2.2 execute on_t\n{end + 5} 2.2 rmw_take on_t {published}")
    model, transfers = cut(made)
    assert all(np.all(ns >= -1) for ns in transfers.durations.values())
    found = find_blockers(model, transfers)
    waiting = transfers.durations["executor_wait_ns"]
    merged = transfers.durations["middleware_executor_wait_ns"]
    assert found.duration_ns.sum() <= np.maximum(waiting, merged).sum()
