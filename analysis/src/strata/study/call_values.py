# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The values of the measures of service calls in one cell, as those of measure_values."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.schema.service_layers import SERVICE_LAYERS
from strata.study.cell_tables import CellTables
from strata.study.measure_values import Context, message_values


def call_latency(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of the time from a request until its answer was taken."""
    rows = measured.read("calls", ["hop", "number", "end_ns", "latency_ns", "warm_up"])
    return message_values(rows, "latency_ns", "hop")


def request_latency(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of the time from a request to the start of the service's callback."""
    columns = ["hop", "number", "served_ns", "request_ns", "warm_up"]
    rows = measured.read("calls", columns).rename(columns={"served_ns": "end_ns"})
    return message_values(rows, "request_ns", "hop")


def call_chain_latency(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of the time from a first request to the start of the last service's callback.

    Of the longest chains.
    """
    columns = ["chain", "hops", "number", "end_ns", "latency_ns", "warm_up"]
    rows = measured.read("call_chains", columns)
    return message_values(rows[rows["hops"] == rows["hops"].max()], "latency_ns", "chain")


def call_loss(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of the share of calls without an answer, one per calling node and service."""
    out = []
    for hop, own in answered_calls(measured).groupby("hop", sort=False, observed=True):
        lost = int((~own["is_answered"]).sum())
        out.append((str(hop), pd.NA, 100.0 * lost / len(own), lost, len(own)))
    return pd.DataFrame(out, columns=["hop", "number", "value", "lost", "expected"])


def answered_calls(measured: CellTables) -> pd.DataFrame:
    """Return the calls up to the last one of each that was answered, without the warm-up.

    Of calls without any answer all. Further columns: `is_answered`, `is_served`.
    """
    rows = measured.read("calls", ["hop", "number", "served_ns", "end_ns", "warm_up"])
    rows = rows[~rows["warm_up"]].assign(
        is_answered=rows["end_ns"].notna(), is_served=rows["served_ns"].notna()
    )
    last = rows["number"].where(rows["is_answered"]).groupby(rows["hop"]).transform("max")
    return rows[last.isna() | (rows["number"] <= last)]


def call_layer(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of the mean of each layer over the answered calls of a hop."""
    columns = ["hop", "latency_ns", "warm_up", *(one.column for one in SERVICE_LAYERS)]
    rows = measured.read("calls", columns)
    rows = rows[~rows["warm_up"] & rows["latency_ns"].notna()]
    out = []
    for hop, own in rows.groupby("hop", sort=False, observed=True):
        for place, one in enumerate(SERVICE_LAYERS):
            values = own[one.column].dropna().to_numpy(np.int64)
            if len(values):
                out.append((str(hop), one.name, place, int(values.sum()) / len(own)))
    return pd.DataFrame(out, columns=["hop", "layer", "number", "value"])
