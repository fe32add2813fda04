# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Analysis of variance and comparisons of groups, against textbooks, scipy and statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from strata.stats.variance import (
    equal_variances,
    factorial,
    games_howell,
    games_howell_of_groups,
    two_way_of_groups,
    welch,
)
from strata.units import format_p

# Growth of teeth of guinea pigs by dose (mg) and supplement: R's ToothGrowth, from Crampton,
# "The growth of the odontoblast of the incisor teeth", The Journal of Nutrition 33, 1947.
TEETH = {
    ("VC", 0.5): [4.2, 11.5, 7.3, 5.8, 6.4, 10.0, 11.2, 11.2, 5.2, 7.0],
    ("VC", 1.0): [16.5, 16.5, 15.2, 17.3, 22.5, 17.3, 13.6, 14.5, 18.8, 15.5],
    ("VC", 2.0): [23.6, 18.5, 33.9, 25.5, 26.4, 32.5, 26.7, 21.5, 23.3, 29.5],
    ("OJ", 0.5): [15.2, 21.5, 17.6, 9.7, 14.5, 10.0, 8.2, 9.4, 16.5, 9.7],
    ("OJ", 1.0): [19.7, 23.3, 23.6, 26.4, 20.0, 25.2, 25.8, 21.2, 14.5, 27.3],
    ("OJ", 2.0): [25.5, 26.4, 22.4, 24.5, 24.8, 30.9, 26.4, 27.3, 29.4, 23.0],
}


def teeth() -> pd.DataFrame:
    rows = [(*key, value) for key, values in TEETH.items() for value in values]
    return pd.DataFrame(rows, columns=["supp", "dose", "len"])


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    groups = frame.groupby(["supp", "dose"])["len"].agg(["count", "mean", "std"]).reset_index()
    return groups.rename(columns={"supp": "a", "dose": "b"})


def test_the_two_way_analysis_of_a_textbooks_data() -> None:
    """R: summary(aov(len ~ supp * factor(dose), ToothGrowth))."""
    found = factorial(teeth(), "len", ["supp", "dose"]).set_index("term")
    assert found["df"].tolist() == [1, 2, 2, 54]
    assert found["sum_sq"].tolist() == pytest.approx([205.35, 2426.43, 108.32, 712.11], abs=5e-3)
    assert found["F"].tolist()[:3] == pytest.approx([15.572, 92.000, 4.107], abs=5e-4)
    assert found["p"].tolist()[:3] == pytest.approx([0.000231, 4.05e-18, 0.0219], rel=3e-3)
    assert found.loc["supp", "eta_sq"] == pytest.approx(205.35 / 3452.21, rel=1e-4)
    assert found.loc["supp", "partial_eta_sq"] == pytest.approx(205.35 / 917.46, rel=1e-4)
    assert found.loc["supp", "omega_sq"] == pytest.approx(
        (205.35 - 13.187) / (3452.21 + 13.187), rel=1e-4
    )
    assert found.loc["Residual", ["F", "p", "omega_sq"]].isna().all()


def test_a_summary_of_groups_says_as_much_as_the_values() -> None:
    frame = teeth()
    ours = two_way_of_groups(summary(frame)).drop(columns="term")
    theirs = factorial(frame, "len", ["supp", "dose"]).drop(columns="term")
    pd.testing.assert_frame_equal(ours, theirs, rtol=1e-9)


def test_proportional_groups_are_exact_and_others_refused() -> None:
    frame = teeth()
    # 5, 10 and 10 values a dose for one supplement, and as many for the other.
    place = frame.groupby(["supp", "dose"]).cumcount()
    proportional = frame[(place < 5) | (frame["dose"] > 0.5)]
    ours = two_way_of_groups(summary(proportional)).drop(columns="term")
    theirs = factorial(proportional, "len", ["supp", "dose"]).drop(columns="term")
    pd.testing.assert_frame_equal(ours, theirs, rtol=1e-9)
    with pytest.raises(ValueError, match="neither equal nor proportional"):
        two_way_of_groups(summary(frame.iloc[5:]))


def test_unequal_groups_are_of_type_two() -> None:
    """A main effect is what it explains beside the other one: the drop of the residual."""
    frame = teeth().iloc[7:]
    found = factorial(frame, "len", ["supp", "dose"]).set_index("term")
    doses = pd.get_dummies(frame["dose"]).to_numpy(float)
    supp = (frame["supp"] == "VC").to_numpy(float)[:, None]
    values = frame["len"].to_numpy()

    def left(design: np.ndarray) -> float:
        return float(((values - design @ np.linalg.lstsq(design, values)[0]) ** 2).sum())

    expected = left(doses) - left(np.hstack([doses, supp]))
    assert found.loc["supp", "sum_sq"] == pytest.approx(expected)


