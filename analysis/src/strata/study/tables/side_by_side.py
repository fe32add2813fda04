# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table that sets levels of a factor side by side: throughput, loss, latency, and which wins.

Imported results have rows of their own. They are of another machine, so each origin has its own
winner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.stats.shares import share_interval
from strata.study.campaign_results import HERE, Results
from strata.study.imported_deficits import Deficit, imported_deficits, imported_losses
from strata.study.measure_definitions import find_measure
from strata.study.source_shortfall import NOT_REACHED, SHORT_PERCENT, fell_short
from strata.study.tables.imported_means import EACH, VALUES, with_imported_means
from strata.study.tables.statistics import SEED
from strata.study.tables.table import ORIGIN, Column, Rows, Table, factor_columns
from strata.study.wording import name_words

NO_CLEAR_WINNER = "no clear winner"
_CONFIDENCE = 0.95
_MEASURES = ("throughput", "loss", "shortfall", "latency")
_LARGER_IS_BETTER = ("throughput",)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Known:
    """A mean with its interval of 95 %; bounds are null where the values allow none."""

    value: float
    low: float | None = None
    high: float | None = None

    def is_apart(self, other: Known) -> bool:
        """Tell whether the two intervals have nothing in common."""
        if None in (self.low, self.high, other.low, other.high):
            return False
        assert self.low is not None and self.high is not None
        assert other.low is not None and other.high is not None
        return self.high < other.low or other.high < self.low


def side_by_side(results: Results, study: str, figure: Figure) -> Table:
    """Return a row per combination of `rows`, level of `over` and origin, with the winner of each.

    Values are means with intervals of 95 %: of throughput and shortfall over runs (Student's t), of
    loss by its counts (Clopper and Pearson), of latency over messages, whose dependence is allowed
    for.
    """
    over = str(figure.over)
    rows = [name for name in listed(figure.rows) if name != over]
    stated = results.study(study).stated
    asked = [*rows, over]
    found = _found(results, study, asked, figure)
    criteria = ("loss", "latency") if stated.nominal_hz else ("throughput", "loss", "latency")
    has_imports = any(key[-1] != HERE for key in found)
    columns = _columns(rows, over, has_imports=has_imports)
    out = Rows(columns)
    for key in sorted(found, key=lambda one: _place(results, study, asked, one)):
        others = {
            other[-2]: found[other]
            for other in found
            if other[:-2] == key[:-2] and other[-1] == key[-1]
        }
        winner, by = winner_at(others, criteria, key[-1])
        labels = dict(zip([*asked, ORIGIN], key, strict=True))
        out.rows.append({**labels, **_values(found[key]), "winner": winner, "winner_by": by})
    empty = "" if out.rows else results.study(study).why_empty(figure.where)
    title = f"{name_words(over)} side by side"
    notes = _notes(over, criteria, has_imports=has_imports)
    return Table("side_by_side", title, columns, out.frame(), notes, empty)


def _found(
    results: Results, study: str, asked: Sequence[str], figure: Figure
) -> dict[tuple[str, ...], dict[str, Known]]:
    """Return what is known of each combination of levels and origin, by measure."""
    found: dict[tuple[str, ...], dict[str, Known]] = {}
    for name in _MEASURES:
        frame = with_imported_means(results, study, name, figure.where)
        frame = frame.sort_values(["cell", "number"], kind="stable")
        for key, own in frame.groupby([*asked, ORIGIN], observed=True, sort=True):
            found.setdefault(tuple(map(str, key)), {})[name] = _known(name, own)
    for name, runs in (
        ("loss", imported_losses(results, study, figure.where)),
        ("shortfall", imported_deficits(results, study, figure.where)),
    ):
        for key, known in _of_counts(runs, asked).items():
            found.setdefault(key, {})[name] = known
    return found


