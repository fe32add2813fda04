# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Imported logs of ptp4l and phc2sys: where they belong, and the error of stamps by their clocks.

A log that names no place belongs to the cells that ran while it was written: its times are
CLOCK_MONOTONIC of the machine, those of a cell too, and both must be of one boot. One that names a
place belongs to the cells there, or to the values of its own import there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from strata.originals.linuxptp import CLOCK_OFFSET, LOCKED
from strata.read.manifest import read_manifest
from strata.study.campaign_results import HERE, Outcome, Results
from strata.study.imported_results import Import, read_imports
from strata.study.stamp_modes import mode_at, mode_of_session

BOOT_NS = 600 * 10**9
"""Two times of boot that differ by less are of one boot; a clock that was set by more hides it."""

MEASURED = "each"
LARGEST = "interval_max_abs"
LARGEST_WORDS = ", largest |offset|"
"""How the series of summary lines end."""

_GAPS = 3
"""A log has a gap where it has no line for so many of its usual distances."""


@dataclass(frozen=True)
class ClockLog:
    """A run of an imported log. `rows`: series, statistic, t_ns (CLOCK_MONOTONIC), value, state.

    `boot_ns` is when the machine booted, ns since the epoch; null where that is not known. `study`
    is empty, and `levels` too, for a log that names no place.
    """

    origin: str
    cell: str
    study: str
    levels: dict[str, str]
    boot_ns: int | None
    rows: pd.DataFrame

    @property
    def span(self) -> tuple[int, int]:
        """Return its first and its last time."""
        return int(self.rows["t_ns"].min()), int(self.rows["t_ns"].max())

    def covers(self, window: tuple[int, int, int] | None) -> bool:
        """Tell whether it was written while a cell ran: `window` is as of `monotonic_window`."""
        if window is None or self.boot_ns is None:
            return False
        begin, end, boot = window
        first, last = self.span
        return abs(boot - self.boot_ns) < BOOT_NS and first <= end and begin <= last

    def during(self, window: tuple[int, int, int]) -> pd.DataFrame:
        """Return the lines while a cell ran, of each series with those just before and after.

        A line of a summary is of the time before it, and an offset holds until the next line.
        """
        begin, end, _ = window
        parts = []
        for _, own in self.rows.groupby(["series", "statistic"], sort=False):
            at = own["t_ns"].to_numpy(np.int64)
            first = max(int(np.searchsorted(at, begin, side="right")) - 1, 0)
            last = min(int(np.searchsorted(at, end, side="left")), len(at) - 1)
            parts.append(own.iloc[first : last + 1])
        return pd.concat(parts)


@dataclass(frozen=True)
class ClockError:
    """The largest offsets that a cell's stamps had: the sum over clocks, ns.

    `is_whole` tells that the log lasted as long as the cell.
    """

    value_ns: int
    series: tuple[str, ...]
    is_whole: bool


def monotonic_window(directory: Path) -> tuple[int, int, int] | None:
    """Return begin and end of a recording by CLOCK_MONOTONIC, and the boot in ns since the epoch.

    Null where its manifest has not both ends.
    """
    manifest = read_manifest(directory) or {}
    begin, end = ((manifest.get(name) or {}).get("clocks") or {} for name in ("start", "end"))
    offset = begin.get("realtime_minus_monotonic_ns")
    at = (begin.get("at_monotonic_ns"), end.get("at_monotonic_ns"))
    if offset is None or at[0] is None or at[1] is None:
        return None
    return int(at[0]), int(at[1]), int(offset)


def clock_logs(imports: Iterable[Import]) -> list[ClockLog]:
    """Return the logs among the imports, in their order."""
    out = []
    for one in imports:
        runs = [run for run in one.runs if "begun_monotonic_ns" in run["facts"]]
        if not runs:
            continue
        samples = one.samples()
        samples = samples[samples["measure"] == CLOCK_OFFSET]
        for run in runs:
            rows = samples[samples["cell"] == run["cell"]]
            if len(rows):
                kept = rows[["series", "statistic", "t_ns", "value", "state"]]
                boot = run["facts"].get("boot_ns")
                out.append(
                    ClockLog(
                        one.name,
                        str(run["cell"]),
                        str(run["study"] or ""),
                        dict(run["levels"]),
                        None if boot is None else int(boot),
                        kept.astype({"t_ns": "int64"}).sort_values("t_ns", kind="stable"),
                    )
                )
    return out


def logs_of(results: Results, study: str) -> list[tuple[ClockLog, list[Outcome]]]:
    """Return the logs that belong to a study, each with the finished cells that it belongs to.

    A log at a place where no cell ran, as one of a published campaign, has no cells.
    """
    return results.once("clock logs", study, lambda: _logs_of(results, study))


