# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What sensor drivers did, from the engine's rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, Ints
from strata.model.driver.columns import (
    DriverColumns,
    DriverFrames,
    DriverReads,
    DriverSources,
    MadeOf,
)
from strata.model.driver.losses import DriverLosses
from strata.model.driver.sources import places
from strata.onepass.numbers import Numbers
from strata.onepass.tables import EngineTables
from strata.schema.rows import nulls

Columns = Mapping[str, npt.NDArray[np.generic]]


def find_driver_columns(tables: EngineTables, numbers: Numbers) -> DriverColumns:
    """Return what drivers read, and what the model's publications were made of."""
    rows = {
        table: {name: tables.ints(table, name) for name in tables.rows[table]}
        for table in ("driver_sources", "driver_frames")
    }
    links = dict(tables.rows["driver_links"])
    published = tables.ints("driver_links", "published")
    if numbers.calls is None:
        # All of these are publications of the middleware.
        publish = tables.rows["published_messages"]["publish"][published]
        links["published"] = numbers.publications.number[publish]
    else:
        links["published"] = numbers.calls.number[published]
    return DriverColumns(
        sources_of_rows(rows["driver_sources"], tables.texts),
        reads_of_rows(tables.rows["driver_reads"]),
        frames_of_rows(rows["driver_frames"]),
        made_of_rows(links, len(numbers.publications.rows)),
        losses_of_rows(tables.rows["driver_losses"]),
    )


def sources_of_rows(rows: Columns, texts: Sequence[str]) -> DriverSources:
    """Return the sources of the engine, of its rows `driver_sources` and texts."""
    words = np.asarray([*texts, None], dtype=object)
    kind, name, address = (words[_ints(rows[column])] for column in ("kind", "name", "address"))
    return DriverSources(
        _ints(rows["process"]),
        _ints(rows["number"]),
        kind,
        name,
        address,
        places(kind, name, address, rows["is_pulled"] != 0),
        _ints(rows["reads"]),
        _ints(rows["bytes"]),
    )


def reads_of_rows(rows: Columns) -> DriverReads:
    """Return what the engine has of reads, of its rows `driver_reads`."""
    ns, arrival_ns = _ints(rows["ns"]), _ints(rows["arrival_ns"])
    return DriverReads(_ints(rows["source"]), np.where(arrival_ns != NONE, ns - arrival_ns, NONE))


def losses_of_rows(rows: Columns) -> DriverLosses:
    """Return what was lost, of the engine's rows `driver_losses`."""
    return DriverLosses(*(_ints(rows[item.name]) for item in fields(DriverLosses)))


def frames_of_rows(rows: Columns) -> DriverFrames:
    """Return the frames of the engine, of its rows `driver_frames`."""
    return DriverFrames(*(_ints(rows[item.name]) for item in fields(DriverFrames)))


def made_of_rows(rows: Columns, publications: int) -> MadeOf:
    """Return what so many publications were made of, of the engine's rows `driver_links`."""
    published = _ints(rows["published"])
    inferred, caused = np.zeros(publications, bool), np.zeros(publications, bool)
    if not len(published):
        return MadeOf(nulls(publications), inferred, caused)
    frame = np.full(publications, NONE, np.int64)
    frame[published] = rows["frame"]
    inferred[published] = rows["is_inferred"] != 0
    caused[published] = rows["is_caused"] != 0
    return MadeOf(frame, inferred, caused)


def _ints(values: npt.NDArray[np.generic]) -> Ints:
    return values.astype(np.int64, copy=False)
