# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publications without a stamp: the engine matches what the model matches."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS
from hypothesis import given
from hypothesis import strategies as st
from model.steady_systems import MISLEADING, SYSTEMS
from model.test_inferred import BY_EVERY_CLOCK, CLOCKS, OTHERS, Tables, as_humble, bare_publisher
from model.worlds import as_humble as world_as_humble
from model.worlds import record, steady_world
from test_execution_machine import assert_same as assert_same_matching
from test_intra_process_machine import assert_same
from work_events import work

from strata.read import open_trace


@pytest.mark.parametrize(
    ("trace", "clock"),
    [
        *((trace, clock) for trace in BY_EVERY_CLOCK for clock in CLOCKS),
        *((trace, "as it was") for trace in (*OTHERS, "fast_relay1p_st_latestart")),
    ],
)
def test_samples_without_stamps(sample: Callable[[str], Path], trace: str, clock: str) -> None:
    assert_same(as_humble(open_trace(sample(trace)).tables(), CLOCKS[clock]), 10_000)


@pytest.mark.parametrize("trace", ["fast_relaymp_st", "fast_fusion", "dds_jazzy_udp_resends"])
def test_some_publications_have_stamps(sample: Callable[[str], Path], trace: str) -> None:
    tables = open_trace(sample(trace)).tables()
    published = tables["ros2:rmw_publish"]
    stamp = published["source_timestamp"].to_numpy()
    for nth in (2, 3, 10):
        some = np.where(np.arange(len(stamp)) % nth == 0, stamp, 0)
        at = published.column_names.index("source_timestamp")
        changed = published.set_column(at, "source_timestamp", pa.array(some))
        assert_same(tables | {"ros2:rmw_publish": changed}, 10_000)


@pytest.mark.parametrize("chunk_rows", CHUNKS[:2])
def test_how_events_are_cut_changes_nothing(chunk_rows: int) -> None:
    tables = bare_publisher(300, 10_000_000, 60_000)
    assert_same(as_humble(tables, CLOCKS["5 ms ahead"]), chunk_rows)


@pytest.mark.parametrize("period_ms", [1, 10, 100])
def test_a_thread_that_only_publishes(period_ms: int) -> None:
    tables = bare_publisher(1_000, period_ms * 1_000_000, 60_000)
    assert_same(as_humble(tables, CLOCKS["5 ms ahead"]), 10_000)


@given(SYSTEMS, st.integers(0, 10), st.integers(0, 1 << 32))
def test_worlds_without_stamps(system: dict[str, Any], lost_percent: int, seed: int) -> None:
    chance = Random(seed)
    whole = world_as_humble(record(steady_world(**system)))
    kept = whole.without(
        lambda event, _: "init" not in event and chance.randrange(100) < lost_percent
    )
    assert_same(kept.tables(), 10_000)


@pytest.mark.parametrize("system", MISLEADING.values(), ids=MISLEADING)
def test_misleading_worlds(system: dict[str, Any]) -> None:
    assert_same(world_as_humble(record(steady_world(**system))).tables(), 10_000)


@given(st.integers(0, (1 << 32) - 1))
def test_any_order_without_stamps(seed: int) -> None:
    tables, losses = work(Random(seed))
    assert_same_matching(_unstamped(tables), 7, losses)


def _unstamped(tables: Tables) -> Tables:
    name = "ros2:rmw_publish"
    if name not in tables:
        return tables
    at = tables[name].column_names.index("source_timestamp")
    nulls = pa.nulls(len(tables[name]), pa.int64())
    return tables | {name: tables[name].set_column(at, "source_timestamp", nulls)}