def _logs_of(results: Results, study: str) -> list[tuple[ClockLog, list[Outcome]]]:
    imports = read_imports(results.directory.path)
    logs = clock_logs(imports)
    if not logs:
        # All values of all imports would be read for nothing.
        return []
    found = []
    finished = results.study(study).finished
    windows = {one.id: monotonic_window(one.directory) for one in finished}
    of_others = {one.name for one in imports if _has_stamps(one)}
    for log in logs:
        if log.study:
            if log.study == study:
                there = [one for one in finished if one.cell.levels == log.levels]
                found.append((log, [] if log.origin in of_others else there))
        else:
            there = [one for one in finished if log.covers(windows[one.id])]
            if there:
                found.append((log, there))
    return found


def _has_stamps(one: Import) -> bool:
    return bool((one.samples()["measure"] == "stamp_latency").any())


def clock_frame(results: Results, study: str) -> pd.DataFrame:
    """Return all lines of the logs of a study as a long frame of the measure clock_offset.

    Columns: one per factor (the levels of the cell that ran then, else null), `repetition`, `cell`
    (the log's own), `number`, `value` (ns; of summary lines the largest absolute offset, whose
    `clock` says so), `origin`, `clock`, `state` and `t_ns` (since the log's first line).
    """
    parts = []
    for log, outcomes in logs_of(results, study):
        rows = log.rows[log.rows["statistic"].isin([MEASURED, LARGEST])].reset_index(drop=True)
        is_largest = rows["statistic"] == LARGEST
        words = rows["series"].where(~is_largest, rows["series"] + LARGEST_WORDS)
        part = pd.DataFrame(
            {
                "repetition": 1,
                "cell": log.cell,
                "number": np.arange(len(rows)),
                "value": rows["value"].round().astype("int64"),
                # The log of a machine that is this one is no result of others.
                "origin": HERE if outcomes or not log.study else log.origin,
                "clock": words,
                "state": rows["state"],
                "t_ns": rows["t_ns"] - log.span[0],
            }
        )
        for name in results.study(study).stated.factors:
            part[name] = log.levels.get(name)
        for one in outcomes if not log.study else ():
            window = monotonic_window(one.directory)
            assert window is not None
            inside = rows["t_ns"].between(window[0], window[1])
            for name, level in one.cell.levels.items():
                part.loc[inside, name] = level
        parts.append(part)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def clock_errors(results: Results, study: str) -> dict[str, ClockError]:
    """Return the error of the stamps of each cell, by its id: the largest offset of each clock.

    Those of imported runs are by the id of their cell. Only stamps by a clock that PTP sets have
    it; where the mode is not known, a log that names its place is taken at its word.
    """
    found: dict[str, list[tuple[pd.DataFrame, bool]]] = {}
    for log, outcomes in logs_of(results, study):
        for one in outcomes:
            mode = mode_of_session(one.directory)
            if not (mode.is_of_two_clocks if mode else log.study):
                continue
            window = monotonic_window(one.directory)
            if window is not None and log.covers(window):
                whole = log.span[0] <= window[0] and window[1] <= log.span[1]
                found.setdefault(one.id, []).append((log.during(window), whole))
            else:
                found.setdefault(one.id, []).append((log.rows, True))
        if log.study and not outcomes:
            mode = mode_at(results, study, log.levels)
            if mode is None or mode.is_of_two_clocks:
                for cell in _cells_of(results, log):
                    found.setdefault(cell, []).append((log.rows, True))
    return {cell: _error(parts) for cell, parts in found.items()}


def _cells_of(results: Results, log: ClockLog) -> list[str]:
    """Name the imported cells at a log's place, of its own import."""
    return [
        str(run["cell"])
        for one in read_imports(results.directory.path)
        if one.name == log.origin
        for run in one.runs
        if run["study"] == log.study and dict(run["levels"]) == log.levels
    ]


def _error(parts: Sequence[tuple[pd.DataFrame, bool]]) -> ClockError:
    rows = pd.concat([rows for rows, _ in parts])
    rows = rows[rows["statistic"].isin([MEASURED, LARGEST])]
    # Two logs of one program and clock are one after the other; different ones add up.
    largest = rows["value"].abs().groupby(rows["series"]).max()
    return ClockError(
        round(float(largest.sum())), tuple(largest.index), all(whole for _, whole in parts)
    )


def unlocked_ns(rows: pd.DataFrame) -> int | None:
    """Return how long a series was not locked, ns: from each line's state until the next line.

    A gap of the log is not locked: its program had no other clock. Null for summary lines, which
    do not tell a state.
    """
    own = rows[rows["state"].notna()]
    if own.empty:
        return None
    step = np.diff(own["t_ns"].to_numpy(np.int64))
    if not len(step):
        return 0
    locked = own["state"].to_numpy(np.int64)[:-1] >= LOCKED
    is_gap = step > _GAPS * np.median(step)
    return int(step[~locked | is_gap].sum())
