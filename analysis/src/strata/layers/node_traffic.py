# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What each node took and published: callbacks of its inputs, publications of its outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine import _model as engine
from strata.engine.groups import is_ascending, ordered_by
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.entities import take
from strata.model.search import pick, runs, spread
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.rows import row_numbers
from strata.units import format_ns

Flags = npt.NDArray[np.bool_]

_CLOCK = "/clock"
"""Nodes take it for themselves, whatever they publish."""


@dataclass(frozen=True)
class Output:
    """What one node of one process published on one topic, in time order.

    `publishers`, `rows` (of publications) and `execution` (or `NONE`) are rows of the model.
    """

    node: str
    process: int
    topic: str
    publishers: Ints
    rows: Ints
    begin_ns: Ints
    execution: Ints


@dataclass(frozen=True)
class Input:
    """The callbacks of one topic that a node takes, in the order of their ends.

    `rows` are rows of executions.
    """

    topic: str
    rows: Ints
    start_ns: Ints
    until_ns: Ints

    def newest(self, at_ns: Ints) -> Ints:
        """Return when the newest that had ended at each time began; `NONE` for none."""
        place = np.searchsorted(self.until_ns, at_ns, side="right") - 1
        return pick(self.start_ns, np.where(place >= 0, place, NONE))


def _in_order(values: Ints) -> Ints:
    """Return the rows of a column in ascending order, equal ones in theirs."""
    if is_ascending(values):
        return row_numbers(len(values))
    return np.argsort(values, kind="stable")


class _Rows:
    """The rows of each owner, found with one sort however many owners there are."""

    def __init__(self, owner: Ints) -> None:
        self._order = ordered_by(owner, int(owner.max(initial=0)) + 1)
        self._owners = owner[self._order]

    def of(self, owners: Ints) -> Ints:
        """Return the rows of some owners, ascending."""
        place, _ = spread(*runs(self._owners, owners))
        # Those of one owner are in order.
        return self._order[place] if len(owners) == 1 else np.sort(self._order[place])


