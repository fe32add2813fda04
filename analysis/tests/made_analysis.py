# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis made without a trace: a relay chain whose every duration is known.

Messages and callbacks are made up; all statistics are those of the product.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd
from table_rows import frame_of

from strata.analysis import Analysis, MessageCounts, Process, TraceSummary
from strata.layers.chains import Chain
from strata.schema import tables
from strata.schema.quality import Finding, Findings
from strata.schema.rows import Coded, Rows, Values
from strata.stats.blame import blame_table
from strata.stats.bottleneck import find_bottlenecks
from strata.stats.callbacks import callback_table, describe
from strata.stats.causes import Evidence, find_causes
from strata.stats.chain_drifts import drift_rows
from strata.stats.chain_facts import chain_facts
from strata.stats.chains import chain_tables
from strata.stats.findings import quality_rows
from strata.stats.hops import hop_tables
from strata.stats.layer_places import LayerPlaces
from strata.stats.mode_tables import mode_tables
from strata.stats.segments import Segments
from strata.stats.trend import find_intervals, layer_trend_rows, trend_rows
from strata.verdict.groups import group_chains

BEGIN_NS = 1_700_000_000_000_000_000
PERIOD_NS = 10_000_000
HOST = "host"

# Median of each layer in ns; the callback's second half comes after its publish.
TYPICAL_NS = {
    "client_publish_ns": 3_000,
    "middleware_ns": 180_000,
    "executor_wait_ns": 12_000,
    "take_ns": 17_000,
    "client_take_ns": 4_000,
    "callback_ns": 60_000,
}


@dataclass
class Relay:
    """What to make: `hops` from node to node, `messages` through all of them."""

    hops: int = 4
    messages: int = 500
    seed: int = 7
    node: str = "/relay_{}"
    topic: str = "/chain_{}"
    symbol: str = "Relay<sensor_msgs::msg::Image_<std::allocator<void> > >::on_message(int)"
    work_ns: dict[int, int] = field(default_factory=dict)
    """Work added in the callback of the node that takes hop n, before its publish."""
    blocked_ns: int = 0
    """Every tenth message waits so long behind the callback `blocker` on its last hop."""
    merged: bool = False
    """No executor events: middleware, executor wait and take are one layer."""
    losses: dict[str, int] = field(default_factory=dict)
    init: bool = True
    period_ns: int = PERIOD_NS
    waits_ns: npt.NDArray[np.int64] | None = None
    """Added to the executor wait of each message on its last hop."""

    def nodes(self) -> list[str]:
        if not self.init:
            return [f"(unknown {100 + at}/0x5581f0)" for at in range(self.hops + 1)]
        return [self.node.format(at) for at in range(self.hops + 1)]

    def topics(self) -> list[str]:
        return [self.topic.format(at) if self.init else "(unknown)" for at in range(self.hops)]


def received_only(messages: Rows) -> dict[str, Values]:
    """Return the counts of hops where nothing but the messages taken is known."""
    hops, first, taken = np.unique(messages["hop_id"], return_index=True, return_counts=True)
    assert hops.tolist() == list(range(len(hops)))
    names = ("topic", "publisher_node", "subscription_node")
    none = ("lost", "in_flight", "unknown", "before_first")
    return {
        **{name: messages.words(name).take(first) for name in names},
        **dict.fromkeys(("published", "received"), taken),
        **dict.fromkeys(none, np.zeros(len(hops), np.int64)),
    }


