# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of scheduler events, of the names that lttng-modules give them, from readable lines.

    10 cpu0 1 S 2        time; on CPU 0 thread 1 goes to sleep and 2 gets it (R: it could go on)
    15 cpu1 wake 1 cpu0  on CPU 1 thread 1 is woken, to wait for CPU 0

Thread N is called `tN`, thread 0 is idle.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from scene import BASE

from strata.read.columns import declared_schema

# R+ is of kernels from 4.14 on, R-old of those before.
_STATES = {"R": 0, "R+": 256, "R-old": 2048, "S": 1, "D": 2}


def kernel_tables(
    lines: str, contexts: dict[int, tuple[int, int]] | None = None
) -> dict[str, pa.Table]:
    """Return the tables; `contexts` gives the vpid and vtid of kernel threads that have them."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for line in filter(None, map(str.strip, lines.splitlines())):
        ns, cpu, *words = line.split()
        row: dict[str, Any] = {"timestamp": BASE + int(ns), "host": "h", "cpu_id": int(cpu[3:])}
        if words[0] == "wake":
            woken = {"comm": f"t{words[1]}", "tid": int(words[1]), "prio": 120}
            rows.setdefault("sched_waking", []).append(
                row | woken | {"target_cpu": int(words[2][3:])}
            )
            continue
        left, state, came = int(words[0]), words[1], int(words[2])
        row |= {"prev_comm": f"t{left}", "prev_tid": left, "prev_prio": 120}
        row |= {"prev_state": _STATES[state], "next_comm": f"t{came}", "next_tid": came}
        if contexts and left in contexts:
            row |= dict(zip(("vpid", "vtid"), contexts[left], strict=True))
        rows.setdefault("sched_switch", []).append(row)
    return {event: table_of(event, found) for event, found in rows.items()}


def table_of(event: str, rows: Iterable[dict[str, Any]]) -> pa.Table:
    schema = declared_schema(event, {})
    plain = pa.schema(
        [
            pa.field(item.name, pa.string()) if pa.types.is_dictionary(item.type) else item
            for item in schema
        ]
    )
    ordered = sorted(rows, key=lambda row: row["timestamp"])
    return pa.Table.from_pylist(ordered, schema=plain).cast(schema)
