# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What sensor drivers did, from the engine's rows."""

from __future__ import annotations

from strata.layers.driver_columns import (
    DriverColumns,
    frames_of_rows,
    losses_of_rows,
    made_of_rows,
    reads_of_rows,
    sources_of_rows,
)
from strata.onepass.numbers import Numbers
from strata.onepass.tables import EngineTables


def find_driver_columns(tables: EngineTables, numbers: Numbers) -> DriverColumns:
    """Return what drivers read, and what the model's publications were made of."""
    rows = {
        table: {name: tables.ints(table, name) for name in tables.rows[table]}
        for table in ("driver_sources", "driver_reads", "driver_frames", "driver_losses")
    }
    links = dict(tables.rows["driver_links"])
    if numbers.calls is not None:
        published = numbers.calls.number
    else:
        # All of these are publications of the middleware.
        published = numbers.publications.number[tables.ints("published_messages", "publish")]
    links["published"] = published[links["published"]]
    return DriverColumns(
        sources_of_rows(rows["driver_sources"], tables.texts),
        reads_of_rows(rows["driver_reads"]),
        frames_of_rows(rows["driver_frames"]),
        made_of_rows(links, len(numbers.publications.rows)),
        losses_of_rows(rows["driver_losses"]),
    )
