# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was found about the trace and the analysis themselves."""

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
        Column("text", "string", "what it means and what to do, where and when it was found"),
        Column(
            "places",
            "string",
            "topics, nodes, callbacks or threads where it was found, those with the most first",
            null="not known, or of the whole trace",
        ),
        instant("begin_ns", "when the first was found", null="not known"),
        instant("end_ns", "when the last was found", null="not known"),
    ),
    "One row per kind of finding, the worst first.",
)

LOSSES = Table(
    "losses",
    ("code", "place", "begin_ns", "end_ns"),
    (
        Column("code", "string", "what was lost (strata.schema.findings)"),
        Column("count", "int64", "how much: events, packets, bytes, by the code"),
        Column("place", "string", "stream file, directory or event; empty for the whole trace"),
        instant("begin_ns", "it was lost at this time or later", null="not known"),
        instant("end_ns", "it was lost at this time or earlier", null="not known"),
    ),
    "One row per loss of the trace by itself, with the window of time in which it happened.",
)

EVENT_USES = Table(
    "event_uses",
    ("event", "use"),
    (
        Column("event", "string", "full name of a `ros2` or `driver` event"),
        Column("used", "bool", "the analysis uses it; otherwise `use` says why not"),
        Column("use", "string", "what it was used for, or why it was ignored"),
        Column("count", "int64", "how many events; those of one name add up to all of it"),
    ),
    "What became of every `ros2` and `driver` event.",
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
        Column("input", "string", "topic that it takes, and may publish the output from"),
        Column(
            "cut",
            "string",
            "stored: published outside of the callbacks of what the node takes; fan-in: published "
            "in the callback of the input that came last",
        ),
        Column("kind", "string", "partial_sync or periodic_async, as it would be declared"),
        Column("probable", "bool", "`strata links` proposes it; else it is only mentioned"),
        Column("published", "string", "where publish was called: timer, thread, callbacks"),
        Column("publications", "int64", "publications of the output, but for the first"),
        Column(
            "new",
            "int64",
            "of these: with a message of the input since the publication before; what a "
            "partial_sync link explains",
        ),
        Column(
            "stored",
            "int64",
            "of these: with any message of the input before them; what a periodic_async link "
            "explains",
        ),
        Column(
            "decided",
            "int64",
            "callbacks of all inputs that were held against the rule 'publish once every input has "
            "a new message'",
            null=_NOT_WAITING,
        ),
        Column("foretold", "int64", "of these: did what the rule says", null=_NOT_WAITING),
    ),
    "Links between messages that nobody declared and that the trace makes probable (method.md, "
    "Chains); none for outputs of which links are declared.",
)
