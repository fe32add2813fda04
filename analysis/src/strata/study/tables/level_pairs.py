# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which levels of a factor are compared, and the values of each level by run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.study.campaign_results import HERE, Study

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LevelRuns:
    """A level with the values of each of its runs, in the order of measuring."""

    level: str
    runs: tuple[Floats, ...]

    @property
    def values(self) -> Floats:
        """Give the values of all runs, one run after the other."""
        return np.concatenate(self.runs)


def told_apart(frame: pd.DataFrame, figure: Figure) -> list[str]:
    """Name what is held fixed in a comparison: the levels of `within`, and the machine.

    Two levels of an import differ; an import and a cell need not.
    """
    imported = len(frame) and (frame["origin"] != HERE).any()
    return [*(["origin"] if imported else []), *listed(figure.within)]


def strata_of(
    frame: pd.DataFrame, apart: Sequence[str]
) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Give the rows of each combination of what is held fixed; all rows where nothing is."""
    if not apart:
        yield {}, frame
        return
    for key, own in frame.groupby(list(apart), observed=True):
        yield dict(zip(apart, (str(one) for one in key), strict=True)), own


def runs_by_level(frame: pd.DataFrame, factor: str, study: Study) -> list[LevelRuns]:
    """Return the levels that have values: numbers by size, others in the file's order."""
    order = [name for name in ("cell", "hop", "number") if name in frame.columns]
    found = {}
    for level, own in frame.sort_values(order, kind="stable").groupby(factor, observed=True):
        runs = (
            rows["value"].to_numpy(np.float64) for _, rows in own.groupby("cell", observed=True)
        )
        found[str(level)] = LevelRuns(str(level), tuple(runs))
    stated = study.factor(factor)
    if stated is None or stated.numbers is None:
        return list(found.values())
    numbers = dict(zip(stated.levels, stated.numbers, strict=True))
    return [found[level] for level in sorted(found, key=lambda level: numbers[level])]


def pairs_of(
    levels: Sequence[LevelRuns], *, consecutive: bool
) -> list[tuple[LevelRuns, LevelRuns]]:
    """Return all pairs of levels, or each level with the next one that has values."""
    return list(pairwise(levels) if consecutive else combinations(levels, 2))


def neighbouring(figure: Figure) -> str:
    """Return how a title calls pairs of each level with the next one."""
    return "neighbouring levels of " if figure.consecutive else ""
