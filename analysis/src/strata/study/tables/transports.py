# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of transports: what carried the messages of each group of cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from strata.campaign.model import Figure, listed
from strata.schema import transports as names
from strata.study.campaign_results import Results
from strata.study.cell_transports import CellTransports, cell_transports
from strata.study.tables.loss_evidence import cell_groups
from strata.study.tables.table import Column, Rows, Table, factor_columns

_BY = {
    "by_udp": ("UDP", (names.UDP_V4, names.UDP_V6), "sockets"),
    "by_tcp": ("TCP", (names.TCP_V4, names.TCP_V6), "sockets"),
    "by_shm": (names.SHM, (names.SHM,), "Fast DDS' transport over shared memory"),
    "by_data_sharing": (names.DATA_SHARING, (names.DATA_SHARING,), "read in place"),
    "by_iceoryx": (names.ICEORYX, (names.ICEORYX,), "shared memory of Cyclone DDS"),
    "by_intra_process": (names.INTRA_PROCESS, (names.INTRA_PROCESS,), "by the middleware"),
    "by_ring_buffer": (names.RING_BUFFER, (names.RING_BUFFER,), "by rclcpp within a process"),
}
_MIB = 2**20


def transports(results: Results, study: str, figure: Figure) -> Table:
    """Return the share of received messages by the transport that carried them.

    The shares of a row and `not recorded` add up to all of its messages. A transport that carried
    nothing in any row has no column.
    """
    rows, found = listed(figure.rows), results.study(study)
    columns = _columns(rows)
    out = Rows(columns)
    for levels, cells in cell_groups(found, rows, figure):
        row = _row([cell_transports(results, cell) for cell in cells])
        out.rows.append({**levels, **row})
    for key in _BY:
        if not any(row[key] for row in out.rows):
            out.rows = [{**row, key: None} for row in out.rows]
    empty = "" if out.rows else found.why_empty(figure.where)
    return Table(
        "transports", "what carried the messages", columns, out.frame(), _notes(out.rows), empty
    )


def _columns(rows: Sequence[str]) -> tuple[Column, ...]:
    return (
        *factor_columns(rows),
        Column("received", "received", form="count", text="measured messages"),
        Column("meant", "meant", text="by the RMW profile, of kinds of shared memory"),
        *(Column(key, label, form="share", text=text) for key, (label, _, text) in _BY.items()),
        Column("not_recorded", "not recorded", form="share"),
        Column(
            "otherwise",
            "otherwise",
            form="count",
            text="recorded messages between processes that were not carried as meant",
        ),
        Column("pools", "Zenoh's pools", "MiB", "number", "shared memory that its processes made"),
        Column(
            "shared_pools",
            "pools read",
            form="count",
            text="of these: mapped by another process, which it is to read a message",
        ),
    )


def _notes(rows: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    if any(row["not_recorded"] for row in rows):
        notes = (
            "Not recorded: messages of a middleware without hooks (Zenoh), or of which the events "
            "of the DDS layer are missing.",
        )
    if any(row["pools"] is not None for row in rows):
        notes += (
            "Zenoh's pools: of several cells of a row those of the one with most MiB, and the "
            "lowest number of pools that were read.",
        )
    return notes


def _row(cells: Sequence[CellTransports]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for cell in cells:
        counts.update(cell.messages)
    total = sum(counts.values())
    known = {name for _, words, _ in _BY.values() for name in words}
    unknown = sum(count for name, count in counts.items() if name not in known)
    meant = dict.fromkeys(cell.meant for cell in cells if cell.meant)
    looked = [cell.pools for cell in cells if cell.pools is not None]
    # Of a run without Zenoh there is nothing to say.
    pools = looked if names.ZENOH_SHM in meant or any(one.made for one in looked) else []
    return {
        "received": total,
        "meant": ", ".join(meant) or None,
        **{
            key: sum(counts[word] for word in words) / total if total else None
            for key, (_, words, _) in _BY.items()
        },
        "not_recorded": unknown / total if total else None,
        # Of messages of which nothing was recorded, none is known to have gone otherwise.
        "otherwise": sum(sum(one.otherwise.values()) for one in cells)
        if meant and unknown < total
        else None,
        "pools": max(one.size_bytes for one in pools) / _MIB if pools else None,
        "shared_pools": min(one.shared for one in pools) if pools else None,
    }
