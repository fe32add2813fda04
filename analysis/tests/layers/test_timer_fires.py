# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Fires of timers against their grid: one rule after the other, on handmade tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scene import BASE, Scene

from strata.layers import timer_fires
from strata.layers.timer_fires import MOST_GRIDS, find_timer_fires
from strata.layers.timer_frames import timer_fires_rows
from strata.model.of_tables import model_of_tables

MS = 1_000_000
PERIOD = 10 * MS
LATE = 200_000
"""How long after it was due a timer of these scenes is called, unless said."""


def scene(period: int = PERIOD) -> Scene:
    """A timer that was made at 0."""
    made = Scene()
    made.timer(node="/n", pid=1, symbol="tick", period=period)
    for event in ("rcl_timer_init", "rclcpp_timer_callback_added", "rclcpp_timer_link_node"):
        made.rows[f"ros2:{event}"][0]["timestamp"] = BASE
    return made


def fire(made: Scene, at: int, thread: str = "1.1", work: int = 10_000) -> None:
    """A pick at `at`, a callback 1 us later that works for `work` ns, then a wait begins."""
    made.play(
        f"""
        {at - 1000} {thread} ready
        {at} {thread} execute tick
        {at + 1000} {thread} callback_start tick
        {at + 1000 + work} {thread} callback_end tick
        {at + 2000 + work} {thread} ready
        {at + 3000 + work} {thread} wait
        """
    )


def fires_of(made: Scene, *lost: int) -> tuple[pd.DataFrame, dict[str, int]]:
    """The fires and what was counted; `lost` are instants at which events were lost."""
    at = np.asarray(lost, np.int64) + BASE
    model = made.model((at, at))
    fires, findings = find_timer_fires(model)
    frame = timer_fires_rows(fires).frame()
    frame["expected_ns"] -= BASE
    return frame, findings.counts


def test_periods_in_a_part_that_was_dropped_are_not_skipped() -> None:
    made = scene()
    for number in (100, 101, 103):
        fire(made, number * PERIOD + LATE)
    cut = BASE + 99 * PERIOD
    windows = (np.asarray([BASE]), np.asarray([cut]))
    model = model_of_tables(made.tables(), windows, dropped_until_ns=cut)
    frame = timer_fires_rows(find_timer_fires(model)[0]).frame()
    expected = [(number * PERIOD) + BASE for number in (100, 101, 102)]
    assert frame["expected_ns"].tolist() == expected
    assert frame["skipped"].tolist() == [0, 0, 1]


def causes(frame: pd.DataFrame) -> list[str | None]:
    return [None if pd.isna(value) else str(value) for value in frame["cause"]]


def test_fires_on_the_grid_are_late_by_when_they_were_called() -> None:
    made = scene()
    for number in range(1, 6):
        fire(made, number * PERIOD + LATE * number)
    frame, counts = fires_of(made)
    assert frame["expected_ns"].tolist() == [number * PERIOD for number in range(1, 6)]
    assert frame["lateness_ns"].tolist() == [LATE * number + 1000 for number in range(1, 6)]
    assert (frame["picked_ns"] + 1000 == frame["start_ns"]).all()
    assert frame["skipped"].sum() == 0
    assert causes(frame) == [None] * 5
    assert counts == {}


def test_a_timer_may_never_fire() -> None:
    frame, counts = fires_of(scene())
    assert frame.empty
    assert counts == {}


def test_the_last_fire_may_begin_a_grid() -> None:
    made = scene()
    fire(made, PERIOD + LATE)
    fire(made, 13 * MS)
    frame, counts = fires_of(made)
    assert causes(frame) == [None, "early"]
    assert counts == {"rebased_timers": 1}


