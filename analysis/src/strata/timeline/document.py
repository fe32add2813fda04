# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Timelines as compact JSON for a page: words once in a table of strings, times as offsets in ns.

`Timeline.document` gives one timeline by itself, `documents` many with one table of strings. Every
text in a timeline is a number of that table; null is -1.

* `message`, `messages`: as in `Timeline`
* `begin`: `window_begin_ns` as decimal text, as JSON's numbers hold no 19 digits in a browser
* `window`: how long the window is; all other times are ns after its begin
* `publish`, `latency`: begin of the latency, and how long it is
* `lanes`: [kind, role, host, process, name, vpid, vtid]
* `own`: [lane, duration, kind, label, layer, hop, flags]: the first begins at `publish`, each other
  one where the one before ends; they add up to the latency
* `other`: [lane, begin, duration, kind, label, flags, waited ns, hop of the message that waited]
* `arrows`: [lane, time, lane, time, topic, message]
* `behind`: [hop, label, work, duration], the longest of each hop first, at most `MOST_BEHIND`
* `scheduling`: [hop, layer, running, preempted, blocked, unknown, CPU wait by samples or -1,
  [[name, tid or -1, duration], ...]]
* `left_out`: [spans, ns] of other work that is not there

Flags add up: `PLACED`, `UNSYNCHRONISED`, `UNFINISHED`. Of a span, zeros at the end from the flags
on are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from strata.schema.rows import NONE
from strata.timeline.spans import Lane, Span, Timeline

PLACED, UNSYNCHRONISED, UNFINISHED = 1, 2, 4

MOST_BEHIND = 6
"""So many rows of what one message waited behind."""


class Strings:
    """A table of strings: each different one once; `characters` is how long all are together."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self.characters = 0

    def number(self, text: str | None) -> int:
        """Return the number of a text; -1 for null."""
        if text is None:
            return NONE
        if text not in self._number:
            self._number[text] = len(self._number)
            self.characters += len(text)
        return self._number[text]

    def texts(self) -> list[str]:
        """Return the texts by number."""
        return list(self._number)


def document(timeline: Timeline) -> dict[str, Any]:
    """Return one timeline with its own table `strings`."""
    strings = Strings()
    return {**compact(timeline, strings), "strings": strings.texts()}


def documents(timelines: Iterable[Timeline]) -> dict[str, Any]:
    """Return `timelines` in their order, and the table of `strings` that they share."""
    strings = Strings()
    found = [compact(timeline, strings) for timeline in timelines]
    return {"strings": strings.texts(), "timelines": found}


def compact(timeline: Timeline, strings: Strings) -> dict[str, Any]:
    """Return one timeline, whose texts are added to a table."""
    zero_ns, number = timeline.window_begin_ns, strings.number
    hop_of = {message: hop for hop, message in enumerate(timeline.messages)}
    return {
        "message": timeline.message_id,
        "messages": list(timeline.messages),
        "begin": str(zero_ns),
        "window": timeline.window_end_ns - zero_ns,
        "publish": timeline.begin_ns - zero_ns,
        "latency": timeline.latency_ns,
        "lanes": [_lane(lane, strings) for lane in timeline.lanes],
        "own": [_own(span, strings) for span in timeline.spans if span.own],
        "other": [
            _other(span, zero_ns, strings, hop_of) for span in timeline.spans if not span.own
        ],
        "arrows": [
            [
                one.from_lane,
                one.from_ns - zero_ns,
                one.to_lane,
                one.to_ns - zero_ns,
                number(one.topic),
                one.message_id,
            ]
            for one in timeline.arrows
        ],
        "behind": _behind(timeline, hop_of, strings),
        "scheduling": [
            [
                one.hop,
                number(one.layer),
                one.running_ns,
                one.preempted_ns,
                one.blocked_ns,
                one.unknown_ns,
                NONE if one.cpu_wait_ns is None else one.cpu_wait_ns,
                [
                    [number(by.comm), NONE if by.tid is None else by.tid, by.duration_ns]
                    for by in one.by
                ],
            ]
            for one in timeline.scheduling
        ],
        "left_out": [timeline.left_out, timeline.left_out_ns],
    }


def _lane(lane: Lane, strings: Strings) -> list[int]:
    texts = (lane.kind, lane.role, lane.host, lane.process, lane.name)
    ids = (NONE if one is None else one for one in (lane.vpid, lane.vtid))
    return [*map(strings.number, texts), *ids]


def _flags(span: Span) -> int:
    return (
        PLACED * span.placed + UNSYNCHRONISED * span.unsynchronised + UNFINISHED * span.unfinished
    )


def _own(span: Span, strings: Strings) -> list[int]:
    kind, label, layer = map(strings.number, (span.kind, span.label, span.layer))
    hop = NONE if span.hop is None else span.hop
    return _trimmed([span.lane, span.duration_ns, kind, label, layer, hop], [_flags(span)])


def _other(span: Span, zero_ns: int, strings: Strings, hop_of: dict[int, int]) -> list[int]:
    kind, label = map(strings.number, (span.kind, span.label))
    hop = 0 if span.waiting_id is None else hop_of[span.waiting_id]
    return _trimmed(
        [span.lane, span.begin_ns - zero_ns, span.duration_ns, kind, label],
        [_flags(span), span.waited_ns, hop],
    )


def _trimmed(head: list[int], tail: list[int]) -> list[int]:
    while tail and not tail[-1]:
        tail.pop()
    return head + tail


def _behind(timeline: Timeline, hop_of: dict[int, int], strings: Strings) -> list[list[int]]:
    shown: dict[int, int] = {}
    out = []
    for one in timeline.behind:
        hop = hop_of[one.message_id]
        shown[hop] = shown.get(hop, 0) + 1
        if shown[hop] <= MOST_BEHIND:
            out.append([hop, strings.number(one.label), strings.number(one.work), one.duration_ns])
    return out
