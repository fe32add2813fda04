# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executors and callback groups, inferred; what their threads did; what messages waited behind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from intra_scene import IntraScene
from message_results import message_results
from scene import BASE
from table_rows import rows_of

from strata.layers.blockers import find_blockers
from strata.layers.transfers import cut_layers
from strata.model.build import Model
from strata.model.executor_frames import executor_threads_rows, executors_rows
from strata.pipeline.messages import Wanted
from strata.schema.tables import EXECUTOR_THREADS
from strata.verdict.executor_load import busy_shares

NONE = -1


def scene() -> IntraScene:
    """Two nodes on the threads of process 2, each with two subscriptions."""
    made = IntraScene()
    made.publisher("/t", node="/source", pid=1)
    made.publisher("/u", node="/source", pid=1)
    made.subscription("/t", node="/sink", pid=2, symbol="on_t")
    made.subscription("/u", node="/sink", pid=2, symbol="on_u")
    made.subscription("/t", node="/other", pid=2, symbol="other_t")
    return made


def blocked(model: Model) -> dict[int, dict[str, int]]:
    """What each message waited behind, by symbol; "take SYMBOL": a take for it."""
    found = find_blockers(model, cut_layers(model)[0])
    out: dict[int, dict[str, int]] = {}
    for message, callback, take, ns in zip(
        found.message, found.callback, found.take, found.duration_ns, strict=True
    ):
        symbol = str(model.entities.callbacks.symbol[callback])
        symbol = f"take {symbol}" if take else symbol
        out.setdefault(int(message), {})[symbol] = int(ns)
    return out


# A second thread runs every callback once, so that both are one executor.
WARM = """
    10 2.1 callback_start on_t
    11 2.1 callback_end on_t
    12 2.2 callback_start on_t
    13 2.2 callback_end on_t
    14 2.1 ready
    15 2.2 ready
    16 2.1 callback_start on_u
    17 2.1 callback_end on_u
"""


def test_threads_that_ran_one_callback_are_one_executor() -> None:
    made = scene()
    made.play(WARM)
    made.play("20 2.3 ready\n21 2.3 callback_start other_t\n22 2.3 callback_end other_t")
    made.play("30 2.4 callback_start other_t\n31 2.4 callback_end other_t")
    model = made.model()
    frame = executors_rows(model).frame()
    assert frame["kind"].tolist() == ["multi-threaded", "single-threaded", "without events"]
    assert frame["threads"].tolist() == [2, 1, 1]
    assert frame["nodes"].tolist() == ["/sink", "/other", "/other"]


def test_callbacks_of_a_node_that_never_overlap_are_one_group() -> None:
    made = scene()
    made.play(WARM)
    model = made.model()
    by_symbol = dict(zip(model.entities.callbacks.symbol, model.groups.of_callback, strict=True))
    assert by_symbol["on_t"] == by_symbol["on_u"] != NONE


def test_a_callback_that_overlaps_itself_has_no_group() -> None:
    made = scene()
    made.play(WARM)
    made.play(
        """
        100 2.1 callback_start on_t
        110 2.2 callback_start on_t
        120 2.1 callback_end on_t
        130 2.2 callback_end on_t
        """
    )
    model = made.model()
    by_symbol = dict(zip(model.entities.callbacks.symbol, model.groups.of_callback, strict=True))
    assert by_symbol["on_t"] == NONE
    assert by_symbol["on_u"] != NONE


def test_callbacks_that_overlap_each_other_are_of_two_groups() -> None:
    made = scene()
    made.play(WARM)
    made.play(
        """
        100 2.1 callback_start on_t
        110 2.2 callback_start on_u
        120 2.1 callback_end on_t
        130 2.2 callback_end on_u
        """
    )
    model = made.model()
    by_symbol = dict(zip(model.entities.callbacks.symbol, model.groups.of_callback, strict=True))
    assert NONE not in (by_symbol["on_t"], by_symbol["on_u"])
    assert by_symbol["on_t"] != by_symbol["on_u"]


