# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What happened in one window, by the same stages as a whole analysis."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from strata.analysis import SystemVerdict
from strata.engine.required import has_ros2
from strata.layers.deliveries import Deliveries, find_deliveries
from strata.live.known_names import KnownNames
from strata.live.windows import Window
from strata.model.build import Model
from strata.model.entities import UNKNOWN, take
from strata.model.naming import node_labels
from strata.model.of_trace import model_of_trace
from strata.pipeline.messages import Wanted
from strata.pipeline.results import STAGES
from strata.pipeline.stages import Made
from strata.read import Trace, open_trace
from strata.read.announced import ANNOUNCEMENTS
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.fates import FATES, LOST, NUMBER, RECEIVED
from strata.schema.rows import NONE, Flags, Ints, Rows
from strata.verdict.executor_load import busy_shares

Hop = tuple[str, str, str]
"""Topic, node of the publisher, node of the subscription."""
Chain = tuple[str, str]
"""Topics of a chain and its nodes, as in the table `chains`."""

_LOST = [number for number, fate in enumerate(FATES) if fate.outcome == LOST]


@dataclass(frozen=True)
class ChainSeen:
    """Messages that came to the end of a chain: the latency of each, and in all that of layers."""

    latency_ns: Ints
    layers_ns: Mapping[str, int]


@dataclass(frozen=True)
class HopSeen:
    """Messages of a hop: how many were published for it, and taken; those lost by their cause."""

    received: int
    lost: Mapping[str, int]


@dataclass(frozen=True)
class ExecutorSeen:
    """How busy the threads of an executor were while it had messages; null where unknown."""

    host: str
    vpid: int
    nodes: str
    threads: int
    busy: float | None


@dataclass(frozen=True)
class Judged:
    """What was counted of a window, and how its whole trace is judged.

    `events` is how many the whole trace has, in `traced_ns`. `published` counts messages by topic;
    `taken` and `matched` are of all topics. `sent` counts messages by topic and node of those that
    `hops` are about; `heard` are the hops that received something in the whole trace.
    """

    window: Window
    events: int = 0
    traced_ns: int = 0
    published: Mapping[str, int] = field(default_factory=dict)
    taken: int = 0
    matched: int = 0
    hops: Mapping[Hop, HopSeen] = field(default_factory=dict)
    sent: Mapping[tuple[str, str], int] = field(default_factory=dict)
    heard: frozenset[Hop] = frozenset()
    chains: Mapping[Chain, ChainSeen] = field(default_factory=dict)
    executors: tuple[ExecutorSeen, ...] = ()
    system: SystemVerdict = field(default_factory=SystemVerdict)


@dataclass(frozen=True)
class Seen:
    """A window, the model of its trace, and the results of the whole trace by their names."""

    window: Window
    trace: Trace
    model: Model
    made: Made

    @cached_property
    def deliveries(self) -> Deliveries:
        """Return what happened to every message."""
        return find_deliveries(self.model, self.made["transfers"], self.made["endpoint_names"])


def see(window: Window, names: KnownNames) -> Seen | None:
    """Read a window; null when nothing of ROS 2 is recorded yet. Raises TraceError.

    `names` learns what its trace introduces.
    """
    trace = open_trace(window.trace)
    if not has_ros2(dict.fromkeys(trace.declared_events, 0)):
        return None
    announced = names.before(trace, window.begin_ns)
    model = model_of_trace(trace, None, None, announced=announced, begin_ns=window.begin_ns)
    made = Made(
        STAGES, read=trace, model=model, wanted=Wanted(), quantiles=Rows.none(tables.QUANTILES)
    )
    processes = model.processes
    names.saw(list(zip(processes.host, processes.vpid.tolist(), strict=True)), window.until_ns)
    if not ANNOUNCEMENTS.isdisjoint(model.rows.engine.counts):
        names.take(trace, window.until_ns)
    return Seen(window, trace, model, made)


def judge(seen: Seen) -> Judged:
    """Count what happened in a window."""
    window, model, made = seen.window, seen.model, seen.made
    engine = model.rows.engine
    begin_ns, end_ns = engine.span
    hops, heard = _hops(seen)
    return Judged(
        window,
        engine.events,
        end_ns - begin_ns,
        _published(window, model, made),
        *_taken(window, model),
        hops,
        _sent(seen),
        heard,
        _chains(window, made),
        _executors(made),
        made["system"],
    )


