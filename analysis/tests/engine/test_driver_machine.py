# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What drivers read, the frames of it and the messages of these in the engine are the model's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from random import Random

import model.test_driver
import model.test_driver_links
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from against_model import CHUNKS, Run, ros2_samples, run_engine
from driver_events import driver_work
from hypothesis import given
from hypothesis import strategies as st
from model.test_driver_interleavings import Played
from model.test_driver_interleavings import worlds as driver_worlds
from work_events import play, scenes_of, work

from strata.engine.windows import NO_LOSSES, Windows
from strata.layers.driver import Origin, cut_origin
from strata.layers.driver_columns import frames_of_model, made_of_model
from strata.layers.driver_frames import (
    driver_frames_rows,
    driver_losses_rows,
    frames_table,
    losses_table,
)
from strata.model.build import Model, build_model
from strata.model.columns import NONE, Ints
from strata.model.driver.driver import Driver
from strata.model.driver.sources import BOUNDARY, CLOUD, COPIED, PULLED
from strata.model.frames import place
from strata.model.search import pick
from strata.model.traffic import Publications
from strata.onepass.driver import (
    frames_of_rows,
    losses_of_rows,
    made_of_rows,
    reads_of_rows,
    sources_of_rows,
)
from strata.read import open_trace
from strata.schema.quality import Ledger
from strata.schema.rows import Rows
from strata.stats.drivers import Published, driver_sources_table, sources_table

_FINDINGS = (
    "driver_packets_dropped",
    "driver_buffers_dropped",
    "driver_packets_missing",
    "driver_frames_unpublished",
    "driver_sources_unpublished",
    "driver_links_inferred",
    "driver_links_with_losses",
)


def assert_same(
    tables: Mapping[str, pa.Table], chunk_rows: int, losses: Windows = NO_LOSSES
) -> Driver:
    ledger = Ledger()
    model = build_model(tables, ledger, losses)
    run = run_engine(tables, losses, chunk_rows=chunk_rows, processes=model.events.processes)
    read = _same_reads(run, model)
    _same_sources(run, model.driver)
    _same_frames(run, model, read)
    messages = Messages.of(run, model.publications)
    _same_links(run, model.driver, messages)
    _same_losses(run, model.driver)
    _same_origins(run, model, messages)
    _same_tables(run, model, messages)
    assert {code: run.findings.get(code, 0) for code in _FINDINGS} == {
        code: ledger.counts.get(code, 0) for code in _FINDINGS
    }
    return model.driver


@dataclass(frozen=True)
class Messages:
    """Published messages of the engine, and rows of them and of the model's in one order."""

    own: Ints
    sent: Ints
    publisher: Ints
    publish_ns: Ints

    @classmethod
    def of(cls, run: Run, known: Publications) -> Messages:
        rows, publishes = run.rows["published_messages"], run.rows["publishes"]
        calls, publish, call = run.rows["intra_publishes"], rows["publish"], rows["call"]

        def either(name: str) -> Ints:
            first, second = (np.append(table[name], NONE) for table in (publishes, calls))
            return np.where(publish != NONE, first[publish], second[call]).astype(np.int64)

        client_ns = np.append(publishes["client_ns"], NONE)[publish]
        client_ns = np.where(call != NONE, np.append(calls["ns"], NONE)[call], client_ns)
        thread = run.thread_of_model[either("thread")]
        return cls(
            np.lexsort((either("at"), thread)),
            np.argsort(known.position, kind="stable"),
            either("publisher"),
            np.where(client_ns != NONE, client_ns, either("ns")),
        )


def _same_sources(run: Run, driver: Driver) -> None:
    rows, sources, reads = run.rows["driver_sources"], driver.sources, driver.reads
    assert run.process_of_model[rows["process"]].tolist() == sources.process.tolist()
    for column in ("number", "begin_ns"):
        assert rows[column].tolist() == getattr(sources, column).tolist(), column
    for column in ("kind", "name", "address"):
        assert run.words(rows[column]) == getattr(sources, column).tolist(), column
    count = len(sources)
    assert rows["reads"].tolist() == np.bincount(reads.source, minlength=count).tolist()
    size = np.zeros(count, np.int64)
    np.add.at(size, reads.source, reads.bytes)
    assert rows["bytes"].tolist() == size.tolist()
    every = np.arange(count)
    assert (rows["is_pulled"] == 1).tolist() == np.isin(every, sources.of[PULLED]).tolist()
    telling = np.concatenate([sources.of[name] for name in (BOUNDARY, CLOUD, COPIED)])
    assert (rows["tells_frames"] == 1).tolist() == np.isin(every, telling).tolist()


