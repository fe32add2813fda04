# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Summary of a column of durations, and of the durations of every group at once.

Definitions: quantiles are interpolated linearly between order statistics (type 7 of Hyndman and
Fan, "Sample quantiles in statistical packages", The American Statistician 50, 1996; NumPy's
default). `mad` is median(|x - median(x)|), not scaled to sigma. `std` is the sample standard
deviation, with n - 1. The mean of integers is that of their exact sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.schema.columns import STATISTICS, statistic
from strata.stats._grouped import Groups
from strata.stats.samples import Flags, Floats, Ints, Sample, checked

Statistics = dict[str, int | float | None]

_FRACTIONS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
_OF_COLUMNS = np.array([*_FRACTIONS.values()])


@dataclass(frozen=True)
class Summary:
    """Statistics of a column by group, one item a group: `columns` by their names in STATISTICS.

    All but `count` are floats, and NaN for a group without values; `std` is NaN for one value.
    `total` are exact sums.
    """

    total: Ints
    columns: Mapping[str, Ints | Floats]

    @property
    def count(self) -> Ints:
        """How many values each group has."""
        return np.asarray(self.columns["count"], np.int64)

    def prefixed(self, prefix: str) -> dict[str, Ints | Floats]:
        """Return the columns under their declared names, which begin with `prefix`."""
        return {statistic(prefix, name): values for name, values in self.columns.items()}


def summarize_groups(
    groups: Groups, values: Ints, *, there: Flags | None = None, absent: int | None = None
) -> Summary:
    """Return the declared statistics of whole numbers by group.

    Values that `there` does not flag, and those that equal `absent`, are left out.
    """
    found = groups.summarize(np.ascontiguousarray(values, np.int64), _OF_COLUMNS, there, absent)
    empty = found["count"] == 0
    ends = {name: found[name].astype(np.float64) for name in ("min", "max")}
    for column in ends.values():
        column[empty] = np.nan
    columns: dict[str, Ints | Floats] = dict(zip(_FRACTIONS, found["quantiles"], strict=True))
    columns |= {"count": found["count"], "mad": found["mad"], **ends}
    columns |= {"mean": found["mean"], "std": found["std"]}
    return Summary(found["sum"], {name: columns[name] for name in STATISTICS})


def picked(found: Sequence[Summary], of: Ints, group: Ints) -> dict[str, Ints | Floats]:
    """Return the statistics of some groups, each of one of several columns (`of`)."""
    names = found[0].columns
    return {
        statistic("", name): np.array([item.columns[name] for item in found])[of, group]
        for name in names
    }


def shares_of(parts: Ints, totals: Ints) -> Floats:
    """Return each sum as a share of another; 0 of nothing."""
    # Python's integers divide exactly, where floats would round both before.
    pairs = zip(parts.tolist(), totals.tolist(), strict=True)
    return np.array([part / total if total else 0.0 for part, total in pairs], np.float64)


def summarize(values: Ints) -> Statistics:
    """Return the declared statistics of values in ns; all but `count` are null without values."""
    values = np.ascontiguousarray(values, np.int64)
    found = Groups.one(len(values)).summarize(values, _OF_COLUMNS)
    ends = {name: int(found[name][0]) for name in ("min", "max")}
    return _statistics(len(values), {**ends, **_floats(found)})


def summarize_part(durations: Ints, total_ns: int) -> Statistics:
    """Return the statistics of a part's durations with its `share` of a summed latency."""
    share = int(durations.sum()) / total_ns if total_ns else 0.0
    return {"share": share, **summarize(durations)}


def part_columns(durations: Ints, total_ns: int) -> Statistics:
    """Return the same under the names that declared tables have."""
    found = summarize_part(durations, total_ns)
    return {"share": found.pop("share"), **prefixed("", found)}


def describe(values: Sample) -> Statistics:
    """Return the declared statistics of values of any unit, in that unit.

    All but `count` are null without values, and `std` is null for one value. A quantile of fewer
    values than it needs (100 for p99, 1000 for p99.9) lies between the two largest. Raises
    ValueError for values that are not finite.
    """
    array = np.asarray(values)
    if np.issubdtype(array.dtype, np.integer):
        return summarize(array.astype(np.int64, copy=False))
    floats = np.ascontiguousarray(checked(values, at_least=0))
    found = Groups.one(len(floats)).summarize(floats, _OF_COLUMNS)
    ends = {name: float(found[name][0]) for name in ("min", "max")}
    return _statistics(len(floats), {**ends, **_floats(found)})


def prefixed(prefix: str, statistics: Statistics) -> dict[str, int | float | None]:
    """Return statistics under their declared names, which begin with `prefix`."""
    return {statistic(prefix, name): value for name, value in statistics.items()}


def _floats(found: Mapping[str, Any]) -> dict[str, float]:
    """The statistics of one group that are floats whatever the values are."""
    columns = {name: found[name] for name in ("mean", "std", "mad")}
    columns |= dict(zip(_FRACTIONS, found["quantiles"], strict=True))
    return {name: float(column[0]) for name, column in columns.items()}


def _statistics(count: int, of_values: Mapping[str, int | float]) -> Statistics:
    if not count:
        return {**dict.fromkeys(STATISTICS), "count": 0}
    known = {name: of_values[name] for name in STATISTICS[1:]}
    return {"count": count, **known, "std": known["std"] if count > 1 else None}
