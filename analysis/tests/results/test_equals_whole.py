# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Results that were made window by window are those of an analysis of the whole trace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import strata
from strata.analysis import Analysis
from strata.results.growing import Growing, Pace
from strata.schema.tables import TABLES

MS = 1_000_000
SAMPLES = (
    "actions_jazzy",
    "attached_jazzy",
    "calls_rclcpp",
    "cell_camera",
    "cell_lidar",
    "cyc_img720p30",
    "dds_jazzy_udp_resends",
    "driver_polled",
    "fast_fusion",
    "fast_generic_relay",
    "fast_lifecycle",
    "fast_relay1p_ipcmixed",
    "fast_relay1p_mt_lossy",
    "fast_relay1p_overload",
    "fast_relaymp_st_foreign",
    "fast_svc",
    "fast_throws",
    "intra_jazzy",
    "operations_udp",
    "rotated_jazzy",
    "services_cyclone",
    "services_jazzy",
)
NOT_THERE = {"event_uses", "thread_cpu", "layer_cpu_waits", "link_proposals", "quality"}
"""Tables of which results have no rows, or others: docs/long-runs.md."""
MERGED = {"losses"}
"""Tables of which one row stands for several."""
NUMBERED_BY_THREAD = {"instance_id", "execution_id", "caller_instance_id"}
"""A whole trace numbers executions thread by thread, results in the order of time."""
ROUGH = {
    # How long data lay in a queue is known at most.
    ("driver_sources", "queue_p50_ns"),
    ("driver_sources", "queue_p99_ns"),
    # A reader's GUID and a writer's have both been seen of one client.
    ("client_objects", "gid"),
}
NEARLY_NS = 10 * MS
NEARLY = {
    # A wait that no event ends goes on to the last event of the host, or of a window.
    ("executor_threads", "end_ns"),
    ("executor_threads", "waiting_ns"),
}
SHARES_OF_NEARLY = {("executor_load", "share")}


def grown(session: Path, target: Path, pace: Pace) -> Analysis:
    growing = Growing(session, target, pace)
    while growing.step():
        pass
    growing.finish()
    assert growing.contents.complete
    return strata.analyze(target)


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values(["source_id", "begin_ns", "cause"]).reset_index(drop=True)


def differing(name: str, whole: pd.DataFrame, found: pd.DataFrame) -> list[str]:
    """Name the columns that are not as they should be."""
    assert len(whole) == len(found), f"{name}: {len(whole)} rows, {len(found)} in results"
    if name == "driver_losses":
        whole, found = in_order(whole), in_order(found)
    out = []
    for column in whole.columns:
        place = (name, column)
        if column in NUMBERED_BY_THREAD or place in ROUGH or column.startswith("cpu_"):
            continue
        # Of samples of threads, which results do not have.
        if column.endswith("cpu_wait_ns"):
            continue
        one, other = whole[column].astype(object), found[column].astype(object)
        same = (one == other) | (one.isna() & other.isna())
        if place in NEARLY:
            same |= (one - other).abs() < NEARLY_NS
        if place in SHARES_OF_NEARLY:
            same |= (one - other).abs() < 0.01
        if not same.all():
            out.append(f"{name}.{column}: {int((~same).sum())} of {len(whole)}")
    return out


@pytest.mark.parametrize("name", SAMPLES)
def test_windows_give_what_the_whole_gives(
    name: str,
    sample: Callable[[str], Path],
    analysis_of: Callable[[str], Analysis],
    tmp_path: Path,
) -> None:
    whole = analysis_of(name)
    # Five windows or more, each far shorter than in use.
    pace = Pace(1000 * MS, 500 * MS, max(2000, whole.trace.events // 5))
    found = grown(sample(name), tmp_path / "results", pace)
    assert found.counts == whole.counts
    assert (found.trace.events, found.trace.begin_ns, found.trace.end_ns) == (
        whole.trace.events,
        whole.trace.begin_ns,
        whole.trace.end_ns,
    )
    assert found.system == whole.system
    assert [one.nodes for one in found.trace.processes] == [
        one.nodes for one in whole.trace.processes
    ]
    wrong = [
        text
        for table in TABLES
        if table.name not in NOT_THERE | MERGED
        for text in differing(table.name, whole.frame(table.name), found.frame(table.name))
    ]
    assert wrong == []
    assert (found.layers_long()["duration_ns"].sum()) == whole.layers_long()["duration_ns"].sum()
    lost = [analysis.losses.groupby("code")["count"].sum() for analysis in (whole, found)]
    assert lost[0].to_dict() == lost[1].to_dict()


def test_the_real_pace_gives_the_same_of_chunks(
    sample: Callable[[str], Path], analysis_of: Callable[[str], Analysis], tmp_path: Path
) -> None:
    whole = analysis_of("rotated_jazzy")
    found = grown(sample("rotated_jazzy"), tmp_path / "results", Pace())
    assert found.counts == whole.counts
    assert found.messages["latency_ns"].tolist() == whole.messages["latency_ns"].tolist()
