# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The loads of the benchmarks emit what rclcpp emits: a thread's events come in its order."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest
from allowed_skips import is_no_root, no_mounts

import strata
from strata.read import open_trace

pytestmark = pytest.mark.live

EVENTS = 60_000
REAL = {"chain_load": "fast_relay1p_st", "executor_load": "fast_relay1p_mt"}
PACES = {"chain_load": ["--rate=10000"], "executor_load": ["--wait-ns=1900", "--work-us=1000"]}
ENDS = {"untaken_publications", "truncated_chains", "rebased_timers"}
"""What is said of messages that were on their way when a load stopped.

And of a timer that a busy machine made known later than its grid began.
"""
LOOKS = ("ros2:rclcpp_executor_get_next_ready", "ros2:rclcpp_executor_wait_for_work")
STEPS = (
    *LOOKS,
    "ros2:rclcpp_executor_execute",
    "ros2:callback_start",
    "ros2:callback_end",
    *("ros2:rmw_take", "ros2:rcl_take", "ros2:rclcpp_take"),
    *("ros2:rclcpp_publish", "ros2:rcl_publish", "ros2:rmw_publish"),
)


@pytest.fixture(scope="module")
def loads(root: Path) -> Iterator[ModuleType]:
    """The benchmarks' recorder of loads."""
    place = str(root / "analysis/benchmarks")
    sys.path.insert(0, place)
    try:
        yield importlib.import_module("record_load")
    finally:
        sys.path.remove(place)


@pytest.fixture(scope="module", params=sorted(REAL))
def load(
    request: pytest.FixtureRequest, loads: ModuleType, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """Record a load; return its name and the trace."""
    if not (loads.LIBRARIES / "libtracetools.so").is_file():
        pytest.skip("the workspace is not built for the wheels of Jazzy")
    if not is_no_root() and no_mounts():
        pytest.skip("no file system can be mounted here")
    place = tmp_path_factory.mktemp("load") / request.param
    options = [f"--events={EVENTS}", *PACES[request.param]]
    recording = loads.record(place, options, request.param)
    assert recording.discarded == 0
    assert recording.events == pytest.approx(EVENTS, rel=0.01)
    return request.param, place


def successions(tables: dict[str, pa.Table]) -> Counter[tuple[str, str]]:
    """Count which step of an executor follows which in a thread."""
    names = [name for name in STEPS if name in tables]
    times = [tables[name]["timestamp"].to_numpy() for name in names]
    threads = [tables[name]["vtid"].to_numpy() for name in names]
    kinds = np.repeat(np.arange(len(names)), [len(one) for one in times])
    thread = np.concatenate(threads)
    order = np.lexsort((np.concatenate(times), thread))
    kinds, thread = kinds[order], thread[order]
    same = thread[1:] == thread[:-1]
    found: Counter[tuple[str, str]] = Counter()
    pairs, counts = np.unique(
        np.stack([kinds[:-1][same], kinds[1:][same]]), axis=1, return_counts=True
    )
    for (first, second), count in zip(pairs.T, counts, strict=True):
        found[names[first], names[second]] = int(count)
    return found


def test_events_have_the_fields_and_the_order_of_rclcpp(
    load: tuple[str, Path], sample: Callable[[str], Path]
) -> None:
    name, path = load
    tables = open_trace(path).tables()
    real = open_trace(sample(REAL[name])).tables()
    assert tables.keys() <= real.keys()
    for event, table in tables.items():
        assert table.schema.names == real[event].schema.names
        assert table.schema.types == real[event].schema.types
    made, known = successions(tables), successions(real)
    assert sum(made.values()) > 0.9 * EVENTS
    assert set(made) <= set(known)


def test_every_message_is_taken(load: tuple[str, Path]) -> None:
    name, path = load
    analysis = strata.analyze(path)
    assert len(analysis.hops) == (16 if name == "chain_load" else 12)
    # Without CPUs the executor's queues overflow, as those of rclcpp.
    overflows = {"lost_messages"} if name == "executor_load" else set()
    assert set(analysis.quality["code"]) <= ENDS | overflows
    assert analysis.messages["callback_start_ns"].notna().mean() > 0.9


def test_an_executor_spins_in_vain(load: tuple[str, Path]) -> None:
    name, path = load
    if name != "executor_load":
        return
    tables = open_trace(path).tables()
    looks = sum(len(tables[event]) for event in LOOKS)
    assert looks > 0.9 * EVENTS
    # Several threads wait in turns.
    waits = Counter(tables[LOOKS[1]]["vtid"].to_pylist())
    assert len(waits) == 4