def test_large_numbers_lose_nothing() -> None:
    frame = teeth()
    far = frame.assign(len=frame["len"] * 1e-3 + 1e9)
    found = factorial(far, "len", ["supp", "dose"])
    assert found["F"][:3].tolist() == pytest.approx([15.572, 92.000, 4.107], abs=0.01)


def groups() -> list[list[float]]:
    random = np.random.default_rng(1)
    return [random.normal(mean, std, n) for mean, std, n in ((10, 1, 30), (11, 3, 25), (10, 6, 40))]


def test_equal_variances_are_asked_for_about_the_median() -> None:
    found = equal_variances(groups())
    theirs = stats.levene(*groups(), center="median")
    assert (found.statistic, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert found.df == (2, 92)
    assert found.p < 0.001


def test_welchs_test_of_two_groups_is_the_t_test() -> None:
    first, second, _ = groups()
    found = welch([first, second])
    theirs = stats.ttest_ind(first, second, equal_var=False)
    assert found.statistic == pytest.approx(theirs.statistic**2)
    assert found.p == pytest.approx(theirs.pvalue)


def test_welchs_test_of_several_groups() -> None:
    """Welch 1951 by hand: weights n / s^2."""
    samples = groups()
    n = np.array([len(each) for each in samples])
    mean = np.array([each.mean() for each in samples])
    weight = n / np.array([each.var(ddof=1) for each in samples])
    centre = (weight * mean).sum() / weight.sum()
    spare = ((1 - weight / weight.sum()) ** 2 / (n - 1)).sum()
    f = (weight * (mean - centre) ** 2).sum() / 2 / (1 + 2 * (3 - 2) / (9 - 1) * spare)
    found = welch(samples)
    assert found.statistic == pytest.approx(f)
    assert found.df == pytest.approx((2, 8 / (3 * spare)))


def test_games_and_howells_pairs_are_scipys() -> None:
    found = games_howell(groups(), ["x", "y", "z"]).set_index(["a", "b"])
    theirs = stats.tukey_hsd(*groups(), equal_var=False)
    bounds = theirs.confidence_interval(0.95)
    for (a, b), row in found.iterrows():
        i, j = "xyz".index(a), "xyz".index(b)
        assert row["p"] == pytest.approx(theirs.pvalue[i, j])
        assert row["difference"] == pytest.approx(theirs.statistic[j, i])
        assert (row["low"], row["high"]) == pytest.approx((bounds.low[j, i], bounds.high[j, i]))


def test_two_groups_far_apart_have_the_p_of_welchs_t_test() -> None:
    """Where scipy's studentized range has nothing but the rounding of its integral."""
    random = np.random.default_rng(2)
    for apart in (0.5, 1.5, 5.0, 30.0):
        a, b = random.normal(0, 1, 200), random.normal(apart, 2, 150)
        exact = stats.ttest_ind(a, b, equal_var=False)
        (found,) = games_howell([a, b], ["a", "b"]).to_dict("records")
        assert found["p"] == pytest.approx(exact.pvalue, rel=1e-6)
        bounds = exact.confidence_interval(0.95)
        assert (-found["high"], -found["low"]) == pytest.approx((bounds.low, bounds.high))


def test_a_small_p_of_many_groups_goes_on_below_what_can_be_integrated() -> None:
    means = pd.DataFrame({"name": list("abc"), "count": 40, "std": 1.0})
    found = [
        games_howell_of_groups(means.assign(mean=[0.0, apart, 0.1]))["p"][0]
        for apart in (1.65, 1.70, 1.75, 1.80)
    ]
    assert found[0] > 1e-10 > found[3]
    # Each step is alike, where p is integrated and where it is not.
    steps = np.diff(np.log(found))
    assert steps == pytest.approx([steps.mean()] * 3, rel=0.05)


def test_pairs_of_many_groups_have_the_bounds_that_each_would_have() -> None:
    random = np.random.default_rng(3)
    summary = pd.DataFrame({"name": range(6), "count": [6, 9, 20, 50, 200, 1000], "mean": 0.0})
    summary["std"] = random.uniform(0.5, 5, 6)
    found = games_howell_of_groups(summary)
    for row in found.iloc[[0, 4, 9, 14]].to_dict("records"):
        a, b = (summary.iloc[row[side]] for side in "ab")
        parts = [each["std"] ** 2 / each["count"] for each in (a, b)]
        df = sum(parts) ** 2 / (parts[0] ** 2 / (a["count"] - 1) + parts[1] ** 2 / (b["count"] - 1))
        exact = stats.studentized_range.ppf(0.95, 6, df) * np.sqrt(sum(parts) / 2)
        assert row["high"] == pytest.approx(exact, rel=1e-6)


def test_what_cannot_be_analysed_is_refused() -> None:
    frame = teeth()
    with pytest.raises(ValueError, match="1 of 6 combinations"):
        factorial(frame[(frame["supp"] == "VC") | (frame["dose"] > 0.5)], "len", ["supp", "dose"])
    with pytest.raises(ValueError, match="by supp: it has 1 level"):
        factorial(frame[frame["supp"] == "VC"], "len", ["supp", "dose"])
    with pytest.raises(ValueError, match="does not vary"):
        factorial(frame.assign(len=frame["dose"]), "len", ["supp", "dose"])
    with pytest.raises(ValueError, match="do not vary within a group"):
        factorial(frame.drop_duplicates(["supp", "dose"]), "len", ["supp", "dose"])
    with pytest.raises(ValueError, match="have no supp or dose"):
        factorial(frame.assign(supp=[None, *frame["supp"][1:]]), "len", ["supp", "dose"])
    with pytest.raises(ValueError, match="there is one factor"):
        factorial(frame, "len", ["supp"])
    with pytest.raises(ValueError, match="not finite"):
        factorial(frame.assign(len=np.nan), "len", ["supp", "dose"])
    with pytest.raises(ValueError, match="all equal"):
        welch([[1.0, 1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="no group varies"):
        equal_variances([[1.0, 1.0], [2.0, 2.0]])
    with pytest.raises(ValueError, match="group 2: there are 1"):
        games_howell([[1.0, 2.0], [1.0]], ["x", "y"])
    with pytest.raises(ValueError, match="without variation"):
        games_howell_of_groups(
            pd.DataFrame({"name": ["x", "y"], "count": 5, "mean": 1.0, "std": [0.0, 1.0]})
        )


def test_three_factors_of_equal_groups_have_the_sums_of_the_means() -> None:
    """With equal groups each term is the variation of its means beyond those of smaller terms."""
    random = np.random.default_rng(4)
    keys = [(a, b, c) for a in "xy" for b in "uvw" for c in "st" for _ in range(7)]
    frame = pd.DataFrame(keys, columns=["a", "b", "c"])
    frame["value"] = random.normal(0, 1, len(frame)) + 3 * (frame["a"] == "x") * (frame["c"] == "s")
    found = factorial(frame, "value", ["a", "b", "c"]).set_index("term")
    assert found.index.tolist() == ["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c", "Residual"]
    assert found["df"].tolist() == [1, 2, 1, 2, 1, 2, 2, 72]
    own: dict[str, pd.Series] = {"": pd.Series(frame["value"].mean(), frame.index)}
    for term in found.index[:-1]:
        names = term.split(":")
        mean = frame.groupby(names)["value"].transform("mean")
        smaller = [
            effect
            for other, effect in own.items()
            if set(filter(None, other.split(":"))) < {*names}
        ]
        own[term] = mean - sum(smaller)
        assert found.loc[term, "sum_sq"] == pytest.approx(float((own[term] ** 2).sum())), term
    assert found["sum_sq"].sum() == pytest.approx(float(((frame["value"] - own[""]) ** 2).sum()))
    assert found.loc["a:c", "p"] < 1e-4
    assert found.loc[["b", "a:b", "b:c", "a:b:c"], "p"].min() > 0.001
    assert found.loc["a:c", "partial_eta_sq"] == pytest.approx(
        found.loc["a:c", "sum_sq"] / (found.loc["a:c", "sum_sq"] + found.loc["Residual", "sum_sq"])
    )


def test_p_values_are_never_zero_in_print() -> None:
    printed = [format_p(p) for p in (0.0, 1e-301, 2.2e-13, 4e-4, 0.0021, 0.38, 1.0, None)]
    assert printed == ["< 1e-300", "< 1e-300", "2e-13", "4e-4", "0.0021", "0.38", "1", "-"]