def _same_reads(run: Run, model: Model) -> Ints:
    """Compare reads; return the model's row of each of the engine's."""
    rows, reads = run.rows["driver_reads"], model.driver.reads
    order = np.argsort(rows["source"], kind="stable")
    assert run.thread_of_model[rows["thread"]][order].tolist() == (
        model.timeline.thread[reads.position].tolist()
    )
    for column in ("source", "number", "ns", "arrival_ns", "dropped_so_far"):
        assert rows[column][order].tolist() == getattr(reads, column).tolist(), column
    assert (rows["is_packet"][order] == 1).tolist() == reads.packet.tolist()
    out = np.empty(len(order), np.int64)
    out[order] = np.arange(len(order))
    return out


def _same_frames(run: Run, model: Model, read: Ints) -> None:
    driver = model.driver
    rows, frames, reads = run.rows["driver_frames"], driver.frames, driver.reads
    for column in ("source", "number", "boundary_ns", "ready_ns", "packets", "missing", "dropped"):
        assert rows[column].tolist() == getattr(frames, column).tolist(), column
    for column in ("first", "last"):
        assert pick(read, rows[column]).tolist() == getattr(frames, column).tolist(), column
    assert rows["publications"].tolist() == driver.publications.tolist()
    assert rows["first_arrival_ns"].tolist() == pick(reads.arrival_ns, frames.first).tolist()
    assert rows["arrival_ns"].tolist() == pick(reads.arrival_ns, frames.last).tolist()
    assert rows["read_ns"].tolist() == pick(reads.ns, frames.last).tolist()
    thread = pick(model.timeline.thread, pick(reads.position, frames.last))
    assert pick(run.thread_of_model, rows["thread"]).tolist() == thread.tolist()
    events = run.rows["driver_frame_events"]
    for kind, name in enumerate((BOUNDARY, PULLED, CLOUD, COPIED)):
        own = events["kind"] == kind
        assert events["frame"][own].tolist() == driver.frame_of[name].tolist(), name
        assert events["source"][own].tolist() == driver.sources.of[name].tolist(), name
        assert events["ns"][own].tolist() == model.events.timestamps(name).tolist(), name


def _same_links(run: Run, driver: Driver, messages: Messages) -> None:
    links = run.rows["driver_links"]
    made_of = made_of_rows(links, len(messages.own))
    assert (np.diff(links["published"]) > 0).all()
    assert made_of.frame[messages.own].tolist() == driver.frame[messages.sent].tolist()
    assert made_of.inferred[messages.own].tolist() == driver.inferred[messages.sent].tolist()


def _same_tables(run: Run, model: Model, messages: Messages) -> None:
    """Compare tables and layers made of the engine's rows with those made of the model's."""
    rows = run.rows
    frames = frames_of_rows(rows["driver_frames"])
    _same_rows(frames_table(frames), driver_frames_rows(model))
    losses = losses_of_rows(rows["driver_losses"])
    _same_rows(losses_table(losses), driver_losses_rows(model))
    publishers, nodes, links = rows["publishers"], rows["nodes"], rows["driver_links"]
    names = np.asarray([*run.words(nodes["name"]), None], object)
    published = Published(
        links["frame"],
        messages.publisher[links["published"]],
        names[publishers["node"]],
        np.asarray(run.words(publishers["topic"]), object),
    )
    sources = sources_of_rows(rows["driver_sources"], run.texts)
    of = place(model, run.process_of_model[sources.process])
    reads = reads_of_rows(rows["driver_reads"])
    table = sources_table(sources, reads, losses, frames_table(frames), published, of)
    _same_rows(table, driver_sources_table(model, driver_frames_rows(model)))


