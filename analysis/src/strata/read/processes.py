# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The processes of a trace and how many events each emitted, from the contexts of the events."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TypeAlias

from strata.lazy import pyarrow as pa

_KEYS = ["host", "vpid", "vtid", "procname"]
_NAMED = "process_name"
"""Column of lttng_ust_statedump:procname, which each process has once."""

Threads: TypeAlias = Counter[tuple[str, int | None, int | None, str | None]]
"""Events by host, vpid, vtid and procname, as recorded; null for a context that is not there."""


@dataclass(frozen=True)
class ProcessCount:
    """Events of a process; `vpid` is null for events without that context."""

    host: str
    vpid: int | None
    name: str
    events: int

    def __str__(self) -> str:
        """Name it as `ps` does."""
        return f"{self.vpid} {self.name}".strip()


def count_threads(events: pa.Table) -> Threads:
    """Count the events of a table, of one event name or a chunk of it."""
    if _NAMED in events.column_names:
        # The thread is LTTng's own: what its event names is the process.
        events = events.set_column(
            events.column_names.index("procname"), "procname", events[_NAMED]
        )
    counted = events.select(_KEYS).group_by(_KEYS, use_threads=False).aggregate([([], "count_all")])
    columns = [counted[name].to_pylist() for name in (*_KEYS, "count_all")]
    found: Threads = Counter()
    for host, vpid, vtid, name, count in zip(*columns, strict=True):
        found[host, vpid, vtid, name] += count
    return found


def count_processes(threads: Threads) -> list[ProcessCount]:
    """Add threads up, the process of the most events first; of equal ones by host and id.

    The name of a process is that of its first thread, whose id is the process's; of several the one
    with the most events; without one, that of another thread. Empty when none was recorded.
    """
    counts: Counter[tuple[str, int | None]] = Counter()
    names: dict[tuple[str, int | None], tuple[bool, bool, int, str]] = {}
    for (host, vpid, vtid, name), count in threads.items():
        key = (host, vpid)
        counts[key] += count
        candidate = (bool(name), vtid == vpid, count, name or "")
        names[key] = max(names.get(key, candidate), candidate)
    found = [ProcessCount(*key, names[key][3], count) for key, count in counts.items()]
    return sorted(found, key=_most_first)


def _most_first(process: ProcessCount) -> tuple[int, str, bool, int]:
    return -process.events, process.host, process.vpid is None, process.vpid or 0
