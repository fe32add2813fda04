# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Do groups differ in their means, by how much, and how far is the answer to be trusted?

The analysis of variance has all interactions and sums of squares of type II (statsmodels). It
assumes independent values with equal variances in all groups; `equal_variances` asks for the
latter, and `welch` and `games_howell` do not need it. A large sample makes a tiny effect
significant: the effect sizes say what an effect is worth.

    eta squared = SS / (sum of all SS)          share of the variation
    partial eta squared = SS / (SS + SS of the residual)
    omega squared = (SS - df * MSE) / (sum of all SS + MSE)    eta squared without its bias

(Maxwell and Delaney, Designing Experiments and Analyzing Data, 2004, chapters 3 and 7.) Omega
squared may be below 0, which means 0. A p-value that is smaller than a float can be is 0.0 here;
strata.units.format_p writes it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from strata.lazy import pandas as pd
from strata.stats.samples import Floats, Sample, checked, checked_share

TERMS = ("term", "sum_sq", "df", "F", "p", "eta_sq", "partial_eta_sq", "omega_sq")
"""Columns of an analysis of variance; F, p and effect sizes are null for the residual."""
PAIRS = ("a", "b", "difference", "low", "high", "p", "confidence")
"""Columns of pairwise comparisons; the difference is mean of b - mean of a."""
_INEXACT_P = 1e-10
"""scipy integrates the studentized range to an absolute error of 1e-12."""
_NODES = 10
"""So many quantiles of the studentized range are sought (0.1 s each); more are interpolated."""


@dataclass(frozen=True)
class Test:
    """A test of groups: its statistic (F), degrees of freedom and p-value."""

    name: str
    statistic: float
    df: tuple[float, float]
    p: float


def factorial(frame: pd.DataFrame, value: str, factors: Sequence[str]) -> pd.DataFrame:
    """Analyse the column `value` by the columns `factors`; return the columns TERMS.

    Rows are the factors, their interactions (`a:b`, `a:b:c`) and `Residual`. Groups may differ in
    size. Raises ValueError for fewer than two factors, a factor of one level, a combination without
    values, no value to spare for the residual, equal values in all groups, and values that are not
    finite.
    """
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    if len(factors) < 2:
        raise ValueError(f"Cannot analyse {value}: there is one factor. Give two or more.")
    values = checked(frame[value])
    # Levels become numbers: the formula then knows no name of the user's.
    codes = {f"f{at}": pd.factorize(frame[factor])[0] for at, factor in enumerate(factors)}
    if any((code < 0).any() for code in codes.values()):
        raise ValueError(
            f"Cannot analyse {value}: some values have no {' or '.join(factors)}. Name them."
        )
    data = pd.DataFrame({"value": values, **codes})
    groups = data.groupby(list(codes))["value"]
    _complete(value, factors, [data[name].nunique() for name in codes], groups.ngroups)
    if len(data) <= groups.ngroups:
        raise ValueError(
            f"Cannot analyse {value}: {len(data)} values in {groups.ngroups} groups do not vary "
            "within a group. Repeat the measurement."
        )
    if (groups.min() == groups.max()).all():
        raise ValueError(f"Cannot analyse {value}: it does not vary within the groups.")
    # Far from 0 the squares of the values would swallow their differences.
    data["value"] -= data["value"].mean()
    stated = dict(zip(codes, factors, strict=True))
    found = anova_lm(
        ols(f"value ~ {' * '.join(f'C({name})' for name in codes)}", data).fit(), typ=2
    )
    names = [":".join(stated[one[2:-1]] for one in term.split(":")) for term in found.index[:-1]]
    return _terms(names, found["sum_sq"].astype(float).tolist(), found["df"].astype(int).tolist())


