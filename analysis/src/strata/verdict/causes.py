# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of the time that all messages took, ranked over the whole system.

A cause *stands out* when it has 30 % or more of the messages' time and its largest layer costs a
message more, on average, than a healthy hop may need for it (strata.stats.stands_out), also without
the few messages in which it was longest, since a few slow ones are the machine's (MIN_OUTLIERS of
stands_out less one, and at most a tenth of its messages). An executor
also does when it is full (its threads did something for 90 % or more of their time) and the
messages that it took spent 10 % or more of all time waiting for it, and as long each. A process
does when its threads, for 30 % or more of the time in which they wanted a CPU while it exchanged
messages, had none, and that was 1 ms or more for each message that they published or took.

Those that stand out come first: executors, then processes without CPU, then topics, then hops,
as the one before is what the one after waits for; within a kind the largest share. The others
follow by share.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.engine.groups import sums
from strata.schema.rows import NONE, Flags, Ints, Rows
from strata.stats.grouped import counts
from strata.stats.stands_out import MIN_OUTLIERS, allowance
from strata.verdict.executor_load import busy_shares
from strata.verdict.threads import ThreadNumbers
from strata.verdict.time_parts import Part, time_parts

STANDS_OUT_SHARE = 0.3
STARVED_NS = 1_000_000
FULL = 0.9
FULL_SHARE = 0.1
STARVED = 0.3
FEW = 0.1
"""Of the messages of a cause: fewer than these are not counted as the machine's."""
LEAST_SHARE = 0.01
MOST_NODES = 3
"""Of a process: more nodes are counted, not named."""

_KINDS = ("executor", "cpu", "topic", "hop")

Record = dict[str, Any]


@dataclass(frozen=True)
class Results:
    """The declared tables that causes are made from.

    `chosen` flags the finished messages of the application (strata.verdict.time_parts), `executor`
    is that of the thread which took each message (strata.verdict.threads), or `NONE`.
    """

    messages: Rows
    chosen: Flags
    executor: Ints
    blockers: Rows
    publications: Rows
    takes: Rows
    hops: Rows
    executors: Rows
    threads: Rows
    thread_cpu: Rows

    def parts(self, layers: Collection[str] | None = None) -> Iterator[Part]:
        """Yield the parts of the chosen messages in all layers, or in some."""
        return time_parts(self.messages, self.chosen, self.executor, self.blockers, layers)


def find_causes(results: Results) -> list[Record]:
    """Return the rows of the table `system_causes`, ranked; without the column text."""
    total = int(results.messages["latency_ns"][results.chosen].sum())
    if total <= 0:
        return []
    every = _Sums(results)
    found = [
        cause
        for cause in (*_executors(results, every), *_topics(results, every), *_hops(results, every))
        if cause["duration_ns"] / total >= LEAST_SHARE
    ]
    for cause in found:
        share = cause["share"] = cause["duration_ns"] / total
        count = max(cause["count"], 1)
        cause["mean_ns"] = cause["duration_ns"] / count
        full = cause["kind"] == "executor" and (cause["busy"] or 0.0) >= FULL
        much = share >= (FULL_SHARE if full else STANDS_OUT_SHARE)
        # What a healthy hop may need is known by layer: the largest of a cause is held against it.
        cause["stands_out"] = much and every.largest_ns(cause) / count > allowance(cause["layer"])
    found += _starved(results)
    return _ranked(found)


def _ranked(found: list[Record]) -> list[Record]:
    def place(cause: Record) -> tuple[bool, int, float]:
        standing = cause["stands_out"]
        kind = _KINDS.index(cause["kind"]) if standing else 0
        return not standing, kind, -(cause.get("share") or 0.0)

    ranked = sorted(found, key=place)
    return [{"rank": rank, **cause} for rank, cause in enumerate(ranked, start=1)]


class _Sums:
    """The time of each executor, topic and hop by layer, and how many messages each is about.

    A key is an executor's id, a topic's code or a hop's id.
    """

    def __init__(self, results: Results) -> None:
        self._results = results
        self._key: dict[str, Callable[[Part], Ints]] = {
            "executor": lambda part: part.executor,
            "topic": lambda part: results.messages.words("topic").codes[part.message],
            "hop": lambda part: results.messages["hop_id"][part.message],
        }
        self.by_layer: dict[str, dict[int, dict[str, int]]] = {kind: {} for kind in self._key}
        there = {kind: np.zeros(len(results.messages), bool) for kind in self._key}
        of_hops: dict[tuple[int, str], int] = {}
        for part, key in self._parts():
            there[part.kind][part.message] = True
            count = int(key.max(initial=NONE)) + 1
            size, ns = counts(key, count), sums(key, part.duration_ns, count)
            for at in np.flatnonzero(size).tolist():
                self.by_layer[part.kind].setdefault(at, {})[part.layer] = int(ns[at])
                if part.kind == "hop":
                    of_hops[at, part.layer] = int(size[at])
        self._of_hops = of_hops
        self._counts = {
            "executor": self._counted(results.executor, there["executor"]),
            "topic": self._counted(results.messages.words("topic").codes, there["topic"]),
        }

    def count(self, kind: str, key: int, layer: str) -> int:
        """Return how many messages a cause is about; of a hop, in the layer."""
        return self._of_hops[key, layer] if kind == "hop" else int(self._counts[kind][key])

    def largest_ns(self, cause: Record) -> int:
        """Return the time of a cause in its layer, without the few messages with most of it."""
        of = cause["of"]
        values = [
            part.duration_ns[key == of]
            for part, key in self._parts((cause["layer"],))
            if part.kind == cause["kind"]
        ]
        ns = np.concatenate(values) if values else np.empty(0, np.int64)
        few = min(int(len(ns) * FEW), MIN_OUTLIERS - 1)
        longest = np.partition(ns, len(ns) - few)[len(ns) - few :] if few else ns[:0]
        return int(ns.sum()) - int(longest.sum())

    def _parts(self, layers: Collection[str] | None = None) -> Iterator[tuple[Part, Ints]]:
        """Yield parts with the key of each row; what no executor took is of none."""
        for part in self._results.parts(layers):
            key = self._key[part.kind](part)
            if part.kind == "executor" and (key == NONE).any():
                there = key != NONE
                part = part.take(there)
                key = key[there]
            yield part, key

    @staticmethod
    def _counted(key: Ints, there: Flags) -> Ints:
        return counts(key[there], int(key.max(initial=NONE)) + 1)


