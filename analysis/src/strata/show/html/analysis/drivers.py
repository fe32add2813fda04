# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the page's table of the sources of sensor data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strata.show.html.analysis.tables import records
from strata.show.terminal.drivers import loss_sentences, source_name
from strata.units import as_float

if TYPE_CHECKING:
    from strata.analysis import Analysis


@dataclass(frozen=True)
class DriverRow:
    """A source; `times` by column of `driver_sources`, in ns. `remarks` tell its losses."""

    name: str
    process: str
    topics: str
    reads: int
    frames: int
    lost: int
    unpublished: int
    times: dict[str, float | None]
    remarks: list[str]


_TIMES = (
    "sweep_p50_ns",
    "queue_p50_ns",
    "queue_p99_ns",
    "queue_max_ns",
    "conversion_p50_ns",
    "conversion_p99_ns",
)


def driver_rows(analysis: Analysis) -> list[DriverRow]:
    """Return all sources."""
    return [
        DriverRow(
            name=source_name(row),
            process=row["nodes"] or f"pid {row['vpid']}",
            topics=row["topics"],
            reads=int(row["reads"]),
            frames=int(row["frames"]),
            lost=int(row["dropped"] + row["missing"]),
            unpublished=int(row["unpublished"]),
            times={name: as_float(row[name]) for name in _TIMES},
            remarks=loss_sentences(analysis, row["source_id"], everything=False),
        )
        for row in records(analysis.driver_sources)
    ]
