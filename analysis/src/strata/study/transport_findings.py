# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Cells whose messages another transport carried than their RMW profile is meant to use."""

from __future__ import annotations

from collections.abc import Iterator

from strata.schema.transports import ZENOH_SHM
from strata.study.campaign_results import Results
from strata.study.cell_transports import CellTransports, cell_transports
from strata.study.process_resources import ZenohPools
from strata.study.report_contents import Finding
from strata.study.wording import count_words

_MIB = 2**20


def transport_findings(results: Results) -> Iterator[Finding]:
    """Give a finding for each profile of shared memory that messages did not use.

    It has the counts of the cell with most such messages, and the number of these cells.
    """
    otherwise: dict[str, list[tuple[str, CellTransports]]] = {}
    unused: dict[str, list[tuple[str, ZenohPools]]] = {}
    for study in results.studies.values():
        for outcome in study.finished:
            found = cell_transports(results, outcome)
            if found.otherwise:
                otherwise.setdefault(found.profile, []).append((outcome.id, found))
            if found.unused_pools:
                unused.setdefault(found.profile, []).append((outcome.id, found.unused_pools))
    for profile, cells in otherwise.items():
        where, most = max(cells, key=lambda one: sum(one[1].otherwise.values()))
        text = _of_others(profile, most)
        yield Finding("warning", text, len(cells), where, code="other_transport")
    for profile, pools in unused.items():
        where, first = pools[0]
        text = _of_zenoh(profile, first)
        yield Finding("warning", text, len(pools), where, code="unused_shared_memory")


def _of_others(profile: str, cell: CellTransports) -> str:
    by = sorted(cell.otherwise.items(), key=lambda one: -one[1])
    told = " and ".join(f"{count:,} by {name}" for name, count in by)
    total = sum(cell.messages.values())
    return (
        f"RMW profile {profile} is meant to use {cell.meant}, but {sum(cell.otherwise.values()):,} "
        f"of {total:,} measured messages were carried otherwise: {told}"
    )


def _of_zenoh(profile: str, pools: ZenohPools) -> str:
    why = "no process made a pool of it"
    if pools.made:
        why = (
            "no process was seen to read from the pool of another "
            f"({count_words(pools.made, 'pool', 'pools')} with {pools.size_bytes / _MIB:,.0f} MiB)"
        )
    return (
        f"RMW profile {profile} is meant to use the {ZENOH_SHM}, but {why}: messages between "
        "processes went over TCP"
    )
