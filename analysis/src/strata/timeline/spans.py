# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the timeline of one message is made of: lanes, spans and arrows.

A *lane* is a thread, or what lies between two threads: there a message is in transit, or waits to
be picked. A *span* is a half-open stretch of time on a lane. The message's *own* spans follow each
other without gap or overlap, so that they add up to its latency exactly; the others say what the
same threads did meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from strata.lazy import pandas as pd

THREAD = "thread"
TRANSIT = "transit"
SENSOR = "sensor"
"""Kinds of lanes: of a thread; of messages between two threads; of sensor data before a driver."""

REST_OF_CALLBACK = "rest of callback"
PUBLISHING_CALLBACK = "publishing callback"
OTHER_CALLBACK = "other callback"
OTHER_TAKE = "other take"
"""Kinds of spans that are not the message's own: what its callback did beside its way (after the
publish, as a rule), the callback that published its first message, and any other callback, or take
for one."""


@dataclass(frozen=True)
class Lane:
    """One row of the drawing, from the first that the message met.

    Of a thread, `vtid` is its id in the process `vpid` on `host`; `process` is that process's name
    and `name` the thread's own, null where they were not recorded. Other lanes have none of these.
    `role` says in words what the lane is to the message.
    """

    kind: str
    role: str
    host: str | None = None
    process: str | None = None
    vpid: int | None = None
    vtid: int | None = None
    name: str | None = None


class Span(NamedTuple):
    """A stretch of time on a lane, in ns since the epoch by the clock of the lane's host.

    `kind` is what happened: of own spans publish, middleware, transport, wake-up, executor wait,
    take, callback, hold, driver, suspended or stored, of others one of the constants above.
    `layer` is the layer's name (strata.schema.layers) and `hop` the hop along the route, from 0;
    both null for what is not the message's own. `message_id` is the message of that hop.

    `placed`: of a layer that consists of several stretches, the trace shows only how long they are
    together, not where each lies: 5 % of the wait or more may lie elsewhere.
    `waited_ns` is for how long a message of the route waited behind this work, and `waiting_id`
    that message; 0 and null for own spans. `unsynchronised`: it lies between hosts whose clocks are
    not synchronised, and may end before it begins. `unfinished`: no end was recorded, and `end_ns`
    is `until_ns` of `callback_instances`.
    """

    lane: int
    begin_ns: int
    end_ns: int
    kind: str
    label: str
    own: bool
    layer: str | None = None
    hop: int | None = None
    message_id: int | None = None
    placed: bool = False
    waited_ns: int = 0
    waiting_id: int | None = None
    unsynchronised: bool = False
    unfinished: bool = False

    @property
    def duration_ns(self) -> int:
        """How long it is; less than 0 only where it is unsynchronised."""
        return self.end_ns - self.begin_ns


@dataclass(frozen=True)
class Arrow:
    """A message from its publish on one lane to its take on another."""

    message_id: int
    topic: str
    from_lane: int
    from_ns: int
    to_lane: int
    to_ns: int


@dataclass(frozen=True)
class WaitedBehind:
    """What a message of the route waited behind while it waited for its executor, and how long.

    A row of `executor_blockers`: `work` is callback or take. `callback_id` is null for what lies
    beside the callbacks that took longest in a backlog.
    """

    message_id: int
    callback_id: int | None
    label: str
    work: str
    duration_ns: int


@dataclass(frozen=True)
class Preempted:
    """Who had the CPU instead: `tid` 0 is nobody (the CPU was leaving idle), null unknown."""

    tid: int | None
    comm: str
    duration_ns: int


