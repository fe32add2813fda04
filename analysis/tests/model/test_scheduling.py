# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the scheduler did with a thread, on scenes of a few switches and wakes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_scene import kernel_tables
from scene import BASE, Scene

from strata.model.build import Model
from strata.model.of_tables import model_of_tables
from strata.model.scheduling import Scheduling
from strata.model.thread_states import State


def build(
    lines: str, *, ran: str = "", contexts: dict[int, tuple[int, int]] | None = None
) -> Model:
    """A model in which thread 1.1 is known, and emitted events at the times of `ran`."""
    made = Scene()
    made.subscription("/t", node="/n", pid=1, symbol="f")
    for at in ran.split() or ["100000"]:
        made.play(f"{at} 1.1 ready")
    return model_of_tables(made.tables() | kernel_tables(lines, contexts))


def states(scheduling: Scheduling) -> list[tuple[int, int, str]]:
    """Begin, end and state of the intervals of the only thread."""
    found = scheduling.intervals
    assert len(np.unique(found.thread)) <= 1
    return [
        (int(start) - BASE, int(end) - BASE, State(state).name)
        for start, end, state in zip(found.start_ns, found.end_ns, found.state, strict=True)
    ]


def of(lines: str) -> list[tuple[int, int, str]]:
    return states(build(lines).scheduling)


def test_a_thread_runs_is_preempted_sleeps_and_is_woken() -> None:
    model = build(
        """
        0  cpu0 5 S 1
        10 cpu0 1 R+ 7         preempted by 7
        25 cpu0 7 S 1
        30 cpu0 1 S 0          sleeps
        50 cpu1 wake 1 cpu0
        53 cpu0 0 R 1
        60 cpu0 1 R 9
        70 cpu0 9 S 0
        """
    )
    assert states(model.scheduling) == [
        (0, 10, "RUNNING"),
        (10, 25, "PREEMPTED"),
        (25, 30, "RUNNING"),
        (30, 50, "BLOCKED"),
        (50, 53, "PREEMPTED"),
        (53, 60, "RUNNING"),
        (60, 70, "PREEMPTED"),
    ]
    assert model.findings.counts == {}


@pytest.mark.parametrize("state", ["R", "R+", "R-old"])
def test_whatever_a_kernel_writes_for_runnable_is_preempted(state: str) -> None:
    assert of(f"0 cpu0 5 S 1\n5 cpu0 1 {state} 2\n9 cpu0 2 S 0")[1] == (5, 9, "PREEMPTED")


def test_the_cut_ends_of_the_trace_are_told_as_far_as_they_can_be() -> None:
    ran_before = of("0 cpu1 5 S 0\n4 cpu0 1 S 0\n9 cpu0 0 R 2")
    assert ran_before == [(0, 4, "RUNNING"), (4, 9, "BLOCKED")]
    slept_before = of("0 cpu1 5 S 0\n4 cpu1 wake 1 cpu0\n6 cpu0 0 R 1\n9 cpu1 0 R 2")
    assert slept_before == [(0, 4, "BLOCKED"), (4, 6, "PREEMPTED"), (6, 9, "RUNNING")]
    # Asleep or in a queue, with nothing that tells which.
    assert of("0 cpu1 5 S 0\n4 cpu0 0 R 1\n9 cpu0 1 S 0")[0] == (0, 4, "UNKNOWN")
    # A wake of a thread that runs is none.
    assert of("0 cpu1 5 S 0\n4 cpu1 wake 1 cpu0\n6 cpu0 1 S 0\n9 cpu1 0 R 2") == [
        (0, 4, "RUNNING"),
        (4, 6, "RUNNING"),
        (6, 9, "BLOCKED"),
    ]


def test_a_wake_on_the_way_out_puts_the_thread_back_into_the_queue() -> None:
    found = of(
        """
        0  cpu0 5 S 1
        8  cpu1 wake 1 cpu0
        10 cpu0 1 S 7
        20 cpu0 7 S 1
        30 cpu0 1 S 0
        """
    )
    assert found[2] == (10, 20, "PREEMPTED")


def test_a_second_event_of_one_wake_changes_nothing() -> None:
    lines = "0 cpu0 1 S 7\n5 cpu1 wake 1 cpu0\n6 cpu1 wake 1 cpu0\n9 cpu0 7 S 1\n12 cpu0 1 S 0"
    assert of(lines)[:3] == [(0, 5, "BLOCKED"), (5, 6, "PREEMPTED"), (6, 9, "PREEMPTED")]


