# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publications without a stamp: every table from the engine's rows is that from event tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import model.test_inferred
import numpy as np
import pyarrow as pa
import pytest
from against_model import CHUNKS, ros2_samples
from hypothesis import given
from hypothesis import strategies as st
from model.steady_systems import MISLEADING, SYSTEMS
from model.test_inferred import BY_EVERY_CLOCK, CLOCKS, OTHERS, Tables, as_humble, bare_publisher
from model.worlds import as_humble as world_as_humble
from model.worlds import record, steady_world
from ring_events import ring_work
from test_plain_model import assert_same_tables, compare
from work_events import lost, play, scenes_of, work

from strata.model.build import build_model
from strata.model.matching import PUBLISH_TIME, RING_BUFFER
from strata.read import open_trace
from strata.schema.quality import Ledger

PUBLISHED = "ros2:rmw_publish"
WITH_RING_BUFFERS = ("fast_relay1p_st_ipc", "fast_relay1p_ipcmixed", "intra_jazzy")


def unstamped(tables: Tables, keep: Callable[[np.ndarray], np.ndarray] | None = None) -> Tables:
    """Return tables whose publications have no stamp, but for those that `keep` tells by row."""
    if PUBLISHED not in tables:
        return tables
    published = tables[PUBLISHED]
    at = published.column_names.index("source_timestamp")
    gone = np.ones(len(published), bool)
    if keep is not None:
        gone = ~keep(np.arange(len(published)))
    stamp = published["source_timestamp"].combine_chunks()
    stamps = pa.array(stamp.fill_null(0).to_numpy(), pa.int64(), mask=gone | stamp.is_null())
    return tables | {PUBLISHED: published.set_column(at, "source_timestamp", stamps)}


@pytest.mark.parametrize(
    ("trace", "clock"),
    [
        *((trace, clock) for trace in BY_EVERY_CLOCK for clock in CLOCKS),
        *((trace, "as it was") for trace in (*OTHERS, "fast_relay1p_st_latestart")),
    ],
)
def test_samples(sample: Callable[[str], Path], trace: str, clock: str) -> None:
    tables = open_trace(sample(trace)).tables()
    assert_same_tables(as_humble(tables, CLOCKS[clock]), 10_000)


@pytest.mark.parametrize("name", ros2_samples())
def test_some_publications_have_stamps(sample: Callable[[str], Path], name: str) -> None:
    tables = open_trace(sample(name)).tables()
    assert_same_tables(unstamped(tables, lambda row: row % 3 == 0), 1 << 20)


def test_ring_buffers_are_beside_them(sample: Callable[[str], Path]) -> None:
    methods = set()
    for name in WITH_RING_BUFFERS:
        tables = unstamped(open_trace(sample(name)).tables())
        assert_same_tables(tables, 10_000)
        methods |= set(build_model(tables, Ledger()).matches.method.tolist())
    assert methods >= {PUBLISH_TIME, RING_BUFFER}


@pytest.mark.parametrize("chunk_rows", CHUNKS)
def test_how_events_are_cut_changes_nothing(chunk_rows: int) -> None:
    tables = bare_publisher(300, 10_000_000, 60_000)
    assert_same_tables(as_humble(tables, CLOCKS["5 ms ahead"]), chunk_rows)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(system=SYSTEMS, lost_percent=st.integers(0, 10), seed=st.integers(0, 1 << 32))
def test_worlds(chunk_rows: int, system: dict[str, Any], lost_percent: int, seed: int) -> None:
    chance = Random(seed)
    whole = world_as_humble(record(steady_world(**system)))
    kept = whole.without(
        lambda event, _: "init" not in event and chance.randrange(100) < lost_percent
    )
    assert_same_tables(kept.tables(), chunk_rows, lost(chance, 1_000_000_000))


@pytest.mark.parametrize("system", MISLEADING.values(), ids=MISLEADING)
def test_misleading_worlds(system: dict[str, Any]) -> None:
    assert_same_tables(world_as_humble(record(steady_world(**system))).tables(), 10_000)


@given(st.integers(0, (1 << 32) - 1))
def test_any_order(seed: int) -> None:
    tables, losses = work(Random(seed))
    assert_same_tables(unstamped(tables), 7, losses)


@given(st.integers(0, (1 << 32) - 1), st.integers(1, 3))
def test_any_order_of_ring_buffers(seed: int, nth: int) -> None:
    tables, losses = ring_work(Random(seed))
    assert_same_tables(unstamped(tables, lambda row: row % nth == 1), 7, losses)


@pytest.mark.parametrize("test", scenes_of(model.test_inferred))
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, compare)
