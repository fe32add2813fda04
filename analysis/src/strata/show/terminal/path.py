# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Critical paths for a terminal and as a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.text import Text

from strata.analysis import Analysis
from strata.printable import printable
from strata.show.terminal.breaking import Named
from strata.show.terminal.findings import first_texts
from strata.show.terminal.layer_rows import add_hop, add_layer, layer_table
from strata.show.words.chain_choice import chosen_chains, focus_chain
from strata.show.words.commands import Commands
from strata.stats.path import CriticalPath
from strata.symbols import shorten_place
from strata.units import format_instant, format_ns

SCHEMA = 1

_SHOWN = 0.01
"""Share of a wait from which on a callback that it was behind is shown."""


def path_section(analysis: Analysis, path: CriticalPath) -> RenderableType:
    """Return the steps of a path, and what each waited behind."""
    table = layer_table(["time"])
    hop = -1
    for step in path.steps:
        if step.hop != hop:
            hop = step.hop
            message = analysis.rows("messages").record(step.message_id)
            way = f"{message['publisher_node']} -> {message['subscription_node']}"
            add_hop(table, hop, f"{message['topic']}: {way}")
        share = step.duration_ns / path.latency_ns if path.latency_ns else 0.0
        add_layer(table, step.layer, step.where, [step.duration_ns], share)
        for place, ns in step.behind:
            if ns >= _SHOWN * step.duration_ns:
                text = f"behind {shorten_place(place)}"
                table.add_row("", Named(text, "dim"), format_ns(ns))
    began = format_instant(path.begin_ns)
    head = f"message {path.messages[-1]}: {format_ns(path.latency_ns)}, published {began}"
    return Group(Rule(Text(head, style="bold"), align="left"), table, Text())


def path_hints(
    analysis: Analysis, commands: Commands, shown: int, *, asked: str | None
) -> list[str]:
    """Say of which chain the slowest messages are, and how to see more, or those of another.

    `shown` is how many were shown, `asked` the chain that the user asked for.
    """
    chains = dict(
        zip(
            analysis.rows("chains")["chain_id"].tolist(),
            analysis.rows("chains").texts("name"),
            strict=True,
        )
    )
    several = chosen_chains(analysis)
    focus = focus_chain(analysis)
    hints = [f"more of them: {commands.slowest(shown + 4, asked)}"]
    other = [chains[one] for one in several if chains[one] != chains.get(focus)]
    if asked is None and focus is not None and other:
        name = printable(chains[focus])
        hints.insert(0, f"slowest of {name}")
        hints.append(f"of another chain: {commands.slowest(shown, other[0])}")
    return hints


def paths_document(analysis: Analysis, paths: Sequence[CriticalPath]) -> dict[str, Any]:
    """Return paths as the document of `strata path`, described in docs/json.md; times are ns."""
    return {
        "schema": SCHEMA,
        "trace": {
            "path": analysis.trace.path,
            "recording": list(first_texts(analysis.rows("quality"))),
        },
        "paths": [_document(analysis, path) for path in paths],
    }


def _document(analysis: Analysis, path: CriticalPath) -> dict[str, Any]:
    topics = analysis.rows("messages").words("topic")
    return {
        "message_id": path.messages[-1],
        "begin_ns": path.begin_ns,
        "latency_ns": path.latency_ns,
        "steps": [
            {
                "hop": step.hop,
                "message_id": step.message_id,
                "topic": topics.at(step.message_id),
                "layer": step.layer,
                "where": step.where,
                "duration_ns": step.duration_ns,
                "behind": [{"where": place, "duration_ns": ns} for place, ns in step.behind],
            }
            for step in path.steps
        ],
    }
