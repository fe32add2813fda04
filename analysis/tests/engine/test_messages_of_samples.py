# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What connects the messages of samples, scenes and made-up worlds is what NumPy finds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import layers.test_chain_begins
import layers.test_deliveries
import layers.test_link_proposals
import layers.test_links
import layers.test_transfers
import model.test_executors
import model.test_suspensions
import numpy as np
import pytest
from engine_runs import ros2_samples
from hypothesis import given
from hypothesis import strategies as st
from messages_of_model import compare
from model.worlds import START, World, as_humble, record, worlds
from work_events import play, scenes_of

from strata.model.of_tables import model_of_tables
from strata.read import open_trace

SCENES = scenes_of(
    layers.test_chain_begins,
    layers.test_deliveries,
    layers.test_link_proposals,
    layers.test_links,
    layers.test_transfers,
    model.test_executors,
    model.test_suspensions,
)


@pytest.mark.parametrize("name", ros2_samples())
def test_messages_of_samples(name: str, sample: Callable[[str], Path]) -> None:
    trace = open_trace(sample(name))
    begin = [row["begin_ns"] or 0 for row in trace.loss_rows()]
    end = [row["end_ns"] or np.iinfo(np.int64).max for row in trace.loss_rows()]
    losses = np.asarray(begin, np.int64), np.asarray(end, np.int64)
    compare(model_of_tables(trace.tables(), losses, clocks=trace.clocks))


@given(
    worlds(), st.booleans(), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=2)
)
def test_messages_of_worlds(world: World, stamps: bool, lost: list[tuple[int, int]]) -> None:
    recording = record(world) if stamps else as_humble(record(world))
    begin_ns = START + 10_000 + 1_000_000 * np.asarray([begin for begin, _ in lost], np.int64)
    length_ns = 100_000 * np.asarray([length for _, length in lost], np.int64)
    built = recording.model((begin_ns, begin_ns + length_ns))
    compare(built)


@pytest.mark.parametrize("test", SCENES)
def test_messages_of_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, lambda tables, losses: compare(model_of_tables(tables, losses)))
