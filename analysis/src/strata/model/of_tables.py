# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The model of event tables: what tests make up, and tables of a user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from strata.engine.from_tables import engine_of_tables
from strata.engine.tables import EngineTables
from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model
from strata.model.columns import NONE
from strata.read.thread_cpu import ThreadCpu

if TYPE_CHECKING:
    import pyarrow as pa


def model_of_tables(
    tables: Mapping[str, pa.Table],
    losses: Windows = NO_LOSSES,
    cpu: tuple[ThreadCpu, int] | None = None,
    clocks: Mapping[str, str] | None = None,
    dropped_until_ns: int = NONE,
    *,
    chunk_rows: int | None = None,
) -> Model:
    """Return the model of event tables.

    Tables are those of `Trace.tables`, by event; times are in ns since the epoch.
    `losses` are the windows of time in which events were lost: first and last instant of each.
    `cpu`: samples of the threads' waits for a CPU, and what the trace's clock adds to theirs.
    `clocks`: the id of each host's clock, where hosts may share one (strata.model.hosts).
    `dropped_until_ns`: until then only what names things is there (strata.model.build.Model); that
    time is one of the `losses`, too. `chunk_rows` events at a time go to the engine, which changes
    nothing; null: all at once. Raises ValueError for columns of types that event tables do not
    have.
    """
    rows = EngineTables(engine_of_tables(tables, losses, clocks, chunk_rows=chunk_rows))
    return Model(
        rows,
        losses=losses,
        clocks_of_hosts=clocks or {},
        samples=cpu,
        dropped_until_ns=dropped_until_ns,
    )
