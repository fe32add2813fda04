# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What imported runs received of what was asked for, in messages: all that some tools count.

It is a shortfall and no loss: what the source did not make is missing, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from strata.study.campaign_results import Results, keeps
from strata.study.imported_results import read_imports

_SECONDS = "interval"
_RUN = "run_mean"


@dataclass(frozen=True)
class Deficit:
    """A run of an import: its levels and repetition, what was asked for, and what did not come.

    `asked` and `missing` are messages; `percent` is the mean shortfall, below 0 where more came.
    `asked_mb_s` is the payload that was asked for, in MB/s (10^6 B); null where not known.
    """

    levels: Mapping[str, str]
    repetition: int
    origin: str
    cell: str
    asked: int
    missing: int
    percent: float
    asked_mb_s: float | None


def imported_deficits(
    results: Results, study: str, where: Mapping[str, object] | None = None
) -> list[Deficit]:
    """List the runs of imports in a study whose files state a rate and a shortfall.

    The shortfall is the mean of the seconds, as rmw_benchmark has it; where a file has the mean
    alone, that. A run of n seconds at a rate asked for n x rate messages.
    """
    out: list[Deficit] = []
    for made in read_imports(results.directory.path):
        runs = [run for run in made.runs if run["study"] == study and keeps(where, run["levels"])]
        if not runs:
            continue
        samples = made.samples()
        short = samples[samples["measure"] == "shortfall"]
        for run in runs:
            own = short[short["cell"] == run["cell"]]
            out += _deficit(run, own, made.name)
    return out


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
