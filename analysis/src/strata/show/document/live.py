# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was seen of a running system as the JSON document of `strata live --once --format json`.

The document is a contract, described in docs/json.md: fields are added, never renamed or removed,
while `schema` stays the same.
"""

from __future__ import annotations

from typing import Any

from strata.live.judged import Chain, ExecutorSeen, Hop
from strata.live.quantile_sketch import ACCURACY
from strata.live.tally import ChainTally, Counts, HopTally, Tally

SCHEMA = 1


def live_document(tally: Tally) -> dict[str, Any]:
    """Return the document; durations are ns, null where there is no value."""
    return {
        "schema": SCHEMA,
        "accuracy": ACCURACY,
        "until_ns": tally.until_ns,
        "windows": tally.windows,
        "unread": tally.unread,
        "discarded_events": tally.discarded,
        "unseen_ns": tally.unseen_ns,
        "events_per_s": tally.events_per_s,
        "system": {"text": tally.system.text, "stands_out": tally.system.stands_out},
        "executors": [_executor(executor) for executor in tally.executors],
        "recent": _counts(tally.recent()),
        "total": _counts(tally.total),
    }


def _executor(executor: ExecutorSeen) -> dict[str, Any]:
    return {
        "host": executor.host,
        "vpid": executor.vpid,
        "nodes": executor.nodes,
        "threads": executor.threads,
        "busy": executor.busy,
    }


def _counts(counts: Counts) -> dict[str, Any]:
    return {
        "span_ns": counts.span_ns,
        "published": [
            {
                "topic": topic,
                "count": count,
                "per_s": count * 1e9 / counts.span_ns if counts.span_ns else None,
            }
            for topic, count in sorted(counts.published.items())
        ],
        "taken": counts.taken,
        "matched": counts.matched,
        "lost": counts.lost,
        "chains": [_chain(chain, counts.chains[chain]) for chain in sorted(counts.chains)],
        "hops": [_hop(hop, counts.hops[hop]) for hop in sorted(counts.hops)],
    }


def _chain(chain: Chain, of: ChainTally) -> dict[str, Any]:
    name, nodes = chain
    latency = of.latency
    return {
        "name": name,
        "nodes": nodes,
        "count": latency.count,
        "p50_ns": latency.quantile_ns(0.5),
        "p99_ns": latency.quantile_ns(0.99),
        "max_ns": latency.max_ns if latency.count else None,
        "mean_ns": latency.sum_ns / latency.count if latency.count else None,
        "layers": [
            {"layer": layer, "ns": ns, "share": ns / latency.sum_ns if latency.sum_ns else None}
            for layer, ns in of.layers_ns.most_common()
        ],
    }


def _hop(hop: Hop, of: HopTally) -> dict[str, Any]:
    topic, publisher, subscription = hop
    return {
        "topic": topic,
        "publisher_node": publisher,
        "subscription_node": subscription,
        "received": of.received,
        "lost": dict(of.lost.most_common()),
    }