def two_way_of_groups(groups: pd.DataFrame) -> pd.DataFrame:
    """Analyse a printed summary of groups with the columns a, b, count, mean, std (with n - 1).

    Exact where groups are of equal size, or proportional (then the types of sums of squares are
    one); else ValueError. Returns the columns TERMS with the terms `a`, `b`, `a:b`, `Residual`.
    """
    for column in ("count", "mean", "std"):
        checked(groups[column], what=column)
    counts = groups.pivot(index="a", columns="b", values="count")
    means = groups.pivot(index="a", columns="b", values="mean")
    _complete("means", ("a", "b"), counts.shape, int(counts.notna().to_numpy().sum()))
    n, mean = counts.to_numpy(np.float64), means.to_numpy(np.float64)
    total = float(n.sum())
    expected = np.outer(n.sum(axis=1), n.sum(axis=0)) / total
    if not np.allclose(n, expected, rtol=1e-9):
        raise ValueError(
            "Cannot analyse groups by their summaries: their counts are neither equal nor"
            " proportional. Give the values themselves."
        )
    grand = float((n * mean).sum() / total)
    sums = []
    for axis in (1, 0):
        size = n.sum(axis=axis)
        level = (n * mean).sum(axis=axis) / size
        sums.append(float((size * (level - grand) ** 2).sum()))
    between = float((n * (mean - grand) ** 2).sum())
    within = float(((groups["count"] - 1) * groups["std"] ** 2).sum())
    rows, columns = n.shape
    df = [rows - 1, columns - 1, (rows - 1) * (columns - 1), int(total) - rows * columns]
    if df[3] < 1 or within <= 0:
        raise ValueError("Cannot analyse groups by their summaries: nothing varies within them.")
    return _terms(("a", "b", "a:b"), [*sums, max(between - sum(sums), 0.0), within], df)


def equal_variances(groups: Sequence[Sample]) -> Test:
    """Ask whether groups have equal variances: Brown and Forsythe's test (medians).

    "Robust tests for the equality of variances", JASA 69, 1974; Levene's with the median.
    """
    from scipy.stats import levene

    samples = _groups(groups)
    with np.errstate(invalid="ignore"):
        found = levene(*samples, center="median")
    total = sum(len(sample) for sample in samples)
    if not np.isfinite(found.pvalue):
        raise ValueError("Cannot compare variances: no group varies about its median.")
    df = (float(len(samples) - 1), float(total - len(samples)))
    return Test("Brown-Forsythe", float(found.statistic), df, float(found.pvalue))


def welch(groups: Sequence[Sample]) -> Test:
    """Ask whether groups have equal means where their variances may differ.

    Welch, "On the comparison of several mean values", Biometrika 38, 1951.
    """
    from statsmodels.stats.oneway import anova_oneway

    samples = _groups(groups, varying=True)
    found = anova_oneway(samples, use_var="unequal", welch_correction=True)
    df = (float(found.df_num), float(found.df_denom))
    return Test("Welch", float(found.statistic), df, float(found.pvalue))


def games_howell(
    groups: Sequence[Sample], names: Sequence[str], confidence: float = 0.95
) -> pd.DataFrame:
    """Compare all pairs of groups whose variances may differ; return the columns PAIRS.

    Games and Howell, "Pairwise multiple comparison procedures with unequal n's and/or variances",
    Journal of Educational Statistics 1, 1976. Intervals and p are already for all pairs together.
    Below 1e-10, where the integral of the studentized range is no longer exact, p is what Boole's
    inequality allows at most: Welch's t test of the pair, times the number of pairs.
    """
    samples = _groups(groups, varying=True)
    if len(names) != len(samples):
        raise ValueError(f"Cannot name {len(samples)} groups by {len(names)} names.")
    summary = pd.DataFrame(
        {
            "name": list(names),
            "count": [len(sample) for sample in samples],
            "mean": [sample.mean() for sample in samples],
            "std": [sample.std(ddof=1) for sample in samples],
        }
    )
    return games_howell_of_groups(summary, confidence)


def games_howell_of_groups(groups: pd.DataFrame, confidence: float = 0.95) -> pd.DataFrame:
    """Compare all pairs of a printed summary: name, count, mean, std (n - 1); columns PAIRS."""
    checked_share(confidence, "confidence")
    if len(groups) < 2 or (groups["count"] < 2).any() or (groups["std"] <= 0).any():
        raise ValueError(
            "Cannot compare pairs: there is one group, or one with fewer than two values or"
            " without variation. Leave it out."
        )
    pairs = list(combinations(groups.to_dict("records"), 2))
    errors, df = np.transpose([_error(a, b) for a, b in pairs])
    # The studentized range is of the difference over a standard error of one mean.
    widths = _critical_ranges(confidence, len(groups), df) * errors / np.sqrt(2)
    rows = []
    for at, (a, b) in enumerate(pairs):
        difference = float(b["mean"] - a["mean"])
        bounds = difference - widths[at], difference + widths[at]
        p = _p_of_range(abs(difference) / errors[at] * np.sqrt(2), len(groups), df[at])
        rows.append((a["name"], b["name"], difference, *bounds, p, confidence))
    return pd.DataFrame(rows, columns=list(PAIRS))


