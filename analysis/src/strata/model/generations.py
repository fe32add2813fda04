# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""When a process id is another process than before: long sessions, small pid namespaces.

Stock events tell of no process's death. A second `rcl_init` with one process id is a second context
of the same process, or another process; what decides:

* another version of tracetools: another process (a process has one);
* the main thread has another name from then on, and only then (until the next such `rcl_init`: an
  old name may return with that), and no runtime event afterwards names a handle that was made
  before and not made again: another process;
* anything else: one process, as far as the trace can tell. It is counted.

In the last case entities still do not merge where handles are made again, as each handle's life
ends there. A process whose `rcl_init` was not recorded is never told from the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from strata.lazy import arrow_compute as pc
from strata.lazy import pyarrow as pa
from strata.schema.causal_order import causal_rank
from strata.schema.event import Phase
from strata.schema.events import CATALOGUE
from strata.schema.quality import Ledger

_INIT = "ros2:rcl_init"
Ints = npt.NDArray[np.int64]
_Names = tuple[Ints, npt.NDArray[np.object_]]
"""Times and names of a main thread's events, in order of time."""


@dataclass(frozen=True)
class Restart:
    """From `at_ns` on, `vpid` of `host` is another process."""

    host: str
    vpid: int
    at_ns: int


def find_restarts(tables: Mapping[str, pa.Table], ledger: Ledger) -> list[Restart]:
    """Return where process ids changed hands, in order of time within a process id."""
    inits = tables.get(_INIT)
    if inits is None:
        return []
    found: list[Restart] = []
    for host, vpid in _repeated(inits):
        own = {name: _of_process(table, host, vpid) for name, table in tables.items()}
        restarts, undecided = _restarts_of(own, host, vpid)
        found += restarts
        ledger.add("repeated_contexts", undecided)
    ledger.add("reused_process_ids", len(found))
    return found


def _repeated(inits: pa.Table) -> list[tuple[str, int]]:
    counts = (
        inits.select(["host", "vpid"])
        .group_by(["host", "vpid"], use_threads=False)
        .aggregate([([], "count_all")])
    )
    twice = counts.filter(pc.greater(counts["count_all"], 1))
    return sorted((str(row["host"]), int(row["vpid"])) for row in twice.to_pylist())


def _of_process(table: pa.Table, host: str, vpid: int) -> pa.Table:
    # vpid first: comparing numbers is cheap, and leaves few rows to compare names of.
    rows = table.filter(pc.equal(table["vpid"], vpid))
    return rows.filter(pc.equal(rows["host"].cast(pa.string()), host))


def _restarts_of(tables: Mapping[str, pa.Table], host: str, vpid: int) -> tuple[list[Restart], int]:
    """Restarts of one process id, and how many of its rcl_init decide nothing."""
    inits = tables[_INIT].sort_by("timestamp").to_pylist()
    names = _main_thread_names(tables, vpid)
    restarts: list[Restart] = []
    undecided = 0
    begin = -1
    for number, (before, after) in enumerate(pairwise(inits), start=1):
        at = after["timestamp"]
        renamed = _renamed(names, begin, at, _end(names, inits[number:]))
        if before["version"] != after["version"]:
            at = at if renamed is None else renamed
        elif renamed is not None and not _outlived(tables, begin, renamed):
            at = renamed
        else:
            undecided += 1
            continue
        restarts.append(Restart(host, vpid, at))
        begin = at
    return restarts, undecided


def _main_thread_names(tables: Mapping[str, pa.Table], vpid: int) -> _Names:
    rank = causal_rank()
    # Of one instant in causal order.
    ranked = sorted(tables, key=lambda event: rank[event])
    own = [tables[event].filter(pc.equal(tables[event]["vtid"], vpid)) for event in ranked]
    ns = np.concatenate([table["timestamp"].to_numpy() for table in own])
    names = np.concatenate(
        [np.asarray(table["procname"].cast(pa.string()).to_pylist(), dtype=object) for table in own]
    )
    known = np.asarray([name is not None for name in names], dtype=bool)
    order = np.argsort(ns[known], kind="stable")
    return ns[known][order], names[known][order]


def _end(names: _Names, inits: Sequence[Mapping[str, Any]]) -> int:
    """Return where in `names` the process of the first rcl_init ends, at the latest.

    That is with a further rcl_init under another name, or of another version. Events before it that
    carry its name already belong to it.
    """
    ns, name = names
    begin, *further = np.searchsorted(ns, [init["timestamp"] for init in inits]).tolist()
    for init, at in zip(inits[1:], further, strict=True):
        if at < len(ns) and name[at] != name[begin]:
            return int(np.flatnonzero(name[:at] != name[at])[-1]) + 1
        if init["version"] != inits[0]["version"]:
            return int(at)
    return len(ns)


def _renamed(names: _Names, begin_ns: int, at_ns: int, end: int) -> int | None:
    """Return since when the main thread has only names that it had not before; else None.

    Events between `begin_ns` and `at_ns` are before; a thread's last such events that carry the
    name of the event at `at_ns` belong after already. Those from row `end` of `names` on tell
    nothing.
    """
    ns, name = names
    at = int(np.searchsorted(ns, at_ns))
    first = int(np.searchsorted(ns, begin_ns))
    if at >= len(ns) or first >= at:
        return None
    others = np.flatnonzero(name[first:at] != name[at])
    if not len(others):
        return None
    since = first + int(others[-1]) + 1
    shared = set(name[first:since]) & set(name[since:end])
    return None if shared else int(ns[since])


def _outlived(tables: Mapping[str, pa.Table], begin_ns: int, at_ns: int) -> bool:
    """Tell whether a handle made before is named by a runtime event after, and not made again."""
    far = np.iinfo(np.int64).max
    made = set(_handles(tables, Phase.INIT, begin_ns, at_ns))
    again = set(_handles(tables, Phase.INIT, at_ns, far))
    used = set(_handles(tables, Phase.RUNTIME, at_ns, far))
    return bool((made - again) & used)


def _handles(
    tables: Mapping[str, pa.Table], phase: Phase, begin_ns: int, end_ns: int
) -> Iterator[int]:
    for event, table in tables.items():
        if CATALOGUE[event].phase is not phase:
            continue
        ns = table["timestamp"].to_numpy()
        rows = pa.array((ns >= begin_ns) & (ns < end_ns))
        for field in CATALOGUE[event].fields:
            if field.is_of_object:
                found = pc.unique(table[field.column or field.name].filter(rows))
                yield from found.drop_null().to_pylist()