def _within(window: Window, at_ns: Ints) -> Flags:
    return np.asarray((at_ns > window.since_ns) & (at_ns <= window.until_ns))


def _published(window: Window, model: Model, made: Made) -> dict[str, int]:
    """Count the publications by topic; of a publisher without a name under "(unknown)"."""
    publications = model.publications
    publisher = publications.publisher[_within(window, publications.begin_ns)]
    topics = [*made["publishers"].texts("topic"), None]
    rows, counts = np.unique(publisher, return_counts=True)
    found: Counter[str] = Counter()
    for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
        found[topics[row] or UNKNOWN] += count
    return dict(found)


def _taken(window: Window, model: Model) -> tuple[int, int]:
    """Count the messages taken, and those of them that were matched."""
    takes = model.takes
    own = _within(window, takes.taken_ns)
    return int((own & ~takes.duplicate).sum()), int(own[model.matches.take].sum())


def _hops(seen: Seen) -> tuple[dict[Hop, HopSeen], frozenset[Hop]]:
    """Count what was received and lost on each hop, by the time of its publish."""
    found = seen.deliveries
    since_ns, until_ns = seen.window.lost_ns
    own = (found.published_ns > since_ns) & (found.published_ns <= until_ns)
    counts = np.zeros((len(found.hops), len(FATES)), np.int64)
    np.add.at(counts, (found.hop[own], found.fate[own]), 1)
    heard = np.unique(found.hop[found.fate == NUMBER[RECEIVED]])
    hops = {
        name: HopSeen(
            row[NUMBER[RECEIVED]],
            {FATES[at].cause: row[at] for at in _LOST if row[at]},
        )
        for name, row in zip(found.hops, counts.tolist(), strict=True)
        if any(row) and name[0] not in INTERNAL_TOPICS
    }
    return hops, frozenset(found.hops[at] for at in heard.tolist())


def _sent(seen: Seen) -> dict[tuple[str, str], int]:
    """Count by topic and node what was published in the time that losses are counted of."""
    model = seen.model
    publications, publishers = model.publications, model.entities.publishers
    since_ns, until_ns = seen.window.lost_ns
    own = (publications.begin_ns > since_ns) & (publications.begin_ns <= until_ns)
    nodes = take(node_labels(model.entities.nodes, model.processes), publishers.node, UNKNOWN)
    names = list(zip(publishers.topic, nodes, strict=True))
    rows, counts = np.unique(publications.publisher[own], return_counts=True)
    found: Counter[tuple[str, str]] = Counter()
    for row, count in zip(rows.tolist(), counts.tolist(), strict=True):
        if row >= 0:
            found[names[row]] += count
    return dict(found)


def _chains(window: Window, made: Made) -> dict[Chain, ChainSeen]:
    chains, instances, segments = made["chains"], made["chain_instances"], made["chain_segments"]
    messages, last = made["messages"], instances["message_id"]
    begun, ended = messages["callback_start_ns"][last], messages["callback_end_ns"][last]
    # One whose callback still runs counts when it ends.
    own = _within(window, instances["end_ns"]) & ((begun == NONE) | (ended != NONE))
    layers = segments.words("layer")
    size = len(layers.words)
    spent = np.zeros(len(chains) * size, np.int64)
    counted = own[segments["chain_instance_id"]]
    place = segments["chain_id"] * size + layers.codes
    np.add.at(spent, place[counted], segments["duration_ns"][counted])
    ends, nodes = chains.texts("name"), chains.texts("nodes")
    seen = {}
    for chain in np.unique(instances["chain_id"][own]).tolist():
        latency_ns = instances["latency_ns"][own & (instances["chain_id"] == chain)]
        row = spent[chain * size : (chain + 1) * size].tolist()
        by_layer = {str(layers.words[at]): ns for at, ns in enumerate(row) if ns}
        seen[ends[chain], nodes[chain]] = ChainSeen(latency_ns, by_layer)
    return seen


def _executors(made: Made) -> tuple[ExecutorSeen, ...]:
    shares = busy_shares(made["executor_threads"]).of("busy")
    seen = []
    for row in made["executors"].records():
        busy = shares.get(row["executor_id"], math.nan)
        known = None if math.isnan(busy) else busy
        seen.append(ExecutorSeen(row["host"], row["vpid"], row["nodes"], row["threads"], known))
    return tuple(seen)
