# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of services by the nodes that call them, and of the layers of their calls.

Latency and layers are of the complete calls: from the sent request to the taken response. Where no
call of a service is complete (its clients are not in the trace), they are of all its calls. Where
several services answer to one name, what the others served of a call counts nowhere.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.schema import tables
from strata.schema.confidence import UNSYNCHRONISED
from strata.schema.service_layers import BETWEEN_HOSTS, SERVICE_LAYERS
from strata.stats.summary import prefixed, summarize, summarize_part

UNKNOWN = "(unknown)"


def service_tables(calls: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables `services` and `service_layers` from `service_calls`."""
    services: list[dict[str, object]] = []
    layers: list[dict[str, object]] = []
    for service_id, servings in calls.groupby("service_id"):
        every = servings[~servings["further"]]
        complete = every[every["complete"]]
        unseen = every["send_request_ns"].isna().all()
        measured = every if unseen else complete
        latency = measured["latency_ns"].to_numpy(np.int64)
        nodes = sorted(set(servings["service_node"].dropna().astype(str)))
        services.append(
            {
                "service_id": service_id,
                "service": servings["service"].iloc[0],
                "client_node": servings["client_node"].iloc[0],
                "service_node": ", ".join(nodes) or UNKNOWN,
                "count": len(every),
                "lost": int(every["take_response_ns"].isna().sum()),
                **prefixed("latency_", summarize(latency)),
            }
        )
        layers += _layers(service_id, measured, int(latency.sum()))
    return (
        tables.SERVICES.frame(pd.DataFrame(services, columns=tables.SERVICES.names)),
        tables.SERVICE_LAYER_STATS.frame(
            pd.DataFrame(layers, columns=tables.SERVICE_LAYER_STATS.names)
        ),
    )


def _layers(service_id: object, calls: pd.DataFrame, total: int) -> list[dict[str, object]]:
    out: list[dict[str, object]] = []
    for layer in SERVICE_LAYERS:
        own = calls[calls[layer.column].notna()]
        if len(own):
            apart = (
                int((own["confidence"] == UNSYNCHRONISED).sum()) if layer in BETWEEN_HOSTS else 0
            )
            row = {"service_id": service_id, "layer": layer.name, "unsynchronised": apart}
            out.append({**row, **summarize_part(own[layer.column].to_numpy(np.int64), total)})
    return out
