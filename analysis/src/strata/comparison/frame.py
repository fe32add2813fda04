# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison as a data frame, one row per latency and layer, with units in the columns' names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strata.lazy import pandas as pd
from strata.printable import printable
from strata.symbols import shorten
from strata.units import format_ns

if TYPE_CHECKING:
    import pandas

    from strata.comparison.comparison import Block, Comparison, Row


def rows_frame(comparison: Comparison) -> pandas.DataFrame:
    """Return the rows of all blocks, in their order (`Comparison.rows`)."""
    rows = [_row(comparison, block, row) for block in comparison.blocks for row in block.rows]
    return pd.DataFrame(rows)


def relevant_html(comparison: Comparison) -> str:
    """Return the relevant rows as a table to read; nothing where there are none."""
    rows = rows_frame(comparison)
    if rows.empty or not rows["relevant"].any():
        return ""
    shown = [
        {
            "": row["kind"],
            "name": printable(shorten(str(row["name"]))),
            "where": printable(str(row["where"])),
            "layer": "" if pd.isna(row["layer"]) else row["layer"],
            "A p50": format_ns(row["a_p50_ns"]),
            "B p50": format_ns(row["b_p50_ns"]),
            "shift": format_ns(row["shift_ns"]),
            "95 %": " to ".join(format_ns(row[f"shift_{end}_ns"]) for end in ("low", "high")),
            "verdict": row["verdict"],
        }
        for row in rows[rows["relevant"]].to_dict("records")
    ]
    return str(pd.DataFrame(shown).to_html(index=False, border=0))


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