def test_a_group_beside_another_in_one_node_still_excludes() -> None:
    # on_t and on_u never meet; on_v of the same node meets both.
    made = scene()
    made.subscription("/u", node="/sink", pid=2, symbol="on_v")
    made.play(WARM)
    made.play(
        """
        20 2.1 callback_start on_v
        21 2.1 callback_end on_v
        100 2.1 callback_start on_v
        110 2.2 callback_start on_t
        120 2.2 callback_end on_t
        130 2.2 callback_start on_u
        140 2.2 callback_end on_u
        150 2.1 callback_end on_v
        1000 2.1 callback_start on_u
        1100 1.1 rmw_publish /t 1100
        1110 2.2 wait
        1290 2.2 ready
        1300 2.1 callback_end on_u
        1310 2.2 execute on_t
        1320 2.2 rmw_take on_t 1100
        1321 2.2 callback_start on_t
        1330 2.2 callback_end on_t
        """
    )
    model = made.model()
    by_symbol = dict(zip(model.entities.callbacks.symbol, model.groups.of_callback, strict=True))
    assert by_symbol["on_t"] == by_symbol["on_u"] != by_symbol["on_v"]
    assert blocked(model) == {0: {"on_u": 200}}


def test_an_execution_is_of_one_exclusion_set() -> None:
    # Thirty callbacks of a node on three threads: each met a few of the others, by chance.
    random = np.random.default_rng(3)
    made = IntraScene()
    names = [f"on_{number}" for number in range(30)]
    for name in names:
        made.subscription(f"/{name}", node="/sink", pid=2, symbol=name)
    lines = [f"{thread} 2.{thread} ready" for thread in (1, 2, 3)]
    at = np.array([100, 100, 100])
    for name in random.permutation(np.repeat(names, 20)):
        thread = int(at.argmin())
        begin = int(at[thread] + random.integers(1, 50))
        at[thread] = begin + random.integers(1, 50)
        lines.append(f"{begin} 2.{thread + 1} callback_start {name}")
        lines.append(f"{at[thread]} 2.{thread + 1} callback_end {name}")
    made.play("\n".join(lines))
    model = made.model()
    groups, executions = model.groups, model.executions
    assert len(np.unique(groups.row)) == len(groups.row) <= len(executions.callback)
    # No two of a set ran at once, and only callbacks that ran beside themselves have none.
    same = groups.group[1:] == groups.group[:-1]
    assert (groups.start_ns[1:] >= groups.until_ns[:-1])[same].all()
    assert 1 < len(np.unique(groups.group)) < len(names)
    of_run = groups.of_callback[executions.callback]
    for callback in np.flatnonzero(groups.of_callback == NONE):
        start_ns, end_ns = (
            np.sort(column[executions.callback == callback])
            for column in (executions.start_ns, executions.end_ns)
        )
        assert (start_ns[1:] < end_ns[:-1]).any()
    assert len(groups.row) == (of_run != NONE).sum()


def test_a_callback_is_put_to_those_that_it_could_have_met_most() -> None:
    # on_v met neither on_t nor on_u, which met each other; on_t ran much longer.
    made = scene()
    made.subscription("/u", node="/sink", pid=2, symbol="on_v")
    made.play(WARM)
    made.play(
        """
        100 2.1 callback_start on_t
        110 2.2 callback_start on_u
        120 2.2 callback_end on_u
        900 2.1 callback_end on_t
        1000 2.1 callback_start on_v
        1010 2.1 callback_end on_v
        """
    )
    model = made.model()
    by_symbol = dict(zip(model.entities.callbacks.symbol, model.groups.of_callback, strict=True))
    assert by_symbol["on_t"] == by_symbol["on_v"] != by_symbol["on_u"]


def test_callbacks_of_a_node_in_two_executors_do_not_exclude_each_other() -> None:
    made = scene()
    made.subscription("/u", node="/sink", pid=2, symbol="on_v")
    made.play(WARM)
    made.play(
        """
        30 2.5 ready
        31 2.5 callback_start on_v
        32 2.5 callback_end on_v
        33 2.6 ready
        34 2.6 callback_start on_v
        35 2.6 callback_end on_v
        """
    )
    model = made.model()
    by_symbol = dict(zip(model.entities.callbacks.symbol, model.groups.of_callback, strict=True))
    assert by_symbol["on_t"] == by_symbol["on_u"] != by_symbol["on_v"] != NONE


def test_a_thread_that_waited_when_the_trace_began_waited() -> None:
    # No init events: the process was there before the trace.
    made = IntraScene()
    made.play(
        """
        100 1.1 rcl_publish unknown
        101 1.1 rmw_publish unknown 100
        300 2.2 ready
        310 2.2 execute unknown
        320 2.2 rmw_take unknown 100
        321 2.2 callback_start unknown
        330 2.2 callback_end unknown
        """
    )
    model = made.model()
    transfers, _ = cut_layers(model)
    assert transfers.durations["middleware_ns"].tolist() == [199]
    assert transfers.durations["executor_wait_ns"].tolist() == [10]