def winner_at(
    entries: Mapping[str, Mapping[str, Known]], criteria: Sequence[str], origin: str = HERE
) -> tuple[str | None, str | None]:
    """Return the level that wins, and by which criterion; null for both with fewer than two levels.

    Levels whose source fell short of its rate lost little because they sent little: the others are
    compared without them. Where one alone reached the rate, it wins by shortfall if its interval is
    apart from all others'; where none did, it is NOT_REACHED. Imports that know no loss are
    compared by their shortfall, which is all that they count.
    """
    knows_loss = any("loss" in known for known in entries.values())
    if origin != HERE and not knows_loss:
        by = tuple("shortfall" if name == "loss" else name for name in criteria)
        return winner_of(entries, by)
    having = {level: known for level, known in entries.items() if set(known) & set(criteria)}
    short = {level: known for level, known in having.items() if _is_short(known)}
    reached = {level: known for level, known in having.items() if level not in short}
    if not short or len(reached) > 1 or len(having) < 2:
        return winner_of(reached, criteria)
    if not reached:
        return NOT_REACHED, None
    ((best, own),) = reached.items()
    kept = own.get("shortfall")
    if kept and all(kept.is_apart(known["shortfall"]) for known in short.values()):
        return best, "shortfall"
    return NO_CLEAR_WINNER, None


def _is_short(known: Mapping[str, Known]) -> bool:
    return "shortfall" in known and fell_short(known["shortfall"].value)


def winner_of(
    entries: Mapping[str, Mapping[str, Known]], criteria: Sequence[str]
) -> tuple[str | None, str | None]:
    """Return the best level and by which criterion; null for both with fewer than two levels.

    By the first criterion the best level stays, with all whose interval overlaps its own (or that
    have none); the next criterion decides among these. Where more than one is left at the end, it
    is NO_CLEAR_WINNER.
    """
    left = {level: known for level, known in entries.items() if set(known) & set(criteria)}
    if len(left) < 2:
        return None, None
    for name in criteria:
        known = {level: one[name] for level, one in left.items() if name in one}
        if len(known) < len(left):
            # Nothing is said of a level that was not measured by this.
            continue
        sign = -1.0 if name in _LARGER_IS_BETTER else 1.0
        best = min(known, key=lambda level: sign * known[level].value)
        left = {
            level: left[level]
            for level in left
            if level == best or not known[best].is_apart(known[level])
        }
        if len(left) == 1:
            return best, name
    return NO_CLEAR_WINNER, None


def _of_counts(runs: Iterable[Deficit], asked: Sequence[str]) -> dict[tuple[str, ...], Known]:
    """Return the loss or shortfall of imports that count messages, with its interval."""
    groups: dict[tuple[str, ...], list[tuple[int, int, float]]] = {}
    for one in runs:
        levels = {**one.levels, "repetition": str(one.repetition)}
        key = (*(levels[name] for name in asked), one.origin)
        groups.setdefault(key, []).append((one.missing, one.asked, one.percent))
    out = {}
    for key, own in groups.items():
        missing, of = sum(run[0] for run in own), sum(run[1] for run in own)
        if of:
            low, high = share_interval(missing, of, _CONFIDENCE)
            mean = sum(run[1] * run[2] for run in own) / of
            out[key] = Known(mean, 100.0 * low, 100.0 * high)
    return out


def _known(name: str, own: pd.DataFrame) -> Known:
    if name == "loss" and "expected" in own and own["expected"].notna().all():
        lost, of = int(own["lost"].sum()), int(own["expected"].sum())
        if of:
            low, high = share_interval(lost, of, _CONFIDENCE)
            return Known(100.0 * lost / of, 100.0 * low, 100.0 * high)
    if find_measure(name).each == "message":
        return _of_series(weighted(own))
    if (own[VALUES] != EACH).any():
        return _of_series(weighted(own))
    return _over_runs(own.groupby("cell", observed=True)["value"].mean().to_numpy(np.float64))


