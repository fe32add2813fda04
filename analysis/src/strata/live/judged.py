# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What happened in one window, by the same stages as a whole analysis."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from strata.analysis import SystemVerdict
from strata.engine.required import has_ros2
from strata.layers.deliveries import find_deliveries
from strata.live.known_names import KnownNames
from strata.live.windows import Window
from strata.model.build import Model
from strata.model.of_trace import model_of_trace
from strata.pipeline.messages import Wanted
from strata.pipeline.results import STAGES
from strata.pipeline.stages import Made
from strata.read import open_trace
from strata.read.announced import ANNOUNCEMENTS
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.fates import FATES, LOST, NUMBER, RECEIVED
from strata.schema.rows import Flags, Ints, Rows
from strata.verdict.executor_load import busy_shares

Hop = tuple[str, str, str]
"""Topic, node of the publisher, node of the subscription."""
Chain = tuple[str, str]
"""Topics of a chain and its nodes, as in the table `chains`."""

UNKNOWN = "(unknown)"
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

    `events` is how many the whole trace has, in `span_ns`. `published` counts messages by topic;
    `taken` and `matched` are of all topics.
    """

    until_ns: int
    events: int = 0
    span_ns: int = 0
    published: Mapping[str, int] = field(default_factory=dict)
    taken: int = 0
    matched: int = 0
    hops: Mapping[Hop, HopSeen] = field(default_factory=dict)
    chains: Mapping[Chain, ChainSeen] = field(default_factory=dict)
    executors: tuple[ExecutorSeen, ...] = ()
    system: SystemVerdict = field(default_factory=SystemVerdict)


def judge(window: Window, names: KnownNames) -> Judged:
    """Analyze a window; `names` learns what its trace introduces. Raises TraceError."""
    trace = open_trace(window.trace)
    if not has_ros2(dict.fromkeys(trace.declared_events, 0)):
        return Judged(window.until_ns)
    model = model_of_trace(trace, None, None, announced=names.before(trace))
    made = Made(
        STAGES, read=trace, model=model, wanted=Wanted(), quantiles=Rows.none(tables.QUANTILES)
    )
    engine = model.rows.engine
    processes = model.processes
    names.saw(list(zip(processes.host, processes.vpid.tolist(), strict=True)), window.until_ns)
    if not ANNOUNCEMENTS.isdisjoint(engine.counts):
        names.take(trace, window.since_ns, window.until_ns)
    begin_ns, end_ns = engine.span
    return Judged(
        window.until_ns,
        engine.events,
        end_ns - begin_ns,
        _published(window, model, made),
        *_taken(window, model),
        _hops(window, model, made),
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


def _hops(window: Window, model: Model, made: Made) -> dict[Hop, HopSeen]:
    """Count what was received on each hop by the time of its publish, as all that was lost."""
    found = find_deliveries(model, made["transfers"], made["endpoint_names"])
    own = _within(window, found.published_ns)
    hop, fate = found.hop[own], found.fate[own]
    counts = np.zeros((len(found.hops), len(FATES)), np.int64)
    np.add.at(counts, (hop, fate), 1)
    return {
        name: HopSeen(
            row[NUMBER[RECEIVED]],
            {FATES[at].cause: row[at] for at in _LOST if row[at]},
        )
        for name, row in zip(found.hops, counts.tolist(), strict=True)
        if any(row) and name[0] not in INTERNAL_TOPICS
    }


def _chains(window: Window, made: Made) -> dict[Chain, ChainSeen]:
    chains, instances, segments = made["chains"], made["chain_instances"], made["chain_segments"]
    own = _within(window, instances["end_ns"])
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
