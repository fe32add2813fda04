# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The statistics campaign's printed tables follow from each other, within the rounding in print."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from strata.stats.intervals import mean_interval_of
from strata.stats.variance import factorial, games_howell_of_groups, two_way_of_groups
from strata.units import format_p

PUBLISHED = Path(__file__).parents[3] / "trace_configs/campaigns/published"
HALF = 0.5e-4
"""Means and deviations are printed with four digits: so far is a true one from its print."""


def groups() -> pd.DataFrame:
    frame = pd.read_csv(PUBLISHED / "dds-groups.csv")
    names = {"dds": "a", "size": "b", "n": "count", "mean_ms": "mean", "sd_ms": "std"}
    return frame.rename(columns=names)


def printed() -> pd.DataFrame:
    frame = pd.read_csv(PUBLISHED / "dds-anova.csv").set_index("term")
    frame.index = pd.Index(["a", "b", "a:b", "Residual"])
    return frame


def slack() -> dict[str, float]:
    """How far each sum of squares may be off when means and deviations are off by HALF.

    A sum of squares of means is a quadratic form m' Q m: |change| <= 2 h sum |Q m| + h^2 sum |Q|.
    """
    of = groups()
    mean = of.sort_values(["a", "b"])["mean"].to_numpy()
    centred = {3: np.eye(3) - 1 / 3, 2: np.eye(2) - 1 / 2}
    forms = {
        "a": np.kron(centred[3], np.full((2, 2), 1 / 2)),
        "b": np.kron(np.full((3, 3), 1 / 3), centred[2]),
        "a:b": np.kron(centred[3], centred[2]),
    }
    out = {
        term: 270 * float(2 * HALF * np.abs(q @ mean).sum() + HALF**2 * np.abs(q).sum())
        for term, q in forms.items()
    }
    return out | {"Residual": float((269 * (2 * of["std"] * HALF + HALF**2)).sum())}


def pairs_of(size: str) -> pd.DataFrame:
    of = groups()
    summary = of[of["b"] == size].rename(columns={"a": "name"})
    return games_howell_of_groups(summary).set_index(["a", "b"])


def welch_p(size: str, first: str, second: str) -> float:
    """Of one pair alone, without a correction for there being three."""
    of = groups()
    rows = of[of["b"] == size].set_index("a").loc[[first, second]]
    figures = rows[["mean", "std", "count"]].to_numpy().ravel()
    return float(stats.ttest_ind_from_stats(*figures, equal_var=False).pvalue)


def test_the_analysis_of_variance_follows_from_the_summary_of_groups() -> None:
    found, table, off = two_way_of_groups(groups()).set_index("term"), printed(), slack()
    assert found["df"].tolist() == table["df"].tolist() == [2, 1, 2, 1614]
    for term, row in found.iterrows():
        assert abs(row["sum_sq"] - table.loc[term, "sum_sq"]) <= off[term]
        if term == "Residual":
            continue
        least = (row["sum_sq"] - off[term]) / (found.loc["Residual", "sum_sq"] + off["Residual"])
        most = (row["sum_sq"] + off[term]) / (found.loc["Residual", "sum_sq"] - off["Residual"])
        per_df = 1614 / row["df"]
        assert least * per_df <= table.loc[term, "F"] <= most * per_df
    # The slack is small: what is printed could not be of other groups.
    assert off["b"] < 0.01 * table.loc["b", "sum_sq"]
    assert off["Residual"] < 0.01 * table.loc["Residual", "sum_sq"]


def test_the_printed_table_agrees_with_itself() -> None:
    table = printed()
    of_residual = table.loc["Residual", "sum_sq"] / table.loc["Residual", "df"]
    for term in ("a", "b", "a:b"):
        row = table.loc[term]
        assert row["sum_sq"] / row["df"] / of_residual == pytest.approx(row["F"], rel=5e-5)
        assert stats.f.sf(row["F"], row["df"], 1614) == pytest.approx(
            row["p"], rel=1e-4, abs=1e-300
        )


def test_the_sizes_effect_is_large_and_the_middlewares_tiny() -> None:
    found = two_way_of_groups(groups()).set_index("term")
    assert found.loc["b", "eta_sq"] == pytest.approx(0.826, abs=5e-4)
    assert found.loc["a", "eta_sq"] == pytest.approx(0.0032, abs=5e-5)
    assert found.loc["a:b", "eta_sq"] == pytest.approx(0.0023, abs=5e-5)
    assert found.loc["a", "p"] < 1e-6
    assert found.loc["b", "p"] == 0
    assert format_p(found.loc["b", "p"]) == "< 1e-300"


