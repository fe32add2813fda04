# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Quantiles of resamples that were never drawn, against resamples that were."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ks_2samp

from strata.stats.resampled_quantile import quantiles_of_resamples


@pytest.mark.parametrize(("count", "q"), [(7, 0.5), (40, 0.99), (301, 0.9), (5, 0.2)])
def test_they_are_distributed_as_those_of_drawn_resamples(count: int, q: float) -> None:
    random = np.random.default_rng(count)
    sample = np.round(random.lognormal(8, 0.5, count))
    drawn = np.quantile(random.choice(sample, (8_000, count)), q, axis=1)
    made = quantiles_of_resamples(sample, q, resamples=8_000, seed=3)
    assert ks_2samp(drawn, made).pvalue > 1e-3
    assert abs(np.mean(made) - np.mean(drawn)) < 5 * np.std(drawn) / np.sqrt(4_000) + 1e-9


def test_one_value_is_its_own_quantile() -> None:
    assert set(quantiles_of_resamples(np.array([4.0]), 0.5, resamples=20, seed=0)) == {4.0}