def test_where_events_were_lost_waits_are_not_known() -> None:
    made = scene()
    made.play(
        """
        90  2.2 wait
        95  2.2 ready
        98  1.1 rcl_publish /t
        100 1.1 rmw_publish /t 100
        300 2.2 execute on_t
        310 2.2 rmw_take on_t 100
        """
    )
    lost = np.asarray([150 + BASE], np.int64)
    model = made.model(losses=(lost, lost))
    transfers, _ = cut_layers(model)
    assert transfers.durations["middleware_executor_wait_ns"].tolist() == [200]
    assert transfers.durations["executor_wait_ns"].tolist() == [NONE]


@pytest.mark.parametrize(
    ("waits", "code"),
    [(True, "messages_with_lost_waits"), (False, "messages_without_executor_events")],
)
def test_messages_whose_layers_stay_together_are_counted_by_cause(waits: bool, code: str) -> None:
    made = scene()
    made.play("100 1.1 rmw_publish /t 100\n310 2.2 rmw_take on_t 100")
    if waits:
        made.play("90  2.2 wait\n95  2.2 ready")
    lost = np.asarray([150 + BASE], np.int64)
    model = made.model(losses=(lost, lost))
    found = message_results(model, Wanted()).findings.counts
    counts = {name: n for name, n in found.items() if name.startswith("messages_with")}
    assert counts == {code: 1}


def test_mutual_exclusion_is_executor_wait_though_a_thread_waits() -> None:
    # on_u runs on one thread; the other spins, as the ready on_t is of the same group.
    made = scene()
    made.play(WARM)
    made.play(
        """
        1000 2.1 callback_start on_u
        1100 1.1 rmw_publish /t 1100
        1110 2.2 wait
        1120 2.2 ready
        1130 2.2 wait
        1290 2.2 ready
        1300 2.1 callback_end on_u
        1310 2.2 execute on_t
        1320 2.2 rmw_take on_t 1100
        1321 2.2 callback_start on_t
        1330 2.2 callback_end on_t
        """
    )
    model = made.model()
    transfers, _ = cut_layers(model)
    assert transfers.durations["executor_wait_ns"].tolist() == [210]
    assert transfers.durations["middleware_ns"].tolist() == [0]
    assert blocked(model) == {0: {"on_u": 200}}


def test_an_idle_thread_of_the_executor_means_that_the_message_was_on_its_way() -> None:
    # Another node's callback keeps one thread busy; the other one waits and then takes.
    made = scene()
    made.play(WARM)
    made.play("18 2.1 callback_start other_t\n19 2.1 callback_end other_t")
    made.play(
        """
        1000 2.1 callback_start other_t
        1100 1.1 rmw_publish /t 1100
        1050 2.2 wait
        1250 2.2 ready
        1300 2.2 execute on_t
        1320 2.2 rmw_take on_t 1100
        1321 2.2 callback_start on_t
        1330 2.2 callback_end on_t
        1400 2.1 callback_end other_t
        """
    )
    model = made.model()
    transfers, _ = cut_layers(model)
    assert transfers.durations["middleware_ns"].tolist() == [150]
    assert transfers.durations["executor_wait_ns"].tolist() == [50]
    assert blocked(model) == {}


def test_when_all_threads_are_busy_the_taking_thread_names_what_was_waited_for() -> None:
    made = scene()
    made.play(WARM)
    made.play(
        """
        18 2.1 callback_start other_t
        19 2.1 callback_end other_t
        900  2.1 callback_start on_u
        1000 2.2 callback_start other_t
        1050 2.1 callback_end on_u
        1060 2.1 callback_start other_t
        1100 1.1 rmw_publish /t 1100
        1290 2.2 callback_end other_t
        1300 2.2 execute on_t
        1320 2.2 rmw_take on_t 1100
        1321 2.2 callback_start on_t
        1330 2.2 callback_end on_t
        1400 2.1 callback_end other_t
        2000 2.1 wait
        2001 2.1 ready
        """
    )
    model = made.model()
    transfers, _ = cut_layers(model)
    assert transfers.durations["executor_wait_ns"].tolist() == [200]
    assert blocked(model) == {0: {"other_t": 190}}


