# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The events that introduce what later windows name, kept while a recording is watched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from strata.read import Trace
from strata.read.announced import ANNOUNCEMENTS
from strata.schema.naming import NAMING_EVENTS

_IDENTITY = ("timestamp", "host", "vtid", "cpu_id")
"""What no two events of one name have in common, but where a thread emits two in one nanosecond."""
MOST_EVENTS = 200_000
"""Some thousand nodes."""


class KnownNames:
    """Init events by name, as `model_of_trace` takes them; no more than `most` of them.

    Beyond, those of the processes that were seen last the longest ago are forgotten: `forgotten`
    counts them.
    """

    def __init__(self, most: int = MOST_EVENTS) -> None:
        self.tables: dict[str, pa.Table] = {}
        self.forgotten = 0
        self._most = most
        self._newest_ns = 0
        self._until_ns: int | None = None
        self._seen_ns: dict[tuple[str, int], int] = {}

    def saw(self, processes: list[tuple[str, int]], at_ns: int) -> None:
        """Note which processes (host, vpid) did something at a time."""
        self._seen_ns.update(dict.fromkeys(processes, at_ns))
        if len(self._seen_ns) > self._most:
            # Those of which no name is kept are longest ago.
            newest = sorted(self._seen_ns, key=self._seen_ns.__getitem__)[-self._most // 2 :]
            self._seen_ns = {place: self._seen_ns[place] for place in newest}

    def before(self, trace: Trace, begin_ns: int | None = None) -> dict[str, pa.Table]:
        """Return the init events that are kept and that a trace does not have from a time on."""
        begin = trace.decoder.packets["begin_ns"]
        first_ns = max(int(begin.min(initial=self._newest_ns)), begin_ns or 0)
        if self._newest_ns < first_ns:
            return self.tables
        has = trace.tables(self.tables, columns=_IDENTITY, begin_ns=begin_ns)
        return {
            name: _without(table, has[name]) if name in has else table
            for name, table in self.tables.items()
        }

    def take(self, trace: Trace, until_ns: int) -> None:
        """Keep the init events of a trace up to a time, from where the trace before ended."""
        begin_ns = None if self._until_ns is None else self._until_ns + 1
        self._until_ns = until_ns
        self.add(trace.tables(ANNOUNCEMENTS, begin_ns=begin_ns, end_ns=until_ns + 1))

    def add(self, found: Mapping[str, pa.Table]) -> None:
        """Keep init events."""
        for name, table in found.items():
            if len(table):
                parts = [self.tables[name], table] if name in self.tables else [table]
                joined = pa.concat_tables(parts, promote_options="default")
                self.tables[name] = _newest_of_each(name, joined).unify_dictionaries()
                self._newest_ns = max(self._newest_ns, pc.max(table["timestamp"]).as_py())
        while len(self) > self._most and (self._forget_half() or self._forget_oldest()):
            pass

    def __len__(self) -> int:
        return sum(map(len, self.tables.values()))

    def _forget_half(self) -> bool:
        """Forget the older half of the events of one name, if most are of that name."""
        name, table = max(self.tables.items(), key=lambda item: len(item[1]))
        if 2 * len(table) <= len(self):
            return False
        half = len(table) // 2
        self.tables[name] = table.slice(half).combine_chunks()
        self.forgotten += half
        return True

    def _forget_oldest(self) -> bool:
        """Forget the process that was seen last the longest ago; false when one alone is left."""
        counts: Counter[tuple[str, int]] = Counter()
        for table in self.tables.values():
            hosts = table["host"].to_pylist()
            counts.update(zip(hosts, table["vpid"].to_pylist(), strict=True))
        if len(counts) <= 1:
            return False
        host, vpid = oldest = min(counts, key=lambda one: self._seen_ns.get(one, 0))
        for name, table in list(self.tables.items()):
            own = pc.and_(pc.equal(table["host"], host), pc.equal(table["vpid"], vpid))
            kept = table.filter(pc.invert(own))
            self.tables[name] = kept
            if not len(kept):
                del self.tables[name]
        self.forgotten += counts[oldest]
        return True


def _newest_of_each(name: str, table: pa.Table) -> pa.Table:
    """Return the newest event about each thing: a handle is used again once its owner is gone.

    Some are used again and again: rclpy makes a timer for each call of spin_once.
    """
    identity = ("host", "vpid", "pid_ns", *NAMING_EVENTS[name])
    columns = [table[one].to_pylist() for one in identity if one in table.column_names]
    rows = {thing: row for row, thing in enumerate(zip(*columns, strict=True))}
    if len(rows) == len(table):
        return table.combine_chunks()
    return table.take(pa.array(sorted(rows.values()), pa.int64())).combine_chunks()


def _without(table: pa.Table, those: pa.Table) -> pa.Table:
    """Return the events of a table that another one does not have."""
    columns = [name for name in _IDENTITY if name in those.column_names]
    have = set(zip(*(those[name].to_pylist() for name in columns), strict=True))
    own = zip(*(table[name].to_pylist() for name in columns), strict=True)
    return table.filter(pa.array([one not in have for one in own], pa.bool_()))
