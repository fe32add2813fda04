# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What threads did within the layers of messages, on scenes of a few events."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_scene import kernel_tables
from scene import Scene

from strata.layers.links import link_messages
from strata.layers.scheduling import LayerTimes, Preemptions, layer_times
from strata.layers.stretches import LAYERS
from strata.layers.transfers import Transfers, cut_layers
from strata.model.of_tables import model_of_tables
from strata.schema.layers import EXECUTOR_WAIT, HOLD, WAKE_UP

Times = dict[tuple[int, str], tuple[int, int, int, int]]

RELAY = """
    90  1.1 rcl_publish /t
    100 1.1 rmw_publish /t 100
    95  2.2 wait
    150 2.2 ready
    160 2.2 execute f
    170 2.2 rmw_take f 100
    180 2.2 callback_start f
    190 2.2 rcl_publish /u
    194 2.2 rmw_publish /u 194
    200 2.2 callback_end f
    150 3.3 wait
    210 3.3 ready
    212 3.3 execute g
    214 3.3 rmw_take g 194
    216 3.3 callback_start g
    230 3.3 callback_end g
"""


def scene() -> Scene:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/relay", pid=2, symbol="f")
    made.publisher("/u", node="/relay", pid=2)
    made.subscription("/u", node="/sink", pid=3, symbol="g")
    made.play(RELAY)
    return made


def divide(kernel: str) -> tuple[Times, dict[tuple[int, str, int], int], Transfers]:
    """Running, preempted, blocked and unknown by (message, layer); and preemptors."""
    model = model_of_tables(scene().tables() | kernel_tables(kernel))
    transfers, _ = cut_layers(model)
    links = link_messages(model, transfers, [])
    times, preemptions = layer_times(model, transfers, links)
    hold_ns = np.full(len(transfers), -1, np.int64)
    hold_ns[links.child] = links.hold_ns
    check(times, preemptions, transfers, hold_ns)
    parts = (times.running_ns, times.preempted_ns, times.blocked_ns, times.unknown_ns)
    keys = [(int(m), LAYERS[int(n)].name) for m, n in zip(times.message, times.layer, strict=True)]
    found = {key: tuple(int(part[i]) for part in parts) for i, key in enumerate(keys)}
    who = {
        (int(m), LAYERS[int(n)].name, int(tid)): int(ns)
        for m, n, tid, ns in zip(
            preemptions.message,
            preemptions.layer,
            preemptions.tid,
            preemptions.duration_ns,
            strict=True,
        )
    }
    return found, who, transfers  # type: ignore[return-value]


def check(
    times: LayerTimes, preemptions: Preemptions, transfers: Transfers, hold_ns: np.ndarray
) -> None:
    """Parts are never negative and add up, to the nanosecond; so do preemptors."""
    parts = (times.running_ns, times.preempted_ns, times.blocked_ns, times.unknown_ns)
    assert all((part >= 0).all() for part in parts)
    for row, total in enumerate(np.sum(parts, axis=0)):
        layer, message = LAYERS[times.layer[row]], times.message[row]
        whole = hold_ns if layer is HOLD else transfers.durations[layer.column]
        assert total == whole[message]
        own = (preemptions.message == message) & (preemptions.layer == times.layer[row])
        told = preemptions.duration_ns[own].sum()
        if layer is EXECUTOR_WAIT:
            # That of callbacks is in their own rows.
            assert told <= times.preempted_ns[row]
        else:
            assert told == times.preempted_ns[row]


def test_a_callback_that_is_preempted_and_blocked_says_by_whom_and_how_long() -> None:
    times, who, _ = divide(
        """
        0   cpu0 9 S 2
        182 cpu0 2 R 7
        185 cpu0 7 R 8
        186 cpu0 8 S 2
        196 cpu0 2 S 0
        198 cpu1 wake 2 cpu0
        199 cpu0 0 R 2
        230 cpu0 2 S 0
        """
    )
    assert times[0, "callback"] == (13, 5, 2, 0)
    assert {key[2]: ns for key, ns in who.items() if key[:2] == (0, "callback")} == {
        7: 3,
        8: 1,
        0: 1,
    }
    # The hold is the part of the callback up to the publish, under the message published.
    assert times[1, "hold"] == (6, 4, 0, 0)
    assert {key[2]: ns for key, ns in who.items() if key[:2] == (1, "hold")} == {7: 3, 8: 1}
    assert times[1, "client publish"] == (4, 0, 0, 0)