def test_a_busy_thread_skips_periods_and_the_grid_goes_on() -> None:
    made = scene()
    fire(made, PERIOD + LATE, work=34 * MS)
    # Due at 20; called at 44.2, when two more points have passed: the next is due at 50.
    fire(made, PERIOD + LATE + 34 * MS + 4000)
    fire(made, 5 * PERIOD + LATE)
    frame, counts = fires_of(made)
    assert frame["expected_ns"].tolist() == [PERIOD, 2 * PERIOD, 5 * PERIOD]
    assert frame["skipped"].tolist() == [0, 2, 0]
    assert causes(frame) == [None, "overrun", None]
    assert counts == {}


def test_a_thread_that_waited_meanwhile_tells_a_pause_and_a_new_grid() -> None:
    made = scene()
    fire(made, PERIOD + LATE)
    # Cancelled; reset at 83.7: due 10 ms later, off the old grid.
    for number in range(3):
        fire(made, 93_700_000 + LATE + number * PERIOD)
    frame, counts = fires_of(made)
    assert causes(frame) == [None, "paused", None, None]
    assert frame["expected_ns"].isna().tolist() == [False, True, False, False]
    assert frame["lateness_ns"].isna().tolist() == [False, True, False, False]
    assert frame["expected_ns"].tolist()[2:] == [103_700_000 + LATE, 113_700_000 + LATE]
    assert frame["skipped"].sum() == 0
    assert counts == {"rebased_timers": 1}


def test_a_thread_that_got_no_cpu_while_it_waited_is_no_pause() -> None:
    """The wait ends 65 ms after the timer was due, and the timer keeps to its grid from then on."""
    made = scene()
    for at in (PERIOD, 2 * PERIOD):
        fire(made, at + LATE)
    fire(made, 95 * MS + LATE)
    for number in (10, 11, 12):
        fire(made, number * PERIOD + LATE)
    frame, counts = fires_of(made)
    assert causes(frame) == [None, None, "undecided", None, None, None]
    assert frame["skipped"].tolist() == [0, 0, 6, 0, 0, 0]
    assert frame["expected_ns"].tolist()[2:4] == [3 * PERIOD, 10 * PERIOD]
    assert counts == {}


def test_a_pause_that_one_fire_only_tells_is_undecided() -> None:
    made = scene()
    fire(made, PERIOD + LATE)
    fire(made, 93_700_000)
    frame, counts = fires_of(made)
    assert causes(frame) == [None, "undecided"]
    assert counts == {}


@settings(max_examples=20)
@given(
    st.lists(st.integers(0, 30_000).map(lambda us: us * 1000), min_size=4, max_size=12),
    st.integers(0, 9_000).map(lambda us: us * 1000),
)
def test_no_reset_is_told_of_a_timer_whose_thread_gets_no_cpu_at_times(
    delays: list[int], init_late: int
) -> None:
    """Each wait ends late by what the thread had to wait for a CPU; so does the init event."""
    made = scene()
    punctual_and_late = [ns for delay in delays for ns in (0, delay)]
    for number, delay in enumerate(punctual_and_late):
        fire(made, (5 * number + 1) * PERIOD + delay)
    for event in ("rcl_timer_init", "rclcpp_timer_callback_added", "rclcpp_timer_link_node"):
        made.rows[f"ros2:{event}"][0]["timestamp"] += init_late
    frame, counts = fires_of(made)
    assert not {"paused", "early"} & set(causes(frame))
    assert counts == {}


def test_a_new_grid_is_as_early_as_its_most_punctual_fire() -> None:
    made = scene()
    fire(made, PERIOD + LATE)
    fire(made, 93_700_000 + 5 * LATE)
    fire(made, 103_700_000 + LATE)
    fire(made, 113_700_000 + 2 * LATE)
    frame, _ = fires_of(made)
    assert frame["lateness_ns"].tolist()[2:] == [1000, LATE + 1000]


def test_a_fire_before_it_was_due_tells_a_reset() -> None:
    made = scene()
    fire(made, PERIOD + LATE)
    fire(made, 2 * PERIOD + LATE)
    # Reset, and fired 3 ms before the old grid's next point (the period was made shorter).
    fire(made, 2 * PERIOD + 7 * MS)
    fire(made, 3 * PERIOD + 7 * MS)
    frame, counts = fires_of(made)
    assert causes(frame) == [None, None, "early", None]
    assert frame["expected_ns"].isna().tolist() == [False, False, True, False]
    assert counts == {"rebased_timers": 1}


