# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of layers: where the time went, in each group of cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.schema.layers import CALLBACK, HOP_LAYERS
from strata.schema.tables.measured import CHAIN_LAYERS
from strata.study.campaign_results import Outcome, Results
from strata.study.tables.loss_evidence import cell_groups
from strata.study.tables.table import Column, Rows, Table, factor_columns

LATENCY = "latency"


def layers(results: Results, study: str, figure: Figure) -> Table:
    """Return each layer's mean, share and quantiles; the layers add up to the latency."""
    rows = listed(figure.rows)
    found = results.study(study)
    columns = (
        *factor_columns(rows),
        Column("layer", "layer"),
        Column("count", "n", form="count", text="messages that have it"),
        Column(
            "mean", "mean", "ns", "number", "over all messages; 0 for a message without the layer"
        ),
        Column("share", "share", form="share", text="of the latency"),
        Column("p50", "median", "ns", "number", "of the messages that have it"),
        Column("p99", "p99", "ns", "number"),
    )
    out, apart = Rows(columns), False
    for levels, cells in cell_groups(found, rows, figure):
        parts = [_messages(results, cell, is_of_chains=found.stated.chain) for cell in cells]
        messages = pd.concat(parts, ignore_index=True)
        apart |= bool(messages["unsynchronised"].any())
        out.rows += [{**levels, **row} for row in _layers(messages, found.stated.chain)]
    notes: tuple[str, ...] = (
        "The means of the layers add up to the mean latency exactly (sums of whole ns). The "
        "callback comes after the latency and is not part of it.",
    )
    if apart:
        notes += (
            "Messages between machines whose clocks are not synchronised are among them: their "
            "layers between the machines contain the offset of the clocks.",
        )
    empty = "" if out.rows else found.why_empty(figure.where)
    return Table("layers", "layers", columns, out.frame(), notes, empty, "layer")


def _messages(results: Results, cell: Outcome, *, is_of_chains: bool) -> pd.DataFrame:
    layers = CHAIN_LAYERS if is_of_chains else HOP_LAYERS
    table, further = ("chains", ["hops"]) if is_of_chains else ("transfers", [])
    columns = [
        "latency_ns",
        "unsynchronised",
        "warm_up",
        *further,
        *(layer.column for layer in layers),
    ]
    rows = results.measured(cell).read(table, columns)
    if is_of_chains:
        rows = rows[rows["hops"] == rows["hops"].max()]
    return rows[~rows["warm_up"]]


def _layers(messages: pd.DataFrame, is_of_chains: bool) -> list[dict[str, Any]]:
    if messages.empty:
        return []
    total = int(messages["latency_ns"].sum())
    out = [_row(LATENCY, messages["latency_ns"], len(messages), total)]
    for layer in CHAIN_LAYERS if is_of_chains else HOP_LAYERS:
        there = messages[layer.column].dropna()
        # The last hop's callback is no layer of the latency; those before are, as hold.
        if len(there):
            of = total if layer is not CALLBACK else 0
            out.append(_row(layer.name, there, len(messages), of))
    return out


def _row(name: str, values: pd.Series[int], count: int, total: int) -> dict[str, Any]:
    there = values.to_numpy(np.int64)
    p50, p99 = np.quantile(there, [0.5, 0.99])
    return {
        "layer": name,
        "count": len(there),
        "mean": int(there.sum()) / count,
        "share": int(there.sum()) / total if total else None,
        "p50": float(p50),
        "p99": float(p99),
    }