def _largest(by_layer: dict[str, int]) -> str:
    """Return the layer with most of the time, of equals the first in the alphabet."""
    return min(by_layer, key=lambda layer: (-by_layer[layer], layer))


def _cause(every: _Sums, kind: str, key: int, by_layer: dict[str, int]) -> Record:
    layer = _largest(by_layer)
    return {
        "kind": kind,
        "of": key,
        "layer": layer,
        "duration_ns": sum(by_layer.values()),
        "count": every.count(kind, key, layer),
        "busy": None,
    }


def _executors(results: Results, every: _Sums) -> Iterator[Record]:
    busy = busy_shares(results.threads).of("busy")
    executors = results.executors
    nodes = dict(zip(executors["executor_id"].tolist(), executors.texts("nodes"), strict=True))
    for executor, by_layer in sorted(every.by_layer["executor"].items()):
        share = busy.get(executor, np.nan)
        yield {
            **_cause(every, "executor", executor, by_layer),
            "executor_id": executor,
            "where": nodes[executor],
            "busy": None if np.isnan(share) else share,
        }


def _topics(results: Results, every: _Sums) -> Iterator[Record]:
    words = results.messages.words("topic").words
    for topic, by_layer in sorted(every.by_layer["topic"].items(), key=lambda item: words[item[0]]):
        yield {**_cause(every, "topic", topic, by_layer), "where": words[topic]}


def _hops(results: Results, every: _Sums) -> Iterator[Record]:
    """What nodes did with what they received: a row a hop and layer."""
    hops = results.hops
    names = zip(hops.texts("topic"), hops.texts("subscription_node"), strict=True)
    where = dict(zip(hops["hop_id"].tolist(), names, strict=True))
    for hop, by_layer in sorted(every.by_layer["hop"].items()):
        topic, node = where[hop]
        for layer, ns in sorted(by_layer.items()):
            cause = _cause(every, "hop", hop, {layer: ns})
            yield {**cause, "hop_id": hop, "where": f"{topic} in {node}"}


def _nodes_of(executors: Rows) -> dict[tuple[str, int], list[str]]:
    """Return the nodes that run in each process (host, vpid)."""
    named: dict[tuple[str, int], list[str]] = {}
    for row in executors.records():
        nodes = named.setdefault((row["host"], row["vpid"]), [])
        nodes += [node for node in (row["nodes"] or "").split(", ") if node and node not in nodes]
    return named


def _said_nodes(nodes: list[str]) -> str:
    """Say which nodes, or how many: " of /a, /b"; nothing without names."""
    if len(nodes) > MOST_NODES:
        return f" of {len(nodes)} nodes"
    return f" of {', '.join(nodes)}" if nodes else ""


def _starved(results: Results) -> list[Record]:
    """Processes whose threads with messages wanted CPUs and had none."""
    cpu = results.thread_cpu
    if not len(cpu):
        return []
    numbers = ThreadNumbers(cpu)
    messages = np.zeros(len(numbers), np.int64)
    for ends in (results.publications, results.takes):
        thread = numbers.of(ends)
        messages += counts(thread[thread != NONE], len(numbers))
    processes: dict[tuple[str, int, str, str], list[int]] = {}
    for row, count in zip(cpu.records(), messages[numbers.of_rows].tolist(), strict=True):
        key = row["host"], row["vpid"], row["process"], row["source"]
        if count and None not in key:
            own = processes.setdefault(key, [0, 0, 0])
            own[0] += row["traffic_on_cpu_ns"] or 0
            own[1] += row["traffic_cpu_wait_ns"] or 0
            own[2] += count
    nodes = _nodes_of(results.executors)
    found = []
    for key, (on_cpu_ns, waited_ns, count) in sorted(processes.items()):
        host, vpid, process, source = key
        mean_ns, wanted_ns = waited_ns / max(count, 1), on_cpu_ns + waited_ns
        busy = waited_ns / wanted_ns if wanted_ns > 0 else 0.0
        if busy >= STARVED and mean_ns >= STARVED_NS:
            found.append(
                {
                    "kind": "cpu",
                    "source": source,
                    "where": f"{process} ({vpid}){_said_nodes(nodes.get((host, vpid), []))}",
                    "duration_ns": waited_ns,
                    "count": count,
                    "mean_ns": mean_ns,
                    "busy": busy,
                    "stands_out": True,
                }
            )
    return found
