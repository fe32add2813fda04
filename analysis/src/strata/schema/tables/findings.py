# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was found about the trace and the analysis themselves."""

from __future__ import annotations

from strata.schema.columns import instant
from strata.schema.table import Column, Table

QUALITY = Table(
    "quality",
    ("code",),
    (
        Column("code", "string", "what was found (strata.schema.findings)"),
        Column("count", "int64", "how often"),
        Column("severity", "string", "info, warning or loss"),
        Column("text", "string", "what it means and what to do"),
    ),
    "One row a kind of finding, the worst first.",
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
    "One row a loss of the trace by itself, with the window of time in which it happened.",
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
