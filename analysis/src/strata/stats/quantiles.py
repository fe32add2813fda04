# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantiles that the user chose, of everything that has statistics: the table `quantiles`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.schema import tables
from strata.schema.layers import HOP_LAYERS
from strata.schema.rows import NONE, Flags, Floats, Ints, Rows
from strata.stats._grouped import Groups
from strata.stats.callbacks import executions_of
from strata.stats.transfers import counted


def name_of(fraction: float) -> str:
    """Return "p99.9" for 0.999."""
    return f"p{100 * fraction:.10g}"


@dataclass(frozen=True)
class _Values:
    """Durations of one kind: `number` and `hop` name the group of each, `NONE` for none."""

    of: str
    number: Ints
    duration_ns: Ints
    layer: str | None = None
    hop: Ints | None = None


def quantile_rows(
    messages: Rows, instances: Rows, segments: Rows, executions: Rows, fractions: Sequence[float]
) -> Rows:
    """Return the table `quantiles`, ascending by what they are of; no rows without `fractions`.

    The tables are `messages`, `chain_instances`, `chain_segments` and `callback_instances`.
    Quantiles are those of strata.stats.summary: of the same values, by the same definition.
    """
    if not fractions:
        return Rows.none(tables.QUANTILES)
    wanted = np.asarray(fractions, np.float64)
    every = (*_of_hops(messages), *_of_chains(instances, segments), _of_callbacks(executions))
    records = [record for values in every for record in _found(values, wanted)]
    return Rows.of_records(tables.QUANTILES, records)


def _of_hops(messages: Rows) -> Iterator[_Values]:
    hop = np.where(counted(messages), messages["hop_id"], NONE)
    yield _Values("hop", hop, messages["latency_ns"])
    for layer in HOP_LAYERS:
        if messages.there(layer.column).any():
            yield _Values("hop layer", hop, messages[layer.column], layer.name)


def _of_chains(instances: Rows, segments: Rows) -> Iterator[_Values]:
    yield _Values("chain", instances["chain_id"], instances["latency_ns"])
    layers = segments.words("layer")
    for name in layers.words:
        own: Flags = layers.are(name)
        if own.any():
            of_layer = segments.take(own)
            yield _Values(
                "chain layer",
                of_layer["chain_id"],
                of_layer["duration_ns"],
                name,
                of_layer["hop"],
            )


def _of_callbacks(executions: Rows) -> _Values:
    begun, ran_ns = executions_of(executions)
    return _Values("callback", begun["callback_id"], ran_ns)


def _found(values: _Values, fractions: Floats) -> Iterator[dict[str, Any]]:
    """Yield a record for each quantile of each group that has values."""
    hop = values.hop if values.hop is not None else np.full(len(values.number), NONE, np.int64)
    width = int(hop.max(initial=NONE)) + 2
    key = np.where(values.number != NONE, values.number * width + hop + 1, NONE)
    groups = Groups(np.ascontiguousarray(key, np.int64), int(key.max(initial=NONE)) + 1)
    duration_ns = np.ascontiguousarray(values.duration_ns, np.int64)
    found = groups.summarize(duration_ns, fractions, None, NONE)
    for group in np.flatnonzero(found["count"]).tolist():
        number, place = divmod(group, width)
        for fraction, quantiles in zip(fractions.tolist(), found["quantiles"], strict=True):
            yield {
                "of": values.of,
                "number": number,
                "hop": place - 1 if place else None,
                "layer": values.layer,
                "quantile": fraction,
                "count": int(found["count"][group]),
                "value_ns": float(quantiles[group]),
            }
