# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison as a data frame, one row per latency and layer, with units in the columns' names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strata.lazy import pandas as pd

if TYPE_CHECKING:
    import pandas

    from strata.comparison.comparison import Block, Comparison, Row


def rows_frame(comparison: Comparison) -> pandas.DataFrame:
    """Return the rows of all blocks, in their order (`Comparison.rows`)."""
    rows = [_row(comparison, block, row) for block in comparison.blocks for row in block.rows]
    return pd.DataFrame(rows)


def _row(comparison: Comparison, block: Block, row: Row) -> dict[str, Any]:
    found, subject = row.difference, block.subject
    shift = found.shift if found else None
    moved = found.quantiles if found else {}
    return {
        "kind": subject.kind,
        "name": subject.name,
        "where": subject.where,
        "layer": row.layer,
        "place": row.place,
        "a_count": row.a.count if row.a else 0,
        "b_count": row.b.count if row.b else 0,
        "a_p50_ns": row.a.p50 if row.a else None,
        "b_p50_ns": row.b.p50 if row.b else None,
        "a_p99_ns": row.a.p99 if row.a else None,
        "b_p99_ns": row.b.p99 if row.b else None,
        "difference_mean_ns": row.mean_ns,
        "shift_ns": shift.value if shift else None,
        "shift_low_ns": shift.low if shift else None,
        "shift_high_ns": shift.high if shift else None,
        **{
            f"shift_{name}_ns": moved[name].value if name in moved else None
            for name in dict.fromkeys(("p50", "p99", *comparison.quantiles))
        },
        "p": row.p,
        "effect": found.effect if found else None,
        "verdict": row.verdict.value,
        "relevant": comparison.is_relevant(block, row),
    }
