# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the engine says of the middleware against the NumPy model, row by row.

Samples are numbered otherwise by the two: they are compared by what they are.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from against_model import Run, run_engine

from strata.engine.windows import NO_LOSSES, Windows
from strata.layers.way import INTRA_PROCESS, find_way
from strata.model.build import Model, build_model
from strata.model.columns import NONE, EventColumns, Ints
from strata.model.dds.samples import NAMING, Samples
from strata.model.search import pick
from strata.model.timeline import Kind
from strata.schema.quality import Ledger

_LOCAL = -2
"""Of the engine: the transport of what stayed in its process."""
_TRANSPORTS = {
    1: "UDPv4",
    2: "UDPv6",
    4: "TCPv4",
    8: "TCPv6",
    16: "SHM",
    65536: "data sharing",
    _LOCAL: INTRA_PROCESS,
}


def assert_as_model(
    tables: Mapping[str, pa.Table], losses: Windows = NO_LOSSES, chunk_rows: int = 1 << 20
) -> Pair:
    model = build_model(dict(tables), Ledger(), losses)
    run = run_engine(tables, losses, chunk_rows=chunk_rows, processes=model.events.processes)
    pair = Pair(model, run)
    assert_same_middleware(pair)
    assert_same_ways(pair)
    return pair


@dataclass(frozen=True)
class Pair:
    """A model, and the engine's run over the same events."""

    model: Model
    run: Run

    @cached_property
    def sample_of_model(self) -> Ints:
        """The model's number of each sample, by the engine's; `NONE` for one that is none."""
        number = {key: row for row, key in enumerate(model_keys(self.model.events, self.samples))}
        rows = self.run.rows["samples"]
        keys = [
            (self.run.bytes_[writer], sequence, 0 if sequence else stamp)
            for writer, sequence, stamp in zip(
                rows["writer"].tolist(),
                rows["sequence"].tolist(),
                rows["stamp"].tolist(),
                strict=True,
            )
        ]
        own = rows["sample"] == np.arange(len(keys))
        found = [number.pop(key) if mine else NONE for key, mine in zip(keys, own, strict=True)]
        assert not number, "samples of the model that the engine does not have"
        return np.asarray(found, np.int64)

    @property
    def samples(self) -> Samples:
        return self.model.middleware.samples

    def as_of_model(self, sample: npt.NDArray[np.int32] | Ints) -> Ints:
        """The model's numbers of samples."""
        return pick(self.sample_of_model, sample.astype(np.int64))

    @cached_property
    def write_rows(self) -> Ints:
        """The engine's row of each publication's write; `NONE` of those of ring buffers."""
        model = self.model
        at = model.publications.position
        own = model.timeline.kind[at] == Kind.RMW_PUBLISH
        return np.where(own, model.timeline.row[at], NONE)

    @cached_property
    def read_rows(self) -> Ints:
        """The engine's row of each take's read; `NONE` of those of ring buffers."""
        model, rows = self.model, self.run.rows["takes"]
        thread = self.run.thread_of_model[rows["thread"]]
        keys = _numbered(thread, rows["ns"], rows["stamp"], rows["loaned"])
        number = {key: row for row, key in enumerate(keys)}
        takes = model.takes
        out = np.full(len(takes), NONE, np.int64)
        own = np.flatnonzero(takes.dequeue_ns == NONE)
        # Of one instant those of one thread are in the order of the timeline.
        own = own[np.argsort(takes.position[own], kind="stable")]
        columns = (takes.thread, takes.rmw_take_ns, takes.source_timestamp, takes.loaned)
        wanted = _numbered(*(column[own] for column in columns))
        out[own] = [number[key] for key in wanted]
        return out


def _numbered(*columns: npt.NDArray[np.generic]) -> list[Hashable]:
    """What names each row, and how many of that name were before."""
    seen: dict[Hashable, int] = {}
    out: list[Hashable] = []
    for key in zip(*(column.tolist() for column in columns), strict=True):
        seen[key] = seen.get(key, 0) + 1
        out.append((key, seen[key]))
    return out


def model_keys(events: EventColumns, samples: Samples) -> list[tuple[bytes, int, int]]:
    """Writer, number, and stamp (0 where there is a number) of each sample of the model."""
    stamps = np.zeros(len(samples), np.int64)
    for name in NAMING:
        if name == "dds:reader_notify":
            continue
        of = samples.of(name)
        own = (events.ints(name, "sequence_number") == 0) & (of != NONE)
        stamps[of[own]] = events.ints(name, "source_timestamp")[own]
    every = np.arange(len(samples))
    sequence = samples.sequence
    writer = [bytes.fromhex(text) for text in samples.writer_gids(every).texts()]
    # `NONE` is a number, too, where an event tells it: those come first.
    numbered = sequence != NONE
    return [
        (by, int(number) if known else 0, 0 if known else int(stamp))
        for by, number, known, stamp in zip(writer, sequence, numbered, stamps, strict=True)
    ]


def assert_same_middleware(pair: Pair) -> None:
    _assert_writes(pair)
    _assert_reads(pair)
    _assert_wire(pair)
    _assert_counts(pair)


def _same(one: Ints, other: Ints, what: object) -> None:
    differ = np.flatnonzero(np.asarray(one) != np.asarray(other))
    assert not len(differ), (what, differ[:5], np.asarray(one)[differ[:5]], other[differ[:5]])


