# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Worlds by number, the same in every run: of random.Random alone, never of hypothesis."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeAlias

import pyarrow as pa
from dds_events import hooked_work
from driver_events import driver_work
from kernel_scene import kernel_tables
from model.without_stamps import unstamped
from model.worlds import START, as_humble, chosen_world, record, steady_world
from process_events import in_namespaces, on_another_host, with_restarts
from ring_events import ring_work
from scheduler_events import scheduler_work
from service_events import traffic
from work_events import THREADS, lost_within, work

from strata.engine.windows import NO_LOSSES, Windows

Tables: TypeAlias = dict[str, pa.Table]
_PROCESSES = (1, 2, 3)
"""Ids that made-up processes have."""


@dataclass(frozen=True)
class World:
    """Event tables, and what is known of their trace.

    `losses` are the windows in which events were lost, `clocks` the clock of each host that may
    share one, and of the process ids in `left_out` events are counted only.
    """

    tables: Tables
    losses: Windows = NO_LOSSES
    clocks: Mapping[str, str] = field(default_factory=dict)
    left_out: Collection[int] = ()


@dataclass(frozen=True)
class Kind:
    """Worlds of one kind; its numbers are 0 .. count - 1."""

    make: Callable[[Random], World]
    count: int

    def world(self, number: int) -> World:
        """Return a world, without tables of no row."""
        made = self.make(Random(number))
        tables = {name: table for name, table in made.tables.items() if len(table)}
        return replace(made, tables=tables)


def _of(make: Callable[[Random], tuple[Tables, Windows]]) -> Callable[[Random], World]:
    return lambda chance: World(*make(chance))


def _messages(chance: Random) -> World:
    return World(record(chosen_world(chance)).tables())


def _lost_messages(chance: Random) -> World:
    """Messages of which any events are lost, in windows that are known or anywhere."""
    recording = record(chosen_world(chance))
    share = chance.choice((0, 0.05, 0.2))
    begin, end = lost_within(chance, START - 10_000_000, START + 50_000_000)
    windows = list(zip(begin.tolist(), end.tolist(), strict=True))
    kept = recording.without(
        lambda _, row: (
            chance.random() < share
            or any(first <= row["timestamp"] <= last for first, last in windows)
        )
    )
    return World(kept.tables(), (begin, end))


def _without_stamps(chance: Random) -> World:
    """Messages as releases without stamps record them: a few, or many that are periodic."""
    if chance.random() < 0.3:
        recording = record(chosen_world(chance))
    else:
        ahead = chance.choice((0, 5_000_000, -40_000, 3_000_000_000))
        drift = chance.choice((0, 0, 10, -50))
        recording = record(
            steady_world(
                periods_ns={"/a": 10_000_000, "/b": chance.choice((10_000_000, 7_300_000))},
                count=chance.randint(20, 90),
                jitter=[chance.randint(0, 400_000) for _ in range(chance.randint(1, 7))],
                delay=[chance.randint(500, 20_000) for _ in range(chance.randint(1, 5))],
                latency=[chance.randint(50_000, 9_000_000) for _ in range(chance.randint(1, 5))],
                offset=lambda ns: ahead + drift * ns // 1_000_000,
            )
        )
    share = chance.choice((0, 0, 0.1))
    kept = recording.without(lambda _, row: row["timestamp"] >= START and chance.random() < share)
    return World(as_humble(kept).tables())


def _scheduled(chance: Random) -> World:
    """Threads, and what a scheduler with two CPUs says of them; some of it is lost."""
    made = chance.choice((_of(work), _messages))(chance)
    tables, losses = made.tables, made.losses
    ids = {(vpid, vtid) for table in tables.values() for vpid, vtid in _threads(table)}
    pauses = (0, 1, 1, 3, 30) if losses[0].size or len(ids) == len(THREADS) else (0, 3_000, 700_000)
    threads = (0, 0, *(vtid for _, vtid in sorted(ids)), 8, 9)
    wakes, missing = chance.choice((0, 0.3, 0.5)), chance.choice((0, 0, 0.1))
    on_cpu, at, lines = [0, 0], chance.randint(-20, 5), []
    for _ in range(chance.randint(2, 200)):
        at += chance.choice(pauses)
        cpu, came = chance.randint(0, 1), chance.choice(threads)
        if chance.random() < wakes:
            lines.append(f"{at} cpu{cpu} wake {came} cpu{chance.randint(0, 1)}")
            continue
        if chance.random() >= missing:
            state = chance.choice(("R", "R+", "S", "D"))
            lines.append(f"{at} cpu{cpu} {on_cpu[cpu]} {state} {came}")
        on_cpu[cpu] = came
    contexts = chance.choice((None, {vtid: (vpid, vtid) for vpid, vtid in ids}))
    return World(tables | kernel_tables("\n".join(lines), contexts), losses)


def _threads(table: pa.Table) -> set[tuple[int, int]]:
    return set(zip(table["vpid"].to_pylist(), table["vtid"].to_pylist(), strict=True))


_MADE: tuple[Callable[[Random], Tables], ...] = (
    lambda chance: work(chance)[0],
    lambda chance: ring_work(chance)[0],
    lambda chance: traffic(chance)[0],
    lambda chance: driver_work(chance)[0],
    lambda chance: record(chosen_world(chance)).tables(),
    scheduler_work,
)


def _restarts(chance: Random) -> World:
    """Ids of processes that are used again."""
    return World(with_restarts(chance, chance.choice(_MADE)(chance)))


def _namespaces(chance: Random) -> World:
    """Namespaces that share ids, some of which are left out."""
    made = with_restarts(chance, chance.choice(_MADE)(chance))
    left_out = tuple(sorted(chance.sample(_PROCESSES, chance.choice((0, 0, 1, 2)))))
    return World(in_namespaces(chance, made), left_out=left_out)


def _hosts(chance: Random) -> World:
    """Processes of two hosts, whose clocks are one or any time apart."""
    made = chance.choice(_MADE[:-1])(chance)
    moved = chance.sample(_PROCESSES, chance.choice((1, 1, 2)))
    ahead_ns = chance.choice((0, 0, 3, -100, 10_000_000, -1_000_000))
    clocks = chance.choice(({}, {"base": "boot", "robot": "boot"}))
    return World(on_another_host(made, moved, ahead_ns), clocks=clocks)


def _partly_stamped(chance: Random) -> World:
    """Threads and ring buffers of whose publications none or a few have stamps."""
    tables, losses = chance.choice((work, ring_work))(chance)
    nth = chance.choice((None, 1, 2, 3))
    return World(unstamped(tables, nth), losses)


KINDS = {
    "work": Kind(_of(work), 200),
    "messages": Kind(_messages, 100),
    "lost messages": Kind(_lost_messages, 150),
    "without stamps": Kind(_without_stamps, 100),
    "hooks": Kind(_of(hooked_work), 150),
    "ring buffers": Kind(_of(ring_work), 150),
    "drivers": Kind(_of(driver_work), 150),
    "services": Kind(_of(traffic), 200),
    "scheduler": Kind(_scheduled, 100),
    "restarts": Kind(_restarts, 150),
    "namespaces": Kind(_namespaces, 150),
    "hosts": Kind(_hosts, 100),
    "partly stamped": Kind(_partly_stamped, 120),
}
