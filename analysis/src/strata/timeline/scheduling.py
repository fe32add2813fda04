# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the threads of a route's layers did, by kernel events or by samples of their counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from strata.schema.layers import HOLD
from strata.schema.rows import NONE, Rows
from strata.timeline.columns import Kept, RowsOf
from strata.timeline.spans import LayerScheduling, Preempted, Span


class ThreadTimes:
    """The tables `layer_scheduling`, `preemptions` and `layer_cpu_waits`, by message."""

    def __init__(self, scheduling: Rows, preemptions: Rows, cpu_waits: Rows) -> None:
        self._tables = tuple(
            (Kept(rows), RowsOf(rows["message_id"]))
            for rows in (scheduling, preemptions, cpu_waits)
        )
        self._empty = not len(scheduling) and not len(cpu_waits)

    def of(self, messages: Sequence[int], spans: Sequence[Span]) -> Iterator[LayerScheduling]:
        """Yield what is known of the layers of a route, in the order of its own spans."""
        if self._empty:
            return
        seen: dict[tuple[int, str], int] = {}
        for span in spans:
            if span.hop is not None and span.layer is not None:
                seen.setdefault((span.hop, span.layer), span.lane)
        for (hop, layer), lane in seen.items():
            # Hold is recorded with the message that was published in it.
            at = hop + 1 if layer == HOLD.name else hop
            found = self._layer(messages[at], hop, layer, lane) if at < len(messages) else None
            if found is not None:
                yield found

    def _layer(self, message: int, hop: int, layer: str, lane: int) -> LayerScheduling | None:
        (did, _), (taken, _), (waits, _) = self._tables
        own, by, sampled = (self._rows(table, message, layer) for table in range(3))
        cpu_wait_ns = waits.number("about_ns", sampled[0]) if sampled else None
        if not own:
            if cpu_wait_ns is None:
                return None
            return LayerScheduling(hop, layer, lane, cpu_wait_ns=cpu_wait_ns)
        preempted = [
            Preempted(
                None if (tid := taken.number("tid", row)) == NONE else tid,
                taken.text("comm", row) or "",
                taken.number("duration_ns", row),
            )
            for row in by
        ]
        return LayerScheduling(
            hop,
            layer,
            lane,
            running_ns=did.number("running_ns", own[0]),
            preempted_ns=did.number("preempted_ns", own[0]),
            blocked_ns=did.number("blocked_ns", own[0]),
            unknown_ns=did.number("unknown_ns", own[0]),
            by=tuple(sorted(preempted, key=lambda one: (-one.duration_ns, one.tid or NONE))),
            cpu_wait_ns=cpu_wait_ns,
        )

    def _rows(self, table: int, message: int, layer: str) -> list[int]:
        kept, of_message = self._tables[table]
        return [row for row in of_message.of(message) if kept.text("layer", row) == layer]
