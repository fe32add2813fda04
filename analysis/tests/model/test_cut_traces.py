# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Real traces of which events are lost, as the tracer tells: what is still found, was found before.

Each cut loses events in some random windows of time: all of them, a part, or those of one thread.
The next cut of a trace has the windows of the one before, and as many more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.of_tables import model_of_tables
from strata.read import open_trace

TRACES = {
    "fast_relay1p_overload": 2,
    "fast_blocked_st": 8,
    "fast_relay1p_mt": 1,
    "fast_relay1p_st_ipc": 2,
    "fast_relay1p_ipcmixed": 2,
    "launch_gscam_composed": 4,
    "fast_svc": 6,
    "services_kilted": 6,
}
"""How many series of cuts each is worth: the small ones more."""
CUTS, WINDOWS = 3, 12

Tables = dict[str, pa.Table]
Rows = dict[str, npt.NDArray[np.int64]]
Fact = tuple[object, ...]


@cache
def tables_of(path: Path) -> Tables:
    return open_trace(path).tables()


@dataclass(frozen=True)
class Cut:
    """Which rows of the whole trace are left, and when others were lost."""

    kept: Rows
    losses: Windows


def whole(tables: Tables) -> Cut:
    return Cut({name: np.arange(len(table)) for name, table in tables.items()}, NO_LOSSES)


def cuts(tables: Tables, chance: np.random.Generator) -> Iterator[Cut]:
    """Each with the losses of the one before, and more."""
    times = {name: table["timestamp"].to_numpy() for name, table in tables.items()}
    threads = {name: table["vtid"].to_numpy() for name, table in tables.items()}
    first = min(ns.min() for ns in times.values())
    last = max(ns.max() for ns in times.values())
    every = np.unique(np.concatenate(list(threads.values())))
    kept, losses = whole(tables).kept, NO_LOSSES
    for _ in range(CUTS):
        length = ((last - first) * 10 ** chance.uniform(-6, -1.5, WINDOWS)).astype(np.int64)
        begin = chance.integers(first, last, WINDOWS)
        for window in zip(begin.tolist(), (begin + length).tolist(), strict=True):
            what, thread = chance.integers(3), chance.choice(every)
            for name, rows in kept.items():
                lost = (times[name][rows] >= window[0]) & (times[name][rows] <= window[1])
                if what == 1:
                    lost &= chance.random(len(rows)) < 0.5
                if what == 2:
                    lost &= threads[name][rows] == thread
                kept[name] = rows[~lost]
        losses = (np.append(losses[0], begin), np.append(losses[1], begin + length))
        yield Cut(dict(kept), losses)


