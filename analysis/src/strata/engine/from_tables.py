# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine run over event tables: what tests make up, and tables of a user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from strata.engine._model import Engine
from strata.engine.identities import Given, read_settled
from strata.engine.read import looks_back
from strata.engine.windows import NO_LOSSES, Windows


def engine_of_tables(
    tables: Mapping[str, pa.Table],
    losses: Windows = NO_LOSSES,
    clocks: Mapping[str, str] | None = None,
    *,
    chunk_rows: int | None = None,
    origins: Mapping[str, int] | None = None,
) -> Engine:
    """Return an engine that is finished, fed with event tables.

    Tables are those of `Trace.tables`, by event; times are in ns since the epoch. `losses` are the
    windows of time in which events were lost, `clocks` the id of each host's clock, where hosts may
    share one. `origins`: when the clock of a host began to count, in ns since the epoch, by which
    the steps of operations have their times. `chunk_rows` events at a time go to the engine, which
    changes nothing; null: all at once. Raises ValueError for columns of types that event tables do
    not have.
    """

    late = 0
    back = looks_back(tables)

    def fill(engine: Engine) -> None:
        nonlocal late
        for batches in _chunks(tables, chunk_rows):
            begun = list((origins or {}).items())
            engine.feed(batches, origins=begun, latest_by=late, looks_back=back)
        late = max(late, engine.too_late_by)

    while True:
        before = late
        engine = read_settled(fill, Given(losses, clocks or {}))
        if late == before:
            return engine


def _chunks(
    tables: Mapping[str, pa.Table], chunk_rows: int | None
) -> Iterator[list[tuple[str, pa.RecordBatch]]]:
    """Cut tables in order of time; events of one instant keep the order of the tables."""
    whole = {name: _in_order(table) for name, table in tables.items() if len(table)}
    if chunk_rows is None or sum(map(len, whole.values())) <= chunk_rows:
        yield _batches(whole)
        return
    ns = [table["timestamp"].to_numpy() for table in whole.values()]
    number = np.repeat(np.arange(len(ns)), [len(one) for one in ns])
    row = np.concatenate([np.arange(len(one)) for one in ns])
    order = np.argsort(np.concatenate(ns), kind="stable")
    names = list(whole)
    for begin in range(0, len(order), chunk_rows):
        own = order[begin : begin + chunk_rows]
        part = {}
        for place in np.unique(number[own]).tolist():
            rows = row[own][number[own] == place]
            part[names[place]] = whole[names[place]].slice(int(rows[0]), len(rows))
        yield _batches(part)


def _in_order(table: pa.Table) -> pa.Table:
    ns = table["timestamp"].to_numpy()
    if (ns[1:] < ns[:-1]).any():
        table = table.take(pa.array(np.argsort(ns, kind="stable")))
    return table.combine_chunks()


def _batches(tables: Mapping[str, pa.Table]) -> list[tuple[str, pa.RecordBatch]]:
    return [(name, batch) for name, table in tables.items() for batch in table.to_batches()]
