# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A chain as a user names it: by its topics, or by its number."""

from __future__ import annotations

from strata.analysis import Analysis
from strata.errors import TraceError
from strata.nearest import nearest_first
from strata.schema.chain_text import topics_of


def chain_id_of(analysis: Analysis, chain: str | int | None) -> int | None:
    """Return the `chain_id` of a chain: of its topics, its number, or the first one for null.

    Of several chains over the same topics it is the busiest. Null where the trace has no chain and
    none was named. Raises TraceError for one that is not there, and ValueError for a text that is
    not a chain.
    """
    chains = analysis.rows("chains")
    if chain is None:
        return 0 if len(chains) else None
    names = [str(name) for name in chains.texts("name")]
    if isinstance(chain, int):
        if 0 <= chain < len(chains):
            return chain
        raise TraceError(
            f"Cannot choose chain {chain}: the trace has {len(chains)}, numbered from 0 "
            "(chain_id of the table chains)."
        )
    wanted = " -> ".join(topics_of(chain))
    if wanted in names:
        return names.index(wanted)
    known = nearest_first(wanted, list(dict.fromkeys(names)), most=3)
    raise TraceError(
        f"Cannot choose chain {wanted}: no chain of the trace has these topics. Its chains: "
        f"{known}. A part of a chain is analyzed with `strata.analyze(..., chain=...)`."
    )