def test_the_time_before_the_pick_is_divided_as_the_layers_are() -> None:
    times, who, transfers = divide(
        """
        0   cpu0 9 S 2
        120 cpu0 2 S 0
        140 cpu0 0 R 2
        152 cpu0 2 R 7
        157 cpu0 7 S 2
        230 cpu0 2 S 0
        """
    )
    # Not notified: while the thread waited the message was with the middleware, which is no thread.
    assert transfers.durations["executor_wait_ns"][0] == 10
    assert times[0, "executor wait"] == (5, 5, 0, 0)
    assert who[0, "executor wait", 7] == 5
    assert times[0, "take"] == (10, 0, 0, 0)
    assert (0, "wake-up") not in times


def test_what_callbacks_waited_is_not_told_of_those_that_waited_behind_them() -> None:
    # The second message waits from 164 on, for f up to 200, then for the executor.
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="f")
    made.play(
        RELAY.split("150 3.3")[0]
        .replace("190 2.2 rcl_publish /u", "")
        .replace("194 2.2 rmw_publish /u 194", "164 1.1 rmw_publish /t 164")
    )
    made.play("""
        230 2.2 execute f
        235 2.2 rmw_take f 164
        240 2.2 callback_start f
        250 2.2 callback_end f
    """)
    kernel = """
        0   cpu0 9 S 2
        183 cpu0 2 R 7
        188 cpu0 7 R 2
        205 cpu0 2 R 8
        225 cpu0 8 R 2
        260 cpu0 2 S 0
    """
    model = model_of_tables(made.tables() | kernel_tables(kernel))
    transfers, _ = cut_layers(model)
    times, preemptions = layer_times(model, transfers, link_messages(model, transfers, []))
    told = pd.DataFrame(vars(preemptions))
    second = told[(told["message"] == 1) & (told["layer"] == LAYERS.index(EXECUTOR_WAIT))]
    assert second[["tid", "duration_ns"]].values.tolist() == [[8, 20]]
    whole = pd.DataFrame(vars(times)).set_index(["message", "layer"])
    assert whole.loc[(1, LAYERS.index(EXECUTOR_WAIT)), "preempted_ns"] == 25


def test_what_the_kernel_does_not_cover_is_unknown() -> None:
    times, who, _ = divide("185 cpu0 2 R 7\n190 cpu0 7 R 2\n195 cpu0 2 S 0")
    assert times[0, "callback"] == (5, 5, 0, 10)
    assert times[0, "take"] == (0, 0, 0, 10)
    assert who[0, "callback", 7] == 5
    assert times[1, "callback"] == (0, 0, 0, 14)


def test_without_kernel_events_there_are_no_rows() -> None:
    assert divide("")[:2] == ({}, {})


@given(
    st.lists(
        st.tuples(
            st.integers(0, 25),
            st.integers(0, 1),
            st.sampled_from(["wake", "S", "R"]),
            st.integers(0, 4),
            st.integers(0, 4),
        ),
        max_size=40,
    )
)
def test_parts_add_up_whatever_the_kernel_says(
    steps: list[tuple[int, int, str, int, int]],
) -> None:
    at, lines = 60, []
    for pause, cpu, what, left, came in steps:
        at += pause
        word = f"wake {came} cpu{cpu}" if what == "wake" else f"{left} {what} {came}"
        lines.append(f"{at} cpu{cpu} {word}")
    divide("\n".join(lines))


NOTIFIED = """
    90  1.1 rmw_publish /t 100
    92  1.1 writer_history_add sample=A5 stamp=100
    100 2.9 reader_notify sample=A5 reader=R
    50  2.2 wait
    150 2.2 ready
    160 2.2 execute f
    162 2.2 take_begin reader=R
    165 2.2 take_end reader=R sample=A5 stamp=100 taken=1
    170 2.2 rmw_take f 100
    180 2.2 callback_start f
    200 2.2 callback_end f
"""


@pytest.mark.parametrize(
    ("wake", "expected"),
    [
        # Woken at 110: it waited for a CPU.
        ("110 cpu1 wake 2 cpu0", (10, 30, 10, 0)),
        # Nobody told when it was woken: not "blocked".
        ("", (10, 0, 0, 40)),
    ],
)
def test_a_thread_that_got_no_cpu_when_it_was_woken_is_not_blocked(
    wake: str, expected: tuple[int, ...]
) -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="f")
    made.reader("R", pid=2)
    made.play(NOTIFIED)
    kernel = f"""
        0   cpu0 9 S 2
        60  cpu0 2 S 7
        {wake}
        140 cpu0 7 R 2
        230 cpu0 2 S 0
    """
    model = model_of_tables(made.tables() | kernel_tables(kernel))
    transfers, _ = cut_layers(model)
    times, _ = layer_times(model, transfers, link_messages(model, transfers, []))
    (row,) = np.flatnonzero(times.layer == LAYERS.index(WAKE_UP))
    parts = (times.running_ns, times.preempted_ns, times.blocked_ns, times.unknown_ns)
    assert tuple(int(part[row]) for part in parts) == expected
