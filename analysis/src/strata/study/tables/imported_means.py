# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The values of a measure, with means in their place where an import has no value per message.

A mean of a second or of a run is no message's value: which they are, `VALUES` says of each row.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from strata.study.campaign_results import HERE, Results, keeps
from strata.study.imported_results import imported_frame, read_imports
from strata.study.long_frames import long_frame
from strata.study.tables.table import ORIGIN

VALUES = "values"
EACH = "each"
OF_SECONDS, OF_RUNS = "means of seconds", "means of runs"
_MEANS = {
    # The finest that there is of a place goes before the others.
    "interval": OF_SECONDS,
    "interval_mean": OF_SECONDS,
    "run": OF_RUNS,
    "run_mean": OF_RUNS,
    "mean_of_interval_means": OF_RUNS,
}
NOTE = (
    "Where an imported file has no value per message, its values are means, of seconds or of runs "
    f"(column {VALUES}): they scatter less than messages do."
)
OF_MEANS = (
    "Of imports that have no value per message: the least of their minima, the mean of their means "
    f"and the largest of their maxima (column {VALUES}); quantiles are not known."
)
_PARTS = {
    "interval_min": "min",
    "interval_mean": "mean",
    "interval_max": "max",
    "run_min": "min",
    "run_mean": "mean",
    "run_max": "max",
    "mean_of_interval_means": "mean",
}


def imported_statistics(
    results: Results, study: str, measure: str, where: Mapping[str, object]
) -> pd.DataFrame:
    """Return the minima, means and maxima that imports state instead of single values.

    Columns of the long frame, `part` (min, mean, max) and `values` (OF_SECONDS, OF_RUNS); of a
    place that has those of seconds, these alone.
    """
    told = _imported(results, study, measure, where, tuple(_PARTS))
    is_of_seconds = told["statistic"].str.startswith("interval")
    told = told.assign(
        part=told["statistic"].map(_PARTS),
        **{VALUES: is_of_seconds.map({True: OF_SECONDS, False: OF_RUNS})},
    )
    keys = [*(factor.name for factor in results.study(study).factors), ORIGIN]
    finer = is_of_seconds.groupby([told[key] for key in keys]).transform("any")
    told = told[is_of_seconds | ~finer]
    if len(told):
        there = _places(long_frame(results, study, measure, where=where), keys)
        told = _kept(told, [tuple(row) not in there for row in told[keys].to_numpy()])
    return _in_file_order(results, study, told, keys)


def with_imported_means(
    results: Results, study: str, measure: str, where: Mapping[str, object]
) -> pd.DataFrame:
    """Return the long frame of a measure, and of imports that have none the means that they state.

    Its column `values` says what a value is: EACH of its own, OF_SECONDS or OF_RUNS. Null values
    are left out.
    """
    frame = long_frame(results, study, measure, where=where)
    frame = frame.assign(**{VALUES: EACH})
    means = _imported(results, study, measure, where, tuple(_MEANS))
    keys = [*(factor.name for factor in results.study(study).factors), ORIGIN]
    if means.empty:
        # As most campaigns are: their millions of rows stay as they are.
        return _in_file_order(results, study, frame.dropna(subset=["value"]), keys)
    means = means.assign(**{VALUES: means["statistic"].map(_MEANS)})
    there = _places(frame, keys)
    means = _kept(means, [tuple(row) not in there for row in means[keys].to_numpy()])
    # Statistics of one kind alone: a mean of means is none of single values.
    finest = {kind: place for place, kind in enumerate(_MEANS)}
    place = means["statistic"].map(finest)
    means = means[place == place.groupby([means[key] for key in keys]).transform("min")]
    parts = [part for part in (frame, means) if len(part)]
    if not parts:
        return frame
    joined = pd.concat([part.astype(dict.fromkeys(keys, "str")) for part in parts])
    joined = joined.reset_index(drop=True).dropna(subset=["value"])
    return _in_file_order(results, study, joined, keys)


def _imported(
    results: Results,
    study: str,
    measure: str,
    where: Mapping[str, object],
    statistics: tuple[str, ...],
) -> pd.DataFrame:
    """Return imported values of these statistics, with levels as text."""
    imports = read_imports(results.directory.path)
    found = imported_frame(imports, results.campaign, study, measure, statistics)
    keys = [*(factor.name for factor in results.study(study).factors), ORIGIN]
    found[keys] = found[keys].astype(str)
    for name, level in where.items():
        found = _kept(found, [keeps({name: level}, {name: one}) for one in found[name]])
    return found


def _places(frame: pd.DataFrame, keys: list[str]) -> set[tuple[str, ...]]:
    """Return the combinations of levels and origin that have values."""
    return set(map(tuple, frame[keys].drop_duplicates().astype(str).to_numpy()))


def _kept(frame: pd.DataFrame, keep: list[bool]) -> pd.DataFrame:
    return frame[np.asarray(keep, bool)]


def _in_file_order(
    results: Results, study: str, frame: pd.DataFrame, keys: list[str]
) -> pd.DataFrame:
    """Make ordered categories of levels and origins: as the file has them, ours first."""
    for name in keys:
        stated = results.study(study).stated.factors.get(name)
        found = sorted(frame[name].unique(), key=lambda one: (one != HERE, one))
        order = stated.names if stated else found
        own = frame[name]
        if isinstance(own.dtype, pd.CategoricalDtype):
            made = own.cat.set_categories(order, ordered=True)
        else:
            made = pd.Series(pd.Categorical(own, order, ordered=True), own.index)
        frame = frame.assign(**{name: made})
    return frame
