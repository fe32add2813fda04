# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of service calls: what was sent, served and answered, one row per group of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from strata.campaign.model import Figure, listed
from strata.study.call_values import answered_calls
from strata.study.campaign_results import Outcome, Results
from strata.study.tables.loss_classes import Loss
from strata.study.tables.loss_evidence import cell_groups
from strata.study.tables.table import Column, Rows, Table, factor_columns


def calls(results: Results, study: str, figure: Figure) -> Table:
    """Return what became of the calls of each group of cells, and of whole chains of them."""
    rows = listed(figure.rows)
    found = results.study(study)
    columns = (
        *factor_columns(rows),
        Column("sent", "requests", form="count"),
        Column("left_out", "warm-up", form="count"),
        Column("served", "served", form="count", text="a service's callback began"),
        Column("answered", "answered", form="count", text="the calling node took the answer"),
        Column("lost", "without an answer", form="count", text="up to the last answered one"),
        Column("loss", "loss", "%", "percent", "without an answer, of both"),
        Column("at_most", "loss at most", "%", "percent", "one-sided bound of 95 %"),
        Column("unserved", "of these not served", form="count", text="no service took them"),
        Column("after_last", "after the last", form="count", text="in flight at the end, or lost"),
        Column("chains", "chains", form="count", text="that came to the last service"),
        Column("begun", "chains begun", form="count", text="requests of the first service"),
    )
    out = Rows(columns)
    for levels, cells in cell_groups(found, rows, figure):
        out.rows.append({**levels, **_row(results, cells)})
    notes = (
        "Without an answer: requests up to the last one that was answered, of each service and "
        "calling node. Which end lost one is not known: a request that no service took, or an "
        "answer that was not taken.",
    )
    empty = "" if out.rows else found.why_empty(figure.where)
    return Table("calls", "service calls", columns, out.frame(), notes, empty, "call_loss")


def _row(results: Results, cells: Sequence[Outcome]) -> dict[str, Any]:
    row = dict.fromkeys(
        ("sent", "left_out", "served", "answered", "lost", "unserved", "after_last", "chains"), 0
    )
    begun = 0
    for cell in cells:
        measured = results.measured(cell)
        every = measured.read("calls", ["service", "warm_up"])
        counted = answered_calls(measured)
        answered = counted["is_answered"]
        row["sent"] += len(every)
        row["left_out"] += int(every["warm_up"].sum())
        row["served"] += int(counted["is_served"].sum())
        row["answered"] += int(answered.sum())
        row["lost"] += int((~answered).sum())
        row["unserved"] += int((~answered & ~counted["is_served"]).sum())
        row["after_last"] += int((~every["warm_up"]).sum()) - len(counted)
        chains = measured.read("call_chains", ["chain", "hops", "warm_up"])
        chains = chains[(chains["hops"] == chains["hops"].max()) & ~chains["warm_up"]]
        row["chains"] += len(chains)
        begun += _begun(every, chains)
    loss = Loss(row["lost"], row["answered"] + row["lost"])
    return {**row, "begun": begun, "loss": loss.percent, "at_most": loss.at_most}


def _begun(every: pd.DataFrame, chains: pd.DataFrame) -> int:
    first = {str(name).split(" -> ")[0] for name in chains["chain"].unique()}
    return int((every["service"].isin(first) & ~every["warm_up"]).sum())