def test_where_a_switch_is_missing_the_state_is_unknown() -> None:
    model = build(
        """
        0  cpu0 5 S 1
        10 cpu0 7 S 9          when did 1 leave, and how?
        20 cpu0 9 S 1
        30 cpu0 1 S 9
        40 cpu1 wake 1 cpu0
        50 cpu0 1 S 8          when did it come?
        60 cpu0 8 S 0
        """
    )
    assert states(model.scheduling) == [
        (0, 20, "UNKNOWN"),
        (20, 30, "RUNNING"),
        (30, 40, "BLOCKED"),
        (40, 50, "UNKNOWN"),
        (50, 60, "BLOCKED"),
    ]
    assert model.findings.counts == {"missing_switches": 2}


def test_a_thread_that_leaves_another_cpu_than_it_came_to_is_unknown_between() -> None:
    found = of("0 cpu0 5 S 1\n10 cpu1 1 S 0\n20 cpu1 0 R 3")
    assert found == [(0, 10, "UNKNOWN"), (10, 20, "BLOCKED")]


def test_a_missing_switch_from_idle_is_put_at_the_wake() -> None:
    model = build(
        """
        0  cpu0 1 S 0
        40 cpu1 wake 1 cpu0
        50 cpu0 1 S 0          it came from idle unseen
        60 cpu0 0 R 3
        """
    )
    assert states(model.scheduling) == [
        (0, 40, "BLOCKED"),
        (40, 50, "RUNNING"),
        (50, 60, "BLOCKED"),
    ]
    assert model.findings.counts == {"inferred_switches": 1}


def test_contexts_say_which_thread_of_a_namespace_a_kernel_thread_is() -> None:
    lines = "0 cpu0 5 S 4711\n10 cpu0 4711 S 1\n20 cpu0 1 S 0\n30 cpu0 0 R 8"
    model = build(lines, contexts={4711: (1, 1)})
    assert states(model.scheduling)[:2] == [(0, 10, "RUNNING"), (10, 30, "BLOCKED")]
    # Without them, the kernel's thread 1 would be taken for it.
    assert states(build(lines).scheduling)[1] == (10, 20, "RUNNING")


def test_a_thread_that_emits_while_it_does_not_run_is_another() -> None:
    lines = "0 cpu0 5 S 1\n10 cpu0 1 S 0\n90 cpu0 0 R 8"
    model = build(lines, ran="20 30 40")
    assert states(model.scheduling) == []
    assert model.findings.counts == {"threads_without_kernel_events": 1}
    model = build(lines, ran="2 3 4")
    assert len(states(model.scheduling)) == 2
    assert model.findings.counts == {}


def test_a_thread_that_the_kernel_never_mentions_is_counted() -> None:
    model = build("0 cpu0 5 S 6\n10 cpu0 6 S 0")
    assert model.findings.counts == {"threads_without_kernel_events": 1}


def test_without_scheduler_events_nothing_is_known_and_nothing_counted() -> None:
    model = build("")
    assert not model.scheduling.known
    assert model.findings.counts == {}


SWITCHES = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 1),
        st.sampled_from(["wake", "S", "R", "R+"]),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    min_size=1,
    max_size=30,
)


@given(SWITCHES)
def test_whatever_the_events_the_intervals_leave_no_gap_and_never_overlap(
    steps: list[tuple[int, int, str, int, int]],
) -> None:
    at, lines = 0, []
    for pause, cpu, what, left, came in steps:
        at += pause
        word = f"wake {came} cpu{cpu}" if what == "wake" else f"{left} {what} {came}"
        lines.append(f"{at} cpu{cpu} {word}")
    found = states(build("\n".join(lines)).scheduling)
    for before, after in itertools.pairwise(found):
        assert before[1] == after[0]
    assert all(begin < end for begin, end, _ in found)
    first_ns = steps[0][0]
    switched = any(what != "wake" for _, _, what, _, _ in steps)
    mentioned = any(
        came == 1 if what == "wake" else 1 in (left, came) for _, _, what, left, came in steps
    )
    if switched and mentioned and at > first_ns:
        assert (found[0][0], found[-1][1]) == (first_ns, at)
    else:
        assert found == []
