# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What of a window's model a results directory takes: each row in one window, that of its time.

The time of a row is when it began: a callback's start, a message's publish. A window begins before
what it counts, so that causes are in it, and ends after, so that all of it is at its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from strata.layers.readiness import Readiness
from strata.model.build import Model
from strata.model.search import column_at
from strata.pipeline.stages import Made
from strata.results.numbering import Maps, Numbers, map_of
from strata.results.timer_grids import TimerGrids
from strata.schema.arrow import arrow_table
from strata.schema.rows import NONE, Flags, Ints, Rows, first_known
from strata.schema.stored import BY_NAME, MESSAGE_FACTS, STORED, Stored


@dataclass(frozen=True)
class Span:
    """The time that a window counts: after `since_ns`, up to `until_ns`, ns since the epoch.

    `begin_ns` is that of the events that are in it; null where nothing is older.
    """

    begin_ns: int | None
    since_ns: int
    until_ns: int

    def has(self, at_ns: Ints) -> Flags:
        """Return which instants are counted; those that are not known are in the first window."""
        known = (at_ns > self.since_ns) & (at_ns <= self.until_ns)
        return np.asarray(known & (at_ns != NONE) | (at_ns == NONE) & (self.begin_ns is None))


def rows_of(made: Made) -> dict[str, Rows]:
    """Return all rows of the stored tables that a window has."""
    rows = {one.name: made[one.name] for one in STORED if one.table is not MESSAGE_FACTS}
    ready: Readiness = made["readiness"]
    facts = {
        "message_id": rows["messages"]["message_id"],
        "hop_ready_ns": ready.ready_ns,
        "by_publisher": ready.by_publisher,
        "headless": made["headless"],
    }
    return {**rows, MESSAGE_FACTS.name: Rows(MESSAGE_FACTS, facts)}


def _times(rows: Mapping[str, Rows], model: Model) -> dict[str, Ints]:
    """Return when each row began, of the tables whose rows are counted by their time."""
    frames = rows["driver_frames"]
    return {
        "lifecycle_states": rows["lifecycle_states"]["begin_ns"],
        "driver_losses": rows["driver_losses"]["end_ns"],
        "callback_instances": rows["callback_instances"]["start_ns"],
        "publications": model.publications.begin_ns,
        "takes": model.takes.taken_ns,
        "driver_frames": first_known(frames["read_ns"], frames["boundary_ns"]),
        "messages": column_at(model.publications.begin_ns, rows["messages"]["publication_id"]),
        "service_calls": rows["service_calls"]["begin_ns"],
        "action_goals": rows["action_goals"]["begin_ns"],
    }


def new_rows(
    rows: Mapping[str, Rows], model: Model, span: Span, numbers: Numbers, grids: TimerGrids
) -> tuple[dict[str, pa.Table], Maps]:
    """Return the rows that the directory does not have yet, with its numbers; and these."""
    maps: Maps = {}
    written: dict[str, Flags] = {}
    first_ns = _first_events(rows["processes"], model.facts.first_ns)
    for stored in STORED:
        own = rows[stored.name]
        if stored.handle:
            maps[stored.name] = map_of(own[stored.key], numbers.entities(stored, own, first_ns))
        elif stored.key:
            found, written[stored.name] = numbers.instances(stored, own, maps)
            maps[stored.name] = map_of(own[stored.key], found)
    chosen = _chosen(rows, _times(rows, model), span, written)
    for name, before in written.items():
        numbers.wrote(BY_NAME[name], before | chosen[name])
    grids.know(rows["timers"], rows["timer_fires"])
    tables = {
        stored.name: _renumbered(stored, rows[stored.name].take(chosen[stored.name]), maps)
        for stored in STORED
    }
    return tables, maps


def _first_events(processes: Rows, first_ns: int) -> dict[tuple[str, int], int]:
    """Return when each process emitted its first event; never is later than all."""
    found: dict[tuple[str, int], int] = {}
    for row in processes.records():
        place, begin_ns = (row["host"], row["vpid"]), row["begin_ns"]
        own = max(begin_ns, first_ns) if begin_ns > 0 else np.iinfo(np.int64).max
        found[place] = min(found.get(place, own), own)
    return found


def _chosen(
    rows: Mapping[str, Rows], times: Mapping[str, Ints], span: Span, written: Mapping[str, Flags]
) -> dict[str, Flags]:
    """Flag the rows to be written: those of the window's time, and what they refer to."""
    chosen: dict[str, Flags] = {}
    for stored in STORED:
        count = len(rows[stored.name])
        if stored.name in times:
            before = written.get(stored.name, np.zeros(count, bool))
            chosen[stored.name] = span.has(times[stored.name]) & ~before
        else:
            chosen[stored.name] = np.full(count, bool(stored.handle))
    places = {
        name: map_of(rows[name][BY_NAME[name].key], np.arange(len(rows[name]))) for name in written
    }
    while True:
        count = sum(int(flags.sum()) for flags in chosen.values())
        for stored in STORED:
            if stored.follows:
                column = rows[stored.name][stored.follows]
                target = stored.references[stored.follows]
                chosen[stored.name] = np.append(chosen[target], False)[places[target][column]]
        for stored in STORED:
            _choose_referenced(stored, rows, chosen, written, places)
        if sum(int(flags.sum()) for flags in chosen.values()) == count:
            return chosen


def _choose_referenced(
    stored: Stored,
    rows: Mapping[str, Rows],
    chosen: dict[str, Flags],
    written: Mapping[str, Flags],
    places: Mapping[str, Ints],
) -> None:
    """Flag what the chosen rows of a table refer to, where it was not written before."""
    own = np.flatnonzero(chosen[stored.name])
    for column, target in stored.references.items():
        if target in written and column in rows[stored.name]:
            place = places[target][rows[stored.name][column][own]]
            place = place[place != NONE]
            chosen[target][place[~written[target][place]]] = True


def _renumbered(stored: Stored, rows: Rows, maps: Maps) -> pa.Table:
    columns = {column: maps[target][rows[column]] for column, target in stored.references.items()}
    return plain_arrow(rows.with_columns(columns))


def plain_arrow(rows: Rows) -> pa.Table:
    """Return rows as an Arrow table with text as strings: Parquet has its own dictionaries."""
    table = arrow_table(rows)
    fields = [
        pa.field(one.name, pa.string() if pa.types.is_dictionary(one.type) else one.type)
        for one in table.schema
    ]
    return table.cast(pa.schema(fields))
