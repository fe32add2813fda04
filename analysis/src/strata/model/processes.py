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

from strata.model.columns import NONE, EventColumns, Ints
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
from strata.schema.events import CATALOGUE, PROVIDER
from strata.schema.quality import Ledger

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


def describe_processes(events: EventColumns, ledger: Ledger) -> ProcessFacts:
    """Return what is known of each process; contradictions and newer versions are counted."""
    count = len(events.processes.vpid)
    distro, versions, told_by = describe_versions(events, _bounds(events, count), ledger)
    begin_ns, end_ns, total = _spans(events, count)
    return ProcessFacts(_names(events, count), distro, versions, told_by, begin_ns, end_ns, total)


def describe_versions(
    events: EventColumns, bounds: Bounds, ledger: Ledger
) -> tuple[Objects, Objects, Objects]:
    """Return distribution and version of each process, and what told it; None for unknown."""
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
    ledger.add("contradicted_versions", contradicted)
    ledger.add("newer_versions", newer)
    return distro, versions, told_by


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
    # Contexts of one process agree: another version begins another process (generations).
    out[events.process(_INIT)] = events.text(_INIT, "version")
    return out


def _bounds(events: EventColumns, count: int) -> Bounds:
    bounds = Bounds.none(count)
    for name in events.names:
        event = CATALOGUE[name]
        if event.provider != PROVIDER:
            continue
        # What stands for events that were not recorded says nothing of versions.
        recorded = events.stand_ins(name) == 0
        process = events.process(name)
        if event.since != DISTROS[0].name:
            bounds.since(process[recorded], first_version(event.since))
        for column, first in younger_parts(event):
            there = events.present(name, column)
            bounds.since(process[there & recorded], first)
            bounds.before(process[~there & recorded], first)
    bound_by_gids(bounds, events)
    return bounds


def bound_by_gids(bounds: Bounds, events: EventColumns) -> None:
    """Bound versions by the lengths of GIDs."""
    for name in _GID_EVENTS:
        recorded = events.stand_ins(name) == 0
        process, size = events.process(name)[recorded], events.sizes(name, "gid")[recorded]
        bounds.since(process[size == _SHORT_GID_BYTES], SHORT_GID)
        bounds.before(process[size == _LONG_GID_BYTES], SHORT_GID)


def _spans(events: EventColumns, count: int) -> tuple[Ints, Ints, Ints]:
    """First and last event of each process, and how many."""
    begin = np.full(count, np.iinfo(np.int64).max, np.int64)
    end = np.full(count, NONE, np.int64)
    total = np.zeros(count, np.int64)
    for name in events.names:
        process, ns = events.process(name), events.timestamps(name)
        np.minimum.at(begin, process, ns)
        np.maximum.at(end, process, ns)
        total += np.bincount(process[events.stand_ins(name) == 0], minlength=count)
    return begin, end, total


def _names(events: EventColumns, count: int) -> Objects:
    counts: dict[tuple[int, bool, str], int] = {}
    vtid, vpid = events.processes.thread_vtid, events.processes.vpid
    for event in events.names:
        codes, labels = events.procnames(event)
        if not labels:
            continue
        process = events.process(event)
        first = vtid[events.thread(event)] == vpid[process]
        named = codes != NONE
        key = ((process * 2 + first) * len(labels) + codes)[named]
        found = np.bincount(key, minlength=0)
        for at in np.flatnonzero(found):
            rest, code = divmod(int(at), len(labels))
            group = (rest // 2, bool(rest % 2), labels[code])
            counts[group] = counts.get(group, 0) + int(found[at])
    return best_names(counts, count)


def best_names(counts: Mapping[tuple[int, bool, str], int], count: int) -> Objects:
    """Name each process: by its first thread, the name of the most events; else by any thread.

    `counts` are events by process, whether they are of its first thread, and name.
    """
    best: list[tuple[bool, int, str] | None] = [None] * count
    for (process_id, is_first, label), number in counts.items():
        candidate = (is_first, number, label)
        known = best[process_id]
        best[process_id] = candidate if known is None else max(known, candidate)
    return np.asarray([item[2] if item else None for item in best], dtype=object)
