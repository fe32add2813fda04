# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of each process, of what the engine counted (strata.model.processes)."""

from __future__ import annotations

import numpy as np

from strata.model.columns import EventColumns, Ints
from strata.model.processes import (
    Bounds,
    Objects,
    ProcessFacts,
    best_names,
    bound_by_gids,
    describe_versions,
)
from strata.onepass.tables import EngineTables
from strata.schema.distros import DISTROS, first_version, younger_parts
from strata.schema.events import EVENTS, PROVIDER
from strata.schema.quality import Ledger


def describe(tables: EngineTables, kept: EventColumns, ledger: Ledger) -> ProcessFacts:
    """Return what is known of each process; contradictions and newer versions are counted."""
    order = tables.process_order
    bounds = _bounds(tables, kept)
    distro, versions, told_by = describe_versions(kept, bounds, ledger)
    first_ns, last_ns, events = (
        tables.ints("processes", name)[order] for name in ("first_ns", "last_ns", "events")
    )
    return ProcessFacts(_names(tables, kept), distro, versions, told_by, first_ns, last_ns, events)


def _bounds(tables: EngineTables, kept: EventColumns) -> Bounds:
    bounds = Bounds.none(len(tables.process_order))
    process = tables.ints("censuses", "process")
    present, absent = (tables.ints("censuses", name) for name in ("present", "absent"))
    types = tables.ints("censuses", "event")
    for number in np.unique(types).tolist():
        event, own = EVENTS[number], types == number
        if event.provider != PROVIDER:
            continue
        if event.since != DISTROS[0].name:
            bounds.since(process[own], first_version(event.since))
        place = {field.column or field.name: at for at, field in enumerate(event.fields)}
        for column, first in younger_parts(event):
            bit = 1 << place[column]
            bounds.since(process[own & (present & bit != 0)], first)
            bounds.before(process[own & (absent & bit != 0)], first)
    bound_by_gids(bounds, kept)
    return bounds


def _names(tables: EngineTables, kept: EventColumns) -> Objects:
    processes = kept.processes
    thread = tables.ints("names", "thread")
    process: Ints = processes.thread_process[thread]
    first = processes.thread_vtid[thread] == processes.vpid[process]
    names = tables.text("names", "name")
    counts: dict[tuple[int, bool, str], int] = {}
    for owner, is_first, name, count in zip(
        process.tolist(), first.tolist(), names, tables.ints("names", "count").tolist(), strict=True
    ):
        if name is not None:
            key = (owner, is_first, str(name))
            counts[key] = counts.get(key, 0) + count
    return best_names(counts, len(processes.vpid))
