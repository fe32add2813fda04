# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine over event tables.

    run = run_engine(tables, losses, chunk_rows=7)
    run.rows["executions"]["start_ns"]

Rows of the engine number processes and threads in the order of their first events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from strata.engine._model import Engine
from strata.engine.identities import Given, read_settled
from strata.engine.read import looks_back
from strata.engine.windows import NO_LOSSES, Windows
from strata.model.columns import Ints

CHUNKS = (1, 7, 1 << 20)
"""Rows that are fed at once."""


@dataclass(frozen=True)
class Run:
    """What the engine made of a trace."""

    rows: dict[str, dict[str, np.ndarray]]
    texts: Sequence[str]
    bytes_: Sequence[bytes]
    findings: Counter[str]
    """Counts by code, over all places."""
    engine: Engine

    def words(self, numbers: Ints) -> list[str | None]:
        """Return texts by their numbers; None for null."""
        return [None if number < 0 else self.texts[number] for number in numbers.tolist()]


def ros2_samples() -> list[str]:
    """Names of the sample traces that have ROS 2 events."""
    archives = Path(__file__).parent.parent.glob("traces/*.tar.xz")
    names = sorted(path.name.removesuffix(".tar.xz") for path in archives)
    return [name for name in names if not name.startswith("ctf")]


def told(engine: Engine) -> dict[str, object]:
    """All that an engine tells."""
    names = ("texts", "bytes", "findings", "event_uses", "lists", "counts", "span")
    calls = ("rows", "inits", "transmissions", "notifications")
    threads = np.arange(len(engine.rows()["threads"]["vtid"]), dtype=np.int64)
    intervals = [engine.executor_intervals(kind, threads) for kind in range(3)]
    return (
        {name: getattr(engine, name) for name in names}
        | {name: getattr(engine, name)() for name in calls}
        | {"waits": engine.waits(threads).columns()}
        | {"executor_intervals": [of_kind.columns() for of_kind in intervals]}
    )


def run_engine(
    tables: Mapping[str, pa.Table],
    losses: Windows = NO_LOSSES,
    *,
    chunk_rows: int = 1 << 20,
    origins: Sequence[tuple[str, int]] = (),
) -> Run:
    """Feed event tables in chunks of some rows, in order of time."""
    engine = engine_of(tables, losses, chunk_rows=chunk_rows, origins=origins)
    findings: Counter[str] = Counter()
    for code, _, _, count, _, _ in engine.findings:
        findings[code] += count
    return Run(engine.rows(), engine.texts, engine.bytes, findings, engine)


def engine_of(
    tables: Mapping[str, pa.Table],
    losses: Windows = NO_LOSSES,
    *,
    chunk_rows: int = 1 << 20,
    clocks: Mapping[str, str] | None = None,
    left_out: Collection[int] = (),
    origins: Sequence[tuple[str, int]] = (),
) -> Engine:
    """Return an engine that is finished; as `engine_of_tables`, also leaves processes out."""

    def fill(engine: Engine) -> None:
        for chunk in parts:
            engine.feed(chunk, origins=origins, looks_back=looks_back(tables))

    parts = chunks(tables, chunk_rows)
    return read_settled(fill, Given(losses, clocks or {}, left_out))


def chunks(
    tables: Mapping[str, pa.Table], chunk_rows: int
) -> list[list[tuple[str, pa.RecordBatch]]]:
    """Cut tables into chunks: all events of one come before those of the next, or at its begin."""
    whole = {name: table.combine_chunks() for name, table in tables.items() if len(table)}
    if sum(map(len, whole.values())) <= chunk_rows:
        return [[(name, batch) for name, table in whole.items() for batch in table.to_batches()]]
    ns = [table["timestamp"].to_numpy() for table in whole.values()]
    number = np.concatenate([np.full(len(one), place) for place, one in enumerate(ns)])
    row = np.concatenate([np.arange(len(one)) for one in ns])
    order = np.argsort(np.concatenate(ns), kind="stable")
    names = list(whole)
    out = []
    for begin in range(0, len(order), chunk_rows):
        own = order[begin : begin + chunk_rows]
        batches = []
        for place in np.unique(number[own]).tolist():
            rows = row[own][number[own] == place]
            part = whole[names[place]].slice(int(rows[0]), len(rows))
            batches += [(names[place], batch) for batch in part.to_batches()]
        out.append(batches)
    return out
