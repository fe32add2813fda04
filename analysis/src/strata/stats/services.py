# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of services by the nodes that call them, and of the layers of their calls.

Latency and layers are of the complete calls: from the sent request to the taken response. Where no
call of a service is complete (its clients are not in the trace), they are of all its calls. Where
several services answer to one name, what the others served of a call counts nowhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from strata.schema import tables
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.rows import NONE, Rows
from strata.schema.service_layers import BETWEEN_HOSTS, SERVICE_LAYERS
from strata.stats.partition import partition
from strata.stats.summary import part_columns, prefixed, summarize

UNKNOWN = "(unknown)"


def service_tables(calls: Rows) -> tuple[Rows, Rows]:
    """Return the tables `services` and `service_layers` from `service_calls`."""
    services: list[dict[str, Any]] = []
    layers: list[dict[str, Any]] = []
    for service_id, servings in partition(calls["service_id"]):
        every = servings[~calls["further"][servings]]
        complete = every[calls["complete"][every]]
        unseen = (calls["send_request_ns"][every] == NONE).all()
        measured = every if unseen else complete
        latency = calls["latency_ns"][measured]
        services.append(
            {
                "service_id": service_id,
                "service": calls.words("service").at(int(servings[0])),
                "client_node": calls.words("client_node").at(int(servings[0])),
                "service_node": names_in(calls, "service_node", servings) or UNKNOWN,
                "count": len(every),
                "lost": int((calls["take_response_ns"][every] == NONE).sum()),
                **prefixed("latency_", summarize(latency)),
            }
        )
        layers += _layers(service_id, calls.take(measured), int(latency.sum()))
    return (
        Rows.of_records(tables.SERVICES, services),
        Rows.of_records(tables.SERVICE_LAYER_STATS, layers),
    )


def names_in(rows: Rows, column: str, some: npt.NDArray[np.int64]) -> str:
    """Return the texts of a column of some rows, each once and in order, joined."""
    return ", ".join(sorted({name for name in rows.words(column).take(some).texts() if name}))


def _layers(service_id: int, calls: Rows, total: int) -> list[dict[str, Any]]:
    apart = calls.words("confidence").are(UNSYNCHRONISED)
    out: list[dict[str, Any]] = []
    for layer in SERVICE_LAYERS:
        own = calls.there(layer.column)
        if own.any():
            between = int(apart[own].sum()) if layer in BETWEEN_HOSTS else 0
            row = {"service_id": service_id, "layer": layer.name, "unsynchronised": between}
            out.append({**row, **part_columns(calls[layer.column][own], total)})
    return out