@dataclass(frozen=True)
class LayerScheduling:
    """What the thread of one layer did, by kernel events: rows of `layer_scheduling`.

    The four times add up to the layer. `by` has who preempted it, the longest first. Without
    kernel events all are 0 but `cpu_wait_ns`, how long it waited for a CPU as samples of the
    thread's counts estimate it (null: not sampled).
    """

    hop: int
    layer: str
    lane: int | None
    running_ns: int = 0
    preempted_ns: int = 0
    blocked_ns: int = 0
    unknown_ns: int = 0
    by: tuple[Preempted, ...] = ()
    cpu_wait_ns: int | None = None


@dataclass(frozen=True)
class Timeline:
    """One message from its first publish to the end of its last callback, over all threads.

    `messages` are those of its route, the first published first; the last is `message_id`. `spans`
    are the own ones in order, then the others in order. Of the others only the longest are there:
    `left_out` counts the rest, which lasted `left_out_ns` in all. `window_begin_ns` and
    `window_end_ns` are the latency with a margin: what else ran is shown of that time.
    """

    message_id: int
    messages: tuple[int, ...]
    begin_ns: int
    latency_ns: int
    window_begin_ns: int
    window_end_ns: int
    lanes: tuple[Lane, ...]
    spans: tuple[Span, ...]
    arrows: tuple[Arrow, ...]
    behind: tuple[WaitedBehind, ...] = ()
    scheduling: tuple[LayerScheduling, ...] = ()
    left_out: int = 0
    left_out_ns: int = 0

    @property
    def own(self) -> Iterator[Span]:
        """The spans of the message itself, in order; they add up to its latency."""
        return (span for span in self.spans if span.own)

    def frame(self) -> pd.DataFrame:
        """Return the spans as a frame, one row per span in their order.

        Columns: `begin_ns`, `end_ns` (ns since the epoch), `duration_ns`, `own`, `kind`, `layer`,
        `label`, `hop`, `message_id`, `lane` (number), `lane_kind`, `role`, `host`, `process`,
        `vpid`, `vtid` (of the lane's thread), `waited_ns` (how long a message of the route waited
        behind it), `placed`, `unsynchronised`, `unfinished`; see `Span` and `Lane`. Whole numbers
        that may be null are Int64.
        """
        lanes = [self.lanes[span.lane] for span in self.spans]
        columns = {
            "begin_ns": [span.begin_ns for span in self.spans],
            "end_ns": [span.end_ns for span in self.spans],
            "duration_ns": [span.duration_ns for span in self.spans],
            "own": [span.own for span in self.spans],
            "kind": [span.kind for span in self.spans],
            "layer": [span.layer for span in self.spans],
            "label": [span.label for span in self.spans],
            "hop": pd.array([span.hop for span in self.spans], dtype="Int64"),
            "message_id": pd.array([span.message_id for span in self.spans], dtype="Int64"),
            "lane": [span.lane for span in self.spans],
            "lane_kind": [lane.kind for lane in lanes],
            "role": [lane.role for lane in lanes],
            "host": [lane.host for lane in lanes],
            "process": [lane.process for lane in lanes],
            "vpid": pd.array([lane.vpid for lane in lanes], dtype="Int64"),
            "vtid": pd.array([lane.vtid for lane in lanes], dtype="Int64"),
            "waited_ns": [span.waited_ns for span in self.spans],
            "placed": [span.placed for span in self.spans],
            "unsynchronised": [span.unsynchronised for span in self.spans],
            "unfinished": [span.unfinished for span in self.spans],
        }
        return pd.DataFrame(columns)

    def document(self) -> dict[str, Any]:
        """Return the timeline as compact JSON (strata.timeline.document)."""
        from strata.timeline.document import document

        return document(self)

    def __repr__(self) -> str:
        """Say in one line what it is of."""
        own = sum(1 for _ in self.own)
        threads = sum(lane.kind == THREAD for lane in self.lanes)
        return (
            f"<Timeline of message {self.message_id}: {self.latency_ns / 1e6:.3f} ms over "
            f"{len(self.messages)} hops and {threads} threads, {own} spans of its own, "
            f"{len(self.spans) - own} of other work>"
        )
