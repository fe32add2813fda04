# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the engine found wrong, with its places in words."""

from __future__ import annotations

import numpy as np

from strata.engine.tables import EngineTables
from strata.model.columns import Ints
from strata.model.entities import Entities
from strata.model.naming import callback_places, subscription_places
from strata.schema.quality import Finding, Findings

_NO_PLACE, _SUBSCRIPTION, _CALLBACK, _EVENT, _PROCESS = range(5)
"""PlaceKind of native/model/ledger.hpp."""


_COUNTED_BY_LAYERS = frozenset({"inferred_notifications", "refused_sends", "incomplete_samples"})


def findings_of_engine(tables: EngineTables, entities: Entities, callback_of: Ints) -> Findings:
    """Return what the engine found wrong, with its places in words."""
    subscriptions = np.arange(len(entities.subscriptions))
    takers = [*subscription_places(entities, subscriptions), ""]
    every = np.arange(len(entities.callbacks.address))
    callbacks = [*callback_places(entities.callbacks, every), ""]
    found: list[Finding] = []
    of_processes: dict[str, list[int]] = {}
    for code, kind, row, count, first_ns, last_ns in tables.engine.findings:
        if code in _COUNTED_BY_LAYERS:
            continue
        if kind == _PROCESS:
            of_processes.setdefault(code, []).append(int(tables.process_number[row]))
            continue
        place = ""
        if kind == _SUBSCRIPTION:
            place = takers[row]
        elif kind == _CALLBACK:
            place = callbacks[callback_of[row]]
        span_ns = (first_ns, last_ns) if first_ns <= last_ns else None
        found.append(Finding(code, count, place=place, span_ns=span_ns))
    for code, processes in of_processes.items():
        found.append(Finding(code, len(processes), _names(tables, sorted(processes))))
    return Findings(*found)


def _names(tables: EngineTables, processes: list[int]) -> tuple[str, ...]:
    rows = tables.process_order[processes]
    host, vpid = tables.text("processes", "host")[rows], tables.rows["processes"]["vpid"][rows]
    return tuple(f"{number} on {name}" for number, name in zip(vpid.tolist(), host, strict=True))