def make(relay: Relay) -> Analysis:
    messages = _messages(relay)
    objects, instances = _callbacks(relay, messages)
    blockers = _blockers(relay, messages)
    described = Coded.of(describe(row) for _, row in objects.iterrows())
    rows = Rows.of_frame(tables.MESSAGES, messages)
    places = LayerPlaces.of_messages(rows, described)
    hops, hop_layers = hop_tables(rows, received_only(rows))
    way = np.arange(relay.messages)[:, None] + relay.messages * np.arange(relay.hops)[None, :]
    linked = messages[messages["parent_id"].notna()]
    links = tables.LINKS.frame(
        pd.DataFrame(
            {
                "child_id": linked["message_id"],
                "parent_id": linked["parent_id"].astype("int64"),
                "kind": "callback",
                "hold_ns": linked["hold_ns"],
                "critical": True,
            }
        )
    )
    between = links["child_id"].searchsorted(way[:, 1:])
    chains = [Chain(tuple(range(relay.hops)), way, between)] if way.size else []
    of_chains = chain_tables(chains, rows, Rows.of_frame(tables.LINKS, links), places)
    segments = of_chains.segments
    evidence = Evidence(places, rows, Rows.of_frame(tables.EXECUTOR_BLOCKERS, blockers), described)
    of_modes = mode_tables(
        of_chains.chains,
        of_chains.instances,
        segments,
        hops,
        rows,
        lambda chosen: find_causes(chosen, evidence),
    )
    blame = blame_table(of_modes.instances, segments, evidence)
    facts = chain_facts(of_modes.chains, of_modes.instances, segments, rows, of_modes.hops)
    total = len(messages)
    findings = Findings(*(Finding(code, count) for code, count in relay.losses.items()))
    return Analysis.of(
        trace=_summary(relay, messages),
        counts=MessageCounts(total, total, total, 0, 0, 0),
        nodes=tables.NODES.empty(),
        publishers=tables.PUBLISHERS.empty(),
        subscriptions=tables.SUBSCRIPTIONS.empty(),
        callback_objects=objects,
        callback_instances=instances,
        publications=tables.PUBLICATIONS.empty(),
        takes=tables.TAKES.empty(),
        messages=messages,
        links=links,
        executor_blockers=blockers,
        executors=tables.EXECUTORS.empty(),
        executor_threads=tables.EXECUTOR_THREADS.empty(),
        hops=frame_of(of_modes.hops),
        hop_layers=frame_of(hop_layers),
        chains=frame_of(of_modes.chains),
        chain_instances=frame_of(of_modes.instances),
        chain_segments=frame_of(segments.all()),
        chain_layers=frame_of(of_chains.layers),
        blame=frame_of(blame),
        modes=frame_of(of_modes.modes),
        callbacks=callback_table(
            Rows.of_frame(tables.CALLBACK_OBJECTS, objects),
            Rows.of_frame(tables.CALLBACK_INSTANCES, instances),
        ),
        service_objects=tables.SERVICE_OBJECTS.empty(),
        client_objects=tables.CLIENT_OBJECTS.empty(),
        service_calls=tables.SERVICE_CALLS.empty(),
        services=tables.SERVICES.empty(),
        service_layers=tables.SERVICE_LAYER_STATS.empty(),
        quality=quality_rows(findings, BEGIN_NS),
        losses=tables.LOSSES.empty(),
        event_uses=tables.EVENT_USES.empty(),
        bottlenecks=find_bottlenecks(of_modes.chains, blame, of_modes.modes, facts),
        **alone(frame_of(of_modes.chains)),
        **_over_time(of_modes.chains, of_modes.instances, of_chains.layers, segments),
    )


def _over_time(chains: Rows, instances: Rows, layers: Rows, segments: Segments) -> dict[str, Rows]:
    intervals = find_intervals(instances)
    trend = trend_rows(intervals, instances)
    of_layers = layer_trend_rows(intervals, trend, layers, segments)
    drifts = drift_rows(trend, of_layers, chains, layers)
    return {"trend": trend, "layer_trend": of_layers, "drifts": drifts}


def nothing() -> Analysis:
    """A trace of one process in which no message was matched and no callback ran."""
    return make(Relay(hops=1, messages=0))


def with_chains(analysis: Analysis, count: int) -> Analysis:
    """The first chain of `analysis`, `count` times, with the same messages."""
    instances_of_one = len(analysis.chain_instances)
    chains, instances, segments, layers, blame = (
        pd.concat([frame.assign(chain_id=at) for at in range(count)], ignore_index=True)
        for frame in (
            analysis.chains,
            analysis.chain_instances,
            analysis.chain_segments,
            analysis.chain_layers,
            analysis.blame,
        )
    )
    instances, segments = (
        frame.assign(
            chain_instance_id=frame["chain_instance_id"] + instances_of_one * frame["chain_id"]
        )
        for frame in (instances, segments)
    )
    return analysis.replaced(
        chains=chains,
        chain_instances=instances,
        chain_segments=segments,
        chain_layers=layers,
        blame=blame,
        bottlenecks=tuple(replace(analysis.bottlenecks[0], chain_id=at) for at in range(count)),
        **alone(chains),
    )


