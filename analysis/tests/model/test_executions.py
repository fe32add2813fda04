# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Pairing of callback_start with callback_end, and what ran inside what."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scene import BASE, Scene

from strata.engine.windows import Windows
from strata.model.build import Model


def durations(model: Model) -> list[int]:
    executions = model.executions
    return [
        int(end - start) if end != -1 else -1
        for start, end in zip(executions.start_ns, executions.end_ns, strict=True)
    ]


def scene() -> Scene:
    made = Scene()
    made.subscription("/t", node="/n", pid=1, symbol="f")
    made.subscription("/u", node="/n", pid=1, symbol="g")
    return made


def test_a_start_is_paired_with_the_next_end_of_its_callback_on_its_thread() -> None:
    made = scene()
    made.play(
        """
        10 1.1 callback_start f
        12 1.2 callback_start f     the same callback on another thread (reentrant group)
        15 1.1 callback_end f
        19 1.2 callback_end f
        """
    )
    model = made.model()
    assert durations(model) == [5, 7]
    assert model.findings.counts == {}


def test_a_callback_that_throws_has_no_end_and_the_next_one_is_whole() -> None:
    made = scene()
    made.play(
        """
        10 1.1 callback_start f     throws
        20 1.1 callback_start f
        26 1.1 callback_end f
        """
    )
    model = made.model()
    assert durations(model) == [-1, 6]
    assert model.findings.counts == {"callbacks_without_end": 1}


def test_an_end_whose_start_was_not_recorded_is_counted() -> None:
    made = scene()
    made.play(
        """
        10 1.1 callback_end f
        20 1.1 callback_start f
        26 1.1 callback_end f
        """
    )
    model = made.model()
    assert durations(model) == [6]
    assert model.findings.counts == {"callback_ends_without_start": 1}


def test_a_callback_inside_another_is_paired_and_encloses_what_it_does() -> None:
    made = scene()
    made.publisher("/out", node="/n", pid=1)
    made.play(
        """
        10 1.1 callback_start f
        12 1.1 callback_start g         f spins
        13 1.1 rcl_publish /out
        14 1.1 rmw_publish /out 14      made by g
        16 1.1 callback_end g
        17 1.1 rcl_publish /out
        18 1.1 rmw_publish /out 18      made by f
        20 1.1 callback_end f
        21 1.1 rcl_publish /out
        22 1.1 rmw_publish /out 22      made by none
        """
    )
    model = made.model()
    assert durations(model) == [10, 4]
    assert model.executions.depth.tolist() == [1, 2]
    assert model.publications.execution.tolist() == [1, 0, -1]


def test_what_follows_a_throwing_callback_is_not_inside_it() -> None:
    made = scene()
    made.publisher("/out", node="/n", pid=1)
    made.play(
        """
        10 1.1 callback_start f         throws
        15 1.1 wait
        20 1.1 rcl_publish /out
        21 1.1 rmw_publish /out 21
        """
    )
    model = made.model()
    assert model.publications.execution.tolist() == [-1]


def test_a_wait_ends_at_the_next_ready_of_its_thread() -> None:
    made = scene()
    made.play(
        """
        5  1.1 ready                    looks for work: ends no wait
        10 1.1 wait
        11 1.2 ready                    another thread
        30 1.1 ready
        31 1.1 ready
        40 1.1 wait                     never ends
        """
    )
    model = made.model()
    assert (model.waits.start_ns - BASE).tolist() == [10]
    assert (model.waits.end_ns - BASE).tolist() == [30]


@given(st.lists(st.tuples(st.sampled_from("fg"), st.sampled_from([1, 2]), st.booleans())))
def test_every_start_and_end_is_paired_or_counted(
    script: list[tuple[str, int, bool]],
) -> None:
    made = scene()
    for at, (symbol, thread, start) in enumerate(script):
        kind = "callback_start" if start else "callback_end"
        made.play(f"{10 + at} 1.{thread} {kind} {symbol}")
    model = made.model()
    starts = sum(start for _, _, start in script)
    ends = len(script) - starts
    paired = int((model.executions.end_ns != -1).sum())
    assert len(model.executions) == starts
    assert starts - paired == model.findings.counts.get("callbacks_without_end", 0)
    assert ends - paired == model.findings.counts.get("callback_ends_without_start", 0)
    done = model.executions.end_ns != -1
    assert np.all(model.executions.end_ns[done] > model.executions.start_ns[done])


