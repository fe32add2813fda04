# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes whose events the engine left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from strata.engine.tables import EngineTables
from strata.read.processes import ProcessCount, Threads, count_processes
from strata.schema.events import PROVIDER
from strata.schema.quality import Finding, Findings
from strata.schema.rows import NONE


@dataclass(frozen=True)
class Unwanted:
    """Which process ids to leave out: `foreign` ones, and `others` that the command did not start.

    The latter are kept where the command started no process that emits ros2 events.
    """

    foreign: frozenset[int] = frozenset()
    others: frozenset[int] = frozenset()


NOBODY = Unwanted()


def left_all(tables: EngineTables, unwanted: Unwanted) -> bool:
    """Return whether there is an event of ROS 2 among those of `others`, and no other one."""
    if any(name.startswith(f"{PROVIDER}:") for name in tables.engine.counts):
        return False
    rows = tables.rows["left_out"]
    foreign = np.isin(rows["vpid"], sorted(unwanted.foreign))
    return bool(rows["ros2_events"][~foreign].any())


def count_left_out(tables: EngineTables, unwanted: Unwanted) -> Findings:
    """Return how many processes were left out, with their names."""
    others = others_left_out(tables, unwanted)
    return Findings(
        Finding("foreign_processes", len(_processes(tables, unwanted.foreign))),
        Finding("processes_left_out", len(others), tuple(map(str, others))),
    )


def others_left_out(tables: EngineTables, unwanted: Unwanted) -> list[ProcessCount]:
    """Return which of `others` were left out."""
    return _processes(tables, unwanted.others - unwanted.foreign)


def _processes(tables: EngineTables, vpids: Collection[int]) -> list[ProcessCount]:
    threads: Threads = Counter()
    rows = {name: tables.ints("left_out", name).tolist() for name in ("vpid", "vtid", "events")}
    columns = (rows["vpid"], rows["vtid"], tables.text("left_out", "name"), rows["events"])
    for host, vpid, vtid, name, events in zip(
        tables.text("left_out", "host"), *columns, strict=True
    ):
        if vpid in vpids:
            known = None if name is None else str(name)
            threads[str(host), vpid, None if vtid == NONE else vtid, known] += events
    return count_processes(threads)
