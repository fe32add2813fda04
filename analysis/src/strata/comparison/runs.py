# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a comparison needs of one run: durations in ns, in order of time, and losses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from strata.analysis import Analysis
from strata.comparison.parts import Part, part_of
from strata.lazy import pandas as pd
from strata.model.columns import NONE
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.layers import BY_NAME, HOLD, LINK_HOLD, STORED
from strata.schema.quality import SAID_FIRST
from strata.stats.callbacks import UNKNOWN, executions_of
from strata.stats.durations import chain_durations, hop_durations
from strata.stats.groups import GROUPS
from strata.stats.partition import partition
from strata.stats.transfers import End, Transfers, layers_of

Ints = npt.NDArray[np.int64]

_TRIGGER_AND_NODE = re.compile(r"(?:\[(.*)\] )?\((.*)\)")

CHAIN, HOP, SERVICE, CALLBACK = KINDS = ("chain", "hop", "service", "callback")


@dataclass(frozen=True, order=True)
class Subject:
    """What two runs may both have: `name` is topics, a service or a callback's symbol.

    `where` is the nodes on its way; of a callback its trigger and node.
    """

    kind: str
    name: str
    where: str

    @property
    def internal(self) -> bool:
        """Every node has it; it is shown only on request."""
        if self.kind == CALLBACK:
            return any(self.where.startswith(f"[{topic}]") for topic in INTERNAL_TOPICS)
        return set(self.name.split(" -> ")) <= INTERNAL_TOPICS

    @property
    def node(self) -> str:
        """The node of a callback; empty where it is not known, and of anything else."""
        parts = _TRIGGER_AND_NODE.fullmatch(self.where) if self.kind == CALLBACK else None
        return str(parts[2]) if parts else ""

    @property
    def names(self) -> tuple[str, ...]:
        """What a pattern may mean it by: its name, its nodes, a callback's trigger, or all."""
        if self.kind == CALLBACK:
            parts = _TRIGGER_AND_NODE.fullmatch(self.where)
            own = [part for part in parts.groups() if part] if parts else []
            return (self.name, *own, f"{self.name} {self.where}")
        return (self.name, self.where, f"{self.name} ({self.where})")


@dataclass(frozen=True)
class Stop:
    """One hop of a subject: its topic, its two nodes, and the symbol of the reader's callback.

    The symbol is empty where none is known.
    """

    topic: str
    publisher: str
    subscription: str
    symbol: str = ""


@dataclass(frozen=True)
class GroupTimes:
    """The messages of a group of a run: how many, their latency in all, and where that was.

    `parts` has the sum in ns and the number of messages for each part; the place of a part is the
    number of its hop. The sums add up to `sum_ns`.
    """

    count: int
    sum_ns: int
    parts: Mapping[Part, tuple[int, int]]


@dataclass(frozen=True)
class Measured:
    """Latencies of one subject in one run, cut into parts.

    `parts` has one array a part, as long as `latency`, with NONE where a message does not have it;
    without NONE they add up to `latency`. `transfer` of a hop is up to callback_start. `published`
    (received or lost) and `lost` are None where losses are not known; `unknown` may be either.
    `unseen` are messages of which the trace does not show what became of them at their reader
    (strata.schema.fates): of a chain, those of its hops. `groups` are those of TYPICAL and TAIL,
    by the key of the group, and `stops` the hops, of a hop and of a chain.
    """

    latency: Ints
    parts: Mapping[Part, Ints] = field(default_factory=dict)
    transfer: Ints | None = None
    published: int | None = None
    lost: int | None = None
    unknown: int = 0
    unseen: int = 0
    groups: Mapping[str, GroupTimes] = field(default_factory=dict)
    stops: tuple[Stop, ...] = ()

    def counts(self) -> dict[Part, int]:
        """Return how many messages have each part."""
        return {part: int((ns != NONE).sum()) for part, ns in self.parts.items()}

    def after(self, warm_up: int) -> Measured:
        """Leave out the first messages; losses stay those of the whole run."""
        if not warm_up:
            return self
        return replace(
            self,
            latency=self.latency[warm_up:],
            parts={part: ns[warm_up:] for part, ns in self.parts.items()},
            transfer=None if self.transfer is None else self.transfer[warm_up:],
        )

    def of(self, parts: frozenset[Part]) -> Ints:
        """Return the sum of some parts, of the messages that have any of them."""
        own = [self.parts[part] for part in sorted(parts) if part in self.parts]
        if not own:
            return np.empty(0, np.int64)
        there = np.any([ns != NONE for ns in own], axis=0)
        whole = np.zeros(len(there), np.int64)
        for ns in own:
            whole += np.where(ns == NONE, 0, ns)
        return whole[there]


@dataclass(frozen=True)
class Run:
    """One run: the name and path of its trace, what was measured, and findings of loss.

    The first `warm_up` messages of each subject are left out. `incomplete` tells that its recording
    lacks something, or may (strata.schema.findings.recording).
    """

    name: str
    path: str
    measured: dict[Subject, Measured]
    losses: tuple[str, ...] = ()
    warm_up: int = 0
    incomplete: bool = False


