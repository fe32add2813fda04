# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Findings about the trace and the analysis themselves."""

from __future__ import annotations

from strata.schema.columns import HOST, VPID, instant
from strata.schema.table import Column, Table

QUALITY = Table(
    "quality",
    ("code",),
    (
        Column("code", "string", "what was found (strata.schema.findings)"),
        Column("count", "int64", "how often"),
        Column("severity", "string", "info, warning or loss"),
        Column("text", "string", "what it means, what to do, and where it was found"),
        Column(
            "places",
            "string",
            "topics, nodes, callbacks or threads where it was found, most frequent first",
            null="not known, or it concerns the whole trace",
        ),
        instant("begin_ns", "time of the first one", null="not known"),
        instant("end_ns", "time of the last one", null="not known"),
    ),
    "One row per kind of finding, worst first.",
)

LOSSES = Table(
    "losses",
    ("code", "place", "begin_ns", "end_ns"),
    (
        Column("code", "string", "what was lost (strata.schema.findings)"),
        Column("count", "int64", "how many events, packets or bytes (depends on the code)"),
        Column("place", "string", "stream file, directory or event; empty for the whole trace"),
        instant("begin_ns", "it was lost at or after this time", null="not known"),
        instant("end_ns", "it was lost at or before this time", null="not known"),
    ),
    "One row per loss in the trace itself, with the time window in which it happened.",
)

EVENT_USES = Table(
    "event_uses",
    ("event", "use"),
    (
        Column("event", "string", "full name of a `ros2` or `driver` event"),
        Column("used", "bool", "whether the analysis uses it; if not, `use` says why"),
        Column("use", "string", "what it was used for, or why it was ignored"),
        Column("count", "int64", "how many events; they add up to all events of that name"),
    ),
    "How every `ros2` and `driver` event was used.",
)

_NOT_WAITING = "no fan-in, or no callback shows that inputs wait for each other"
LINK_PROPOSALS = Table(
    "link_proposals",
    ("host", "vpid", "node", "output", "input"),
    (
        HOST,
        VPID,
        Column("node", "string", "full name of the node at which chains end or lose an input"),
        Column("output", "string", "topic that it publishes"),
        Column("input", "string", "topic that it takes, and from which it may publish the output"),
        Column(
            "cut",
            "string",
            "stored: published outside of the node's subscription callbacks; fan-in: published "
            "in the callback of the input that came last",
        ),
        Column("kind", "string", "partial_sync or periodic_async, the kind to declare"),
        Column(
            "probable", "bool", "whether `strata links` proposes it; if not, it is only mentioned"
        ),
        Column("published", "string", "where publish was called: timer, thread, callbacks"),
        Column("publications", "int64", "publications of the output, except the first"),
        Column(
            "new",
            "int64",
            "of these: with a message of the input since the previous publication; these fit a "
            "partial_sync link",
        ),
        Column(
            "stored",
            "int64",
            "of these: with any earlier message of the input; these fit a periodic_async link",
        ),
        Column(
            "decided",
            "int64",
            "callbacks of all inputs that were compared with the rule 'publish once every input "
            "has a new message'",
            null=_NOT_WAITING,
        ),
        Column(
            "foretold",
            "int64",
            "of these: callbacks that did what the rule predicts",
            null=_NOT_WAITING,
        ),
    ),
    "Undeclared links between messages that the trace suggests (method.md, Chains); none for "
    "outputs that have a declared link.",
)