def alone(chains: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The tables of groups with each chain in one of its own."""
    if chains.empty:
        return {}
    parts = [
        group_chains(Rows.of_frame(tables.CHAINS, chains[chains["chain_id"] == at]))
        for at in chains["chain_id"]
    ]
    groups = pd.concat([frame_of(group) for group, _ in parts], ignore_index=True)
    return {
        "chain_groups": groups.assign(group_id=range(len(groups))),
        "chain_group_members": tables.CHAIN_GROUP_MEMBERS.frame(
            pd.DataFrame({"chain_id": chains["chain_id"], "group_id": range(len(groups))})
        ),
    }


def _messages(relay: Relay) -> pd.DataFrame:
    random = np.random.default_rng(relay.seed)
    nodes, topics = relay.nodes(), relay.topics()
    publish = BEGIN_NS + relay.period_ns * np.arange(1, relay.messages + 1)
    held: np.ndarray | None = None
    frames = []
    for hop in range(relay.hops):
        cut = {name: _around(random, ns, relay.messages) for name, ns in TYPICAL_NS.items()}
        cut["callback_ns"] += relay.work_ns.get(hop, 0)
        if hop == relay.hops - 1 and relay.blocked_ns:
            cut["executor_wait_ns"][::10] += relay.blocked_ns
        if hop == relay.hops - 1 and relay.waits_ns is not None:
            cut["executor_wait_ns"] += relay.waits_ns
        frame = _hop(relay, hop, publish, cut)
        frame["topic"], frame["publisher_node"] = topics[hop], nodes[hop]
        frame["subscription_node"] = nodes[hop + 1]
        frame["hold_ns"] = held
        frame["parent_id"] = None if hop == 0 else frame["message_id"] - relay.messages
        frames.append(frame)
        held = relay.work_ns.get(hop, 0) + (cut["callback_ns"] - relay.work_ns.get(hop, 0)) // 2
        publish = frame["callback_start_ns"].to_numpy() + held
    every = pd.concat(frames, ignore_index=True).astype({"parent_id": "Int64", "hold_ns": "Int64"})
    return tables.MESSAGES.frame(every)


def _hop(relay: Relay, hop: int, publish: np.ndarray, cut: dict[str, np.ndarray]) -> pd.DataFrame:
    rmw_publish = publish + cut["client_publish_ns"]
    picked = rmw_publish + cut["middleware_ns"] + cut["executor_wait_ns"]
    rmw_take = picked + cut["take_ns"]
    start = rmw_take + cut["client_take_ns"]
    end = start + cut["callback_ns"]
    ids = hop * relay.messages + np.arange(relay.messages)
    if relay.merged:
        whole = cut.pop("middleware_ns") + cut.pop("executor_wait_ns") + cut.pop("take_ns")
        cut["middleware_executor_wait_take_ns"] = whole
    return pd.DataFrame(
        {
            "message_id": ids,
            "hop_id": hop,
            "publication_id": ids,
            "take_id": ids,
            "method": "topic+timestamp",
            "confidence": "exact",
            "callback_id": hop,
            "begin_ns": publish,
            "publish_ns": publish,
            "rmw_publish_ns": rmw_publish,
            "picked_ns": None if relay.merged else picked,
            "rmw_take_ns": rmw_take,
            "callback_start_ns": start,
            "callback_end_ns": end,
            **cut,
            "latency_ns": end - publish,
            "complete": True,
            "reader_silent": False,
            "reader_silent_ns": 0,
            "start_up": False,
        }
    )


def _callbacks(relay: Relay, messages: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    ids = [*range(relay.hops), relay.hops]
    objects = pd.DataFrame(
        {
            "callback_id": ids,
            "host": HOST,
            "vpid": 100,
            "address": [0x5581_0000 + at for at in ids],
            "symbol": [*([relay.symbol if relay.init else None] * relay.hops), "blocker"],
            "kind": "subscription",
            "trigger": [*(relay.topics() if relay.init else [None] * relay.hops), "/slow"],
            "node": [*(relay.nodes()[1:] if relay.init else [None] * relay.hops), "/distractor"],
            "begin_ns": BEGIN_NS,
        }
    )
    ran = pd.DataFrame(
        {
            "callback_id": messages["callback_id"],
            "start_ns": messages["callback_start_ns"],
            "end_ns": messages["callback_end_ns"],
        }
    )
    if relay.blocked_ns:
        waited = messages[messages["hop_id"] == relay.hops - 1].iloc[::10]
        end = waited["picked_ns"]
        start = end - relay.blocked_ns
        more = pd.DataFrame({"callback_id": relay.hops, "start_ns": start, "end_ns": end})
        ran = pd.concat([ran, more], ignore_index=True)
    ran = ran.assign(
        instance_id=range(len(ran)),
        execution_id=range(len(ran)),
        finished_ns=ran["end_ns"],
        until_ns=ran["end_ns"],
        host=HOST,
        vpid=100,
        vtid=100,
        is_intra_process=False,
        is_resumed=False,
    )
    return tables.CALLBACK_OBJECTS.frame(objects), tables.CALLBACK_INSTANCES.frame(ran)


def _blockers(relay: Relay, messages: pd.DataFrame) -> pd.DataFrame:
    if not relay.blocked_ns:
        return tables.EXECUTOR_BLOCKERS.empty()
    waited = messages[messages["hop_id"] == relay.hops - 1].iloc[::10]
    return tables.EXECUTOR_BLOCKERS.frame(
        pd.DataFrame(
            {
                "message_id": waited["message_id"].to_numpy(),
                "callback_id": relay.hops,
                "work": "callback",
                "duration_ns": relay.blocked_ns,
            }
        )
    )


def _summary(relay: Relay, messages: pd.DataFrame) -> TraceSummary:
    end = messages["callback_end_ns"].max() if len(messages) else BEGIN_NS
    processes = tuple(
        Process(HOST, 100 + at, "python3", (name,) if relay.init else (), 1_000)
        for at, name in enumerate(relay.nodes())
    )
    return TraceSummary(
        path="/sessions/made",
        events=1_000 * len(processes),
        discarded_events=relay.losses.get("discarded_events", 0),
        begin_ns=BEGIN_NS,
        end_ns=int(end),
        processes=processes,
    )


def _around(random: np.random.Generator, median_ns: int, count: int) -> np.ndarray:
    """Log-normal durations with a long tail, as latencies are."""
    return (median_ns * random.lognormal(0.0, 0.25, count)).astype(np.int64)
