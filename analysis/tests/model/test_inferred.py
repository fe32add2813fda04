# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publications without a stamp, against the exact matches of the same traces with stamps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from model.without_stamps import (
    BY_EVERY_CLOCK,
    CLOCKS,
    OTHERS,
    Stamps,
    as_humble,
    bare_publisher,
)

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.matching import PUBLISH_TIME
from strata.model.of_tables import model_of_tables
from strata.read import open_trace


def publication_of_take(model: Model) -> Stamps:
    """When the publication of each take was published."""
    out = np.full(len(model.takes), NONE, np.int64)
    out[model.matches.take] = model.publications.rmw_publish_ns[model.matches.publication]
    return out


@pytest.mark.parametrize(
    ("trace", "clock"),
    [
        *((trace, clock) for trace in BY_EVERY_CLOCK for clock in CLOCKS),
        *((trace, "as it was") for trace in OTHERS),
    ],
)
def test_no_match_by_publish_time_is_wrong_and_few_are_missing(
    sample: Callable[[str], Path], trace: str, clock: str
) -> None:
    tables = open_trace(sample(trace)).tables()
    exact = publication_of_take(model_of_tables(tables))
    model = model_of_tables(as_humble(tables, CLOCKS[clock]))
    found = publication_of_take(model)
    matched = found != NONE
    assert (found[matched] == exact[matched]).all()
    # docs/method.md names this share.
    assert matched.sum() >= 0.95 * (exact != NONE).sum()
    assert set(model.matches.method.tolist()) == {PUBLISH_TIME}
    assert model.findings.counts["matches_by_publish_time"] == matched.sum()


def test_topics_that_are_not_known_are_not_inferred(sample: Callable[[str], Path]) -> None:
    tables = open_trace(sample("fast_relay1p_st_latestart")).tables()
    model = model_of_tables(as_humble(tables, CLOCKS["as it was"]))
    assert len(model.takes) > 0
    assert len(model.matches.take) == 0
    assert model.findings.counts["unmatched_takes"] == len(model.takes)


@pytest.mark.parametrize("period_ms", [1, 10, 100])
def test_a_thread_that_only_publishes_is_matched(period_ms: int) -> None:
    # Until its next publication nothing bounds the time at which a message was stamped.
    count = 1_000
    tables = bare_publisher(count, period_ms * 1_000_000, 60_000)
    exact = publication_of_take(model_of_tables(tables))
    found = publication_of_take(model_of_tables(as_humble(tables, CLOCKS["5 ms ahead"])))
    matched = found != NONE
    assert (found[matched] == exact[matched]).all()
    assert matched.sum() >= 0.99 * count
