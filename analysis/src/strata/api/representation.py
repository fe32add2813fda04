# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a prompt or a notebook shows of an analysis."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from strata.nearest import listed
from strata.printable import printable
from strata.units import format_count, format_ns

if TYPE_CHECKING:
    from strata.api.analysis import Analysis

_CHAINS = 5
_NODES = 6
_TOPICS = 4
_SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z])")


def one_line(analysis: Analysis) -> str:
    """Return name, duration, nodes, messages and what stands out."""
    facts = ", ".join((_duration(analysis), *_counts(analysis)))
    return printable(f"<strata.Analysis {analysis.name}: {facts}; {_verdict(analysis)}>")


def small_table(analysis: Analysis) -> str:
    """Return the same as HTML, with the nodes and the first chains by name; all text is escaped."""
    nodes = sorted({node for process in analysis.trace.processes for node in process.nodes})
    rows = [
        ("trace", analysis.trace.path),
        ("duration", _duration(analysis)),
        ("nodes", f"{len(nodes)}: {listed(nodes, _NODES)}" if nodes else "0"),
        ("messages", ", ".join(_counts(analysis)[1:])),
        *_chain_rows(analysis),
        ("verdict", _verdict(analysis)),
    ]
    cells = "".join(f"<tr><th>{_safe(name)}</th><td>{_safe(text)}</td></tr>" for name, text in rows)
    return f"<table><caption>Strata: {_safe(analysis.name)}</caption><tbody>{cells}</tbody></table>"


def _chain_rows(analysis: Analysis) -> list[tuple[str, str]]:
    chains = list(analysis.rows("chains").records())
    rows = [
        (
            "chain",
            f"{_abbreviated(row['name'])}: p50 {format_ns(row['latency_p50_ns'])}, "
            f"p99 {format_ns(row['latency_p99_ns'])}, n {row['count']:,}",
        )
        for row in chains[:_CHAINS]
    ]
    rest = len(chains) - len(rows)
    if rest:
        rows.append(("", f"and {format_count(rest, 'more chain', 'more chains')}"))
    return rows


def _abbreviated(chain: str) -> str:
    """Name a long chain by its ends."""
    topics = chain.split(" -> ")
    if len(topics) <= _TOPICS:
        return chain
    return f"{topics[0]} -> ... -> {topics[-1]} ({len(topics)} topics)"


def _safe(text: str) -> str:
    return escape(printable(text))


def _duration(analysis: Analysis) -> str:
    return format_ns(analysis.trace.duration_ns)


def _counts(analysis: Analysis) -> tuple[str, str, str]:
    nodes = {node for process in analysis.trace.processes for node in process.nodes}
    counts = analysis.counts
    return (
        format_count(len(nodes), "node", "nodes"),
        f"{format_count(counts.published, 'message', 'messages')} published",
        f"{counts.taken:,} taken",
    )


def _verdict(analysis: Analysis) -> str:
    text = analysis.system.text
    if not text:
        return "no message was followed to the end of a callback"
    if not analysis.system.stands_out:
        return "nothing stands out"
    return _SENTENCE_END.split(text)[0].rstrip(".")