def measure_run(analysis: Analysis, name: str, warm_up: int = 0) -> Run:
    """Measure all chains, hops, services and callbacks of a run."""
    measured: dict[Subject, Measured] = {}
    transfers = Transfers(analysis.rows("messages"))
    for found in (
        _chains(analysis, transfers, warm_up),
        _hops(analysis, transfers, warm_up),
        _services(analysis),
        _callbacks(analysis),
    ):
        for subject, whole in found:
            one = whole.after(warm_up)
            known = measured.get(subject)
            measured[subject] = _joined(known, one) if known else one
    quality = analysis.quality
    lost = quality["severity"] == "loss"
    losses = tuple(quality.loc[lost, "text"].astype(str))
    incomplete = bool((lost & quality["code"].isin(SAID_FIRST)).any())
    return Run(name, analysis.trace.path, measured, losses, warm_up, incomplete)


def _joined(first: Measured, second: Measured) -> Measured:
    """Put together what has one name, such as a callback of a node that was started again."""

    def part(measured: Measured, name: Part) -> Ints:
        nothing = np.full(len(measured.latency), NONE, np.int64)
        return measured.parts.get(name, nothing)

    both = (first, second)
    latency = np.concatenate([one.latency for one in both])
    names = dict.fromkeys([*first.parts, *second.parts])
    parts = {name: np.concatenate([part(one, name) for one in both]) for name in names}
    transfer = None
    if first.transfer is not None and second.transfer is not None:
        transfer = np.concatenate([first.transfer, second.transfer])
    published, lost = (
        None if None in numbers else sum(number or 0 for number in numbers)
        for numbers in ((first.published, second.published), (first.lost, second.lost))
    )
    unknown, unseen = first.unknown + second.unknown, first.unseen + second.unseen
    groups = {
        key: together([one.groups[key] for one in both if key in one.groups])
        for key in dict.fromkeys([*first.groups, *second.groups])
    }
    stops = first.stops or second.stops
    return Measured(latency, parts, transfer, published, lost, unknown, unseen, groups, stops)


def together(groups: Sequence[GroupTimes]) -> GroupTimes:
    """Add up the same group of several runs."""
    parts: dict[Part, tuple[int, int]] = {}
    for group in groups:
        for part, (ns, count) in group.parts.items():
            before = parts.get(part, (0, 0))
            parts[part] = (before[0] + ns, before[1] + count)
    return GroupTimes(
        sum(group.count for group in groups), sum(group.sum_ns for group in groups), parts
    )


class _Groups:
    """Adds up the time of each part over the messages of the typical and the slowest."""

    def __init__(self, latency: Ints, warm_up: int) -> None:
        self._latency = latency
        self._members: dict[str, npt.NDArray[np.bool_]] = {}
        self._parts: dict[str, dict[Part, tuple[int, int]]] = {}
        counted = latency[warm_up:]
        for group in GROUPS if len(counted) else ():
            low, high = np.quantile(counted, [group.low, group.high])
            inside = (latency >= low) & (latency <= high)
            inside[:warm_up] = False
            # Between two values of few messages there may be none.
            nearest = warm_up + int(np.abs(counted - np.quantile(counted, group.low)).argmin())
            inside[nearest] |= not inside.any()
            self._members[group.key], self._parts[group.key] = inside, {}

    def add(self, part: Part, ns: Ints) -> None:
        """Take the durations of a part, as long as the latencies; NONE is no duration."""
        for key, inside in self._members.items():
            own = ns[inside & (ns != NONE)]
            if len(own):
                total, count = self._parts[key].get(part, (0, 0))
                self._parts[key][part] = (total + int(own.sum()), count + len(own))

    def found(self) -> dict[str, GroupTimes]:
        """Return the groups by their key."""
        return {
            key: GroupTimes(int(inside.sum()), int(self._latency[inside].sum()), self._parts[key])
            for key, inside in self._members.items()
        }


def _hops(
    analysis: Analysis, transfers: Transfers, warm_up: int
) -> Iterator[tuple[Subject, Measured]]:
    notified, symbols = transfers.notified, _Symbols(analysis)
    for hop in hop_durations(analysis, transfers):
        rows, latency = hop.rows[End.END], hop.latency_ns[End.END]
        parts: dict[Part, Ints] = {}
        groups = _Groups(latency, warm_up)
        for layer, ns in layers_of(transfers, rows):
            for told in (True, False):
                own = np.where(notified[rows] == told, ns, NONE)
                if (own != NONE).any():
                    _add(parts, part_of(layer, notified=told), own)
                    groups.add(part_of(layer, notified=told, place="0"), own)
        nodes = (hop.publisher_node, hop.subscription_node)
        counts = (hop.received + hop.lost, hop.lost, hop.unknown, hop.unseen)
        stop = Stop(hop.topic, *nodes, symbols.of_message(rows[0] if len(rows) else None))
        yield (
            Subject(HOP, hop.topic, " -> ".join(nodes)),
            Measured(latency, parts, hop.latency_ns[End.START], *counts, groups.found(), (stop,)),
        )


