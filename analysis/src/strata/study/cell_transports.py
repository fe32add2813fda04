# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What carried the messages of a cell, beside what its RMW profile is meant to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from strata.errors import StrataError
from strata.read.manifest import read_manifest
from strata.record.profiles import load_profile
from strata.schema.transports import WITHIN_A_PROCESS, ZENOH_SHM
from strata.study.campaign_results import Outcome, Results
from strata.study.process_resources import ZenohPools, is_of_several_hosts, zenoh_pools

NOT_RECORDED = ""
_THRESHOLD = "ZENOH_SHM_MESSAGE_SIZE_THRESHOLD"
_DEFAULT_THRESHOLD = 3072
"""Of Zenoh: messages shorter than so many bytes never go to its shared memory."""
_POOL_SIZE = "ZENOH_SHM_ALLOC_SIZE"
_DEFAULT_POOL_SIZE = 16 << 20
"""Of Zenoh: bytes of a pool."""


@dataclass(frozen=True)
class CellTransports:
    """Measured messages of a cell by the transport that carried them; NOT_RECORDED for unknown.

    `profile` names the RMW profile, empty without one. `meant` is the kind of shared memory that
    the profile is meant to use, empty for none, and for hosts that are connected, between which
    there is none. `pools` are those of Zenoh's shared memory, null where the runner did not look
    for them; `fits_pools` tells whether the longest measured message is long enough to go there,
    and the pools are large enough to be seen.
    """

    messages: Mapping[str, int]
    profile: str
    meant: str
    pools: ZenohPools | None
    fits_pools: bool

    @property
    def otherwise(self) -> dict[str, int]:
        """Count messages between processes that another transport carried than was meant.

        What was not recorded is not among them. Zenoh's are never recorded.
        """
        if not self.meant:
            return {}
        as_meant = {self.meant, NOT_RECORDED, *WITHIN_A_PROCESS}
        return {name: count for name, count in self.messages.items() if name not in as_meant}

    @property
    def unused_pools(self) -> ZenohPools | None:
        """Return the pools of Zenoh where they are meant and no process read another's; else null.

        A pool that is read between two samples alone is not seen, which takes a process that ends
        within one.
        """
        is_meant = self.meant == ZENOH_SHM and self.fits_pools
        return self.pools if is_meant and self.pools and not self.pools.shared else None


def cell_transports(results: Results, outcome: Outcome) -> CellTransports:
    """Return what carried the measured messages of a finished cell, without the warm-up.

    Tables and findings ask for the same cells.
    """
    return results.once("transports", outcome.id, lambda: _cell_transports(results, outcome))


def _cell_transports(results: Results, outcome: Outcome) -> CellTransports:
    measured = results.measured(outcome)
    rows = measured.read("transfers", ["transport", "warm_up"])
    counts = rows.loc[~rows["warm_up"], "transport"].fillna(NOT_RECORDED).value_counts()
    sizes = measured.read("hops", ["payload_bytes"])["payload_bytes"].dropna()
    profile = (read_manifest(outcome.directory) or {}).get("rmw_profile") or {}
    variables = profile.get("variables") or {}
    shortest = int(variables.get(_THRESHOLD) or _DEFAULT_THRESHOLD)
    pool_size = int(variables.get(_POOL_SIZE) or _DEFAULT_POOL_SIZE)
    pools = zenoh_pools(outcome.directory)
    is_seen = pools is not None and pool_size >= pools.least_bytes
    is_connected = bool(outcome.cell.hosts) or is_of_several_hosts(outcome.directory)
    return CellTransports(
        messages={str(name): int(count) for name, count in counts.items()},
        profile=str(profile.get("name") or ""),
        meant="" if is_connected else _meant_by(profile),
        pools=pools,
        fits_pools=is_seen and bool(len(sizes)) and int(sizes.max()) >= shortest,
    )


def _meant_by(profile: Mapping[str, Any]) -> str:
    """Return what a manifest's profile is meant to use.

    Manifests of before do not say so: then it is what the shipped profile of that name says, unless
    its content is another one.
    """
    if "meant_transport" in profile:
        return str(profile["meant_transport"] or "")
    return _meant_by_shipped(str(profile.get("name") or ""), str(profile.get("sha256") or ""))


@cache
def _meant_by_shipped(name: str, sha256: str) -> str:
    if not name or Path(name).name != name:
        return ""
    try:
        shipped = load_profile(name)
    except StrataError:
        return ""
    return shipped.meant if sha256 in ("", shipped.sha256) else ""
