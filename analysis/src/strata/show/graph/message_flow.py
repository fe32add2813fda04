# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How messages flow through a system: boxes for nodes, executors or namespaces, links for hops.

A link's latency is of each message from its publish (of a sensor driver's message, from the arrival
of its data) to the start of the callback that it triggers; a box's is the time in those callbacks.
Messages of the start-up and of internal topics are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from strata.schema.events import INTERNAL_TOPICS
from strata.schema.rows import NONE, Ints, Rows
from strata.show.words.naming import common_namespace
from strata.stats.partition import partition
from strata.stats.transfers import End, Transfers
from strata.verdict.causes import FULL
from strata.verdict.executor_load import busy_shares

if TYPE_CHECKING:
    from strata.analysis import Analysis


@dataclass(frozen=True)
class Place:
    """A box: a node, an executor or a namespace.

    `share` is the part of the time of all messages that was spent in its callbacks, from 0 to 1;
    `callback_p50_ns` is null without callbacks. `busy` is the part of its executor's time in which
    it did not wait for work (the highest of several executors), null where waits were not recorded.
    """

    key: str
    kind: str
    name: str
    nodes: tuple[str, ...]
    share: float
    callback_p50_ns: float | None
    callback_p99_ns: float | None
    executors: tuple[int, ...]
    busy: float | None

    @property
    def full(self) -> bool:
        """Whether an executor in it has hardly any time to wait for work."""
        return self.busy is not None and self.busy >= FULL


@dataclass(frozen=True)
class Flow:
    """A link: the hops from one box to another. Quantiles are ns, null without messages.

    `share` is the part of the time of all messages that was spent in it, from 0 to 1.
    """

    source: str
    target: str
    hops: tuple[int, ...]
    topics: tuple[str, ...]
    count: int
    lost: int
    p50_ns: float | None
    p99_ns: float | None
    share: float


@dataclass(frozen=True)
class View:
    """One way to look at the system; `key` is its name in the page's address."""

    key: str
    label: str
    places: tuple[Place, ...]
    flows: tuple[Flow, ...]


@dataclass(frozen=True)
class _Group:
    key: str
    kind: str
    name: str
    nodes: tuple[str, ...]


def views(analysis: Analysis) -> list[View]:
    """Return the views that differ: by node, by executor and by namespace, and each of these folded
    but for one that is opened. No views for a trace without messages of the application.
    """
    system = _System(analysis)
    if not system.hops:
        return []
    found = [system.view("nodes", "nodes", [_node(name) for name in system.nodes])]
    for key, label, groups in (
        ("executors", "executors", system.by_executor()),
        ("namespaces", "namespaces", system.by_namespace()),
    ):
        several = [group for group in groups if len(group.nodes) > 1]
        if len(groups) < 2 or not several:
            continue
        found.append(system.view(key, label, groups))
        found += [
            system.view(f"{key}:{opened.name}", "", _opened(groups, opened)) for opened in several
        ]
    return found


def _node(name: str) -> _Group:
    return _Group(f"node {name}", "node", name, (name,))


def _opened(groups: Iterable[_Group], opened: _Group) -> list[_Group]:
    return [
        one
        for group in groups
        for one in ([_node(name) for name in group.nodes] if group is opened else [group])
    ]


class _Durations:
    """Durations of messages by hop, and quantiles over several hops together."""

    def __init__(self, hop_id: Ints, values: Ints) -> None:
        self._of = {hop: values[rows] for hop, rows in partition(hop_id)}

    def of(self, hops: Iterable[int]) -> Ints:
        own = [self._of[hop] for hop in hops if hop in self._of]
        return np.concatenate(own) if own else np.empty(0, np.int64)

    def total(self, hops: Iterable[int]) -> int:
        return sum(int(self._of[hop].sum()) for hop in hops if hop in self._of)