def weighted(own: pd.DataFrame) -> Floats:
    """Return values whose mean is that of all messages: means weigh as the messages they are of."""
    values = own["value"].to_numpy(np.float64)
    if "count" not in own or own["count"].isna().any():
        return values
    counts = own["count"].to_numpy(np.float64)
    return np.asarray(values * counts / counts.mean(), np.float64) if counts.all() else values


def _of_series(values: Floats) -> Known:
    from strata.stats.intervals import interval

    found = interval(values, "mean", _CONFIDENCE, seed=SEED)
    return Known(float(values.mean()), found.low, found.high)


def _over_runs(values: Floats) -> Known:
    from strata.stats.intervals import mean_interval

    found = mean_interval(values, _CONFIDENCE)
    return Known(float(values.mean()), found.low, found.high)


def _values(own: dict[str, Known]) -> dict[str, float | None]:
    out: dict[str, float | None] = {}
    for name in _MEASURES:
        known = own.get(name)
        out[name] = known.value if known else None
        out[f"{name}_low"] = known.low if known else None
        out[f"{name}_high"] = known.high if known else None
    return out


def _columns(rows: Sequence[str], over: str, *, has_imports: bool) -> tuple[Column, ...]:
    labels = factor_columns([*rows, over, *([ORIGIN] if has_imports else [])])
    latency = find_measure("latency").unit
    return (
        *labels,
        Column("throughput", "throughput", "MB/s", "number", "payload that was received"),
        Column("loss", "loss", "%", "percent", "published and never taken"),
        Column("latency", "latency", latency, "number", "mean"),
        Column("winner", "winner", of=over),
        Column("winner_by", "wins by"),
        Column("shortfall", "shortfall", "%", "percent", "published less often than stated"),
        Column("throughput_low", "throughput from", "MB/s", "number"),
        Column("throughput_high", "throughput to", "MB/s", "number"),
        Column("loss_low", "loss from", "%", "percent"),
        Column("loss_high", "loss to", "%", "percent"),
        Column("shortfall_low", "shortfall from", "%", "percent"),
        Column("shortfall_high", "shortfall to", "%", "percent"),
        Column("latency_low", "latency from", latency, "number"),
        Column("latency_high", "latency to", latency, "number"),
    )


def _place(
    results: Results, study: str, names: Sequence[str], key: tuple[str, ...]
) -> tuple[Any, ...]:
    """Return the place of a row: the file's order of levels, what was measured here first."""
    places: list[Any] = []
    for name, level in zip(names, key, strict=False):
        factor = results.study(study).factor(name)
        known = list(factor.levels) if factor else []
        places.append((known.index(level) if level in known else len(known), level))
    origin = key[-1]
    # Levels of one origin follow each other: they are what is compared.
    return (*places[:-1], origin != HERE, origin, places[-1])


def _notes(over: str, criteria: Sequence[str], *, has_imports: bool) -> tuple[str, ...]:
    named = ", then ".join(criteria)
    notes = (
        f"Winner: the {name_words(over)} that is best by {named}. One whose interval (95 %) "
        "overlaps that of the best stays in, and the next criterion decides among those that are "
        f"left; where that leaves several, there is {NO_CLEAR_WINNER}.",
        f"One whose source published over {SHORT_PERCENT:g} % less often than was asked for is "
        "left out: its loss and latency are of the rate that it made. Where one alone reached the "
        "rate, it wins by shortfall, if its interval is apart from those of all others; where none "
        f"did, the winner is '{NOT_REACHED}'.",
        "The interval of a loss assumes that messages are lost independently: losses in bursts are "
        "less certain than it says. With one run per level, a difference may come from the run.",
    )
    if not has_imports:
        return notes
    return (
        *notes,
        "Imported results are of another machine: each origin has its own winner, and rows of two "
        "origins cannot be compared. Where a file has no value per message, its latency is the "
        "mean of the means that it states, weighted by their messages where it counts them. One "
        "that counts no loss is compared by its shortfall: what was asked for and did not come.",
    )