def test_a_fire_a_little_before_the_grid_is_on_it() -> None:
    # The event of the init comes after rcl read the clock: the true grid lies before ours.
    made = scene()
    for number in range(1, 5):
        fire(made, number * PERIOD - 50_000)
    frame, counts = fires_of(made)
    assert frame["lateness_ns"].tolist() == [-49_000] * 4
    assert frame["skipped"].sum() == 0
    assert counts == {}


def test_a_call_just_before_a_point_of_the_grid_does_not_hide_that_point() -> None:
    made = scene()
    fire(made, PERIOD + LATE, work=19 * MS + 300_000)
    # Due at 20, called at 29.9; the one of 30 follows at once.
    fire(made, 29_900_000)
    fire(made, 30_100_000)
    fire(made, 40_100_000)
    frame, _ = fires_of(made)
    assert frame["expected_ns"].tolist() == [number * PERIOD for number in (1, 2, 3, 4)]
    assert causes(frame) == [None] * 4


def test_an_idle_time_of_about_a_period_decides_nothing() -> None:
    made = scene()
    fire(made, PERIOD + LATE)
    fire(made, 3 * PERIOD + 5 * MS)
    fire(made, 4 * PERIOD + LATE)
    frame, counts = fires_of(made)
    assert causes(frame) == [None, "undecided", None]
    assert frame["skipped"].tolist() == [0, 1, 0]
    assert counts == {}


def test_without_recorded_waits_a_gap_is_undecided() -> None:
    made = scene()
    for at in (PERIOD + LATE, 9 * PERIOD + LATE):
        made.play(f"{at} 1.1 callback_start tick\n{at + 1000} 1.1 callback_end tick")
    frame, _ = fires_of(made)
    assert frame["picked_ns"].isna().all()
    assert causes(frame) == [None, "undecided"]
    assert frame["skipped"].tolist() == [0, 7]


@pytest.mark.parametrize(("missing", "at"), [(True, PERIOD + LATE + 13_000), (False, 3 * PERIOD)])
def test_where_events_were_lost_a_gap_is_undecided(missing: bool, at: int) -> None:
    made = scene()
    fire(made, PERIOD + LATE)
    fire(made, 8 * PERIOD + 4 * MS)
    fire(made, 9 * PERIOD + 4 * MS)
    if not missing:
        assert causes(fires_of(made)[0]) == [None, "paused", None]
    else:
        made.rows["ros2:rclcpp_executor_wait_for_work"].pop(0)
        assert causes(fires_of(made)[0]) == [None, "overrun", None]
    frame, counts = fires_of(made, at)
    assert causes(frame) == [None, "undecided", None]
    assert frame["skipped"].tolist() == [0, 6, 0]
    assert counts == {}


def test_a_pick_before_lost_events_is_not_the_callbacks() -> None:
    made = scene()
    made.play(
        f"""
        {PERIOD} 1.1 execute tick                its callback was lost, and what followed
        {2 * PERIOD} 1.1 callback_start tick
        {2 * PERIOD + 20} 1.1 callback_end tick
        """
    )
    assert not fires_of(made)[0]["picked_ns"].isna().any()
    assert fires_of(made, PERIOD + 5000)[0]["picked_ns"].isna().all()


def test_a_pick_of_another_entity_is_not_the_timers() -> None:
    made = scene()
    made.subscription("/t", node="/n", pid=1, symbol="other")
    made.play(
        f"""
        {PERIOD} 1.1 execute tick
        {PERIOD + 10} 1.1 execute other
        {PERIOD + 20} 1.1 callback_start tick
        {PERIOD + 30} 1.1 callback_end tick
        {2 * PERIOD} 1.1 execute tick
        {2 * PERIOD + 10} 1.1 callback_start tick
        {2 * PERIOD + 20} 1.1 callback_end tick
        {3 * PERIOD} 1.1 callback_start tick     its pick was lost: not the one before
        {3 * PERIOD + 20} 1.1 callback_end tick
        """
    )
    frame, _ = fires_of(made)
    assert frame["picked_ns"].isna().tolist() == [True, False, True]