def _same_origins(run: Run, model: Model, messages: Messages) -> None:
    """Compare what lies before the publish of every publication, as if all were matched."""
    found, wanted = Ledger(), Ledger()
    own, sent = messages.own, messages.sent
    made_of = made_of_rows(run.rows["driver_links"], len(own))
    frames = frames_of_rows(run.rows["driver_frames"])
    ours = cut_origin(frames, made_of, own, messages.publish_ns[own], found)
    publish_ns = model.publications.begin_ns[sent]
    theirs = cut_origin(frames_of_model(model), made_of_model(model), sent, publish_ns, wanted)
    for item in fields(Origin):
        one, other = getattr(ours, item.name), getattr(theirs, item.name)
        if item.name == "durations":
            assert {key: ns.tolist() for key, ns in one.items()} == {
                key: ns.tolist() for key, ns in other.items()
            }
            continue
        one = pick(run.thread_of_model, one) if item.name == "thread" else one
        assert one.tolist() == other.tolist(), item.name
    assert found.counts == wanted.counts


def _same_rows(found: Rows, wanted: Rows) -> None:
    pd.testing.assert_frame_equal(found.frame(), wanted.frame())


def _same_losses(run: Run, driver: Driver) -> None:
    rows, losses = run.rows["driver_losses"], driver.losses
    for column in ("source", "cause", "count", "begin_ns", "end_ns"):
        assert rows[column].tolist() == getattr(losses, column).tolist(), column


@pytest.mark.parametrize("name", ros2_samples())
def test_samples(name: str, sample: Callable[[str], Path]) -> None:
    driver = assert_same(open_trace(sample(name)).tables(), 10_000)
    # cell_lidar, driver_polled and the cameras have sources; most others have none.
    assert len(driver.reads) == 0 or (driver.frame != NONE).any()


@pytest.mark.parametrize("name", ["cell_lidar", "driver_polled", "fast_gscam720p30"])
def test_samples_with_losses(name: str, sample: Callable[[str], Path]) -> None:
    tables = open_trace(sample(name)).tables()
    ns = np.sort(np.concatenate([table["timestamp"].to_numpy() for table in tables.values()]))
    begin = ns[len(ns) // 10 :: len(ns) // 10][:8]
    assert_same(tables, 10_000, (begin, begin + 20_000_000))


def _compare(tables: Mapping[str, pa.Table], losses: Windows = NO_LOSSES) -> None:
    for chunk_rows in CHUNKS:
        assert_same(tables, chunk_rows, losses)


@pytest.mark.parametrize("test", scenes_of(model.test_driver, model.test_driver_links))
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, _compare)


@given(driver_worlds(), st.sets(st.integers(0, 60)))
def test_drivers_at_work(played: Played, lost: set[int]) -> None:
    every = sorted({row["timestamp"] for rows in played.scene.rows.values() for row in rows})
    gone = {ns for place, ns in enumerate(every) if place in lost}
    at = np.asarray(sorted(gone), np.int64)
    tables = played.without(gone.__contains__).tables()
    assert_same(tables, 7)
    assert_same(tables, 7, (at, at))


@given(st.integers(0, (1 << 32) - 1))
def test_any_order(seed: int) -> None:
    tables, losses = work(Random(seed))
    assert_same(tables, 7, losses)


@pytest.mark.parametrize("chunk_rows", CHUNKS)
@given(st.integers(0, (1 << 32) - 1))
def test_any_order_of_drivers(chunk_rows: int, seed: int) -> None:
    tables, losses = driver_work(Random(seed))
    assert_same(tables, chunk_rows, losses)


def test_made_up_drivers_publish_what_they_read() -> None:
    links = losses = inferred = 0
    for seed in range(100):
        driver = assert_same(*_with(7, *driver_work(Random(seed))))
        links += int((driver.frame != NONE).sum())
        inferred += int(driver.inferred.sum())
        losses += len(driver.losses)
    assert min(links, inferred, losses) > 50


def _with(
    chunk_rows: int, tables: Mapping[str, pa.Table], losses: Windows
) -> tuple[Mapping[str, pa.Table], int, Windows]:
    return tables, chunk_rows, losses