def _chains(
    analysis: Analysis, transfers: Transfers, warm_up: int
) -> Iterator[tuple[Subject, Measured]]:
    segments, messages = analysis.chain_segments, analysis.rows("messages")
    row_of = np.full(int(messages["message_id"].max(initial=NONE)) + 1, NONE, np.int64)
    row_of[messages["message_id"]] = np.arange(len(messages))
    of_segments = dict(partition(segments["chain_id"].to_numpy(np.int64)))
    number = analysis.chain_instances["chain_instance_id"].to_numpy(np.int64)
    symbols = _Symbols(analysis)
    for chain in chain_durations(analysis):
        rows = of_segments.get(chain.chain_id, np.empty(0, np.int64))
        cut = segments.iloc[rows]
        of_message = row_of[cut["message_id"].to_numpy(np.int64)]
        cut = cut.assign(told=transfers.notified[of_message], row=of_message)
        topics = chain.name.split(" -> ")
        firsts = cut.drop_duplicates("hop").set_index("hop")["row"]
        stops = tuple(
            Stop(topic, chain.nodes[at], chain.nodes[at + 1], symbols.of_message(firsts.get(at)))
            for at, topic in enumerate(topics)
        )
        groups = _Groups(chain.latency_ns, warm_up)
        parts = _chain_parts(cut, number[chain.rows], chain.nodes, groups)
        measured = Measured(
            chain.latency_ns, parts, unseen=chain.unseen, groups=groups.found(), stops=stops
        )
        yield Subject(CHAIN, chain.name, " -> ".join(chain.nodes)), measured


def _chain_parts(
    segments: pd.DataFrame, instances: Ints, nodes: Sequence[str], groups: _Groups
) -> dict[Part, Ints]:
    """Add up each layer over the hops; what a node held a message for stays the node's own.

    `groups` are given the layers of every hop by itself.
    """
    held = {HOLD.name, STORED.name, LINK_HOLD.name}
    order = np.argsort(instances)
    parts: dict[Part, Ints] = {}
    for (layer, told, hop), rows in segments.groupby(["layer", "told", "hop"], sort=False):
        known, notified = BY_NAME[str(layer)], bool(told)
        own = np.full(len(instances), NONE, np.int64)
        found = np.searchsorted(
            instances, rows["chain_instance_id"].to_numpy(np.int64), sorter=order
        )
        own[order[found]] = rows["duration_ns"].to_numpy(np.int64)
        place = nodes[int(str(hop)) + 1] if layer in held else ""
        _add(parts, part_of(known, notified=notified, place=place), own)
        groups.add(part_of(known, notified=notified, place=str(hop)), own)
    return parts


class _Symbols:
    """Symbols of the callbacks that took messages."""

    def __init__(self, analysis: Analysis) -> None:
        messages, objects = analysis.rows("messages"), analysis.rows("callback_objects")
        self._callback = messages["callback_id"]
        self._objects = objects

    def of_message(self, row: object) -> str:
        """Return the symbol of a row of `messages`; empty for none, and where it is not known."""
        at = NONE if row is None else int(self._callback[int(str(row))])
        return "" if at == NONE else str(self._objects.record(at)["symbol"] or "")


def _add(parts: dict[Part, Ints], part: Part, ns: Ints) -> None:
    """Add durations to those of a part; NONE is no duration."""
    before = parts.get(part)
    if before is not None:
        both = (before != NONE) & (ns != NONE)
        ns = np.where(both, before + ns, np.where(before != NONE, before, ns))
    parts[part] = ns


def _services(analysis: Analysis) -> Iterator[tuple[Subject, Measured]]:
    calls = analysis.service_calls
    calls = calls[calls["complete"] & ~calls["further"]].sort_values("begin_ns", kind="stable")
    latency = calls["latency_ns"].to_numpy(np.int64)
    rows = dict(partition(calls["service_id"].to_numpy(np.int64)))
    for row in analysis.services.to_dict("records"):
        own = rows.get(row["service_id"], np.empty(0, np.int64))
        where = f"{row['client_node']} -> {row['service_node']}"
        yield (
            Subject(SERVICE, row["service"], where),
            Measured(latency[own], published=int(row["count"]), lost=int(row["lost"])),
        )


def _callbacks(analysis: Analysis) -> Iterator[tuple[Subject, Measured]]:
    runs, ran_ns = executions_of(analysis.rows("callback_instances"))
    ended = np.flatnonzero(ran_ns != NONE)
    ended = ended[np.argsort(runs["start_ns"][ended], kind="stable")]
    duration, objects = ran_ns[ended], analysis.rows("callback_objects")
    for callback_id, own in partition(runs["callback_id"][ended]):
        owner = objects.record(callback_id)
        # An address is no name: it differs from run to run.
        symbol = owner["symbol"] or "(unregistered)"
        trigger = f"[{owner['trigger']}] " if owner["trigger"] else ""
        node = f"({owner['node']})" if owner["node"] else UNKNOWN
        yield Subject(CALLBACK, symbol, f"{trigger}{node}"), Measured(duration[own])
