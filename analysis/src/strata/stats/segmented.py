# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Does a quantity grow along a straight line, or along two that meet at a breakpoint?

    y = intercept + slope * x                                      straight line
    y = intercept + slope * x + change * max(0, x - breakpoint)    segmented

(Muggeo, "Estimating regression models with unknown break-points", Statistics in Medicine 22, 2003.)
A point is a statistic of many values, such as the median latency at one size, with its standard
error. Points also lie off any such curve, by what runs differ in and what the curve is too simple
for; that grows with the quantity. So the variance of a point is

    error^2 + (tau * |fit|)^2

with the smallest tau >= 0 for which the squared residuals of the segmented fit, each over its
variance, add up to the degrees of freedom at most (Paule and Mandel, Journal of Research of the
National Bureau of Standards 87, 1982). Weighted by these variances, small points count although
large ones vary a hundred times as much.

The fit is of least squares at each of many candidate breakpoints between the second point and the
last but one, equally far apart in the logarithm of x where all x are positive. Every interval is of
the profile: all values for which some fit has a sum of squares of no more than
min * (1 + F(1, n - 4) / (n - 4)) (Seber and Wild, Nonlinear Regression, 1989, sections 5.4 and
9.3); where points lie nearer to the fit than their errors say, these errors count: the minimum is
then not divided by n - 4. Those of slopes and intercept so allow for a breakpoint that is not
known.

