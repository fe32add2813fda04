# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""One chain of known parts, and the verdict on it: blame, modes, facts and sentence of the product.

    verdict = judge({(0, "transport", "/t over SHM"): ns, (0, "callback", "f [/t] (/b)"): other_ns})

A part is a hop, a layer and its place; its durations have one value a message.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd
from table_rows import rows_of

from strata.analysis import Bottleneck
from strata.schema import tables
from strata.schema.layers import BY_NAME
from strata.schema.rows import Coded, Rows
from strata.stats.blame import blame_table
from strata.stats.bottleneck import find_bottlenecks
from strata.stats.causes import Evidence, find_causes
from strata.stats.chain_facts import chain_facts
from strata.stats.layer_places import LayerPlaces
from strata.stats.mode_tables import mode_tables
from strata.stats.scheduling import HeldUp
from strata.stats.segments import Segments
from strata.stats.summary import prefixed, summarize

Ints = npt.NDArray[np.int64]
Parts = Mapping[tuple[int, str, str], Ints]

BEGIN_NS = 1_700_000_000_000_000_000
PERIOD_NS = 25_000_000
NO_ROWS = np.empty(0, np.int64)
NOTHING_HELD_UP = HeldUp(NO_ROWS, Coded.of([]), Coded.of([]), NO_ROWS)

# What a hop of a relay chain in rclpy takes on a machine that does other things too, in ns.
HEALTHY_NS = {
    "client publish": 40_000,
    "dds write": 60_000,
    "transport": 150_000,
    "dds receive": 20_000,
    "wake-up": 190_000,
    "executor wait": 110_000,
    "take": 45_000,
    "client take": 60_000,
    "hold": 30_000,
}


def healthy(count: int, hops: int = 3, seed: int = 1) -> dict[tuple[int, str, str], Ints]:
    """The parts of a relay chain that nobody disturbs; every layer varies."""
    random = np.random.default_rng(seed)
    parts = {
        (hop, layer, place(hop, layer)): (ns * random.lognormal(0, 0.3, count)).astype(np.int64)
        for hop in range(hops)
        for layer, ns in HEALTHY_NS.items()
        if layer != "hold" or hop < hops - 1
    }
    last = hops - 1, "callback", place(hops - 1, "callback")
    return parts | {last: (40_000 * random.lognormal(0, 0.3, count)).astype(np.int64)}


def place(hop: int, layer: str) -> str:
    """Where a layer of a hop is."""
    if layer in ("hold", "callback"):
        return f"relay.Relay.on_message [/t{hop}] (/n{hop + 1})"
    return f"/t{hop} over SHM" if layer == "transport" else f"/n{hop + 1}"


def judge(
    parts: Parts, *, early: int = 0, period_ns: int = PERIOD_NS, held_up: HeldUp = NOTHING_HELD_UP
) -> Bottleneck:
    """Return the verdict on the chain of these parts; the first `early` are of its start-up."""
    count, hops = len(next(iter(parts.values()))), 1 + max(hop for hop, _, _ in parts)
    messages, places = _messages(parts, count, hops, period_ns)
    segments = _segments(parts, count)
    of_messages = Segments.of_rows(segments)
    sums = np.zeros(count, np.int64)
    np.add.at(sums, segments["chain_instance_id"], segments["duration_ns"])
    begin = BEGIN_NS + period_ns * np.arange(count)
    instances = Rows.of_frame(
        tables.CHAIN_INSTANCES,
        pd.DataFrame(
            {
                "chain_instance_id": np.arange(count),
                "chain_id": 0,
                "message_id": (hops - 1) * count + np.arange(count),
                "begin_ns": begin,
                "end_ns": begin + sums,
                "latency_ns": sums,
                "critical": True,
                "start_up": np.arange(count) < early,
                "unsynchronised": False,
            }
        ),
    )
    blockers = Rows.none(tables.EXECUTOR_BLOCKERS)
    evidence = Evidence(places, messages, blockers, Coded.of([]), held_up=held_up)
    found = mode_tables(
        _chain(sums, hops, early),
        instances,
        of_messages,
        Rows.none(tables.HOPS),
        messages,
        lambda rows: find_causes(rows, evidence),
    )
    blame = blame_table(found.instances, of_messages, evidence)
    facts = chain_facts(found.chains, found.instances, of_messages, messages, found.hops)
    (bottleneck,) = find_bottlenecks(found.chains, blame, found.modes, facts, ("/n1", "/n2"))
    return bottleneck


def _chain(latency: Ints, hops: int, early: int) -> Rows:
    row = {
        "chain_id": 0,
        "name": " -> ".join(f"/t{hop}" for hop in range(hops)),
        "nodes": " -> ".join(f"/n{hop}" for hop in range(hops + 1)),
        "hop_count": hops,
        "count": len(latency),
        "unfinished": 0,
        "cut_short": 0,
        **prefixed("latency_", summarize(latency)),
        "start_up": early,
        "unsynchronised": 0,
        "start_up_end_ns": BEGIN_NS if early else None,
        "start_up_node": "/n1" if early else None,
    }
    return Rows.of_records(tables.CHAINS, [row])


def _messages(parts: Parts, count: int, hops: int, period_ns: int) -> tuple[Rows, LayerPlaces]:
    """The columns of `messages` that verdicts look at, and the place of each message and layer."""
    frames = []
    for hop in range(hops):
        publish = BEGIN_NS + period_ns * np.arange(count)
        before = [ns for (at, layer, _), ns in parts.items() if at <= hop and layer != "callback"]
        own = {layer: ns for (at, layer, _), ns in parts.items() if at == hop}
        frames.append(
            pd.DataFrame(
                {
                    "message_id": hop * count + np.arange(count),
                    "hop_id": hop,
                    "topic": f"/t{hop}",
                    "publisher_node": f"/n{hop}",
                    "subscription_node": f"/n{hop + 1}",
                    "publish_ns": publish,
                    "rmw_publish_ns": publish,
                    "callback_start_ns": publish + np.sum(before, axis=0),
                    "callback_ns": own.get("callback", np.zeros(count, np.int64)),
                    "callback_id": pd.array([None] * count, "Int64"),
                    "reader_silent": False,
                    "reader_silent_ns": 0,
                    "start_up": False,
                    "confidence": "exact",
                    "resend_ns": pd.array([None] * count, "Int64"),
                    "arrival_ns": publish,
                    "rmw_take_ns": publish,
                    "read_ns": publish + own.get("driver queue", np.zeros(count, np.int64)),
                    "callback_end_ns": publish,
                }
            )
        )
    messages = pd.concat(frames, ignore_index=True)
    where: dict[str, list[str]] = {layer: [""] * len(messages) for layer in BY_NAME}
    for hop, layer, there in parts:
        where[layer][hop * count : (hop + 1) * count] = [there] * count
    return rows_of(tables.MESSAGES, messages), LayerPlaces.of_texts(where)


def _segments(parts: Parts, count: int) -> Rows:
    frames = [
        pd.DataFrame(
            {
                "chain_instance_id": np.arange(count),
                "chain_id": 0,
                "position": position,
                "hop": hop,
                "message_id": hop * count + np.arange(count),
                "layer": layer,
                "duration_ns": ns,
            }
        )
        for position, ((hop, layer, _), ns) in enumerate(parts.items())
    ]
    every = pd.concat(frames).sort_values(["chain_instance_id", "position"])
    return Rows.of_frame(tables.CHAIN_SEGMENTS, every)