def test_timers_that_no_callback_is_told_of_are_counted_and_left_out() -> None:
    made = scene()
    for number in range(30):
        made._row("rcl_timer_init", number, 1, 1, {"timer_handle": 5000, "period": MS})
    fire(made, PERIOD + LATE)
    frame, counts = fires_of(made)
    assert len(frame) == 1
    assert counts == {"timers_without_callback": 30}


def test_of_a_timer_that_changes_often_the_first_grids_are_kept() -> None:
    made = scene()
    for number in range(100):
        # One fire that is due, then one after a reset: a grid each.
        fire(made, number * 3 * PERIOD // 2 + PERIOD + LATE)
        fire(made, (number + 1) * 3 * PERIOD // 2 + LATE)
    frame, counts = fires_of(made)
    assert counts == {"irregular_timers": 1, "rebased_timers": MOST_GRIDS}
    followed = 2 * MOST_GRIDS
    assert causes(frame)[:followed] == [None, "early"] * MOST_GRIDS
    assert set(causes(frame)[followed:]) == {"irregular"}
    assert frame["expected_ns"].notna().tolist() == [cause is None for cause in causes(frame)]


def test_a_period_of_zero_has_no_grid() -> None:
    made = scene(period=0)
    fire(made, 5 * MS)
    frame, counts = fires_of(made)
    assert causes(frame) == ["irregular"]
    assert counts == {"irregular_timers": 1}


@settings(max_examples=50)
@given(st.lists(st.integers(0, 45_000).map(lambda us: us * 1000), min_size=1, max_size=40))
def test_the_grid_is_that_of_rcl_whatever_the_work(works: list[int]) -> None:
    """A simulation of rcl_timer_call, whose clock is read at the pick, gives the same due times."""
    made = scene()
    due, now = PERIOD, 0
    expected = []
    for work in works:
        now = max(due, now) + LATE
        expected.append(due)
        fire(made, now, work=work)
        due += PERIOD
        if due < now:
            due += -(-(now - due) // PERIOD) * PERIOD
        now += work + 4000
    frame, counts = fires_of(made)
    assert counts == {}
    assert frame["expected_ns"].tolist() == expected


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from((PERIOD, PERIOD, PERIOD, 3 * PERIOD, PERIOD // 3)),
            st.integers(0, 400_000),
            st.integers(0, 25_000_000),
        ),
        min_size=1,
        max_size=60,
    ),
    st.integers(1, 20),
)
def test_grids_do_not_depend_on_how_many_fires_are_looked_at(
    steps: list[tuple[int, int, int]], at_once: int
) -> None:
    made, now = scene(), 0
    for step, late, work in steps:
        now += step + late
        fire(made, now, work=work)
        now += work if work > PERIOD else 0
    wanted, counts = fires_of(made)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timer_fires, "FIRES_AT_ONCE", at_once)
        found, counts_then = fires_of(made)
    pd.testing.assert_frame_equal(found, wanted)
    assert counts == counts_then


@pytest.mark.parametrize("missing", ["rclcpp_timer_link_node", "rcl_timer_init"])
def test_lost_init_events_leave_out_what_they_told(missing: str) -> None:
    made = scene()
    fire(made, PERIOD + LATE)
    del made.rows[f"ros2:{missing}"]
    model = made.model()
    frame, _ = fires_of(made)
    assert len(frame) == (1 if missing == "rclcpp_timer_link_node" else 0)
    has_node = missing == "rcl_timer_init"
    assert (model.entities.callbacks.node[0] != -1) == has_node
