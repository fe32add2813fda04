# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What an import holds, in figures: the summary of each measure of each run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from strata.campaign.imports import Import
from strata.stats.summary import Statistics, describe

DISTRIBUTION = "each"
"""The statistic whose values are a distribution; that of the others is one of statistics."""


@dataclass(frozen=True)
class MeasureSummary:
    """A measure of a run; `statistics` are of its values of this `statistic`, in `unit`."""

    measure: str
    statistic: str
    unit: str
    statistics: Statistics


def run_summaries(
    imported: Import,
) -> Iterator[tuple[dict[str, Any], list[MeasureSummary]]]:
    """Give each run, as of `Import.runs`, with its measures in the order of the file."""
    samples = imported.samples()
    by_cell = dict(list(samples.groupby("cell", sort=False)))
    for run in imported.runs:
        yield run, measure_summaries(by_cell.get(run["cell"], samples.iloc[:0]))


def measure_summaries(samples: pd.DataFrame) -> list[MeasureSummary]:
    """Summarize the samples of one run, by measure and statistic."""
    out = []
    for (measure, statistic), group in samples.groupby(["measure", "statistic"], sort=False):
        unit = str(group["unit"].iloc[0])
        statistics = describe(group["value"].to_numpy())
        out.append(MeasureSummary(str(measure), str(statistic), unit, statistics))
    return out