@dataclass(frozen=True)
class Found:
    """A model of a cut, and its calls of publish() within the process."""

    model: Model
    intra: frozenset[str | None]

    @classmethod
    def of(cls, tables: Tables, cut: Cut) -> Found:
        left = {name: table.take(pa.array(cut.kept[name])) for name, table in tables.items()}
        model = model_of_tables(left, cut.losses)
        calls = left.get("ros2:rclcpp_intra_publish")
        intra = calls.select(["vtid", "timestamp"]).to_pylist() if calls is not None else []
        return cls(model, frozenset(f"publish {row['vtid']} {row['timestamp']}" for row in intra))

    def events(self, what: str, thread: Ints, ns: Ints) -> list[str | None]:
        """What happened at each time on a thread; None where the time is `NONE`."""
        vtid = self.model.processes.thread_vtid[thread]
        return [
            None if at == NONE else f"{what} {own} {at}"
            for own, at in zip(vtid.tolist(), ns.tolist(), strict=True)
        ]

    def picked(self, column: list[str | None], rows: Ints) -> list[str | None]:
        """The items of a column by row; None for `NONE`."""
        return [None if row == NONE else column[row] for row in rows.tolist()]

    def facts(self) -> set[Fact]:
        """All that is told of two events: that they are of one thing."""
        model = self.model
        executions = model.executions
        start = self.events("start", executions.thread, executions.start_ns)
        end = self.events("end", executions.thread, executions.end_ns)
        taken = self.taken()
        caller = self.picked(start, model.publications.execution)
        facts = [
            *pairs("execution", start, end),
            *pairs("taken for", taken, self.picked(start, model.takes.execution)),
            *pairs("picked at", taken, known(model.takes.picked_ns)),
            *self.of_calls(start),
        ]
        matches = model.matches
        took = self.picked(taken, matches.take)
        for published in self.publishes():
            facts += pairs("published in", published, caller)
            facts += pairs("match", self.picked(published, matches.publication), took)
        return set(facts)

    def publishes(self) -> tuple[list[str | None], list[str | None]]:
        """Of each publication its last event, and where it has one, that of its intra-process part.

        These are two publications where it is not known that they are one.
        """
        publications = self.model.publications
        last_ns = publications.rmw_publish_ns
        last_ns = np.where(last_ns == NONE, publications.client_ns, last_ns)
        begun = self.events("publish", publications.thread, publications.client_ns)
        intra = [call if call in self.intra else None for call in begun]
        return self.events("publish", publications.thread, last_ns), intra

    def taken(self) -> list[str | None]:
        """Each take, from wherever."""
        takes = self.model.takes
        return self.events("take", takes.thread, takes.taken_ns)

    def begun(self) -> dict[str | None, int]:
        """When each publication began."""
        return {
            event: ns
            for events in self.publishes()
            for event, ns in zip(events, self.model.publications.begin_ns.tolist(), strict=True)
            if event is not None
        }

    def copies(self) -> set[str | None]:
        """Takes of messages that their subscription has got within the process, too."""
        return set(self.picked(self.taken(), np.flatnonzero(self.model.takes.duplicate)))

    def of_calls(self, start: list[str | None]) -> Iterator[Fact]:
        """Pairs of events of each call, of both sides and of what ran around them."""
        exchange, calls = self.model.service_traffic.exchange, self.model.service_traffic.calls
        kinds = (
            (exchange.sent_requests, calls.request),
            (exchange.taken_requests, calls.taken),
            (exchange.sent_responses, calls.response),
            (exchange.taken_responses, calls.taken_response),
        )
        events = [self.events(f"call {at}", of.thread, of.ns) for at, (of, _) in enumerate(kinds)]
        columns = [self.picked(own, of) for own, (_, of) in zip(events, kinds, strict=True)]
        for number, first in enumerate(columns):
            for second in columns[number + 1 :]:
                yield from pairs("call", first, second)
        asked, served = events[:2]
        yield from pairs("called in", asked, self.picked(start, exchange.caller))
        yield from pairs("written at", asked, known(exchange.written_ns))
        yield from pairs("served in", served, self.picked(start, exchange.execution))
        yield from pairs("served at", served, known(exchange.picked_ns))


def known(ns: Ints) -> list[int | None]:
    return [None if value == NONE else value for value in ns.tolist()]


def pairs(what: str, first: list[str | None], second: list[object]) -> Iterator[Fact]:
    for one, other in zip(first, second, strict=True):
        if one is not None and other is not None:
            yield what, one, other


@cache
def found_in(path: Path) -> Found:
    tables = tables_of(path)
    return Found.of(tables, whole(tables))


SERIES = [(name, seed) for name, count in TRACES.items() for seed in range(count)]


@pytest.mark.parametrize(("name", "seed"), SERIES)
def test_a_cut_trace_tells_nothing_new(sample: Callable[[str], Path], name: str, seed: int) -> None:
    tables = tables_of(sample(name))
    found = found_in(sample(name))
    before, begun, copies = found.facts(), found.begun(), found.copies()
    assert before
    for cut in cuts(tables, np.random.default_rng(seed)):
        found = Found.of(tables, cut)
        # Whose first arrival was lost is no copy any more.
        facts = {fact for fact in found.facts() if fact[0] != "match" or fact[2] not in copies}
        assert facts <= before, (cut.losses, sorted(facts - before, key=str)[:5])
        before = facts
        # Where the first event of a publish was lost, it is known from the next on.
        assert all(begun[event] <= ns for event, ns in found.begun().items())
