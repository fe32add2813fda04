# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The data rate of each level of a factor, in each series of a table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import mean, median

from strata.campaign.model import Figure
from strata.study.campaign_results import Results, keeps
from strata.study.imported_deficits import imported_deficits, imported_losses
from strata.study.long_frames import long_frame
from strata.study.tables.loss_evidence import level_of

_MB = 1e6
_ALIKE = 0.01
"""Rates of one level that differ by less are one: headers of messages differ, and rounding."""

Labels = tuple[str, ...]
_Flows = dict[tuple[Labels, str], list[float]]


@dataclass(frozen=True)
class DataRates:
    """Data rates in MB/s (10^6 B) by level, of each series and of all.

    `each` is by the levels of the labels of a series: 100 Hz are another data rate with another
    size. `every` has the levels whose data rate is the same in all series.
    """

    each: Mapping[Labels, Mapping[str, float]]
    every: Mapping[str, float]

    def of(self, labels: Mapping[str, str]) -> dict[str, float]:
        """Return the data rates of a series, the lowest first.

        A level of which nothing was measured there has the one of all other series.
        """
        own = {**self.every, **self.each.get(tuple(labels.values()), {})}
        return dict(sorted(own.items(), key=lambda item: item[1]))


def data_rates(
    results: Results, study: str, over: str, labels: Sequence[str], figure: Figure
) -> DataRates:
    """Return the data rates of the levels of `over`, for each combination of `labels`.

    It is what was asked for: the payload of a message that was measured, times the stated rate; of
    imports what their files state; where no rate is stated, the throughput that was measured.
    """
    flows = {
        **_of_imports(results, study, over, labels, figure),
        **_of_cells(results, study, over, labels, figure),
    }
    is_stated = bool(flows)
    if not is_stated:
        flows = _measured(results, study, over, labels, figure)
    each: dict[Labels, dict[str, float]] = defaultdict(dict)
    by_level: dict[str, list[float]] = defaultdict(list)
    for (key, level), values in flows.items():
        rate = median(values) if is_stated else mean(values)
        each[key][level] = rate
        by_level[level].append(rate)
    every = {
        level: median(rates) if is_stated else mean(rates)
        for level, rates in by_level.items()
        if not is_stated or max(rates) - min(rates) <= _ALIKE * max(rates)
    }
    return DataRates(dict(each), dict(sorted(every.items(), key=lambda item: item[1])))


def by_data_rate(levels: Sequence[str], rates: Mapping[str, float]) -> list[str]:
    """Sort levels by their data rate; those without one are last, in their order."""
    return sorted(levels, key=lambda level: rates.get(level, float("inf")))


def _of_cells(
    results: Results, study: str, over: str, labels: Sequence[str], figure: Figure
) -> _Flows:
    flows: _Flows = defaultdict(list)
    for one in results.study(study).finished:
        if not keeps(figure.where, one.cell.levels) or one.cell.nominal_hz is None:
            continue
        sizes = results.measured(one).read("hops", ["payload_bytes"])["payload_bytes"].dropna()
        if len(sizes):
            key = tuple(level_of(one, name) for name in labels)
            flow = float(sizes.max()) * one.cell.nominal_hz / _MB
            flows[key, level_of(one, over)].append(flow)
    return flows


def _of_imports(
    results: Results, study: str, over: str, labels: Sequence[str], figure: Figure
) -> _Flows:
    flows: _Flows = defaultdict(list)
    reads = (imported_losses, imported_deficits)
    for run in chain.from_iterable(read(results, study, figure.where) for read in reads):
        if run.asked_mb_s is not None:
            levels = {**run.levels, "repetition": str(run.repetition)}
            key = tuple(levels[name] for name in labels)
            flows[key, levels[over]].append(run.asked_mb_s)
    return flows


def _measured(
    results: Results, study: str, over: str, labels: Sequence[str], figure: Figure
) -> _Flows:
    frame = long_frame(results, study, "throughput", where=figure.where, imports=False)
    flows: _Flows = defaultdict(list)
    for row in frame.dropna(subset=["value"]).to_dict("records"):
        key = tuple(str(row[name]) for name in labels)
        flows[key, str(row[over])].append(float(row["value"]))
    return flows