def images(count: int, take: int) -> IntraScene:
    """`count` messages every 100 ns, whose takes need `take` ns each, and their callbacks 5."""
    made = scene()
    made.play("0 2.2 ready")
    free = 100
    for number in range(count):
        at = 100 + 100 * number
        picked = max(free, at) + 1
        started = picked + take
        made.play(
            f"""
            {at} 1.1 rmw_publish /t {at}
            {picked} 2.2 execute on_t
            {started - 1} 2.2 rmw_take on_t {at}
            {started} 2.2 callback_start on_t
            {started + 5} 2.2 callback_end on_t
            """
        )
        free = started + 5
    made.play(f"{free} 2.2 wait\n{free + 1} 2.2 ready")
    return made


def test_takes_are_work_that_messages_wait_behind() -> None:
    """As images whose deserialization, within the take, needs longer than their period."""
    model = images(4, 190).model()
    transfers, _ = cut_layers(model)
    # Picked at 101, 297, 493 and 689; each take ends 190 later, and its callback 5 after that.
    assert blocked(model) == {
        1: {"take on_t": 91, "on_t": 5},
        2: {"take on_t": 187, "on_t": 5},
        3: {"take on_t": 87 + 190, "on_t": 5 + 5},
    }
    waited = transfers.durations["executor_wait_ns"]
    assert waited.tolist() == [1, 97, 193, 289]


def test_takes_that_were_waited_behind_are_named() -> None:
    model = images(40, 190).model()
    blame = message_results(model, Wanted()).tables["blame"]
    largest = blame.iloc[0]
    assert (largest["layer"], largest["where"]) == (
        "executor wait",
        "behind itself, takes of /t (/sink)",
    )
    assert largest["share_p50"] > 0.8


def test_takes_in_a_backlog_are_added_up() -> None:
    model = images(60, 190).model()
    transfers, _ = cut_layers(model)
    found = find_blockers(model, transfers)
    last = transfers.waiting_until_ns[-1] - transfers.waiting_from_ns[-1]
    own = found.message == len(transfers) - 1
    behind = dict(zip(found.take[own].tolist(), found.duration_ns[own].tolist(), strict=True))
    # Of 196 ns, 5 are the callback, and 1 is neither; the wait began within a take.
    picks, rest = divmod(behind[False], 5)
    assert (rest, last - sum(behind.values())) == (0, picks)
    assert picks > 20


def test_a_take_is_told_from_its_begin_in_the_middleware_where_no_pick_was_recorded() -> None:
    made = scene()
    made.play(
        """
        0   2.2 ready
        100 1.1 rmw_publish /t 100
        110 2.2 take_begin stamp=100
        250 2.2 take_end stamp=100 taken=1
        260 2.2 rmw_take on_t 100
        270 2.2 callback_start on_t
        280 2.2 callback_end on_t
        120 1.1 rmw_publish /u 120
        300 2.2 take_begin stamp=120
        310 2.2 take_end stamp=120 taken=1
        320 2.2 rmw_take on_u 120
        330 2.2 callback_start on_u
        340 2.2 callback_end on_u
        350 2.2 wait
        360 2.2 ready
        """
    )
    model = made.model()
    assert blocked(model)[1] == {"take on_t": 150, "on_t": 10}


def test_a_backlog_adds_up_what_ran_before_each_message() -> None:
    # 30 messages are there at once; each waits behind all before it, and behind on_u in between.
    made = scene()
    made.play("900 2.2 wait\n999 2.2 ready")
    count = 30
    for number in range(count):
        made.play(f"{100 + number} 1.1 rmw_publish /t {100 + number}")
    now = 1000
    for number in range(count):
        made.play(
            f"""
            {now} 2.2 execute on_t
            {now + 1} 2.2 rmw_take on_t {100 + number}
            {now + 2} 2.2 callback_start on_t
            {now + 9} 2.2 callback_end on_t
            {now + 10} 2.2 callback_start on_u
            {now + 13} 2.2 callback_end on_u
            """
        )
        now += 20
    model = made.model()
    expected = {n: {"on_t": 7 * n, "take on_t": 2 * n, "on_u": 3 * n} for n in range(1, count)}
    assert blocked(model) == expected


