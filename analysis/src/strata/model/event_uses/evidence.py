# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What several rules look at, computed once a trace."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.executions import opening_waits, paired_waits
from strata.model.joins import Flags, flags_at
from strata.model.search import GroupedSearch, Lifetimes, pick
from strata.model.timeline import EVENT_OF, Kind
from strata.model.windows import touched
from strata.schema.events import PROVIDER

WORK = (Kind.CALLBACK_START, Kind.CALLBACK_END, Kind.WAIT, Kind.READY, Kind.EXECUTE)
"""What an executor does; calls of publish and take do not reach over it."""

_CONTEXT, _NODE = "ros2:rcl_init", "ros2:rcl_node_init"
_ANNOUNCED = (_NODE, "ros2:rcl_publisher_init", "ros2:rcl_subscription_init")
_ROS2 = [kind for kind, name in EVENT_OF.items() if name.startswith(f"{PROVIDER}:")]
_LATEST = np.iinfo(np.int64).max


class Evidence:
    """A model, and what its events stand beside. Positions are those of the timeline."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.events = model.events
        self.timeline = model.timeline
        self._positions: dict[Kind, Ints] = {}

    def at(self, kind: Kind) -> Ints:
        """Return the positions of a kind, ascending."""
        if kind not in self._positions:
            self._positions[kind] = self.timeline.positions(kind)
        return self._positions[kind]

    def column(self, kind: Kind, name: str) -> Ints:
        """Return a column of a kind's events, in the order of `at`."""
        return self.events.ints(EVENT_OF[kind], name)[self.timeline.row[self.at(kind)]]

    def column_at(self, at: Ints, kind: Kind, name: str) -> Ints:
        """Return the column of events at positions; `NONE` where there is none of the kind."""
        own = (at != NONE) & (self.kind(at) == kind)
        row = self.timeline.row_at(np.where(own, at, NONE))
        return pick(self.events.ints(EVENT_OF[kind], name), row)

    def process(self, at: Ints) -> Ints:
        """Return the process of each position."""
        return self.events.processes.thread_process[self.timeline.thread[at]]

    def kind(self, at: Ints) -> Ints:
        """Return the kind at each position; `NONE` for `NONE`."""
        return pick(self._kinds, at)

    @cached_property
    def _kinds(self) -> Ints:
        return self.timeline.kind.astype(np.int64)

    def before(self, at: Ints) -> Ints:
        """Return the `ros2` event before each on its thread, or `NONE`."""
        return self._beside[0][at]

    def after(self, at: Ints) -> Ints:
        """Return the `ros2` event after each on its thread, or `NONE`."""
        return self._beside[1][at]

    @cached_property
    def _beside(self) -> tuple[Ints, Ints]:
        own = np.flatnonzero(np.isin(self.timeline.kind, _ROS2)).astype(np.int64)
        same = self.timeline.thread[own[1:]] == self.timeline.thread[own[:-1]]
        before = np.full(len(self.timeline), NONE, np.int64)
        after = before.copy()
        before[own[1:][same]] = own[:-1][same]
        after[own[:-1][same]] = own[1:][same]
        return before, after

    def before_on_thread(self, event: str, thread: Ints, ns: Ints) -> Ints:
        """Return the row of the last event of a name before each time on a thread, or `NONE`."""
        search = GroupedSearch(self.events.thread(event), self.events.timestamps(event))
        last = search.position(thread, ns, after_equal=True) - 1
        return pick(search.order, np.where(last >= search.begin(thread), last, NONE))

    def lost_since(self, begin: Ints, at: Ints) -> Flags:
        """Tell where events were lost from one position (`NONE`: ever) to another."""
        begin_ns = np.where(begin != NONE, self.timeline.ns_at(begin), 0)
        return touched(self.model.losses, begin_ns, self.timeline.ns_at(at))

    def lost_until(self, at: Ints, end: Ints) -> Flags:
        """Tell where events were lost from one position to another (`NONE`: ever after)."""
        end_ns = np.where(end != NONE, self.timeline.ns_at(end), _LATEST)
        return touched(self.model.losses, self.timeline.ns_at(at), end_ns)

    def lost_before(self, ns: Ints) -> Flags:
        """Tell before which times events were lost at all: inits among them, perhaps."""
        return touched(self.model.losses, np.zeros(len(ns), np.int64), ns)

    def lost_after(self, ns: Ints) -> Flags:
        """Tell after which times events were lost at all."""
        return touched(self.model.losses, ns, np.full(len(ns), _LATEST))

    def lost_ever(self, count: int) -> Flags:
        """Tell `count` times whether events were lost at all."""
        return np.full(count, len(self.model.losses[0]) > 0)

    def older(self, process: Ints) -> Flags:
        """Tell which processes were there before the trace: it holds no context of theirs."""
        return ~np.isin(process, self.events.process(_CONTEXT))

    def several_contexts(self, process: Ints) -> Flags:
        """Tell which processes made more than one context."""
        made, count = np.unique(self.events.process(_CONTEXT), return_counts=True)
        return np.asarray(np.isin(process, made[count > 1]), bool)

    @cached_property
    def waits(self) -> tuple[Ints, Ints]:
        """Begins and ends of the executors' waits."""
        return paired_waits(self.timeline, Kind.WAIT, Kind.READY)

    @cached_property
    def opening(self) -> Ints:
        """Ends of the waits that began before the trace."""
        return opening_waits(self.events, self.timeline)

    @cached_property
    def publications(self) -> tuple[Ints, Ints]:
        """Positions of the publications' events, ascending, and their publishers."""
        found = self.model.publications
        order = np.argsort(found.position)
        return found.position[order], found.publisher[order]

    def publisher(self, at: Ints) -> tuple[Flags, Ints]:
        """Tell which positions are those of publications, and their publisher, or `NONE`."""
        position, publisher = self.publications
        if not len(position):
            return np.zeros(len(at), bool), np.full(len(at), NONE, np.int64)
        place = np.searchsorted(position, at).clip(max=len(position) - 1)
        own = position[place] == at
        return own, np.where(own, publisher[place], NONE)

    @cached_property
    def _announced(self) -> tuple[GroupedSearch, Flags]:
        """Inits of nodes and endpoints by thread and time; which are of nodes."""
        thread = np.concatenate([self.events.thread(name) for name in _ANNOUNCED])
        ns = np.concatenate([self.events.timestamps(name) for name in _ANNOUNCED])
        search = GroupedSearch(thread, ns)
        return search, search.order < self.events.count(_NODE)

    def before_node(self, thread: Ints, ns: Ints) -> Flags:
        """Tell after which times the next that a thread announced to rcl is a node.

        The middleware makes its own endpoints, and tells of the node, before rcl announces it.
        """
        search, is_node = self._announced
        place = search.position(thread, ns, after_equal=False)
        found = place < search.end(thread)
        return flags_at(is_node, np.where(found, place, NONE))

    def announces_no_more(self, thread: Ints, ns: Ints) -> Flags:
        """Tell after which times a thread announced no node or endpoint."""
        search, _ = self._announced
        return search.position(thread, ns, after_equal=False) >= search.end(thread)

    def internal(self, what: str) -> Lifetimes:
        """Return the middleware's own publishers or subscriptions (`what`), by rmw handle.

        Those that rcl never announced, but then a node, or (at the end of a trace) nothing more.
        """
        init, column = f"ros2:rmw_{what}_init", f"rmw_{what}_handle"
        thread, ns = self.events.thread(init), self.events.timestamps(init)
        early = self.before_node(thread, ns) | self.announces_no_more(thread, ns)
        own = ~self.announced(what) & early
        return Lifetimes(
            self.events.process(init)[own],
            self.events.ints(init, column)[own],
            ns[own],
        )

    def announced(self, what: str) -> Flags:
        """Tell which rmw inits of publishers or subscriptions rcl announced afterwards."""
        init = f"ros2:rmw_{what}_init"
        entities = self.model.entities
        known = entities.publishers if what == "publisher" else entities.subscriptions
        process, ns = self.events.process(init), self.events.timestamps(init)
        handle = self.events.ints(init, f"rmw_{what}_handle")
        own = Lifetimes(process, handle, ns).find(known.process, known.rmw_handle, known.begin_ns)
        out = np.zeros(len(ns), bool)
        out[own[own != NONE]] = True
        return out
