# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a comparison needs of one run: durations in ns, in order of time, and losses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
from strata.stats.partition import partition
from strata.stats.transfers import End, HopLosses, Transfers, layers_of

Ints = npt.NDArray[np.int64]

_TRIGGER_AND_NODE = re.compile(r"(?:\[(.*)\] )?\((.*)\)")

_WAY = ("topic", "publisher_node", "subscription_node")

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
    def names(self) -> tuple[str, ...]:
        """What a pattern may mean it by: its name, its nodes, a callback's trigger, or all."""
        if self.kind == CALLBACK:
            parts = _TRIGGER_AND_NODE.fullmatch(self.where)
            own = [part for part in parts.groups() if part] if parts else []
            return (self.name, *own, f"{self.name} {self.where}")
        return (self.name, self.where, f"{self.name} ({self.where})")


@dataclass(frozen=True)
class Measured:
    """Latencies of one subject in one run, cut into parts.

    `parts` has one array a part, as long as `latency`, with NONE where a message does not have it;
    without NONE they add up to `latency`. `transfer` of a hop is up to callback_start. `published`
    (received or lost) and `lost` are None where losses are not known; `unknown` may be either.
    `unseen` are messages of which the trace does not show what became of them at their reader
    (strata.schema.fates): of a chain, those of its hops.
    """

    latency: Ints
    parts: Mapping[Part, Ints] = field(default_factory=dict)
    transfer: Ints | None = None
    published: int | None = None
    lost: int | None = None
    unknown: int = 0
    unseen: int = 0

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
    for found in (_chains, _hops, _services, _callbacks):
        for subject, whole in found(analysis):
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
    more = (sum(getattr(one, name) for one in both) for name in ("unknown", "unseen"))
    return Measured(latency, parts, transfer, published, lost, *more)


def _hops(analysis: Analysis) -> Iterator[tuple[Subject, Measured]]:
    transfers = Transfers(analysis.rows("messages"))
    notified = transfers.notified
    to_start, to_end = (transfers.latency_ns(end) for end in End)
    started, ended = (transfers.rows(end) for end in End)
    losses, none = HopLosses.of(analysis.rows("hop_losses")), np.empty(0, np.int64)
    for row in analysis.hops.to_dict("records"):
        hop = row["hop_id"]
        rows = transfers.by_begin(ended.get(hop, none))
        parts: dict[Part, Ints] = {}
        for layer, ns in layers_of(transfers, rows):
            for told in (True, False):
                own = np.where(notified[rows] == told, ns, NONE)
                if (own != NONE).any():
                    _add(parts, part_of(layer, notified=told), own)
        where = f"{row['publisher_node']} -> {row['subscription_node']}"
        received, lost, unknown = (int(row[name]) for name in ("received", "lost", "unknown"))
        transfer = to_start[transfers.by_begin(started.get(hop, none))]
        counts = (received + lost, lost, unknown, losses.unseen(hop))
        yield Subject(HOP, row["topic"], where), Measured(to_end[rows], parts, transfer, *counts)


def _chains(analysis: Analysis) -> Iterator[tuple[Subject, Measured]]:
    instances, segments = analysis.chain_instances, analysis.chain_segments
    messages = analysis.rows("messages")
    by_id = np.zeros(int(messages["message_id"].max(initial=NONE)) + 1, bool)
    by_id[messages["message_id"]] = Transfers(messages).notified
    told = by_id[segments["message_id"].to_numpy(np.int64)]
    of_segments = dict(partition(segments["chain_id"].to_numpy(np.int64)))
    of_instances = dict(partition(instances["chain_id"].to_numpy(np.int64)))
    number = instances["chain_instance_id"].to_numpy(np.int64)
    begin_ns = instances["begin_ns"].to_numpy(np.int64)
    latency = instances["latency_ns"].to_numpy(np.int64)
    losses, hops = HopLosses.of(analysis.rows("hop_losses")), analysis.hops
    of_way = {
        way: losses.unseen(hop_id)
        for hop_id, way in zip(
            hops["hop_id"], zip(*(hops[name] for name in _WAY), strict=True), strict=True
        )
    }
    for row in analysis.chains.to_dict("records"):
        own = of_instances.get(row["chain_id"], np.empty(0, np.int64))
        own = own[np.argsort(begin_ns[own], kind="stable")]
        rows = of_segments.get(row["chain_id"], np.empty(0, np.int64))
        cut = segments.iloc[rows].assign(told=told[rows])
        nodes = str(row["nodes"]).split(" -> ")
        parts = _chain_parts(cut, number[own], nodes)
        ways = zip(str(row["name"]).split(" -> "), nodes, nodes[1:], strict=False)
        missing = sum(of_way.get(way, 0) for way in ways)
        yield (
            Subject(CHAIN, row["name"], row["nodes"]),
            Measured(latency[own], parts, unseen=missing),
        )


def _chain_parts(segments: pd.DataFrame, instances: Ints, nodes: list[str]) -> dict[Part, Ints]:
    """Add up each layer over the hops; what a node held a message for stays the node's own."""
    held = {HOLD.name, STORED.name, LINK_HOLD.name}
    order = np.argsort(instances)
    parts: dict[Part, Ints] = {}
    for (layer, told, hop), rows in segments.groupby(["layer", "told", "hop"], sort=False):
        place = nodes[int(str(hop)) + 1] if layer in held else ""
        part = part_of(BY_NAME[str(layer)], notified=bool(told), place=place)
        own = np.full(len(instances), NONE, np.int64)
        found = np.searchsorted(
            instances, rows["chain_instance_id"].to_numpy(np.int64), sorter=order
        )
        own[order[found]] = rows["duration_ns"].to_numpy(np.int64)
        _add(parts, part, own)
    return parts


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