def test_a_backlog_behind_many_callbacks_names_those_that_ran_longest() -> None:
    made = scene()
    count = 40
    for number in range(count):
        made.subscription("/u", node="/sink", pid=2, symbol=f"on_{number}")
    made.play("10 2.2 wait\n90 2.2 ready\n100 1.1 rmw_publish /t 100")
    now, expected = 200, dict[str, int]()
    for number in range(count):
        end = now + 10 + number
        made.play(f"{now} 2.2 callback_start on_{number}\n{end} 2.2 callback_end on_{number}")
        expected[f"on_{number}"] = 10 + number
        now = end + 1
    made.play(f"{now} 2.2 execute on_t\n{now + 5} 2.2 rmw_take on_t 100")
    model = made.model()
    transfers, _ = cut_layers(model)
    found = find_blockers(model, transfers)
    named = {
        str(model.entities.callbacks.symbol[callback]): int(ns)
        for callback, ns in zip(found.callback, found.duration_ns, strict=True)
        if callback != NONE
    }
    assert named.items() <= expected.items()
    # The first and the last within the wait are always named, and the 24 that ran longest.
    assert len(named) == 25
    (others,) = found.duration_ns[found.callback == NONE]
    assert others + sum(named.values()) == sum(expected.values())


def test_states_of_a_thread_add_up() -> None:
    made = scene()
    made.play(WARM)
    made.play("100 2.1 wait\n180 2.1 ready\n190 2.2 callback_start on_t\n260 2.2 callback_end on_t")
    made.play("300 2.2 ready")
    model = made.model()
    frame = executor_threads_rows(model).frame().set_index("vtid")
    assert frame["executing_ns"].tolist() == [2, 71]
    assert frame["waiting_ns"].tolist() == [80, 0]
    # Before the looks at 14, and at 15 and 300, which end no wait.
    assert frame["mutex_ns"].tolist() == [3, 42]
    # From 10 to 180, and from 12 to 300; ready is the rest.
    assert (frame["end_ns"] - frame["begin_ns"]).tolist() == [170, 288]
    assert frame["ready_ns"].tolist() == [85, 175]


def test_between_two_calls_of_spin_some_a_thread_is_outside() -> None:
    made = scene()
    made.play(
        """
        100 2.1 wait 0
        101 2.1 ready
        102 2.1 execute on_t
        103 2.1 callback_start on_t
        110 2.1 callback_end on_t
        111 2.1 ready
        150 2.1 wait 0              no work: it was left at 111
        151 2.1 ready
        152 2.1 callback_start on_t
        160 2.1 callback_end on_t
        190 2.1 wait 0              its time was over
        195 2.1 wait 0              at once
        196 2.1 ready
        200 2.1 wait                spins for ever now
        240 2.1 ready
        """
    )
    frame = executor_threads_rows(made.model()).frame()
    assert frame["outside_ns"].tolist() == [39 + 30 + 5]
    assert (frame["outside_ns"] <= frame["ready_ns"]).all()
    busy = busy_shares(rows_of(EXECUTOR_THREADS, frame))
    assert busy.busy.tolist() == [pytest.approx(1 - (74 + 1 + 1 + 1 + 40) / 140)]
    assert busy.outside.tolist() == [pytest.approx(74 / 140)]


def test_threads_of_a_pool_wait_for_what_they_are_handed() -> None:
    made = scene()
    made.play(
        """
        100 2.1 wait
        150 2.1 ready
        160 2.2 execute on_t
        162 2.2 callback_start on_t
        170 2.2 callback_end on_t
        171 2.1 wait
        250 2.1 ready
        260 2.2 execute on_t
        262 2.2 callback_start on_t
        270 2.2 callback_end on_t
        """
    )
    whole = executor_threads_rows(made.model()).frame()
    frame = whole.set_index("vtid")
    assert frame.loc[2, "waiting_ns"] == 260 - 170
    assert frame.loc[2, "ready_ns"] == 2 + 2
    busy = busy_shares(rows_of(EXECUTOR_THREADS, whole)).of("busy")
    assert busy[frame.loc[2, "executor_id"]] == pytest.approx(20 / 110)


def test_a_thread_waited_before_its_first_event() -> None:
    made = IntraScene()
    made.play("0 1.1 ready\n1000 1.2 ready\n1100 1.2 callback_start x\n1200 1.2 callback_end x")
    made.play("1250 1.2 wait")
    model = made.model()
    (row,) = executor_threads_rows(model).frame().query("vtid == 2").to_dict("records")
    assert (row["begin_ns"] - BASE, row["end_ns"] - BASE) == (0, 1250)
    assert (row["waiting_ns"], row["executing_ns"], row["ready_ns"]) == (1000, 100, 150)