def test_what_ran_at_an_address_before_it_was_registered_is_another_callback() -> None:
    made = scene()
    # Tracing began late: a callback runs whose registration was missed; later its address is f's.
    made.play(
        """
        10 1.1 callback_start f
        15 1.1 callback_end f
        50 1.1 callback_start f
        59 1.1 callback_end f
        """
    )
    (register,) = (
        row for row in made.rows["ros2:rclcpp_callback_register"] if row["symbol"] == "f"
    )
    register["timestamp"] = BASE + 40
    model = made.model()
    symbols = model.entities.callbacks.symbol[model.executions.callback].tolist()
    assert symbols == [None, "f"]
    assert (model.executions.callback >= 0).all()


def windows(*bounds: tuple[int, int]) -> Windows:
    begin, end = zip(*bounds, strict=True)
    return np.asarray(begin, np.int64) + BASE, np.asarray(end, np.int64) + BASE


def test_an_end_after_lost_events_may_be_of_a_later_run() -> None:
    made = scene()
    made.publisher("/out", node="/n", pid=1)
    made.play(
        """
        10 1.1 callback_start f
        12 1.1 rmw_publish /out 1
        30 1.1 rmw_publish /out 2       after what was lost: of which run?
        40 1.1 callback_end f
        50 1.1 callback_start f
        60 1.1 callback_end f
        """
    )
    model = made.model(windows((15, 20), (18, 25), (70, 80)))
    assert durations(model) == [-1, 10]
    assert (model.executions.until_ns - BASE).tolist() == [15, 60]
    assert model.publications.execution.tolist() == [0, -1]
    assert model.findings.counts["callbacks_with_losses"] == 1
    assert "callbacks_without_end" not in model.findings.counts


def test_a_run_that_began_while_events_were_lost_is_known_to_have_begun_only() -> None:
    made = scene()
    made.play("10 1.1 callback_start f\n40 1.1 callback_end f")
    model = made.model(windows((5, 20)))
    assert durations(model) == [-1]
    assert (model.executions.until_ns - BASE).tolist() == [10]
    assert model.executions.depth.tolist() == [1]
    assert model.findings.counts == {"callbacks_with_losses": 1}


def test_a_nested_callback_that_throws_ends_with_the_one_around_it() -> None:
    made = scene()
    made.publisher("/out", node="/n", pid=1)
    made.play(
        """
        10 1.1 callback_start f
        12 1.1 callback_start g         throws
        20 1.1 callback_end f
        30 1.1 rmw_publish /out 1
        40 1.1 wait
        """
    )
    model = made.model()
    assert (model.executions.until_ns - BASE).tolist() == [20, 20]
    assert model.publications.execution.tolist() == [-1]


def test_a_take_starts_no_callback_on_the_other_side_of_a_loss() -> None:
    made = scene()
    made.publisher("/t", node="/m", pid=1)
    made.play(
        """
        10 1.1 rmw_publish /t 1
        20 1.1 execute f
        30 1.1 rmw_take f 1
        50 1.1 callback_start f
        60 1.1 callback_end f
        """
    )
    whole = made.model()
    assert (whole.takes.execution.tolist(), whole.takes.picked_ns - BASE) == ([0], [20])
    after = made.model(windows((40, 45)))
    assert (after.takes.execution.tolist(), after.takes.picked_ns - BASE) == ([-1], [20])
    assert after.findings.counts["takes_without_callback"] == 1
    before = made.model(windows((25, 25)))
    assert (before.takes.execution.tolist(), before.takes.picked_ns.tolist()) == ([0], [-1])
