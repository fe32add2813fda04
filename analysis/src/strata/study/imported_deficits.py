# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What imported runs lost, or received of what was asked for, in messages.

Some tools count losses by gaps in sequence numbers. Others know only what was asked for: that is a
shortfall and no loss, for what the source did not make is missing, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from strata.study.campaign_results import Results, keeps
from strata.study.imported_results import read_imports

_SECONDS = "interval"
_RUN = "run_mean"

LOSS, SHORTFALL = "loss", "shortfall"


@dataclass(frozen=True)
class Deficit:
    """A run of an import: its levels and repetition, what was asked for, and what did not come.

    `asked` and `missing` are messages; `percent` is the mean shortfall, below 0 where more came.
    `asked_mb_s` is the payload that was asked for, in MB/s (10^6 B); null where not known. Where
    `of` is LOSS, `asked` counts what was received or lost, and `percent` is the loss.
    """

    levels: Mapping[str, str]
    repetition: int
    origin: str
    cell: str
    asked: int
    missing: int
    percent: float
    asked_mb_s: float | None
    of: str = SHORTFALL


def imported_deficits(
    results: Results, study: str, where: Mapping[str, object] | None = None
) -> list[Deficit]:
    """List the runs of imports in a study whose files state a rate and a shortfall.

    The shortfall is the mean of the seconds, as rmw_benchmark has it; where a file has the mean
    alone, that. A run of n seconds at a rate asked for n x rate messages.
    """
    return _of_runs(results, study, where, SHORTFALL, _deficit)


def imported_losses(
    results: Results, study: str, where: Mapping[str, object] | None = None
) -> list[Deficit]:
    """List the runs of imports in a study whose files count lost messages.

    They do so by gaps in sequence numbers: what was lost before the first and after the last
    message that was received is not in it.
    """
    return _of_runs(results, study, where, LOSS, _loss)


def _of_runs(
    results: Results,
    study: str,
    where: Mapping[str, object] | None,
    measure: str,
    read: Callable[[Mapping[str, object], pd.DataFrame, str], Iterator[Deficit]],
) -> list[Deficit]:
    out: list[Deficit] = []
    for made in read_imports(results.directory.path):
        runs = [run for run in made.runs if run["study"] == study and keeps(where, run["levels"])]
        if not runs:
            continue
        samples = results.once("samples", made.name, made.samples)
        having = samples[samples["measure"] == measure]
        for run in runs:
            own = having[having["cell"] == run["cell"]]
            out += read(run, own, made.name)
    return out


def _loss(run: Mapping[str, object], own: pd.DataFrame, origin: str) -> Iterator[Deficit]:
    facts = run["facts"]
    assert isinstance(facts, Mapping)
    own = own[(own["statistic"] == "run") & own["count"].notna()]
    counts = own["count"].to_numpy(dtype="int64")
    lost = (own["value"].to_numpy(dtype="float64") * counts / 100.0).round()
    if not counts.sum():
        return
    rate, size = facts.get("rate"), facts.get("size")
    flow = None
    if isinstance(rate, int | float) and isinstance(size, int | float) and rate > 0:
        flow = rate * size / 1e6
    levels, repetition = run["levels"], run["repetition"]
    assert isinstance(levels, Mapping) and isinstance(repetition, int)
    asked, missing = int(counts.sum()), int(lost.sum())
    percent, cell = 100.0 * missing / asked, str(run["cell"])
    yield Deficit(levels, repetition, origin, cell, asked, missing, percent, flow, LOSS)


def _deficit(run: Mapping[str, object], own: pd.DataFrame, origin: str) -> Iterator[Deficit]:
    facts = run["facts"]
    assert isinstance(facts, Mapping)
    seconds = own[own["statistic"] == _SECONDS]["value"]
    means = own[own["statistic"] == _RUN]["value"]
    values, count = (
        (seconds, float(len(seconds))) if len(seconds) else (means, facts.get("seconds"))
    )
    rate, size = facts.get("fps"), facts.get("size")
    if not len(values) or not isinstance(rate, int | float) or not isinstance(count, int | float):
        return
    percent, asked = float(values.mean()), round(rate * count)
    missing = min(max(round(asked * percent / 100.0), 0), asked)
    flow = rate * size / 1e6 if isinstance(size, int | float) else None
    levels, repetition = run["levels"], run["repetition"]
    assert isinstance(levels, Mapping) and isinstance(repetition, int)
    yield Deficit(levels, repetition, origin, str(run["cell"]), asked, missing, percent, flow)
