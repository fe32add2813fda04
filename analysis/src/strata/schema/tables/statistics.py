# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of hops, chains and callbacks, and the causes of their latency."""

from __future__ import annotations

from strata.schema.columns import dense_id, duration, instant, modality, statistics, unsynchronised
from strata.schema.fates import FATES
from strata.schema.table import Column, Table
from strata.schema.tables.threads import CPU_USE

HOPS = Table(
    "hops",
    ("hop_id",),
    (
        dense_id("hop_id", "dense number"),
        Column("topic", "string", "fully qualified topic"),
        Column("publisher_node", "string", "node that publishes"),
        Column("subscription_node", "string", "node that takes"),
        Column("count", "int64", "matched takes"),
        Column(
            "lost",
            "int64",
            "messages published for a subscription and lost; causes in `hop_losses`",
        ),
        *statistics("latency_", "from publish to the end of the callback, complete rows"),
        *modality("its latency"),
        Column(
            "published",
            "int64",
            "messages published for the node's subscriptions, counted once per subscription, "
            "from the first that it took: received + lost + in_flight + unknown",
        ),
        Column("received", "int64", "of these: taken, each counted once"),
        Column("in_flight", "int64", "of these: still in transit when the trace ended"),
        Column(
            "unknown",
            "int64",
            "of these: possibly taken, while the tracer lost events or by an ambiguous take",
        ),
        Column(
            "before_first",
            "int64",
            "not included in `published`: published while the subscription existed but before it "
            "took its first message (discovery was not finished, or the message was lost)",
        ),
        unsynchronised("rows of `count` between hosts whose clocks are not synchronised"),
    ),
    "One row per publishing node, topic and subscribing node whose publisher and subscription "
    "existed at the same time, even if no message was ever taken (then without latency). Topics "
    "that every node has are listed only if a message was taken.",
)

HOP_LOSSES = Table(
    "hop_losses",
    ("hop_id", "cause"),
    (
        dense_id("hop_id", "row of `hops`"),
        Column("outcome", "string", "lost, in flight or unknown"),
        Column(
            "cause",
            "string",
            "; ".join(f"{item.cause}: {item.text}" for item in FATES[1:]),
        ),
        Column("count", "int64", "messages"),
        instant("begin_ns", "when the first of them was published"),
        instant("end_ns", "when the last of them was published"),
        instant(
            "since_ns",
            "the last take of a reader that went silent, or the last event of a process that "
            "ended; for several subscriptions the earliest",
            null="any other cause",
        ),
    ),
    "One row per cause why messages of a hop were not received, or may not have been.",
)

HOP_LAYER_STATS = Table(
    "hop_layers",
    ("hop_id", "layer"),
    (
        dense_id("hop_id", "row of `hops`"),
        Column("layer", "string", "name of the layer"),
        Column("share", "float64", "of the summed latency of the complete rows"),
        *statistics("", "duration"),
        unsynchronised("durations between hosts whose clocks are not synchronised"),
    ),
    "One row per layer of a hop, over the hop's complete rows.",
)

CHAINS = Table(
    "chains",
    ("chain_id",),
    (
        dense_id("chain_id", "dense number, the longest and busiest first"),
        Column("name", "string", "topics of its hops, joined by ->"),
        Column("nodes", "string", "nodes along the chain, joined by ->"),
        Column("hop_count", "int64", "hops"),
        Column(
            "count",
            "int64",
            "messages that went through the whole chain; all statistics are over these",
        ),
        *statistics("latency_", "from the first publish to the end of the last callback"),
        *modality("its latency, without the start-up"),
        Column("start_up", "int64", "messages during start-up (see `chain_instances`)"),
        instant(
            "start_up_end_ns", "when its last node was ready", null="no messages during start-up"
        ),
        Column("start_up_node", "string", "that node", null="no messages during start-up"),
        Column(
            "unfinished",
            "int64",
            "further messages whose last callback started but has no end: not counted in the "
            "chain's statistics, like those that started none; 0 if no message of the chain "
            "reaches the end of a callback (then all count)",
        ),
        Column(
            "cut_short",
            "int64",
            "messages whose path continues beyond the hops of the chain, because there are too "
            "many paths to follow; they are included in its statistics",
        ),
        unsynchronised("messages that begin and end on hosts whose clocks are not synchronised"),
    ),
    "One row per path of hops that are linked through callbacks.",
)

CHAIN_INSTANCES = Table(
    "chain_instances",
    ("chain_instance_id",),
    (
        dense_id("chain_instance_id", "dense number"),
        dense_id("chain_id", "row of `chains`"),
        dense_id("message_id", "the last message of the chain"),
        instant("begin_ns", "first publish"),
        instant("end_ns", "end of the last callback"),
        duration("latency_ns", "end_ns - begin_ns; the sum of its segments"),
        Column("critical", "bool", "every link along the chain is the critical one of its message"),
        Column(
            "start_up",
            "bool",
            "published before the last node along its path was ready: endpoints created, "
            "executor running, and reader discovered by the writer",
        ),
        dense_id(
            "mode",
            "mode of its chain's latency, as in `modes`",
            null="the chain has one mode, or the message was published during start-up",
        ),
        Column(
            "unsynchronised",
            "bool",
            "it begins and ends on hosts whose clocks are not synchronised, so latency_ns "
            "contains the offset between the clocks",
        ),
    ),
    "One row per message that went through the whole chain.",
)

CHAIN_SEGMENTS = Table(
    "chain_segments",
    ("chain_instance_id", "position"),
    (
        dense_id("chain_instance_id", "row of `chain_instances`"),
        dense_id("chain_id", "row of `chains`"),
        Column("position", "int64", "order along the chain, from 0"),
        Column("hop", "int64", "hop along the chain, from 0"),
        dense_id("message_id", "the message of that hop"),
        Column("layer", "string", "name of the layer"),
        duration("duration_ns", "how long it took"),
    ),
    "One row per layer of a hop of a message along its chain.",
)