def _assert_writes(pair: Pair) -> None:
    writes, rows = pair.model.middleware.writes, pair.run.rows["writes"]
    own = pair.write_rows != NONE
    if not pair.model.events.recorded("dds"):
        assert not len(rows["sample"])
        assert (writes.sample == NONE).all()
        return
    row = pair.write_rows[own]
    for column, name in (
        ("serialize_begin_ns", "serialize_begin_ns"),
        ("serialize_end_ns", "serialize_end_ns"),
        ("size", "size_bytes"),
        ("end_ns", "end_ns"),
        ("lent", "lent"),
    ):
        _same(rows[name][row], getattr(writes, column)[own].astype(np.int64), f"writes.{column}")
    _same(pair.as_of_model(rows["sample"][row]), writes.sample[own], "writes.sample")


def _assert_reads(pair: Pair) -> None:
    middleware, rows = pair.model.middleware, pair.run.rows["reads"]
    own = pair.read_rows != NONE
    if not pair.model.events.recorded("dds"):
        assert not len(rows["sample"])
        assert (middleware.reads.sample == NONE).all()
        return
    row = pair.read_rows[own]
    for column in ("begin_ns", "deserialize_begin_ns", "deserialize_end_ns", "made_ns"):
        _same(rows[column][row], getattr(middleware.reads, column)[own], f"reads.{column}")
    _same(pair.as_of_model(rows["sample"][row]), middleware.reads.sample[own], "reads.sample")
    reader = [
        bytes(16) if number < 0 else pair.run.bytes_[number]
        for number in rows["reader"][row].tolist()
    ]
    assert reader == [words.tobytes() for words in middleware.reads.reader[own]]
    notified = middleware.notified
    _same(rows["notified_ns"][row], notified.ns[own], "notified.ns")
    _same(rows["added_ns"][row], notified.added_ns[own], "notified.added_ns")
    _same(rows["unnumbered"][row], notified.unnumbered[own], "notified.unnumbered")
    thread = pick(pair.run.thread_of_model, rows["notified_thread"][row].astype(np.int64))
    _same(thread, notified.thread[own], "notified.thread")


def _assert_wire(pair: Pair) -> None:
    wire = pair.model.middleware.wire
    found = pair.run.engine.transmissions()
    sends = pd.DataFrame(found["sends"])
    again = pair.as_of_model(sends["sample"].to_numpy()[sends["again"].to_numpy() == 1])
    assert sorted(again.tolist()) == wire.sent_again().tolist()
    _same_frames(pair, sends.drop(columns="again"), wire.sends.reset_index(), ["sample"])
    thread, process = pair.run.thread_of_model, pair.run.process_of_model
    for name, known, number in (
        ("by_thread", wire.by_thread, thread),
        ("by_process", wire.by_process, process),
    ):
        came = pd.DataFrame(found[name])
        came["place"] = number[came["place"].to_numpy()]
        wanted = known.rename_axis(["place", "sample"]).reset_index()
        _same_frames(pair, came, wanted, ["place", "sample"])
    held = wire._held
    _same_frames(pair, pd.DataFrame(found["held"]), held, list(held.columns))


def _same_frames(pair: Pair, found: pd.DataFrame, wanted: pd.DataFrame, by: list[str]) -> None:
    found = found.assign(sample=pair.as_of_model(found["sample"].to_numpy()))
    wanted = wanted[list(found.columns)].fillna(NONE).astype(np.int64)
    pd.testing.assert_frame_equal(
        found.sort_values(by, ignore_index=True), wanted.sort_values(by, ignore_index=True)
    )


def _assert_counts(pair: Pair) -> None:
    middleware, findings = pair.model.middleware, pair.run.findings
    assert findings["inferred_notifications"] == middleware.notified.inferred
    assert findings["refused_sends"] == middleware.wire.refused
    assert findings["incomplete_samples"] == middleware.incomplete


def assert_same_ways(pair: Pair) -> None:
    """Compare layers.way.find_way, of the model's matches."""
    model = pair.model
    take, publication = model.matches.take, model.matches.publication
    of_thread = model.events.processes.thread_process
    process = np.argsort(pair.run.process_of_model)
    subscription = model.takes.subscription[take]
    messages = (
        pair.write_rows[publication],
        pair.read_rows[take],
        model.publications.rmw_publish_ns[publication],
        process[of_thread[model.publications.thread[publication]]],
        process[of_thread[model.takes.thread[take]]],
        subscription,
        pick(model.entities.subscriptions.begin_ns, subscription),
        model.unsynchronised.astype(np.int64),
    )
    columns = [np.ascontiguousarray(column, np.int64) for column in messages]
    if not model.events.recorded("dds"):
        # Without events of the hooks the tables have no rows.
        columns[0][:] = columns[1][:] = NONE
    found, wanted = pair.run.engine.ways(columns), find_way(model)
    for name in (
        "since_ns",
        "sent_ns",
        "held_ns",
        "received_ns",
        "last_ns",
        "fragments",
        "recovered",
    ):
        _same(found[name], getattr(wanted, name), f"way.{name}")
    transport = [_TRANSPORTS.get(number) for number in found["transport"].tolist()]
    assert transport == wanted.transport.texts().tolist()
