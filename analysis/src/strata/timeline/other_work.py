# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the threads of a timeline did beside the message, the longest first kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from strata.schema.rows import NONE, Ints
from strata.timeline.columns import Kept
from strata.timeline.labels import Labels
from strata.timeline.own_spans import Own, Wait
from strata.timeline.pieces import Interval
from strata.timeline.spans import (
    OTHER_CALLBACK,
    OTHER_TAKE,
    PUBLISHING_CALLBACK,
    REST_OF_CALLBACK,
    Span,
    WaitedBehind,
)
from strata.timeline.work import ThreadWork, Work

_FINEST = 1000
"""A stretch of less than this part of the window is not shown: it is about a pixel wide."""


@dataclass(frozen=True)
class Other:
    """Spans of other work in order; `left_out` more lasted `left_out_ns` in all."""

    spans: tuple[Span, ...]
    left_out: int = 0
    left_out_ns: int = 0


class OtherWork:
    """Finds what else ran on threads, from `callback_instances` and the work of threads."""

    def __init__(self, work: ThreadWork, instances: Kept, labels: Labels, most: int) -> None:
        """Take also how many spans a timeline has at most."""
        self._work, self._labels, self._most = work, labels, most
        self._callback = instances.rows["callback_id"]
        self._ended = instances.rows.there("end_ns")

    def of(
        self,
        own: Own,
        executions: Mapping[int, str],
        behind: Sequence[WaitedBehind],
        window: Interval,
    ) -> Other:
        """Return the other work on the threads of a timeline.

        `executions` are those (rows) that belong to the message, with the kind of their spans.
        """
        found = _Found.within(
            {at: self._work.of(thread) for at, thread in own.lanes.threads().items()}, window
        )
        if not len(found.row):
            return Other(())
        shown_ns = found.shown_ns(window)
        # What is left of the message's own executions is judged when their own spans are cut out.
        cut_later = np.isin(found.row, np.fromiter(executions, np.int64, len(executions)))
        kept = _longest(np.where(cut_later, 0, shown_ns), window, self._most)
        kept = np.union1d(kept, np.flatnonzero(cut_later))
        blocked = self._blocked(own, behind)
        covered = _covered(own)
        spans: list[Span] = []
        columns = (column[kept].tolist() for column in found)
        callbacks, ended = (
            values[found.row[kept]].tolist() for values in (self._callback, self._ended)
        )
        for lane, row, is_take, begin_ns, end_ns, callback, has_end in zip(
            *columns, callbacks, ended, strict=True
        ):
            kind = OTHER_TAKE if is_take else executions.get(row, OTHER_CALLBACK)
            label = self._labels.take(callback) if is_take else self._labels.callback(callback)
            waits = blocked.get((lane, callback, bool(is_take)), ())
            for begin, end in _without((begin_ns, end_ns), covered.get(lane, ())):
                waited_ns, waiting_id = _waited(begin, end, waits)
                spans.append(
                    Span(
                        lane,
                        begin,
                        end,
                        kind,
                        label,
                        own=False,
                        waited_ns=waited_ns,
                        waiting_id=waiting_id,
                        unfinished=not (is_take or has_end),
                    )
                )
        spans.sort(key=lambda span: (span.lane, span.begin_ns, span.end_ns))
        # What the message's own spans cut in pieces is several spans, which are bounded, too.
        spans, cut = _bounded(spans, self._most)
        left_ns = int(shown_ns.sum() - shown_ns[kept].sum()) + sum(one.duration_ns for one in cut)
        return Other(tuple(spans), len(found.row) - len(kept) + len(cut), left_ns)

    def _blocked(self, own: Own, behind: Sequence[WaitedBehind]) -> _Blocked:
        """Return the waits behind each callback and its takes, by lane."""
        waits = {wait.message: wait for wait in own.waits}
        lanes = own.lanes.threads()
        out: _Blocked = {}
        for one in behind:
            wait = waits.get(one.message_id)
            if wait is None or one.callback_id is None:
                continue
            for lane in lanes:
                out.setdefault((lane, one.callback_id, one.work == "take"), []).append(wait)
        return out


_Blocked = dict[tuple[int, int, bool], list[Wait]]


class _Found(NamedTuple):
    """Stretches of work on lanes, as columns."""

    lane: Ints
    row: Ints
    take: Ints
    begin_ns: Ints
    end_ns: Ints

    @classmethod
    def within(cls, work: Mapping[int, Work], window: Interval) -> _Found:
        """Return the work that lies in a window, by lane."""
        inside = {lane: of.within(*window) for lane, of in work.items()}
        counts = [len(of.row) for of in inside.values()]
        lane = np.repeat(np.asarray([*inside], np.int64), counts)
        columns = zip(*inside.values(), strict=True)
        return cls(lane, *(np.concatenate(column) for column in columns))

    def shown_ns(self, window: Interval) -> Ints:
        """Return how much of each stretch lies within a window."""
        return np.minimum(self.end_ns, window[1]) - np.maximum(self.begin_ns, window[0])


def kinds_of_executions(own: Sequence[int], publishing: int) -> Mapping[int, str]:
    """Return the kinds of what is left of the message's executions (rows); `NONE` is none."""
    kinds = {publishing: PUBLISHING_CALLBACK} | dict.fromkeys(own, REST_OF_CALLBACK)
    return {row: kind for row, kind in kinds.items() if row != NONE}


def _longest(shown_ns: Ints, window: Interval, most: int) -> Ints:
    """Return the stretches that last longest, in order, without those too short to be seen."""
    seen = np.flatnonzero(shown_ns * _FINEST >= window[1] - window[0])
    if len(seen) <= most:
        return seen
    order = np.argsort(-shown_ns[seen], kind="stable")[:most]
    return np.sort(seen[order])


def _bounded(spans: list[Span], most: int) -> tuple[list[Span], list[Span]]:
    if len(spans) <= most:
        return spans, []
    order = sorted(range(len(spans)), key=lambda at: (-spans[at].duration_ns, at))
    kept = set(order[:most])
    return (
        [span for at, span in enumerate(spans) if at in kept],
        [span for at, span in enumerate(spans) if at not in kept],
    )


def _without(stretch: Interval, covered: Sequence[Interval]) -> Iterator[Interval]:
    """Yield what of a stretch is not covered by others, which are in order."""
    at, end = stretch
    for begin, until in covered:
        if until <= at or begin >= end:
            continue
        if begin > at:
            yield at, begin
        at = max(at, until)
    if at < end:
        yield at, end


def _covered(own: Own) -> Mapping[int, list[Interval]]:
    """Return when the message's own spans are on each lane, in order."""
    out: dict[int, list[Interval]] = {}
    for span in own.spans:
        out.setdefault(span.lane, []).append((span.begin_ns, span.end_ns))
    return {lane: sorted(spans) for lane, spans in out.items()}


def _waited(begin_ns: int, end_ns: int, waits: Sequence[Wait]) -> tuple[int, int | None]:
    """Return for how long a message waited behind a stretch of work, and which; 0 for none."""
    found = [
        (min(end_ns, wait.end_ns) - max(begin_ns, wait.begin_ns), wait.message) for wait in waits
    ]
    waited_ns, message = max(found, default=(0, None), key=lambda one: one[0])
    return (waited_ns, message) if waited_ns > 0 else (0, None)
