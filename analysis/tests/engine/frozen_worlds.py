# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Worlds by number, the same in every run: of random.Random alone, never of hypothesis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import pyarrow as pa
from dds_events import hooked_work
from driver_events import driver_work
from kernel_scene import kernel_tables
from model.worlds import START, as_humble, chosen_world, record, steady_world
from ring_events import ring_work
from service_events import traffic
from work_events import THREADS, lost_within, work

from strata.engine.windows import NO_LOSSES, Windows

World = tuple[dict[str, pa.Table], Windows]
"""Event tables, and the windows in which events were lost."""


@dataclass(frozen=True)
class Kind:
    """Worlds of one kind; its numbers are 0 .. count - 1."""

    make: Callable[[Random], World]
    count: int

    def world(self, number: int) -> World:
        """Return a world, without tables of no row."""
        tables, losses = self.make(Random(number))
        return {name: table for name, table in tables.items() if len(table)}, losses


def _messages(chance: Random) -> World:
    return record(chosen_world(chance)).tables(), NO_LOSSES


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
    return kept.tables(), (begin, end)


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
    return as_humble(kept).tables(), NO_LOSSES


def _scheduled(chance: Random) -> World:
    """Threads, and what a scheduler with two CPUs says of them; some of it is lost."""
    tables, losses = chance.choice((work, _messages))(chance)
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
    return tables | kernel_tables("\n".join(lines), contexts), losses


def _threads(table: pa.Table) -> set[tuple[int, int]]:
    return set(zip(table["vpid"].to_pylist(), table["vtid"].to_pylist(), strict=True))


KINDS = {
    "work": Kind(work, 200),
    "messages": Kind(_messages, 100),
    "lost messages": Kind(_lost_messages, 150),
    "without stamps": Kind(_without_stamps, 100),
    "hooks": Kind(hooked_work, 150),
    "ring buffers": Kind(ring_work, 150),
    "drivers": Kind(driver_work, 150),
    "services": Kind(traffic, 200),
    "scheduler": Kind(_scheduled, 100),
}
