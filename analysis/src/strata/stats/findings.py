# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What was found, as the table `quality`."""

from __future__ import annotations

import pandas as pd

from strata.schema import tables
from strata.schema.quality import Ledger
from strata.units import format_ns


def quality_frame(ledger: Ledger, begin_ns: int) -> pd.DataFrame:
    """Return the table `quality`; its texts tell times from the trace's begin on."""
    rows = ledger.rows()
    for row in rows:
        ends = [row[name] for name in ("begin_ns", "end_ns")]
        first, *last = dict.fromkeys(
            f"+{format_ns(int(ns) - begin_ns)}" for ns in ends if ns is not None
        ) or [""]
        if first:
            row["text"] = f"{row['text']} When: {' to '.join([first, *last])}."
    # Not by way of floats, which have no nanoseconds since the epoch.
    return tables.QUALITY.frame(pd.DataFrame(rows, columns=tables.QUALITY.names, dtype=object))