class NodeTraffic:
    """Publications and callbacks of a model, by node; without internal topics."""

    def __init__(self, model: Model) -> None:
        self._model = model
        entities, published = model.entities, model.publications
        names = entities.nodes.name
        self._publisher_node = take(names, entities.publishers.node, "")
        self._subscription_node = take(names, entities.subscriptions.node, "")
        self._subscription = pick(entities.callbacks.subscription, model.executions.callback)
        self._timer = pick(entities.callbacks.timer, model.executions.callback)
        internal = np.isin(entities.publishers.topic.astype(str), [*INTERNAL_TOPICS, "None", ""])
        # Rows beyond the last are of no publisher, and no execution.
        own = ~np.append(internal, True)[published.publisher]
        self._publishing = np.zeros(len(model.executions) + 1, bool)
        self._publishing[published.execution[own]] = True
        self._first = np.full(len(model.executions), NONE, np.int64)
        self._published = _Rows(published.publisher)
        self._over_ns = model.executions.over_ns
        self._start_ns = model.executions.start_ns
        self._begin_ns, self._execution = published.begin_ns, published.execution
        self._called = _Rows(np.where(model.executions.resumed, NONE, self._subscription))

    def outputs(self) -> Iterator[Output]:
        """Go over what nodes with names published, by node, process and topic."""
        publishers = self._model.entities.publishers
        columns = (self._publisher_node, publishers.process.tolist(), publishers.topic)
        for node, process, topic in sorted(set(zip(*columns, strict=True))):
            if not node or topic in INTERNAL_TOPICS:
                continue
            own = (self._publisher_node == node) & (publishers.process == process)
            ends = np.flatnonzero(own & (publishers.topic == topic))
            rows = self._published.of(ends)
            rows = rows[_in_order(self._begin_ns[rows])]
            begin_ns, execution = self._begin_ns[rows], self._execution[rows]
            yield Output(str(node), process, str(topic), ends, rows, begin_ns, execution)

    def inputs(self, output: Output) -> list[Input]:
        """Return what the node of an output took in its process, by topic."""
        ends = self._model.entities.subscriptions
        own = (self._subscription_node == output.node) & (ends.process == output.process)
        out = []
        for topic in sorted(set(ends.topic[own]) - INTERNAL_TOPICS - {_CLOCK}):
            subscriptions = np.flatnonzero(own & (ends.topic == topic))
            rows = self._called.of(subscriptions)
            rows = rows[_in_order(self._over_ns[rows])]
            if len(rows):
                start_ns, until_ns = self._start_ns[rows], self._over_ns[rows]
                out.append(Input(str(topic), rows, start_ns, until_ns))
        return out

    def publishing(self, given: Input, output: Output | None = None) -> Flags:
        """Return which callbacks of an input published: an output, or anything (None)."""
        if output is None:
            return np.asarray(self._publishing[given.rows])
        return np.asarray(self._of_one(given, output) != NONE)

    def published_ns(self, given: Input, output: Output) -> Ints:
        """Return when each callback of an input published an output first; `NONE` for never."""
        return pick(output.begin_ns, self._of_one(given, output))

    def _of_one(self, given: Input, output: Output) -> Ints:
        """Return the first publication of an output in each callback of an input, or `NONE`."""
        inside = np.flatnonzero(output.execution != NONE)[::-1]
        first = self._first
        first[output.execution[inside]] = inside
        found = first[given.rows]
        first[output.execution[inside]] = NONE
        return found

    def caused(self, output: Output) -> Flags:
        """Return which publications were made in the callback of a subscription."""
        return np.asarray(pick(self._subscription, output.execution) != NONE)

    def by_timers(self, output: Output) -> bool:
        """Return whether most publications were made in timers."""
        return bool((pick(self._timer, output.execution) != NONE).mean() > 0.5)

    def places(self, output: Output) -> str:
        """Say where the publish calls were made, the most frequent first."""
        timer = pick(self._timer, output.execution)
        subscription = pick(self._subscription, output.execution)
        outside = output.execution == NONE
        thread = np.full(len(outside), NONE, np.int64)
        if outside.any():
            thread[outside] = self._model.publications.thread[output.rows[outside]]
        key = np.zeros(len(outside), np.int64)
        for column in (timer, subscription, thread):
            key = key * (int(column.max(initial=NONE)) + 2) + column + 1
        _, first, number = engine.find_distinct(key)
        count = np.bincount(number, minlength=len(first))
        words: dict[str, int] = {}
        for row, times in zip(first.tolist(), count.tolist(), strict=True):
            word = self._place(int(timer[row]), int(subscription[row]), int(output.rows[row]))
            words[word] = words.get(word, 0) + times
        ordered = sorted(words, key=lambda word: (-words[word], word))
        topics = [word for word in ordered if word.startswith("/")]
        others = [word for word in ordered if not word.startswith("/")]
        callback = [f"in the callback of {' or '.join(topics)}"] if topics else []
        return " and ".join([*others, *callback])

    def _place(self, timer: int, subscription: int, publication: int) -> str:
        """Where one publication was made; of a subscription's callback, its topic."""
        entities = self._model.entities
        if timer != NONE:
            return f"in a timer of {format_ns(float(entities.timers.period_ns[timer]))}"
        if subscription != NONE:
            return str(entities.subscriptions.topic[subscription])
        if self._model.publications.execution[publication] != NONE:
            return "in another callback"
        return f"in {self._thread(publication)}, outside of callbacks"

    def _thread(self, publication: int) -> str:
        model = self._model
        vtid = model.processes.thread_vtid[model.publications.thread[publication]]
        name = model.facts.thread_name(publication)
        return f"thread {vtid} ({name})" if name is not None else f"thread {vtid}"
