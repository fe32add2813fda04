# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The engine beside the NumPy model, over the same events.

    run = run_engine(tables, losses, chunk_rows=7)      rows of the engine
    run.rows["executions"]["start_ns"]

Rows of the engine number processes and threads in the order of their first events, those of the
model by host, vpid and vtid: `run.thread_of_model` has the model's number of each thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from strata.engine._model import Engine
from strata.engine.identities import Given, read_settled
from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model
from strata.model.columns import Ints, Processes
from strata.model.traffic import Publications

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
    processes: Processes | None = None

    def words(self, numbers: Ints) -> list[str | None]:
        """Return texts by their numbers; None for null."""
        return [None if number < 0 else self.texts[number] for number in numbers.tolist()]

    @cached_property
    def process_of_model(self) -> Ints:
        """The model's number of each process, by the engine's."""
        assert self.processes is not None
        keys = list(zip(self.processes.host, self.processes.vpid.tolist(), strict=True))
        own = self.rows["processes"]
        return np.asarray(
            [
                keys.index((self.texts[host], vpid))
                for host, vpid in zip(own["host"].tolist(), own["vpid"].tolist(), strict=True)
            ],
            np.int64,
        )

    @cached_property
    def thread_of_model(self) -> Ints:
        """The model's number of each thread, by the engine's."""
        assert self.processes is not None
        known = self.processes
        number = {
            (known.host[process], int(known.vpid[process]), int(vtid)): row
            for row, (process, vtid) in enumerate(
                zip(known.thread_process.tolist(), known.thread_vtid.tolist(), strict=True)
            )
        }
        processes, threads = self.rows["processes"], self.rows["threads"]
        return np.asarray(
            [
                number[
                    self.texts[processes["host"][process]], int(processes["vpid"][process]), vtid
                ]
                for process, vtid in zip(
                    threads["process"].tolist(), threads["vtid"].tolist(), strict=True
                )
            ],
            np.int64,
        )


def with_calls(publications: Publications, model: Model) -> Publications:
    """Return those of the middleware with when publish() was called as ring buffers tell, too."""
    known = model.publications
    client_ns = dict(zip(known.position.tolist(), known.client_ns.tolist(), strict=True))
    called = [client_ns[at] for at in publications.position.tolist()]
    return replace(publications, client_ns=np.asarray(called, np.int64))


def ros2_samples() -> list[str]:
    """Names of the sample traces that have ROS 2 events."""
    archives = Path(__file__).parent.parent.glob("traces/*.tar.xz")
    names = sorted(path.name.removesuffix(".tar.xz") for path in archives)
    return [name for name in names if not name.startswith("ctf")]


def run_engine(
    tables: Mapping[str, pa.Table],
    losses: Windows = NO_LOSSES,
    *,
    chunk_rows: int = 1 << 20,
    processes: Processes | None = None,
    clocks: Mapping[str, str] | None = None,
    left_out: Collection[int] = (),
) -> Run:
    """Feed event tables in chunks of some rows, in order of time."""

    def fill(engine: Engine) -> bool:
        for chunk in parts:
            engine.feed(chunk)
        return True

    parts = chunks(tables, chunk_rows)
    engine = read_settled(fill, Given(losses, clocks or {}, left_out))
    assert engine is not None
    findings: Counter[str] = Counter()
    for code, _, _, count, _, _ in engine.findings:
        findings[code] += count
    return Run(engine.rows(), engine.texts, engine.bytes, findings, engine, processes)


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