CHAIN_LAYER_STATS = Table(
    "chain_layers",
    ("chain_id", "position"),
    (
        dense_id("chain_id", "row of `chains`"),
        Column("position", "int64", "order along the chain, from 0"),
        Column("hop", "int64", "hop along the chain, from 0"),
        Column("layer", "string", "name of the layer"),
        Column(
            "where",
            "string",
            "topic, node or callback in which most messages spent the time",
        ),
        Column("places", "int64", "number of different places among its messages"),
        Column("share", "float64", "of the summed latency of the chain"),
        *statistics("", "duration"),
        unsynchronised("durations between hosts whose clocks are not synchronised"),
    ),
    "One row per layer of a hop of a chain.",
)

BLAME = Table(
    "blame",
    ("chain_id", "layer", "where"),
    (
        dense_id("chain_id", "row of `chains`"),
        Column("layer", "string", "name of the layer"),
        Column("where", "string", "topic, node, or callback that was run or waited for"),
        Column("share_p50", "float64", "share of the latency of the typical messages"),
        Column("share_p99", "float64", "share of the latency of the slowest messages"),
        Column("typical_ns", "float64", "mean duration in the typical messages", unit="ns"),
        Column("tail_ns", "float64", "mean duration in the slowest messages", unit="ns"),
        Column(
            "outlier_ns",
            "float64",
            "mean duration in the outliers, whose latency is far above the median",
            unit="ns",
            null="the chain has no outliers",
        ),
        Column("outliers", "int64", "number of outliers in which it is the largest cause"),
        *(
            Column(
                f"{group}_{name}",
                "float64",
                f"mean of {group}_ns {meaning}; 0 also if not known",
                unit="ns",
            )
            for group in ("typical", "tail")
            for name, meaning in (
                ("cpu_wait_ns", "in which its thread waited for a CPU, estimated from samples"),
                ("silent_ns", "in which no thread of the reader's process ran"),
            )
        ),
        Column(
            "unsynchronised",
            "bool",
            "in some messages it lies between hosts whose clocks are not synchronised: its "
            "duration is not known, and it is never reported as a bottleneck",
        ),
    ),
    "One row per cause of a chain's latency, largest share of the typical messages first. "
    "docs/method.md defines which messages are typical, slowest and outliers.",
)

_NO_CAUSE = "the fastest mode, or a mode of a hop"

MODES = Table(
    "modes",
    ("chain_id", "hop_id", "mode"),
    (
        dense_id("chain_id", "row of `chains`", null="a mode of a hop"),
        dense_id("hop_id", "row of `hops`", null="a mode of a chain"),
        Column("mode", "int64", "from 0, fastest first"),
        Column("count", "int64", "messages"),
        Column("share", "float64", "share of the messages"),
        duration("low_ns", "smallest latency"),
        duration("high_ns", "largest latency"),
        Column("p50_ns", "float64", "median latency", unit="ns"),
        Column("mean_ns", "float64", "mean latency", unit="ns"),
        Column(
            "slower_ns",
            "float64",
            "mean of its middle half minus that of the previous mode",
            unit="ns",
            null=_NO_CAUSE,
        ),
        Column("layer", "string", "layer that differs most from the previous mode", null=_NO_CAUSE),
        Column("where", "string", "place of that layer, as in `blame`", null=_NO_CAUSE),
        Column(
            "cause_share",
            "float64",
            "share of slower_ns spent in that layer at that place",
            null=_NO_CAUSE,
        ),
        Column(
            "layer_share",
            "float64",
            "share of slower_ns spent in that layer at any place",
            null=_NO_CAUSE,
        ),
        Column("layer_places", "int64", "number of places that the layer has", null=_NO_CAUSE),
    ),
    "One row per mode of the latency of a chain or hop that has more than one.",
)

CALLBACKS = Table(
    "callbacks",
    ("callback_id",),
    (
        dense_id("callback_id", "row of `callback_objects`"),
        Column("node", "string", "node that owns it; (unknown) without init events"),
        Column("symbol", "string", "name of the function; its address when never registered"),
        Column("kind", "string", "subscription, timer, service, action (rclpy) or unknown"),
        Column("trigger", "string", "its topic, service or period", null="owner unknown"),
        Column("count", "int64", "executions"),
        *statistics("duration_", "from callback_start to callback_end"),
        *statistics("period_", "between two starts"),
        *CPU_USE,
    ),
    "One row per callback that ran. The CPU columns cover all its executions that ended, "
    "including everything that ran inside them.",
)

QUANTILES = Table(
    "quantiles",
    ("of", "number", "hop", "layer", "quantile"),
    (
        Column(
            "of",
            "string",
            "hop, chain: latency; hop layer, chain layer: time spent in it; callback: how long "
            "it ran",
        ),
        Column("number", "int64", "the hop_id, chain_id or callback_id"),
        Column("hop", "int64", "hop along the chain, from 0", null="not a layer of a chain"),
        Column("layer", "string", "name of the layer", null="not a layer"),
        Column("quantile", "float64", "0.999 for the 99.9th percentile"),
        Column("count", "int64", "number of values"),
        Column(
            "value_ns",
            "float64",
            "the quantile, interpolated; for fewer than 1 / (1 - quantile) values it lies "
            "between the two largest",
            unit="ns",
        ),
    ),
    "One row per requested quantile (`--quantiles`) and hop, chain, layer or callback; empty if "
    "none was requested.",
)
