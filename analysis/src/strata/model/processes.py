# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is known of each process: its name, its ROS 2 distribution, and how that was told.

The version of tracetools in `rcl_init` tells. Where it was not recorded, what is there bounds the
version: an event or field that exists since one, a field that is absent although its event is
there, the length of a GID. A version that lies outside of these bounds is contradicted; the version
is believed, and the process counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.tables import EngineTables
from strata.model.columns import EventColumns, Ints
from strata.schema.distros import (
    DISTROS,
    NEWER,
    SHORT_GID,
    Distro,
    Version,
    distro_of,
    first_version,
    parse_version,
    released_between,
    younger_parts,
)
from strata.schema.events import EVENTS, PROVIDER
from strata.schema.quality import Finding, Findings

_INIT = "ros2:rcl_init"
_GID_EVENTS = ("ros2:rmw_publisher_init", "ros2:rmw_subscription_init", "ros2:rmw_client_init")
_LONG_GID_BYTES = 24
_SHORT_GID_BYTES = 16
_STEP = 1000
"""Versions as one number: major * _STEP + minor."""

Objects = npt.NDArray[np.object_]


@dataclass(frozen=True)
class ProcessFacts:
    """One row a process, by its dense number; null is None, except in the instants, never null."""

    procname: Objects
    distro: Objects
    version: Objects
    told_by: Objects
    begin_ns: Ints
    end_ns: Ints
    events: Ints


@dataclass(frozen=True)
class Bounds:
    """The versions that fit what each process emitted: from `low` on, before `high`."""

    low: Ints
    high: Ints

    @classmethod
    def none(cls, count: int) -> Bounds:
        """Return bounds that every version fits."""
        return cls(np.full(count, _NO_LOW, np.int64), np.full(count, _NO_HIGH, np.int64))

    def since(self, process: Ints, version: Version) -> None:
        """Note what only a version and newer ones emit."""
        rows = np.flatnonzero(np.bincount(process))
        self.low[rows] = np.maximum(self.low[rows], _number(version))

    def before(self, process: Ints, version: Version) -> None:
        """Note what only older versions emit."""
        rows = np.flatnonzero(np.bincount(process))
        self.high[rows] = np.minimum(self.high[rows], _number(version))


def describe_processes(tables: EngineTables, events: EventColumns) -> tuple[ProcessFacts, Findings]:
    """Return what is known of each process; contradictions and newer versions are counted."""
    order = tables.process_order
    bounds = _bounds(tables, events)
    distro, versions, told_by, findings = _describe_versions(events, bounds)
    first_ns, last_ns, count = (
        tables.ints("processes", name)[order] for name in ("first_ns", "last_ns", "events")
    )
    names = _names(tables, events)
    return ProcessFacts(names, distro, versions, told_by, first_ns, last_ns, count), findings


def _bounds(tables: EngineTables, events: EventColumns) -> Bounds:
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
    _bound_by_gids(bounds, events)
    return bounds


def _names(tables: EngineTables, events: EventColumns) -> Objects:
    processes = events.processes
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
    return _best_names(counts, len(processes.vpid))


def _describe_versions(
    events: EventColumns, bounds: Bounds
) -> tuple[Objects, Objects, Objects, Findings]:
    """Distribution and version of each process, and what told it; None for unknown."""
    count = len(bounds.low)
    low, high = bounds.low, bounds.high
    versions = _versions(events, count)
    distro = np.full(count, None, dtype=object)
    told_by = np.full(count, "unknown", dtype=object)
    contradicted = newer = 0
    for process, text in enumerate(versions):
        version = parse_version(text) if text else None
        if version is not None:
            found = distro_of(version)
            told_by[process] = "newer version" if version >= NEWER else "version"
            newer += version >= NEWER
            contradicted += not low[process] <= _number(version) < high[process]
        else:
            found = _by_bounds(int(low[process]), int(high[process]))
            told_by[process] = "fields" if found else "unknown"
        distro[process] = found.name if found else None
    findings = Findings(
        Finding("contradicted_versions", contradicted), Finding("newer_versions", newer)
    )
    return distro, versions, told_by, findings


def _number(version: Version) -> int:
    return version[0] * _STEP + version[1]


_NO_LOW, _NO_HIGH = 0, np.iinfo(np.int64).max


def _by_bounds(low: int, high: int) -> Distro | None:
    if low == _NO_LOW and high == _NO_HIGH:
        return None
    far = (_NO_HIGH // _STEP, 0)
    return released_between(divmod(low, _STEP), divmod(high, _STEP) if high != _NO_HIGH else far)


def _versions(events: EventColumns, count: int) -> Objects:
    out = np.full(count, None, dtype=object)
    # Contexts of one process agree: another version begins another process.
    out[events.process(_INIT)] = events.text(_INIT, "version")
    return out


def _bound_by_gids(bounds: Bounds, events: EventColumns) -> None:
    """Bound versions by the lengths of GIDs."""
    for name in _GID_EVENTS:
        process, size = events.process(name), events.sizes(name, "gid")
        bounds.since(process[size == _SHORT_GID_BYTES], SHORT_GID)
        bounds.before(process[size == _LONG_GID_BYTES], SHORT_GID)


def _best_names(counts: Mapping[tuple[int, bool, str], int], count: int) -> Objects:
    """Name each process: by its first thread, the name of the most events; else by any thread.

    `counts` are events by process, whether they are of its first thread, and name.
    """
    best: list[tuple[bool, int, str] | None] = [None] * count
    for (process_id, is_first, label), number in counts.items():
        candidate = (is_first, number, label)
        known = best[process_id]
        best[process_id] = candidate if known is None else max(known, candidate)
    return np.asarray([item[2] if item else None for item in best], dtype=object)
