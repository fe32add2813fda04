# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From the analysis of a cell's session to its measured service calls, and chains of them.

A call is identified by its number: its place among its client's calls of that service, from 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.analysis import Analysis
from strata.schema.layers import HOLD
from strata.schema.quality import NOTHING_FOUND, Finding, Findings
from strata.schema.service_layers import SERVICE_LAYERS
from strata.schema.tables.measured_calls import (
    CALL_CHAIN_LAYERS,
    MEASURED_CALL_CHAINS,
    MEASURED_CALLS,
    REQUEST_LAYERS,
)
from strata.study.client_libraries import clients_of
from strata.study.hop_selection import HopSelection

Ints = npt.NDArray[np.int64]

_OF_ACTIONS = "/_action/"
NOBODY = "(nobody)"
_REQUEST_COLUMNS = [layer.column for layer in REQUEST_LAYERS]


def measured_calls(
    analysis: Analysis, wanted: HopSelection
) -> tuple[pd.DataFrame, pd.DataFrame, Findings]:
    """Return the tables measured_calls and measured_call_chains, and what is wrong with them."""
    rows = _own_calls(analysis)
    if rows.empty:
        return MEASURED_CALLS.empty(), MEASURED_CALL_CHAINS.empty(), NOTHING_FOUND
    calls = _calls(analysis, rows, wanted)
    chains = _chains(rows, calls)
    inexact = _inexact(calls, [one.column for one in SERVICE_LAYERS], "latency_ns", "end_ns")
    inexact |= _inexact(calls, _REQUEST_COLUMNS, "request_ns", "served_ns")
    of_chains = _inexact(chains, [one.column for one in CALL_CHAIN_LAYERS], "latency_ns", "end_ns")
    found = Findings(
        Finding("inexact_calls", int(inexact.sum())),
        Finding("inexact_chains", int(of_chains.sum())),
    )
    return MEASURED_CALLS.frame(calls), MEASURED_CALL_CHAINS.frame(chains), found


def _own_calls(analysis: Analysis) -> pd.DataFrame:
    """Return the calls whose request was sent in the trace, in order of time."""
    calls = analysis.service_calls
    kept = ~calls["further"] & calls["send_request_ns"].notna()
    kept &= ~calls["service"].str.contains(_OF_ACTIONS, regex=False)
    return calls[kept].sort_values("begin_ns", kind="stable").reset_index(drop=True)


def _calls(analysis: Analysis, rows: pd.DataFrame, wanted: HopSelection) -> pd.DataFrame:
    key = [rows["service"], rows["client_node"]]
    number = rows.groupby(key, sort=False, observed=True).cumcount()
    # A request that nobody took belongs to the node that took the others.
    server = rows["service_node"].astype(object)
    server = server.fillna(server.groupby(key, observed=True).transform("first")).fillna(NOBODY)
    complete = rows["complete"].to_numpy(bool)
    served = rows["callback_start_ns"]
    end_ns = rows["take_response_ns"].where(complete)
    clients = clients_of(analysis)
    names = rows["service"].astype(str), rows["client_node"].astype(str), server.astype(str)
    return pd.DataFrame(
        {
            "hop": names[0] + ": " + names[1] + " -> " + names[2],
            "service": names[0],
            "client_node": names[1],
            "service_node": names[2],
            "client_client": names[1].map(clients),
            "number": number,
            "begin_ns": rows["begin_ns"],
            "served_ns": served,
            "end_ns": end_ns,
            "request_ns": served - rows["begin_ns"],
            "latency_ns": rows["latency_ns"].astype("Int64").where(complete),
            **{one.column: rows[one.column] for one in SERVICE_LAYERS},
            "warm_up": number.to_numpy(np.int64) < wanted.warm_up,
        }
    )


def _chains(rows: pd.DataFrame, calls: pd.DataFrame) -> pd.DataFrame:
    """Return the chains of calls that were served to their end."""
    paths = _paths(rows, calls["served_ns"].notna().to_numpy(bool))
    if not paths:
        return MEASURED_CALL_CHAINS.empty()
    hops = np.array([len(path) for path in paths])
    begins = np.concatenate([[0], np.cumsum(hops)[:-1]])
    row = np.concatenate([np.asarray(path, np.int64) for path in paths])
    first, last = row[begins], row[begins + hops - 1]
    begin_ns = calls["begin_ns"].to_numpy(np.int64)
    served_ns = calls["served_ns"].to_numpy(np.int64, na_value=0)
    layers: dict[str, pd.Series[int]] = {}
    for layer in REQUEST_LAYERS:
        values = calls[layer.column].astype("Int64").to_numpy(np.int64, na_value=0)[row]
        there = calls[layer.column].notna().to_numpy(bool)[row]
        total = pd.Series(np.add.reduceat(values, begins), dtype="Int64")
        layers[layer.column] = total.where(np.logical_or.reduceat(there, begins))
    # From the callback that a request came to, to the next request.
    held = np.append(begin_ns[row][1:], 0) - served_ns[row]
    held[begins + hops - 1] = 0
    services = calls["service"].to_numpy(object)
    frame = pd.DataFrame(
        {
            "chain": [" -> ".join(services[path]) for path in paths],
            "hops": hops,
            "number": calls["number"].to_numpy(np.int64)[first],
            "begin_ns": begin_ns[first],
            "end_ns": served_ns[last],
            "latency_ns": served_ns[last] - begin_ns[first],
            **layers,
            HOLD.column: np.add.reduceat(held, begins),
            "warm_up": calls["warm_up"].to_numpy(bool)[first],
        }
    )
    return frame.sort_values(
        ["hops", "chain", "begin_ns"], ascending=[False, True, True], kind="stable"
    )


def _paths(rows: pd.DataFrame, is_served: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Follow each call into those that were made in the callback that served it, to the last."""
    served = rows["instance_id"].astype("Int64").to_numpy(np.int64, na_value=-1)
    made_in = rows["caller_instance_id"].astype("Int64").to_numpy(np.int64, na_value=-1)
    # An execution serves one call.
    of = {int(one): at for at, one in enumerate(served) if one >= 0}
    following: dict[int, list[int]] = {}
    first = []
    for at, one in enumerate(made_in.tolist()):
        before = of.get(one, -1) if one >= 0 else -1
        if before in (-1, at):
            first.append(at)
        else:
            following.setdefault(before, []).append(at)
    paths, unfinished = [], [[at] for at in first]
    while unfinished:
        path = unfinished.pop()
        if path[-1] in following:
            unfinished += [[*path, one] for one in following[path[-1]]]
        elif is_served[path[-1]]:
            paths.append(path)
    return paths


def _inexact(
    frame: pd.DataFrame, columns: list[str], duration: str, end: str
) -> npt.NDArray[np.bool_]:
    """Flag rows with a duration whose begin, end and layers do not agree to the nanosecond."""
    there = frame[duration].notna().to_numpy(bool)
    whole = frame[duration].astype("Int64").to_numpy(np.int64, na_value=0)
    between = frame[end].astype("Int64") - frame["begin_ns"].astype("Int64")
    total = np.zeros(len(frame), np.int64)
    for column in columns:
        total += frame[column].astype("Int64").to_numpy(np.int64, na_value=0)
    differs = (total != whole) | (between.to_numpy(np.int64, na_value=0) != whole)
    return np.asarray(there & differs, bool)
