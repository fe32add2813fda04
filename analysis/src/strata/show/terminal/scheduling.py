# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the threads of a chain's layers did, as text; where the trace has kernel events."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from rich.table import Table

from strata.analysis import Analysis
from strata.printable import printable
from strata.schema.layers import CALLBACK, HOLD
from strata.schema.rows import Rows
from strata.show.terminal.breaking import Named
from strata.stats.scheduling import STATES
from strata.symbols import shorten_place
from strata.units import format_ns

_LEAST_SHARE = 0.01
"""Of the chain's mean latency: shorter callbacks, and other layers whose threads were held up for
less, are left out."""


def worth_telling(rows: Rows, latency_ns: float) -> npt.NDArray[np.bool_]:
    """Flag rows of `chain_scheduling`: long callbacks, and layers whose threads were held up.

    Long is against `latency_ns`, the mean of the rows' chain.
    """
    held_up = rows["preempted_mean_ns"] + rows["blocked_mean_ns"]
    whole = held_up + rows["running_mean_ns"] + rows["unknown_mean_ns"]
    long = rows.words("layer").are(HOLD.name, CALLBACK.name)
    return np.asarray(np.where(long, whole, held_up) >= _LEAST_SHARE * latency_ns)


def thread_table(analysis: Analysis, chain_id: int, latency_ns: float) -> Table | None:
    """Return means of what each layer's thread did; null when nothing is known of it."""
    rows = analysis.rows("chain_scheduling")
    rows = rows.take(rows["chain_id"] == chain_id)
    rows = rows.take(worth_telling(rows, latency_ns))
    if not len(rows):
        return None
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    table.add_column("threads (means)", no_wrap=True)
    table.add_column("where; who had the CPU", overflow="fold", ratio=1)
    for name in STATES:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows.records():
        where = printable(shorten_place(row["where"]))
        if isinstance(row["preempted_by"], str) and row["preempted_mean_ns"] > 0:
            where += f"; {printable(row['preempted_by'])}"
        table.add_row(
            f"  {row['layer']}",
            Named(where),
            *(format_ns(row[f"{name}_mean_ns"]) for name in ("running", "preempted", "blocked")),
            format_ns(row["unknown_mean_ns"]) if row["unknown_mean_ns"] else "",
        )
    return table
