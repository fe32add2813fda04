# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Of which runs or hops a mode mostly is.

A group of cells has the messages of several runs, and often of several hops. Where these have
different medians, the group has several modes although none of them has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

_MOST, _AT_MOST = 0.8, 0.5
_FEWEST = 20
"""Of fewer values of a mode per run (or hop), it may be of a few of them by chance."""
MOSTLY_NOTE = (
    f"Mostly of: {_MOST:.0%} or more of the mode's values are of these runs (or hops), which have "
    f"{_AT_MOST:.0%} or less of all values. Then runs (or hops) differ: none of them needs to have "
    "several modes."
)


def mostly_of(own: pd.DataFrame, inside: npt.NDArray[np.bool_]) -> str | None:
    """Name the run or the hop that most of a mode's values are of, or say of how many they are.

    Null where the mode is of most runs and hops, as it is where a group has one mode. `own` has a
    row per value of the group with `cell`, `repetition` and, of hops, `hop`; `inside` flags those
    of the mode.
    """
    found = [_concentrated(_run_names(own), inside, "run", "runs")]
    if "hop" in own:
        found.append(_concentrated(own["hop"], inside, "hop", "hops"))
    return ", ".join(one for one in found if one) or None


def _run_names(own: pd.DataFrame) -> pd.Series[Any]:
    """Return the run of each value: the repetition, where that alone tells cells apart."""
    by_number = own["repetition"].nunique() == own["cell"].nunique()
    return own["repetition" if by_number else "cell"]


def _concentrated(
    names: pd.Series[Any], inside: npt.NDArray[np.bool_], one: str, many: str
) -> str | None:
    """Return the name, or the count, of the fewest that have most of the mode."""
    whole, mode = _counts(names), _counts(names[inside])
    if len(whole) < 2 or mode.empty:
        return None
    shares = mode.cumsum() / mode.sum()
    fewest = mode.index[: int((shares < _MOST).sum()) + 1]
    if whole.loc[list(fewest)].sum() > _AT_MOST * len(names) or mode.sum() < _FEWEST * len(fewest):
        return None
    return f"{one} {fewest[0]}" if len(fewest) == 1 else f"{len(fewest)} of {len(whole)} {many}"


def _counts(names: pd.Series[Any]) -> pd.Series[int]:
    """Count the values of each name, most first; a categorical counts those without any, too."""
    counts = names.value_counts()
    return counts[counts > 0]