@pytest.mark.parametrize("row", groups().to_dict("records"), ids=lambda row: row["a"] + row["b"])
def test_standard_errors_and_intervals_of_groups(row: dict[str, float]) -> None:
    found = mean_interval_of(int(row["count"]), row["mean"], row["std"], 0.95)
    root = np.sqrt(row["count"])
    assert abs(row["std"] / root - row["se_ms"]) <= HALF + HALF / root
    off = HALF + HALF + stats.t.ppf(0.975, 269) * HALF / root
    assert abs(found.low - row["ci95_low_ms"]) <= off
    assert abs(found.high - row["ci95_high_ms"]) <= off


def test_pairs_of_middlewares_at_128_kb() -> None:
    """The original calls these means close, and recommends the slowest."""
    pairs = pairs_of("128KB")
    assert pairs.loc[("connext", "fastrtps"), "difference"] == pytest.approx(-0.0155)
    assert pairs.loc[("connext", "fastrtps"), "p"] == pytest.approx(3 * 2.2e-13, rel=0.01)
    assert pairs.loc[("fastrtps", "opensplice"), "p"] == pytest.approx(0.654, abs=5e-4)
    assert welch_p("128KB", "connext", "fastrtps") == pytest.approx(2.2e-13, rel=0.01)
    assert welch_p("128KB", "fastrtps", "opensplice") == pytest.approx(0.380, abs=5e-4)


def test_pairs_of_middlewares_at_256_b() -> None:
    pairs = pairs_of("256B")
    assert pairs.loc[("connext", "fastrtps"), "difference"] == pytest.approx(-0.0063)
    assert pairs.loc[("connext", "fastrtps"), "p"] == pytest.approx(1.75e-4, rel=0.01)
    assert pairs.loc[("connext", "opensplice"), "p"] > 0.05
    assert welch_p("256B", "connext", "fastrtps") == pytest.approx(5.9e-5, rel=0.01)


def test_variances_differ_so_much_that_the_analysis_of_variance_is_not_enough() -> None:
    squares = groups().set_index(["b", "a"])["std"] ** 2
    assert squares["256B"].max() / squares["256B"].min() == pytest.approx(9.5, abs=0.05)
    assert squares["128KB"].max() / squares["128KB"].min() == pytest.approx(5.1, abs=0.05)


@pytest.mark.parametrize(("confidence", "t"), [(0.80, 1.2886), (0.98, 2.3578)])
def test_the_printed_bounds_of_the_mean_are_over_the_root_of_n(confidence: float, t: float) -> None:
    """The formula in print divides by n, and gives t(98 %) as 2.5378; the figures used neither."""
    table = pd.read_csv(PUBLISHED / "ci-of-mean.csv").set_index("confidence").loc[confidence]
    assert stats.t.ppf((1 + confidence) / 2, 120) == pytest.approx(t, abs=5e-5)
    found = mean_interval_of(121, table["mean"], table["sd"], confidence)
    assert found.low == pytest.approx(table["lower"], abs=1.1e-4)
    assert found.high == pytest.approx(table["upper"], abs=1.1e-4)
    assert (found.high - found.low) / 2 == pytest.approx(t * 1.7597 / 11, rel=1e-4)
    as_printed = t * 1.7597 / 121
    assert table["upper"] - table["mean"] > 10 * as_printed


def test_which_degrees_of_freedom_the_deviation_had_is_not_told() -> None:
    """With n in place of n - 1 it would be larger, and so would the interval be."""
    if_of_n = mean_interval_of(121, 9.4144, 1.7597 * np.sqrt(121 / 120), 0.98)
    assert (if_of_n.low, if_of_n.high) == pytest.approx((9.0356, 9.7932), abs=5e-5)


def test_values_like_the_printed_groups_have_the_analysis_of_the_groups() -> None:
    """Made-up values with exactly the printed counts, means and deviations."""
    parts = []
    for row in groups().to_dict("records"):
        values = np.random.default_rng(1).normal(size=int(row["count"]))
        values = (values - values.mean()) / values.std(ddof=1) * row["std"] + row["mean"]
        parts.append(pd.DataFrame({"a": row["a"], "b": row["b"], "value": values}))
    found = factorial(pd.concat(parts), "value", ["a", "b"])
    pd.testing.assert_frame_equal(found, two_way_of_groups(groups()), rtol=1e-7)
    terms = found.set_index("term")
    assert terms["F"].tolist()[:3] == pytest.approx(printed()["F"].tolist()[:3], rel=0.02)
    assert terms["eta_sq"].round(4).tolist()[:3] == [0.0032, 0.8261, 0.0023]