class _System:
    """The hops of the application, their durations, and the executors of nodes."""

    def __init__(self, analysis: Analysis) -> None:
        rows = analysis.rows("hops")
        rows = rows.take(~rows.words("topic").are(*INTERNAL_TOPICS))
        self.hops = {row["hop_id"]: row for row in rows.records()}
        self.nodes = _in_order(
            node
            for row in self.hops.values()
            for node in (row["publisher_node"], row["subscription_node"])
        )
        messages = analysis.rows("messages")
        own = np.isin(messages["hop_id"], list(self.hops)) & ~messages["start_up"]
        messages = messages.take(own)
        self._to_start, self._callback = _durations(messages)
        whole = Transfers(messages).latency_ns(End.END)
        self._all_ns = max(int(whole.sum()), 1)
        self._executors = analysis.rows("executors")
        self._busy = busy_shares(analysis.rows("executor_threads")).of("busy")

    @cached_property
    def _executors_of(self) -> Mapping[str, tuple[int, ...]]:
        found: dict[str, list[int]] = {}
        for row in self._executors.records():
            for node in row["nodes"].split(", "):
                found.setdefault(node, []).append(row["executor_id"])
        return {node: tuple(own) for node, own in found.items()}

    def by_executor(self) -> list[_Group]:
        """Group nodes by executor; a node of no executor, or of several, is by itself."""
        inside: dict[int, list[str]] = {}
        groups: dict[str, int | None] = {}
        for node in self.nodes:
            own = self._executors_of.get(node, ())
            groups[node] = own[0] if len(own) == 1 else None
            if len(own) == 1:
                inside.setdefault(own[0], []).append(node)
        found: dict[str, _Group] = {}
        for node, number in groups.items():
            if number is None:
                found[node] = _node(node)
            else:
                name = str(number)
                group = _Group(f"executor {name}", "executor", name, tuple(inside[number]))
                found.setdefault(group.key, group)
        return list(found.values())

    def by_namespace(self) -> list[_Group]:
        """Group nodes by the namespaces that follow the one which all have in common."""
        within = f"{common_namespace(self.nodes)}/"
        inside: dict[str, list[str]] = {}
        for node in self.nodes:
            below, slash, _ = node.removeprefix(within).partition("/")
            name = within + below if slash and node.startswith(within) else node
            inside.setdefault(name, []).append(node)
        return [
            _node(name)
            if own == [name]
            else _Group(f"namespace {name}", "namespace", name, tuple(own))
            for name, own in inside.items()
        ]

    def view(self, key: str, label: str, groups: Sequence[_Group]) -> View:
        """Return what a grouping of all nodes shows."""
        group_of = {node: group.key for group in groups for node in group.nodes}
        between: dict[tuple[str, str], list[int]] = {}
        for number, row in self.hops.items():
            ends = group_of[row["publisher_node"]], group_of[row["subscription_node"]]
            between.setdefault(ends, []).append(number)
        flows = [self._flow(a, b, hops) for (a, b), hops in between.items()]
        places = tuple(self._place(group) for group in groups)
        return View(key, label, places, tuple(flows))

    def _place(self, group: _Group) -> Place:
        inside = set(group.nodes)
        hops = [n for n, row in self.hops.items() if row["subscription_node"] in inside]
        values = self._callback.of(hops)
        executors = {n for node in group.nodes for n in self._executors_of.get(node, ())}
        busy = [self._busy[n] for n in executors if np.isfinite(self._busy.get(n, np.nan))]
        return Place(
            group.key,
            group.kind,
            group.name,
            group.nodes,
            self._callback.total(hops) / self._all_ns,
            _quantile(values, 0.5),
            _quantile(values, 0.99),
            tuple(sorted(executors)),
            max(busy, default=None),
        )

    def _flow(self, source: str, target: str, hops: Sequence[int]) -> Flow:
        values = self._to_start.of(hops)
        own = [self.hops[number] for number in hops]
        return Flow(
            source,
            target,
            tuple(hops),
            tuple(_in_order(row["topic"] for row in own)),
            len(values),
            sum(row["lost"] for row in own),
            _quantile(values, 0.5),
            _quantile(values, 0.99),
            self._to_start.total(hops) / self._all_ns,
        )


def _durations(messages: Rows) -> tuple[_Durations, _Durations]:
    """Return the time to the start of the callback, and the time in it, of each message."""
    transfers = Transfers(messages)
    hop_id = transfers.hop_id
    to_start = transfers.latency_ns(End.START)
    inside = transfers.latency_ns(End.END) - to_start
    ended = messages["callback_end_ns"] != NONE
    return _Durations(hop_id, to_start), _Durations(hop_id[ended], inside[ended])


def _quantile(values: Ints, quantile: float) -> float | None:
    return float(np.quantile(values, quantile)) if len(values) else None


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
