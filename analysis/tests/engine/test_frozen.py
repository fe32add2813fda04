# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every declared table holds what it held: of all samples, and of worlds by number."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from against_model import ros2_samples
from frozen import (
    NAMES,
    SAMPLES,
    WORLDS,
    digest,
    of_analysis,
    of_input,
    of_model,
    of_world,
    summary,
)
from frozen_worlds import KINDS

from strata.analysis import Analysis
from strata.engine._model import Engine
from strata.engine.from_tables import engine_of_tables
from strata.engine.read import loss_windows
from strata.model.of_tables import model_of_tables
from strata.read import open_trace
from strata.read.thread_cpu import read_thread_cpu
from strata.schema.quality import Ledger
from strata.schema.rows import Rows
from strata.schema.tables import EVENT_USES, HOP_LAYER_STATS

CHUNKS = (None, 1, 7)


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, analysis_of: Callable[[str], Analysis]) -> None:
    assert of_analysis(analysis_of(name)) == json.loads(SAMPLES.read_text())[name]


@pytest.mark.parametrize("name", ros2_samples())
def test_samples_as_tables(name: str, sample: Callable[[str], Path]) -> None:
    trace, ledger = open_trace(sample(name)), Ledger()
    samples = read_thread_cpu(trace.path)
    cpu = samples and (samples, next(iter(trace.clock_offsets_ns.values())))
    model = model_of_tables(
        trace.tables(), ledger, loss_windows(trace), cpu, trace.clocks, chunk_rows=1009
    )
    found, wanted = of_model(model, ledger), json.loads(SAMPLES.read_text())[name]
    for table in NAMES:
        assert found.get(table) == wanted.get(table), table


@pytest.mark.parametrize("name", KINDS)
def test_worlds(name: str) -> None:
    kind, known = KINDS[name], json.loads(WORLDS.read_text())[name]
    assert of_input(kind) == known["events"], "other worlds are made, not other results"
    worlds = [of_world(kind, number, CHUNKS[number % len(CHUNKS)]) for number in range(kind.count)]
    assert summary(worlds) == {key: known[key] for key in ("tables", "worlds")}


@pytest.mark.parametrize("name", KINDS)
def test_chunks_change_nothing(name: str) -> None:
    for number in range(0, KINDS[name].count, 3):
        tables, losses = KINDS[name].world(number)
        whole, *others = (
            _told(engine_of_tables(tables, losses, chunk_rows=rows)) for rows in CHUNKS
        )
        for other in others:
            np.testing.assert_equal(other, whole, err_msg=f"{name} {number}")


def _told(engine: Engine) -> dict[str, object]:
    """All that an engine tells."""
    names = ("texts", "bytes", "findings", "event_uses", "lists", "counts", "span")
    calls = ("rows", "inits", "transmissions", "waits", "notifications")
    return {name: getattr(engine, name) for name in names} | {
        name: getattr(engine, name)() for name in calls
    }


def _of_uses(count: int = 3, text: str = "taken", used: bool = True) -> str:
    rows = [
        {"event": "ros2:rmw_take", "used": used, "use": text, "count": count},
        {"event": "ros2:rmw_take", "used": False, "use": "nothing was taken", "count": 1},
    ]
    return digest(Rows.of_records(EVENT_USES, rows))


def test_a_digest_is_of_all_values() -> None:
    known = _of_uses()
    assert known == _of_uses()
    assert known.startswith("2 ")
    assert len({known, _of_uses(count=4), _of_uses(text="used"), _of_uses(used=False)}) == 4


def test_a_digest_is_of_nine_digits_of_fractions() -> None:
    def of(value: float) -> str:
        filler = {"int64": 1, "string": "a", "bool": True}
        row = {one.name: filler.get(one.dtype, value) for one in HOP_LAYER_STATS.columns}
        return digest(Rows.of_records(HOP_LAYER_STATS, [row]))

    assert of(0.1 + 0.2) == of(0.3)
    assert of(0.5) == of(0.49999999999999994)
    assert of(3_000_000_002.0) == of(3_000_000_001.9999995)
    assert len({of(0.3), of(0.3001), of(-0.3), of(0.0), of(0.6), of(0.15), of(0.300000003)}) == 7
