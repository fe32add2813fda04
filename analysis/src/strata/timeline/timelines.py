# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Timelines of the messages of one trace: an index is made once, then each costs about 1 ms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from strata.analysis import Analysis
from strata.errors import TraceError
from strata.schema.rows import NONE, Ints
from strata.timeline.columns import Kept, RowsOf
from strata.timeline.labels import Labels
from strata.timeline.lanes import ASIDE, Lanes, ThreadNames
from strata.timeline.other_work import OtherWork, kinds_of_executions
from strata.timeline.own_spans import Ends, Own, OwnSpans, Wait
from strata.timeline.pieces import Interval, Piece, Pieces, Ran
from strata.timeline.route import Route, Routes
from strata.timeline.scheduling import ThreadTimes
from strata.timeline.spans import Timeline, WaitedBehind
from strata.timeline.work import ThreadWork

MARGIN = 0.05
"""Part of the latency that the window shows before and after it."""

MOST_OTHER = 100
"""So many spans of other work are shown, the longest."""

_MOST_ASIDE = 2
"""So many threads beside the route are shown for one callback that a message waited behind."""


class Timelines:
    """The timelines of an analysis; making this reads its tables once."""

    def __init__(self, analysis: Analysis, *, most_other: int = MOST_OTHER) -> None:
        """Take an analysis, and how many spans of other work a timeline has at most."""
        table = analysis.rows
        self._messages, links = Kept(table("messages")), Kept(table("links"))
        self._instances = Kept(table("callback_instances"))
        takes, publications = Kept(table("takes")), Kept(table("publications"))
        self._chains = Kept(table("chains"))
        self._chain_instances = Kept(table("chain_instances"))
        self._blockers = Kept(table("executor_blockers"))
        self._of_waiting = RowsOf(self._blockers.rows["message_id"])
        self._labels = Labels(self._messages, table("callback_objects"))
        self._work = ThreadWork(self._instances.rows, takes.rows)
        self._names = ThreadNames(
            table("processes"), table("thread_cpu"), table("executor_threads")
        )
        self._ends = Ends(self._messages, publications, takes, self._instances, self._labels)
        self._own = OwnSpans(self._messages, self._ends, self._labels)
        self._other = OtherWork(self._work, self._instances, self._labels, most_other)
        self._times = ThreadTimes(
            table("layer_scheduling"), table("preemptions"), table("layer_cpu_waits")
        )
        self._routes = Routes(self._messages, links)
        self._pieces = Pieces(self._messages, links, Ran(self._busy, self._execution))

    def of(self, message_id: int) -> Timeline:
        """Return the timeline of a message, back along the cause that was there last.

        That is the route of `strata path`. Raises TraceError for a message that is not there.
        """
        count = len(self._messages)
        if not 0 <= message_id < count:
            raise TraceError(
                f"Cannot show message {message_id}: the trace has {count} matched messages, "
                "numbered from 0 (table messages). Choose one of them."
            )
        return self._timeline(self._routes.critical(message_id))

    def of_instance(self, chain_instance_id: int) -> Timeline:
        """Return the timeline of a row of `chain_instances`, along the hops of its chain.

        It differs from that of its message where another cause came later (its `critical` is
        false), or where the chain begins later. Raises TraceError for one that is not there.
        """
        return self._timeline(self._route_of_instance(chain_instance_id))

    def pieces_of_message(self, message_id: int) -> Iterator[Piece]:
        """Yield when each layer of one message was, up to the end of its callback.

        The durations of a layer's pieces add up to its column in `messages`; no piece is of no
        length. `message_id` is a row of that table.
        """
        return self._pieces.of(Route((message_id,), ()))

    def pieces_of_instance(self, chain_instance_id: int) -> Iterator[Piece]:
        """Yield when each layer along a row of `chain_instances` was, hop after hop.

        The durations add up to those in `chain_segments`. Raises TraceError for one that is not
        there.
        """
        return self._pieces.of(self._route_of_instance(chain_instance_id))

    def _route_of_instance(self, chain_instance_id: int) -> Route:
        instances = self._chain_instances
        if not 0 <= chain_instance_id < len(instances):
            raise TraceError(
                f"Cannot show instance {chain_instance_id}: the trace has {len(instances)} "
                "messages of chains, numbered from 0 (table chain_instances). Choose one of them."
            )
        name = self._chains.text("name", instances.number("chain_id", chain_instance_id))
        message = instances.number("message_id", chain_instance_id)
        begin_ns = instances.number("begin_ns", chain_instance_id)
        return self._routes.of_chain(message, tuple(str(name).split(" -> ")), begin_ns)

    def _timeline(self, route: Route) -> Timeline:
        pieces = [*self._pieces.of(route)]
        begin_ns = self._messages.number("begin_ns", route.messages[0])
        end_ns = pieces[-1].end_ns if pieces else begin_ns
        bounds = [begin_ns, *(piece.end_ns for piece in pieces)]
        margin_ns = int((max(bounds) - min(bounds)) * MARGIN)
        window = min(bounds) - margin_ns, max(bounds) + margin_ns
        own = self._own.of(route, pieces, Lanes(self._names))
        behind = self._behind(route)
        self._add_threads_aside(own, behind)
        executions = kinds_of_executions(
            [row for message in route.messages for _, _, row in self._ends.pieces(message)],
            self._ends.publishing(route.messages[0]),
        )
        other = self._other.of(own, executions, behind, window)
        return Timeline(
            message_id=route.messages[-1],
            messages=route.messages,
            begin_ns=begin_ns,
            latency_ns=end_ns - begin_ns,
            window_begin_ns=window[0],
            window_end_ns=window[1],
            lanes=own.lanes.all(),
            spans=(*own.spans, *other.spans),
            arrows=tuple(own.arrows),
            behind=tuple(behind),
            scheduling=tuple(self._times.of(route.messages, own.spans)),
            left_out=other.left_out,
            left_out_ns=other.left_out_ns,
        )

    def _execution(self, message: int) -> Sequence[Interval]:
        return [(begin_ns, until_ns) for begin_ns, until_ns, _ in self._ends.pieces(message)]

    def _busy(self, message: int, begin_ns: int, end_ns: int) -> tuple[Ints, Ints]:
        work = self._work.of(self._ends.taker(message)).within(begin_ns, end_ns)
        return work.begin_ns, work.end_ns

    def _behind(self, route: Route) -> list[WaitedBehind]:
        """What each message of the route waited behind, the longest first."""
        out: list[WaitedBehind] = []
        for message in route.messages:
            own = [self._waited_behind(message, row) for row in self._of_waiting.of(message)]
            out += sorted(own, key=lambda one: -one.duration_ns)
        return out

    def _waited_behind(self, message: int, row: int) -> WaitedBehind:
        callback = self._blockers.number("callback_id", row)
        work = str(self._blockers.text("work", row))
        return WaitedBehind(
            message,
            None if callback == NONE else callback,
            self._labels.behind(callback, work),
            work,
            self._blockers.number("duration_ns", row),
        )

    def _add_threads_aside(self, own: Own, behind: Sequence[WaitedBehind]) -> None:
        """Add lanes of threads beside the route that ran what a message waited behind."""
        waits = {wait.message: wait for wait in own.waits}
        ran = {wait.message: self._ran_meanwhile(own, wait) for wait in own.waits}
        for one in behind:
            wait = waits.get(one.message_id)
            if wait is None or one.callback_id is None or one.work != "callback":
                continue
            if one.callback_id not in ran[one.message_id]:
                threads = self._work.threads_that_ran(one.callback_id, wait.begin_ns, wait.end_ns)
                for thread in threads[:_MOST_ASIDE]:
                    own.lanes.thread(thread, ASIDE, one.label)

    def _ran_meanwhile(self, own: Own, wait: Wait) -> set[int]:
        """Return the callbacks that the taking thread ran while a message waited."""
        work = self._work.of(own.lanes.threads()[wait.lane]).within(wait.begin_ns, wait.end_ns)
        callbacks: list[int] = self._instances.rows["callback_id"][work.row].tolist()
        return set(callbacks)


def message_timeline(analysis: Analysis, message_id: int) -> Timeline:
    """Return the timeline of one message: see `Timelines.of`; for many, make `Timelines` once."""
    return Timelines(analysis).of(message_id)
