# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What client and server of `live/programs/service_calls.py` wrote down; what holds of calls."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd

from strata.analysis import Analysis
from strata.read import open_trace
from strata.schema.service_layers import SERVICE_LAYERS

LAYERS = [layer.column for layer in SERVICE_LAYERS]
MUTE_CALLS = 3
WORK_NS = 2_000_000


def stamps(session: Path) -> pd.DataFrame:
    """One row a call of /work: send, start, end and response, on the clock of the trace."""
    (offset,) = set(open_trace(session).clock_offsets_ns.values())
    rows = pd.concat(pd.read_csv(session / "truth" / f"{who}.csv") for who in ("client", "server"))
    return rows.pivot(index="call", columns="event", values="t_mono_ns") + offset


def check_sums(calls: pd.DataFrame) -> None:
    assert (calls[LAYERS].sum(axis=1) == calls["latency_ns"]).all()
    assert not (calls[LAYERS] < 0).any(axis=None)


def calls_of(analysis: Analysis, service: str) -> pd.DataFrame:
    calls = analysis.service_calls[analysis.service_calls["service"] == service]
    return calls.sort_values("sequence_number", ignore_index=True)


def check_work(analysis: Analysis, session: Path) -> None:
    """Calls of /work agree with what the nodes wrote, one by one and in every layer."""
    own = stamps(session)
    calls = calls_of(analysis, "/work")
    check_sums(analysis.service_calls)
    assert len(calls) == len(own) > 0
    assert calls["complete"].all()
    assert (calls["method"] == "gid+sequence").all()
    assert (calls["confidence"] == "exact").all()
    assert set(calls["client_node"]) == {"/client"}
    assert set(calls["service_node"]) == {"/server"}
    assert calls["client_object_id"].nunique() == calls["client_gid"].nunique() == 1

    # The client numbers its calls as the program does. Every event lies where the program was: the
    # request is sent after the program's stamp, the service's stamps lie in the callback, ..
    traced = calls[[f"{name}_ns" for name in CHECKPOINTS]].to_numpy(np.int64)
    sent, taken, start, end, answered, got = traced.T
    assert (own["send"] < sent).all()
    assert (taken < start).all()
    assert (start < own["start"]).all()
    assert (own["end"] < end).all()
    assert (end < answered).all()
    assert (got < own["response"]).all()
    # .. and not far from it.
    latency = (own["response"] - own["send"]).to_numpy(np.int64)
    assert 0 < np.median(latency - calls["latency_ns"].to_numpy(np.int64)) < 3_000_000
    callback = (own["end"] - own["start"]).to_numpy(np.int64)
    assert 0 < np.median(calls["callback_ns"].to_numpy(np.int64) - callback) < 1_000_000

    # Sent from the timer's callback, served by the service's.
    symbols = symbols_of(analysis)
    assert set(symbols[calls["caller_instance_id"]]) == {"__main__.Client.on_tick"}
    assert set(symbols[calls["instance_id"]]) == {"__main__.Server.on_work"}
    assert calls["instance_id"].is_unique


CHECKPOINTS = (
    "send_request",
    "take_request",
    "callback_start",
    "callback_end",
    "send_response",
    "take_response",
)


def check_matrix(calls: pd.DataFrame, session: Path) -> None:
    """Calls of `live/programs/service_matrix.py` agree with what its processes wrote, one by one.

    The n-th call of a client by its sequence number is the n-th that the program sent; the callback
    that served it is the one which wrote down that client and number.
    """
    (offset,) = set(open_trace(session).clock_offsets_ns.values())
    rows = pd.concat(pd.read_csv(path) for path in sorted((session / "truth").glob("*.csv")))
    own = rows.pivot(
        index=["client", "service", "number"], columns="event", values="t_mono_ns"
    ).reset_index()
    assert len(calls) == len(own) == 150
    check_sums(calls)
    calls = calls.assign(
        client=calls["client_node"].str[1:],
        number=calls.groupby(["client_node", "service"])["sequence_number"].rank().astype(int) - 1,
    )
    both = own.merge(calls, on=["client", "service", "number"], validate="one_to_one")
    assert len(both) == len(own)
    assert both["response"].notna().all()
    assert both["complete"].all()
    order = [
        both["send"] + offset,
        *(both[f"{name}_ns"] for name in CHECKPOINTS[:3]),
        both["start"] + offset,
        both["end"] + offset,
        *(both[f"{name}_ns"] for name in CHECKPOINTS[3:]),
        both["response"] + offset,
    ]
    for before, after in pairwise(order):
        assert (before.astype(np.int64) < after.astype(np.int64)).all()


def symbols_of(analysis: Analysis) -> pd.Series:
    """The symbol of the callback of each execution."""
    names = analysis.callback_objects.set_index("callback_id")["symbol"]
    return analysis.callback_instances.set_index("instance_id")["callback_id"].map(names)


def check_mute(analysis: Analysis) -> None:
    """Calls of /mute, whose node never spins, are there and have no end."""
    calls = calls_of(analysis, "/mute")
    assert len(calls) == MUTE_CALLS
    assert not calls["complete"].any()
    assert calls["take_request_ns"].isna().all()
    assert (calls["latency_ns"] == 0).all()
    counts = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert counts["untaken_requests"] == MUTE_CALLS
    services = analysis.services.set_index("service")
    assert services.loc["/mute", ["count", "lost"]].tolist() == [MUTE_CALLS, MUTE_CALLS]
    assert services.loc["/mute", "service_node"] == "(unknown)"


def waited_behind(analysis: Analysis, symbol: str) -> pd.DataFrame:
    """Calls of /work that were sent while a callback ran; `blocked_ns` is the rest of its run."""
    calls = calls_of(analysis, "/work")
    runs = analysis.callback_instances.set_index("instance_id")[symbols_of(analysis) == symbol]
    both = calls.merge(runs[["start_ns", "end_ns"]], how="cross")
    sent = both["send_request_ns"]
    both = both[(both["start_ns"] < sent) & (sent < both["end_ns"])]
    assert (both["end_ns"] < both["take_request_ns"]).all()
    return both.assign(blocked_ns=both["end_ns"] - both["send_request_ns"])