Whether there is a breakpoint is asked by the largest F over all candidates. Without a breakpoint
its place means nothing, so that F has not the distribution of that name; p is of a parametric
bootstrap from the straight line (Hansen, "Inference when a nuisance parameter is not identified
under the null hypothesis", Econometrica 64, 1996). The fit is continuous: a step appears as two
slopes, and as residuals.

Do not trust a slope that rests on two points, nor a fit of fewer than eight points; with fewer than
six there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from strata.stats.samples import Floats, Sample, checked, checked_share

FEWEST = 6
"""Of fewer points there is no segmented fit: it has four parameters."""
RESAMPLES = 999
"""Draws from the straight line, for p."""
_CANDIDATES = 400
_PARAMETERS = 4
_TURNS = 4
_LEAST_ERROR = 1e-6
"""Of the largest |y|: no point is surer than that, so that none has a weight without bound."""


@dataclass(frozen=True)
class Bound:
    """An estimate with its interval."""

    estimate: float
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Return whether the interval holds a value."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Line:
    """A straight line: the intercept in the unit of y, the slope in that of y over that of x."""

    intercept: Bound
    slope: Bound

    def at(self, x: Floats) -> Floats:
        """Return y on the line."""
        return self.intercept.estimate + self.slope.estimate * x


@dataclass(frozen=True)
class Segmented:
    """A segmented fit beside the straight line; see the module.

    `F` and `p` ask whether the breakpoint is there. `scatter` is tau: by which share of its value a
    point lies off the fit beyond its own error. `residuals` are those of the points over the fit,
    as shares. `ends` are the first and the last candidate: an interval that reaches one of them is
    not bounded there.
    """

    line: Line
    intercept: Bound
    below: Bound
    above: Bound
    breakpoint: Bound
    F: float
    p: float
    scatter: float
    residuals: tuple[float, ...]
    ends: tuple[float, float]
    confidence: float

    @property
    def is_bounded(self) -> bool:
        """Return whether the interval of the breakpoint excludes both ends of the candidates."""
        return self.ends[0] < self.breakpoint.low and self.breakpoint.high < self.ends[1]

    def at(self, x: Floats) -> Floats:
        """Return y on the segmented fit."""
        change = self.above.estimate - self.below.estimate
        beyond = np.maximum(0, x - self.breakpoint.estimate)
        return np.asarray(
            self.intercept.estimate + self.below.estimate * x + change * beyond, np.float64
        )


def fit_segmented(
    x: Sample,
    y: Sample,
    errors: Sample,
    confidence: float = 0.95,
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> Segmented:
    """Fit points in ascending order of x; `errors` are the standard errors of y, 0 if not known.

    Raises ValueError for fewer than FEWEST points, x that do not ascend, and a y that is always 0.
    """
    at, values = checked(x, at_least=FEWEST, what="x"), checked(y, at_least=FEWEST, what="y")
    error = checked(errors, at_least=FEWEST, what="errors")
    checked_share(confidence, "confidence")
    if not len(at) == len(values) == len(error) or (np.diff(at) <= 0).any() or (error < 0).any():
        raise ValueError("Cannot fit points: give as many ascending x, y and errors of 0 or more.")
    most = float(np.abs(values).max())
    if not most:
        raise ValueError("Cannot fit points: all of them are 0.")
    candidates = _candidates(at)
    error = np.maximum(error, _LEAST_ERROR * most)
    profile, tau = _weighted(at, values, error, candidates)
    straight = _straight(at, values, error, confidence)
    ratio, p = _supremum_f(profile, values, resamples, seed)
    best = int(np.argmin(profile.squares))
    limit = profile.limit(confidence)
    fitted = profile.fitted(best)
    return Segmented(
        straight,
        profile.bound((1, 0, 0), limit),
        profile.bound((0, 1, 0), limit),
        profile.bound((0, 1, 1), limit),
        profile.breakpoint(limit),
        ratio,
        p,
        tau,
        tuple((values / fitted - 1).tolist()),
        (float(candidates[0]), float(candidates[-1])),
        confidence,
    )


def _candidates(x: Floats) -> Floats:
    """Return the breakpoints that are tried, each of the points between among them."""
    low, high = float(x[1]), float(x[-2])
    if x[0] > 0:
        spaced = np.geomspace(low, high, _CANDIDATES)
    else:
        spaced = np.linspace(low, high, _CANDIDATES)
    return np.unique(np.concatenate([spaced[1:-1], x[1:-1]]))


def _weights(sizes: Floats, error: Floats, tau: float) -> Floats:
    return np.asarray(1 / (error**2 + (tau * sizes) ** 2), np.float64)


def _sizes(fitted: Floats, values: Floats) -> Floats:
    """Return how large the fit is at each point; where it comes near 0, half of the least point."""
    return np.asarray(np.maximum(np.abs(fitted), np.abs(values).min() / 2), np.float64)


@dataclass(frozen=True)
class _Profile:
    """Weighted fits at each candidate breakpoint: coefficients, their scaled covariances, squares.

    `basis` has an orthonormal basis of each weighted design, `designs` the designs themselves.
    """

    candidates: Floats
    designs: Floats
    basis: Floats
    roots: Floats
    coefficients: Floats
    covariances: Floats
    squares: Floats

    @staticmethod
    def of(x: Floats, y: Floats, weights: Floats, candidates: Floats) -> _Profile:
        roots = np.sqrt(weights)
        beyond = np.maximum(0, x[None, :] - candidates[:, None])
        # x as shares of its largest value: columns of like size are solved exactly enough.
        scale = x[-1]
        ones = np.ones_like(beyond)
        designs = np.stack([ones, np.broadcast_to(x / scale, beyond.shape), beyond / scale], 2)
        basis, triangle = np.linalg.qr(designs * roots[None, :, None])
        projected = np.einsum("kni,n->ki", basis, roots * y)
        inverse = np.linalg.inv(triangle)
        unit = np.array([1, 1 / scale, 1 / scale])
        coefficients = np.einsum("kij,kj->ki", inverse, projected) * unit
        covariances = inverse @ inverse.transpose(0, 2, 1) * unit[:, None] * unit[None, :]
        squares = np.maximum(((roots * y) ** 2).sum() - (projected**2).sum(axis=1), 0.0)
        designs = designs / unit
        return _Profile(candidates, designs, basis, roots, coefficients, covariances, squares)

    @property
    def df(self) -> int:
        return len(self.roots) - _PARAMETERS

    def limit(self, confidence: float) -> float:
        """Return the sum of squares up to which values are in an interval."""
        from scipy.stats import f

        least = float(self.squares.min())
        return least + float(f.ppf(confidence, 1, self.df)) * max(1.0, least / self.df)

    def bound(self, weights: tuple[int, int, int], limit: float) -> Bound:
        """Return a sum of coefficients, over all breakpoints that the data allow."""
        which = np.array(weights, np.float64)
        estimates = self.coefficients @ which
        variances = np.einsum("i,kij,j->k", which, self.covariances, which)
        inside = self.squares <= limit
        half = np.sqrt((limit - self.squares[inside]) * variances[inside])
        return Bound(
            float(estimates[np.argmin(self.squares)]),
            float((estimates[inside] - half).min()),
            float((estimates[inside] + half).max()),
        )

    def breakpoint(self, limit: float) -> Bound:
        """Return the candidate with the least squares, and the interval by the limit.

        It reaches to the next candidates beyond, for the limit is met between two of them.
        """
        inside = np.flatnonzero(self.squares <= limit)
        low, high = max(inside[0] - 1, 0), min(inside[-1] + 1, len(self.candidates) - 1)
        best, first, last = self.candidates[[int(np.argmin(self.squares)), low, high]]
        return Bound(float(best), float(first), float(last))

    def fitted(self, at: int) -> Floats:
        return np.asarray(self.designs[at] @ self.coefficients[at], np.float64)


def _weighted(x: Floats, y: Floats, error: Floats, candidates: Floats) -> tuple[_Profile, float]:
    """Return the segmented fits with their weights, and tau.

    The scatter is in proportion to the fit, which is found with weights by the scatter: in turns.
    """
    sizes = np.abs(y)
    for _ in range(_TURNS):

        def at(tau: float, sizes: Floats = sizes) -> _Profile:
            return _Profile.of(x, y, _weights(sizes, error, tau), candidates)

        def beyond(tau: float, at: Callable[[float], _Profile] = at) -> float:
            profile = at(tau)
            return float(profile.squares.min()) - profile.df

        tau = _root(beyond)
        profile = at(tau)
        sizes = _sizes(profile.fitted(int(np.argmin(profile.squares))), y)
    return profile, tau


def _root(beyond: Callable[[float], float]) -> float:
    """Return the least tau for which a function that falls with it is not above 0."""
    from scipy.optimize import brentq

    if beyond(0.0) <= 0:
        return 0.0
    # Where points are off by several times their value, no curve is a fit.
    high = 10.0
    return float(brentq(beyond, 0.0, high, xtol=1e-6)) if beyond(high) < 0 else high


def _line(x: Floats, y: Floats, roots: Floats) -> tuple[float, Floats, Floats]:
    """Return the sum of squares of the weighted line, its coefficients and scaled covariance."""
    design = np.stack([np.ones_like(x), x / x[-1]], axis=1) * roots[:, None]
    basis, triangle = np.linalg.qr(design)
    projected = basis.T @ (roots * y)
    inverse = np.linalg.inv(triangle)
    unit = np.array([1, 1 / x[-1]])
    squares = float(((roots * y) ** 2).sum() - (projected**2).sum())
    covariance = inverse @ inverse.T * unit[:, None] * unit[None, :]
    return max(squares, 0.0), inverse @ projected * unit, covariance


def _straight(x: Floats, y: Floats, error: Floats, confidence: float) -> Line:
    """Return the straight line, with a scatter of its own, as `_weighted` does."""
    from scipy.stats import t

    sizes, df = np.abs(y), len(x) - 2
    for _ in range(_TURNS):

        def beyond(tau: float, sizes: Floats = sizes) -> float:
            return _line(x, y, np.sqrt(_weights(sizes, error, tau)))[0] - df

        roots = np.sqrt(_weights(sizes, error, _root(beyond)))
        squares, coefficients, covariance = _line(x, y, roots)
        sizes = _sizes(coefficients[0] + coefficients[1] * x, y)
    scale = max(1.0, squares / df)
    half = t.ppf((1 + confidence) / 2, df) * np.sqrt(scale * np.diag(covariance))
    low, high = coefficients - half, coefficients + half
    first, second = (
        Bound(float(coefficients[at]), float(low[at]), float(high[at])) for at in (0, 1)
    )
    return Line(first, second)


def _supremum_f(profile: _Profile, y: Floats, resamples: int, seed: int) -> tuple[float, float]:
    """Return the largest F of a breakpoint, and its p by draws from the straight line."""
    random = np.random.default_rng(seed)
    roots = profile.roots
    line, _ = np.linalg.qr(profile.designs[0][:, :2] * roots[:, None])
    scaled = roots * y
    # F does not change with the line nor with the scale of the errors: draw them alone.
    drawn = np.vstack([scaled, random.normal(size=(resamples, len(y)))])
    total = (drawn**2).sum(axis=1)
    straight = total - ((drawn @ line) ** 2).sum(axis=1)
    explained = np.einsum("kni,rn->rki", profile.basis, drawn)
    segmented = total - (explained**2).sum(axis=2).max(axis=1)
    ratios = (straight - segmented) / 2 / (np.maximum(segmented, 1e-300) / profile.df)
    p = (1 + int((ratios[1:] >= ratios[0]).sum())) / (resamples + 1)
    return float(ratios[0]), p