def _critical_ranges(confidence: float, groups: int, df: Floats) -> Floats:
    """Return quantiles of the studentized range for several degrees of freedom.

    Of more than _NODES the logarithms are interpolated over 1 / df, in which they are smooth: to
    six digits with a single degree of freedom among them, and to more without.
    """
    from scipy.interpolate import BarycentricInterpolator

    different, where = np.unique(df, return_inverse=True)
    if len(different) <= _NODES:
        return np.array([_critical_range(confidence, groups, each) for each in different])[where]
    low, high = 1 / df.max(), 1 / df.min()
    places = (low + high) / 2 + (high - low) / 2 * np.cos(np.linspace(0, np.pi, _NODES))
    exact = [np.log(_critical_range(confidence, groups, 1 / each)) for each in places]
    return np.asarray(np.exp(BarycentricInterpolator(places, exact)(1 / df)), np.float64)


# A report compares the same groups in tables and in sentences.
@cache
def _critical_range(confidence: float, groups: int, df: float) -> float:
    """Return the quantile of the studentized range, sought where it has to lie.

    It is larger than for two groups and smaller than what Boole's inequality gives.
    """
    from scipy.optimize import brentq
    from scipy.stats import studentized_range, t

    tail = 1 - confidence
    least, most = (float(np.sqrt(2) * t.isf(tail / n, df)) for n in (2, groups * (groups - 1)))
    if groups == 2:
        return least
    return float(
        brentq(lambda q: studentized_range.sf(q, groups, df) - tail, least, most, xtol=1e-8)
    )


@cache
def _p_of_range(q: float, groups: int, df: float) -> float:
    """Return the chance of a larger studentized range."""
    from scipy.stats import studentized_range, t

    most = groups * (groups - 1) * float(t.sf(q / np.sqrt(2), df))
    if most < _INEXACT_P:
        return most
    return min(1.0, float(studentized_range.sf(q, groups, df)))


def _error(a: dict[Hashable, Any], b: dict[Hashable, Any]) -> tuple[float, float]:
    """Return the standard error of a difference of means and Welch's degrees of freedom."""
    first, second = a["std"] ** 2 / a["count"], b["std"] ** 2 / b["count"]
    df = (first + second) ** 2 / (first**2 / (a["count"] - 1) + second**2 / (b["count"] - 1))
    return float(np.sqrt(first + second)), float(df)


def _terms(names: Sequence[str], sums: list[float], df: list[int]) -> pd.DataFrame:
    """Return the table from the sums of squares of the named terms and, last, of the residual."""
    from scipy.stats import f

    residual = sums[-1] / df[-1]
    total = sum(sums)
    rows: list[tuple[object, ...]] = []
    for name, square, degrees in zip(names, sums[:-1], df[:-1], strict=True):
        ratio = square / degrees / residual
        rows.append(
            (
                name,
                square,
                degrees,
                ratio,
                float(f.sf(ratio, degrees, df[-1])),
                square / total,
                square / (square + sums[-1]),
                (square - degrees * residual) / (total + residual),
            )
        )
    rows.append(("Residual", sums[-1], df[-1], *[None] * 5))
    frame = pd.DataFrame(rows, columns=list(TERMS))
    return frame.astype(dict.fromkeys(TERMS[3:], "float64"))


def _complete(value: str, names: Sequence[str], levels: Sequence[int], groups: int) -> None:
    """Raise ValueError unless all factors have levels and each combination has values."""
    for name, count in zip(names, levels, strict=True):
        if count < 2:
            raise ValueError(f"Cannot analyse {value} by {name}: it has {count} level. Vary it.")
    if groups < prod(levels):
        raise ValueError(
            f"Cannot analyse {value}: {prod(levels) - groups} of {prod(levels)} combinations "
            f"of {' and '.join(names)} have no values. Leave out combinations that were not "
            "measured."
        )


def _groups(groups: Sequence[Sample], *, varying: bool = False) -> list[Floats]:
    """Return at least two groups of at least two values; `varying` refuses equal values."""
    if len(groups) < 2:
        raise ValueError(f"Cannot compare groups: there is {len(groups)}. Give at least two.")
    samples = [
        checked(group, at_least=2, what=f"group {at}") for at, group in enumerate(groups, start=1)
    ]
    if varying and any(sample.min() == sample.max() for sample in samples):
        raise ValueError("Cannot compare groups: the values of one are all equal. Leave it out.")
    return samples
