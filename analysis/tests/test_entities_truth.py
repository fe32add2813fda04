# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Timers, lifecycles and processes of real rclcpp traces, against what the nodes wrote down."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_trace import write_trace

import strata
from strata.analysis import Analysis
from strata.read import open_trace

AnalysisOf = Callable[[str], Analysis]
Sample = Callable[[str], Path]

PERIOD_NS = 10_000_000


def stamps(directory: Path, name: str, event: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Times of a node's own event, as instants of the trace's clock."""
    rows = pd.read_csv(directory / "truth" / f"{name}.csv")
    (offset,) = set(open_trace(directory).clock_offsets_ns.values())
    own = rows[rows["event"] == event].sort_values("seq")["t_mono_ns"]
    return own.to_numpy(np.int64) + offset


@pytest.mark.parametrize("name", ["fast_relay1p_st", "fast_relay1p_events", "fast_relaymp_st"])
def test_an_undisturbed_timer_keeps_its_grid(analysis_of: AnalysisOf, name: str) -> None:
    analysis = analysis_of(name)
    (timer,) = analysis.timer_statistics[analysis.timer_statistics["count"] > 1000].to_dict(
        "records"
    )
    assert (timer["node"], timer["period_ns"], timer["count"]) == ("/source", PERIOD_NS, 2001)
    assert "Source<" in timer["symbol"]
    assert timer["skipped"] == timer["pauses"] == timer["early"] == timer["irregular"] == 0
    assert 0 < timer["lateness_min_ns"] < timer["lateness_p50_ns"] < 1_000_000
    assert abs(timer["interval_p50_ns"] - PERIOD_NS) < 20_000
    fires = analysis.timer_fires[analysis.timer_fires["timer_id"] == timer["timer_id"]]
    # Only EventsExecutor picks without an event.
    assert fires["picked_ns"].isna().all() == (name == "fast_relay1p_events")


def test_fires_are_the_sources_own_callbacks(analysis_of: AnalysisOf, sample: Sample) -> None:
    analysis = analysis_of("fast_relay1p_overload")
    own = stamps(sample("fast_relay1p_overload"), "source", "cb_start")
    fires = analysis.timer_fires[analysis.timer_fires["timer_id"] == 1]
    # The last fire finds that all has been sent, and writes nothing.
    assert len(fires) == len(own) + 1
    entered = own - fires["start_ns"].to_numpy(np.int64)[:-1]
    assert entered.min() > 0
    assert np.median(entered) < 2_000


def test_a_timer_whose_thread_is_busy_skips_the_periods_that_passed(
    analysis_of: AnalysisOf, sample: Sample
) -> None:
    analysis = analysis_of("fast_relay1p_overload")
    timer = analysis.timer_statistics.set_index("timer_id").loc[1]
    fires = analysis.timer_fires[analysis.timer_fires["timer_id"] == 1]
    own = stamps(sample("fast_relay1p_overload"), "source", "cb_start")
    # Periods by the node's own clock: each had a fire, or was skipped, but for one at the ends.
    periods = (own[-1] - own[0]) / PERIOD_NS
    assert abs(len(own) - 1 + int(fires["skipped"].iloc[:-1].sum()) - periods) <= 1
    assert timer["skipped"] == timer["overruns"] > 700
    assert timer["undecided"] == timer["pauses"] == timer["early"] == 0
    # Four callbacks of 4.5 ms, one message at a time.
    assert 18e6 < timer["interval_p50_ns"] < 18.5e6
    # The grid itself moves on by whole periods, from the time that the timer was made.
    due = fires["expected_ns"].to_numpy(np.int64) - analysis.timers["begin_ns"].iloc[1]
    assert (due % PERIOD_NS == 0).all()
    assert (np.diff(due) > 0).all()


STATES = {"unconfigured": 6, "inactive": 10, "active": 5}
CHANGES = {"configuring": 5, "activating": 5, "deactivating": 5, "cleaningup": 5}


def test_states_of_a_lifecycle_node(analysis_of: AnalysisOf, sample: Sample) -> None:
    analysis = analysis_of("fast_lifecycle")
    states = analysis.lifecycle_states
    assert states["state"].value_counts().to_dict() == STATES | CHANGES
    # Each stay begins where the one before ended.
    assert states["begin_ns"].tolist()[1:] == states["end_ns"].tolist()[:-1]
    assert pd.isna(states["end_ns"].iloc[-1])
    (node,) = analysis.lifecycle_nodes["node_id"]
    assert analysis.nodes.set_index("node_id")["name"][node] == "/managed"
    # The node stamps before it asks for each of the 20 changes.
    asked = stamps(sample("fast_lifecycle"), "lifecycle", "transition")
    begun = states.loc[states["state"].isin(CHANGES), "begin_ns"].to_numpy(np.int64)
    order = ["configuring", "activating", "deactivating", "cleaningup"] * 5
    assert states.loc[states["state"].isin(CHANGES), "state"].tolist() == order
    assert len(asked) == len(begun) == 20
    assert (begun > asked).all()
    assert np.median(begun - asked) < 100_000


def test_time_in_states_adds_up_to_the_life_of_the_node(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_lifecycle")
    total = int(analysis.lifecycle_statistics["total_ns"].sum())
    assert total == analysis.trace.end_ns - analysis.lifecycle_nodes["begin_ns"].iloc[0]


@pytest.mark.parametrize(
    ("name", "distros", "versions", "told_by"),
    [
        ("fast_relaymp_st", ["jazzy"] * 5, ["8.2.2"] * 5, "version"),
        ("fast_relay1p_st_latestart", ["jazzy"], [None], "fields"),
        ("dds_kilted_shm", ["kilted"] * 2, ["8.6.0"] * 2, "version"),
    ],
)
def test_the_distribution_of_each_process(
    analysis_of: AnalysisOf, name: str, distros: list[str], versions: list[str], told_by: str
) -> None:
    analysis = analysis_of(name)
    assert [process.distro for process in analysis.trace.processes] == distros
    assert [process.tracetools_version for process in analysis.trace.processes] == versions
    assert set(analysis.processes["told_by"]) == {told_by}
    codes = set(analysis.quality["code"])
    assert not codes & {"contradicted_versions", "newer_versions", "reused_process_ids"}
    assert len(analysis.contexts) == (0 if versions == [None] else len(distros))


def test_timers_of_rclpy_spins_do_not_flood_the_tables(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("dds_kilted_shm")
    assert 0 < len(analysis.timers) < 10
    assert set(analysis.timer_fires["timer_id"]) <= set(analysis.timers["timer_id"])
    assert analysis.timers["node_id"].notna().all()


def test_a_timer_that_publishes_fires_as_often_as_it_published(
    analysis_of: AnalysisOf, sample: Sample
) -> None:
    analysis = analysis_of("fast_fusion")
    own = pd.read_csv(sample("fast_fusion") / "truth/fusion.csv")
    published = own["event"].str.startswith("pub_before").sum()
    timer = analysis.timer_statistics.set_index("period_ns").loc[50_000_000]
    # The timer fires from the begin on, and publishes once it has both of its inputs.
    fires = analysis.timer_fires[analysis.timer_fires["timer_id"] == timer["timer_id"]]
    runs = set(fires["instance_id"])
    made = analysis.publications.merge(
        analysis.publishers[analysis.publishers["topic"] == "/fused"], on="publisher_id"
    )
    assert len(made) == published
    assert set(made["instance_id"]) <= runs
    assert timer["skipped"] == 0
    periods = (fires["start_ns"].iloc[-1] - fires["start_ns"].iloc[0]) / 50_000_000
    assert abs(len(fires) - 1 - periods) < 1


def test_a_process_id_that_is_used_again_is_two_processes(tmp_path: Path) -> None:
    inits = [struct.pack("<Q", 7) + version for version in (b"8.2.2\0", b"8.6.0\0")]
    fields = "uint64_t context_handle; string version;"
    write_trace(tmp_path, inits, event="ros2:rcl_init", fields=fields)
    analysis = strata.analyze(tmp_path)
    assert [
        (process.vpid, process.procname, process.events, process.distro)
        for process in analysis.trace.processes
    ] == [(42, "process", 1, "jazzy"), (42, "process", 1, "kilted")]
    ends = analysis.contexts["end_ns"]
    assert ends.iloc[0] == analysis.processes["begin_ns"].iloc[1]
    assert pd.isna(ends.iloc[1])
