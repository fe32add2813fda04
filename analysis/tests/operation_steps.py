# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of operations, made of their events' rows by a plain reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = dict[str, Any]

_SAMPLE = ("writer_guid", "sequence_number", "source_timestamp", "size")
_WHOLE = {"fragment": 0, "fragment_count": 0, "fragment_size": 0}


def with_steps(rows: Mapping[str, list[Row]], origin_ns: int) -> dict[str, list[Row]]:
    """Add to the events of a trace those of its operations' steps, in order of time.

    `origin_ns`: when the trace's clock began to count, since the epoch.
    """
    found = {name: list(own) for name, own in rows.items()}

    def add(name: str, row: Row, ns: int, chosen: tuple[str, ...], **more: Any) -> None:
        place = {key: row[key] for key in ("vpid", "vtid")}
        own = {key: row[key] for key in chosen}
        found.setdefault(f"dds:{name}", []).append({"timestamp": ns} | place | own | more)

    def at(row: Row, step: str) -> int:
        span = row[step]
        late = span - (1 << 31)
        return origin_ns + row["begin"] + (span if late < 0 else 1000 * late)

    for row in rows.get("dds:written", ()):
        add("write_begin", row, origin_ns + row["begin"], ("writer", "data"))
        for step, chosen in (
            ("serialize_begin", ("data",)),
            ("serialize_end", ("data", "size")),
            ("writer_history_add", _SAMPLE),
        ):
            if row[step]:
                add(step, row, at(row, step), chosen)
        add("write_end", row, row["timestamp"], ("writer", "result"))
    for row in rows.get("dds:sent", ()):
        begin_ns = origin_ns + row["begin"]
        add("send_begin", row, begin_ns, ("transport", "bytes", *_SAMPLE, *_WHOLE))
        ends = ("transport", "address", "port", "destinations", "result")
        add("send_end", row, row["timestamp"], ends)
    for row in rows.get("dds:received", ()):
        begin_ns = origin_ns + row["begin"]
        add("receive", row, begin_ns, ("transport", "port", "bytes", *_SAMPLE), **_WHOLE)
        if row["reader_history_add"]:
            add("reader_history_add", row, at(row, "reader_history_add"), _SAMPLE)
        if row["notified"]:
            add("reader_notify", row, row["timestamp"], ("reader_guid", *_SAMPLE[:2]))
    for row in rows.get("dds:taken", ()):
        value = {"data": row["buffer"]}
        add("take_begin", row, origin_ns + row["begin"], ("reader",))
        if row["deserialize_begin"]:
            add("deserialize_begin", row, at(row, "deserialize_begin"), (), **value)
            add("deserialize_end", row, at(row, "deserialize_end"), ("size",), **value)
        own = ("reader", "buffer", *_SAMPLE[:3], "taken", "result")
        add("take_end", row, row["timestamp"], own)
    return {name: sorted(own, key=lambda row: row["timestamp"]) for name, own in found.items()}
