# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was found, as the table `quality`."""

from __future__ import annotations

from strata.schema import tables
from strata.schema.quality import Findings
from strata.schema.rows import Rows
from strata.units import format_ns


def quality_rows(findings: Findings, begin_ns: int) -> Rows:
    """Return the table `quality`; its texts tell times from the trace's begin on."""
    rows = findings.rows()
    for row in rows:
        ends = [row[name] for name in ("begin_ns", "end_ns")]
        first, *last = dict.fromkeys(
            f"+{format_ns(int(ns) - begin_ns)}" for ns in ends if ns is not None
        ) or [""]
        if first:
            row["text"] = f"{row['text']} When: {' to '.join([first, *last])}."
    return Rows.of_records(tables.QUALITY, rows)
