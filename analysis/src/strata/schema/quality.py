# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of what can be wrong with a trace or uncertain in a result.

Every stage adds counts under a declared code; the counts travel with every result. A code has a
severity: *info* (explains a number), *warning* (results are right but partial, or inferred), *loss*
(data are missing: what was not seen may exist).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters to the numbers."""

    INFO = "info"
    WARNING = "warning"
    LOSS = "loss"


@dataclass(frozen=True)
class Diagnostic:
    """One thing that can be found; `text` may use ``{count}``."""

    code: str
    severity: Severity
    text: str


_CATALOGUE = (
    Diagnostic(
        "discarded_events",
        Severity.LOSS,
        "{count} events were discarded by the tracer because its buffers were full: anything "
        "unmatched is suspect. Record again with more or larger sub-buffers (num_subbuf, "
        "subbuf_size).",
    ),
    Diagnostic(
        "lost_packets",
        Severity.LOSS,
        "{count} packets are missing from the sequence of a stream (overwritten or not written).",
    ),
    Diagnostic(
        "truncated_streams",
        Severity.LOSS,
        "{count} stream files end inside a packet; they were read up to their last whole packet.",
    ),
    Diagnostic(
        "truncated_bytes",
        Severity.LOSS,
        "{count} bytes at the ends of stream files belong to no whole packet and were not read.",
    ),
    Diagnostic(
        "unreadable_traces",
        Severity.LOSS,
        "{count} trace directories below the path could not be read and were left out.",
    ),
    Diagnostic(
        "unreadable_bytes",
        Severity.LOSS,
        "{count} bytes of stream files could not be decoded (damaged, or not as the metadata say); "
        "what is around them was read.",
    ),
    Diagnostic(
        "packets_before_trace",
        Severity.INFO,
        "{count} packets were written before the first ones that the trace holds (a snapshot, or "
        "files that a tracefile count let go).",
    ),
    Diagnostic(
        "duplicate_packets",
        Severity.INFO,
        "{count} packets stand twice (overlapping snapshots); they were read once.",
    ),
    Diagnostic(
        "out_of_order_events",
        Severity.WARNING,
        "{count} events are earlier than one before them in their stream (the clock went back); "
        "they were sorted by their time.",
    ),
    Diagnostic(
        "mistyped_values",
        Severity.WARNING,
        "{count} values are of another type than their column and are null.",
    ),
    Diagnostic("empty_streams", Severity.INFO, "{count} stream files hold no packet."),
    Diagnostic(
        "no_init_events",
        Severity.WARNING,
        "{count} processes have no init events: tracing began after they did. Their nodes, topics "
        "and callbacks are unnamed; messages are matched by source timestamp alone. Start the "
        "session before the nodes.",
    ),
    Diagnostic(
        "missing_contexts",
        Severity.LOSS,
        "{count} events carry no vpid or vtid context and cannot be attributed to a thread; they "
        "were left out of the model. Record the contexts vpid and vtid.",
    ),
    Diagnostic(
        "untaken_publications",
        Severity.INFO,
        "{count} published messages were taken by nobody in the trace (no subscription, a taker "
        "outside the trace, a full queue, or the trace ended first).",
    ),
    Diagnostic(
        "unmatched_takes",
        Severity.WARNING,
        "{count} taken messages have no publication in the trace (published outside it, before it "
        "began, or lost by the tracer).",
    ),
    Diagnostic(
        "ambiguous_matches",
        Severity.WARNING,
        "{count} takes could belong to several publications with one topic and source timestamp; "
        "they were not matched.",
    ),
    Diagnostic(
        "inferred_matches",
        Severity.WARNING,
        "{count} takes were matched by source timestamp alone, because a topic is unknown.",
    ),
    Diagnostic(
        "out_of_order_matches",
        Severity.WARNING,
        "{count} matched messages were taken before they were published by the trace's clocks "
        "(unsynchronised hosts); they were left out of the layers.",
    ),
    Diagnostic(
        "takes_without_source_timestamp",
        Severity.INFO,
        "{count} takes carry no source timestamp (the middleware's own graph topics) and are no "
        "messages of the application.",
    ),
    Diagnostic(
        "graph_publications",
        Severity.INFO,
        "{count} publications belong to no rcl publisher (the middleware's own graph topics) and "
        "are no messages of the application.",
    ),
    Diagnostic("empty_takes", Severity.INFO, "{count} takes found nothing to take (taken = 0)."),
    Diagnostic(
        "publications_without_timestamp",
        Severity.WARNING,
        "{count} publications carry no source timestamp (ROS 2 Iron or older) and cannot be "
        "matched exactly.",
    ),
    Diagnostic(
        "publications_without_client_event",
        Severity.INFO,
        "{count} publications have an rmw_publish only; their client publish layer is unknown.",
    ),
    Diagnostic(
        "takes_without_callback",
        Severity.INFO,
        "{count} taken messages started no callback that was recorded (a client library without "
        "callback events, an intra-process duplicate, or the trace ended first).",
    ),
    Diagnostic(
        "callbacks_without_end",
        Severity.WARNING,
        "{count} callbacks began and never ended in the trace (an exception, or the trace ended "
        "first); they have no duration.",
    ),
    Diagnostic(
        "callback_ends_without_start",
        Severity.WARNING,
        "{count} callbacks ended without having begun in the trace (it began late, or events were "
        "lost).",
    ),
    Diagnostic(
        "messages_without_executor_events",
        Severity.INFO,
        "{count} messages were taken by threads without executor events: middleware and executor "
        "wait cannot be told apart for them.",
    ),
    Diagnostic(
        "truncated_chains",
        Severity.INFO,
        "{count} messages began a chain that did not reach its end in the trace.",
    ),
    Diagnostic(
        "intra_process_messages",
        Severity.WARNING,
        "{count} messages went through intra-process buffers, which this version does not match.",
    ),
)

CATALOGUE: dict[str, Diagnostic] = {item.code: item for item in _CATALOGUE}


@dataclass
class Ledger:
    """Counts of findings by code; only declared codes are accepted."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, code: str, count: int) -> None:
        """Add `count` findings (0 adds nothing); raises KeyError for an undeclared code."""
        if code not in CATALOGUE:
            raise KeyError(code)
        if count:
            self.counts[code] = self.counts.get(code, 0) + int(count)

    def merge(self, other: Ledger) -> None:
        """Add all counts of another ledger."""
        for code, count in other.counts.items():
            self.add(code, count)

    def rows(self) -> list[dict[str, str | int]]:
        """Findings, the worst first, as rows of the `quality` table."""
        order = {Severity.LOSS: 0, Severity.WARNING: 1, Severity.INFO: 2}
        found = sorted(self.counts, key=lambda code: (order[CATALOGUE[code].severity], code))
        return [
            {
                "code": code,
                "count": self.counts[code],
                "severity": CATALOGUE[code].severity.value,
                "text": CATALOGUE[code].text.format(count=f"{self.counts[code]:,}"),
            }
            for code in found
        ]
