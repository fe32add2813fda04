# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the page's tables of services and of the layers of their calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strata.schema.service_layers import SERVICE_LAYERS
from strata.show.html.analysis.tables import Part, layer_parts, records, statistics
from strata.units import as_float

if TYPE_CHECKING:
    import pandas as pd

    from strata.analysis import Analysis
    from strata.schema.layer import Layer


@dataclass(frozen=True)
class ServiceLayerRow:
    """A layer of the complete calls of a service; durations in ns."""

    layer: str
    share: float | None
    statistics: dict[str, float | None]
    unsynchronised: int


@dataclass(frozen=True)
class ServiceRow:
    """A service and a node that calls it; statistics are null without complete calls."""

    service: str
    client: str
    server: str
    count: int
    lost: int
    latency: dict[str, float | None]
    parts: tuple[Part, ...]
    layers: list[ServiceLayerRow]


def service_rows(services: pd.DataFrame, service_layers: pd.DataFrame) -> list[ServiceRow]:
    """Return all services with their layers, those that were called the most first."""
    layers = {int(str(number)): rows for number, rows in service_layers.groupby("service_id")}
    none = service_layers.iloc[:0]
    return [
        ServiceRow(
            service=row["service"],
            client=row["client_node"],
            server=row["service_node"],
            count=int(row["count"]),
            lost=int(row["lost"]),
            latency=statistics(row, "latency_"),
            parts=layer_parts(layers.get(int(row["service_id"]), none)),
            layers=_layers(layers.get(int(row["service_id"]), none)),
        )
        for row in records(services.sort_values("count", ascending=False, kind="stable"))
    ]


def present_layers(analysis: Analysis) -> list[Layer]:
    """Return the layers that calls of this trace have, as a call meets them."""
    found = set(analysis.service_layers["layer"])
    return [layer for layer in SERVICE_LAYERS if layer.name in found]


def _layers(rows: pd.DataFrame) -> list[ServiceLayerRow]:
    return [
        ServiceLayerRow(
            row["layer"], as_float(row["share"]), statistics(row, ""), int(row["unsynchronised"])
        )
        for row in records(rows)
    ]