def test_a_wait_that_is_open_when_the_trace_ends_is_waiting() -> None:
    made = scene()
    made.play(
        """
        1000 2.1 ready
        1010 2.1 callback_start on_t
        1020 2.1 callback_end on_t
        1030 2.1 wait
        9030 1.1 rmw_publish /t 9030
        """
    )
    model = made.model()
    (row,) = executor_threads_rows(model).frame().to_dict("records")
    assert (row["begin_ns"] - BASE, row["end_ns"] - BASE) == (1000, 9030)
    assert (row["executing_ns"], row["waiting_ns"], row["ready_ns"]) == (10, 8000, 20)


def test_an_open_wait_does_not_reach_over_lost_events() -> None:
    made = scene()
    made.play("1000 2.1 ready\n1030 2.1 wait\n9030 1.1 rmw_publish /t 9030")
    lost = np.asarray([5030 + BASE], np.int64)
    model = made.model(losses=(lost, lost))
    (row,) = executor_threads_rows(model).frame().to_dict("records")
    assert (row["end_ns"] - BASE, row["waiting_ns"]) == (5030, 4000)


def test_a_thread_was_in_its_callback_when_the_trace_ended() -> None:
    made = scene()
    made.play("1000 2.1 ready\n1010 2.1 callback_start on_t\n1520 2.1 rmw_publish /t 1519")
    model = made.model()
    (row,) = executor_threads_rows(model).frame().to_dict("records")
    assert (row["begin_ns"] - BASE, row["end_ns"] - BASE) == (1000, 1520)
    assert (row["executing_ns"], row["ready_ns"]) == (510, 10)


def test_a_callback_that_never_ended_is_not_counted_twice() -> None:
    # As one of the group it ended when the next of it began; on its thread nothing else ran.
    made = scene()
    made.play(WARM)
    made.play(
        """
        100 2.2 callback_start on_u
        200 1.1 rmw_publish /t 200
        300 2.1 callback_start on_u
        350 2.1 callback_end on_u
        400 2.2 execute on_t
        410 2.2 rmw_take on_t 200
        411 2.2 callback_start on_t
        412 2.2 callback_end on_t
        900 2.1 wait
        901 2.1 ready
        """
    )
    model = made.model()
    assert blocked(model) == {0: {"on_u": 200}}


_SYMBOLS = st.sampled_from(["on_t", "on_u", "other_t"])
_STEPS = st.lists(
    st.tuples(st.integers(1, 40), st.sampled_from([1, 2, 3]), st.sampled_from("wcr"), _SYMBOLS),
    max_size=40,
)


@given(_STEPS, st.lists(st.integers(1, 600), min_size=1, max_size=6, unique=True))
def test_whatever_the_threads_did_layers_add_up_and_blockers_fit(
    steps: list[tuple[int, int, str, str]], published: list[int]
) -> None:
    made = scene()
    made.play(WARM)
    now, running = 100, dict[int, str]()
    for gap, thread, what, symbol in steps:
        now += gap
        if thread in running:
            made.play(f"{now} 2.{thread} callback_end {running.pop(thread)}")
        elif what == "c":
            made.play(f"{now} 2.{thread} callback_start {symbol}")
            running[thread] = symbol
        else:
            made.play(f"{now} 2.{thread} {'wait' if what == 'w' else 'ready'}")
    end = max(now, *published) + 10
    for number, at in enumerate(sorted(published)):
        made.play(f"{at} 1.1 rmw_publish /t {at}")
        made.play(f"{end} 2.2 execute on_t\n{end + 5} 2.2 rmw_take on_t {at}")
        made.play(f"{end + 6} 2.2 callback_start on_t\n{end + 7} 2.2 callback_end on_t")
        end += 10 + number
    model = made.model()
    transfers, _ = cut_layers(model)
    sums = sum(np.where(ns == NONE, 0, ns) for ns in transfers.durations.values())
    assert (sums == transfers.latency_ns).all()
    assert all(np.all(ns >= NONE) for ns in transfers.durations.values())
    found = find_blockers(model, transfers)
    waits = [ns for name, ns in transfers.durations.items() if "executor_wait" in name]
    waited = sum(np.maximum(ns, 0) for ns in waits)
    behind = np.bincount(found.message, found.duration_ns, len(transfers))
    assert (behind <= waited).all()
    frame = executor_threads_rows(model).frame().dropna(subset=["ready_ns"])
    assert (frame["ready_ns"] >= 0).all()
