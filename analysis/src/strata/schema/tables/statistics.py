# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of hops, chains and callbacks, and who is to blame."""

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
        Column("lost", "int64", "published for a subscription and lost; causes in `hop_losses`"),
        *statistics("latency_", "publish to the end of the callback, complete rows"),
        *modality("its latency"),
        Column(
            "published",
            "int64",
            "messages published for the subscriptions of the node, each counted once a "
            "subscription, from the first that it took: received + lost + in_flight + unknown",
        ),
        Column("received", "int64", "of these: taken, each once"),
        Column("in_flight", "int64", "of these: still on the way when the trace ended"),
        Column(
            "unknown",
            "int64",
            "of these: perhaps taken, while the tracer lost events or by an ambiguous take",
        ),
        Column(
            "before_first",
            "int64",
            "not of these: published while the subscription lived, before it took its first (the "
            "two had not found each other yet, or it was lost)",
        ),
        unsynchronised("rows of `count` between hosts whose clocks are not synchronised"),
    ),
    "One row per way from a publishing node over a topic to a subscribing node: of a publisher and "
    "a subscription of one topic that live at the same time, also where no message was ever taken "
    "(then without latency); of topics that every node has, only where one was.",
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
            "the last take of a reader that went silent; the last event of a process that ended; "
            "of several subscriptions the earliest",
            null="another cause",
        ),
    ),
    "One row per cause for which messages of a hop were not received, or are not known to be.",
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
        Column("nodes", "string", "nodes on the way, joined by ->"),
        Column("hop_count", "int64", "hops"),
        Column("count", "int64", "messages that went all the way; all figures are over these"),
        *statistics("latency_", "first publish to the end of the last callback"),
        *modality("its latency, without the start-up"),
        Column("start_up", "int64", "messages of the start-up (see `chain_instances`)"),
        instant("start_up_end_ns", "when its last node was ready", null="none is of the start-up"),
        Column("start_up_node", "string", "that node", null="none is of the start-up"),
        Column(
            "unfinished",
            "int64",
            "further messages, whose last callback started and has no end: in no figure of the "
            "chain, like those that started none; 0 where no message of the chain reaches the end "
            "of one (then all count)",
        ),
        Column(
            "cut_short",
            "int64",
            "messages from which the way goes on, beyond the hops of the chain: there are too many "
            "ways to follow; they are in its figures",
        ),
        unsynchronised("messages that begin and end on hosts whose clocks are not synchronised"),
    ),
    "One row per way of hops that are linked through callbacks.",
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
        Column("critical", "bool", "every link on the way is the critical one of its message"),
        Column(
            "start_up",
            "bool",
            "published before the last node on its way was ready: its endpoints were made, its "
            "executor had begun, and the writer knew the reader",
        ),
        dense_id(
            "mode",
            "mode of its chain's latency, as in `modes`",
            null="the chain has one mode, or it is of the start-up",
        ),
        Column(
            "unsynchronised",
            "bool",
            "it begins and ends on hosts whose clocks are not synchronised, so that latency_ns "
            "holds how far the clocks are apart",
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
            "topic, node or callback that the time was spent in, of most messages",
        ),
        Column("places", "int64", "how many different places its messages have"),
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
        Column("share_p50", "float64", "of the latency of the typical messages"),
        Column("share_p99", "float64", "of the latency of the slowest messages"),
        Column("typical_ns", "float64", "mean duration in the typical messages", unit="ns"),
        Column("tail_ns", "float64", "mean duration in the slowest messages", unit="ns"),
        Column(
            "outlier_ns",
            "float64",
            "mean duration in the outliers, whose latency is far above the median",
            unit="ns",
            null="the chain has no outliers",
        ),
        Column("outliers", "int64", "outliers in which it is the largest cause"),
        *(
            Column(
                f"{group}_{name}",
                "float64",
                f"mean of {group}_ns {meaning}; 0 also where it is not known",
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
            "in some messages it lies between hosts whose clocks are not synchronised: how long it "
            "takes is not known, and it never stands out",
        ),
    ),
    "One row per cause of a chain's latency, the largest share of the typical messages first. "
    "Which messages are typical, slowest and outliers, docs/method.md says.",
)

_NO_CAUSE = "the fastest mode, or of a hop"

MODES = Table(
    "modes",
    ("chain_id", "hop_id", "mode"),
    (
        dense_id("chain_id", "row of `chains`", null="of a hop"),
        dense_id("hop_id", "row of `hops`", null="of a chain"),
        Column("mode", "int64", "from 0, the fastest first"),
        Column("count", "int64", "messages"),
        Column("share", "float64", "of the messages"),
        duration("low_ns", "smallest latency"),
        duration("high_ns", "largest latency"),
        Column("p50_ns", "float64", "median latency", unit="ns"),
        Column("mean_ns", "float64", "mean latency", unit="ns"),
        Column(
            "slower_ns",
            "float64",
            "mean of its middle half less that of the mode before",
            unit="ns",
            null=_NO_CAUSE,
        ),
        Column("layer", "string", "layer that differs most from the mode before", null=_NO_CAUSE),
        Column("where", "string", "place of that, as in `blame`", null=_NO_CAUSE),
        Column("cause_share", "float64", "of slower_ns, of that layer there", null=_NO_CAUSE),
        Column("layer_share", "float64", "of slower_ns, of that layer anywhere", null=_NO_CAUSE),
        Column("layer_places", "int64", "how many places that layer has", null=_NO_CAUSE),
    ),
    "One row per mode of a chain's or hop's latency, for those that have more than one.",
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
        *statistics("duration_", "callback_start to callback_end"),
        *statistics("period_", "between two starts"),
        *CPU_USE,
    ),
    "One row per callback that ran. The columns of CPU use are of all its executions that ended, "
    "together, with what ran inside them.",
)

QUANTILES = Table(
    "quantiles",
    ("of", "number", "hop", "layer", "quantile"),
    (
        Column(
            "of",
            "string",
            "hop, chain: latency; hop layer, chain layer: time in it; callback: how long it ran",
        ),
        Column("number", "int64", "the hop_id, chain_id or callback_id"),
        Column("hop", "int64", "hop along the chain, from 0", null="not of a layer of a chain"),
        Column("layer", "string", "name of the layer", null="not of a layer"),
        Column("quantile", "float64", "0.999 for the 99.9th percentile"),
        Column("count", "int64", "how many values it is of"),
        Column(
            "value_ns",
            "float64",
            "the quantile, interpolated; of fewer values than 1 / (1 - quantile) it lies between "
            "the two largest",
            unit="ns",
        ),
    ),
    "One row per quantile that was asked for (`--quantiles`) and thing that it is of; empty unless "
    "any was.",
)
