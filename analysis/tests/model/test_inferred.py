# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Publications without a stamp, against the exact matches of the same traces with stamps."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from strata.model.build import Model, build_model
from strata.model.columns import NONE
from strata.model.matching import PUBLISH_TIME
from strata.read import open_trace
from strata.schema.quality import Ledger

Stamps = npt.NDArray[np.int64]
Tables = dict[str, pa.Table]

CLOCKS: dict[str, Callable[[Stamps, Stamps], Stamps]] = {
    "as it was": lambda age, left: 0 * age,
    "5 ms ahead": lambda age, left: 0 * age + 5_000_000,
    "5 ms behind": lambda age, left: 0 * age - 5_000_000,
    "100 ppm fast": lambda age, left: age // 10_000,
    "100 ppm slow": lambda age, left: -(age // 10_000),
    "set 3 ms forward": lambda age, left: np.where(age > left, 3_000_000, 0),
    "set 3 ms back": lambda age, left: np.where(age > left, -3_000_000, 0),
}


def replaced(table: pa.Table, column: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.column_names.index(column), column, values)


def as_humble(tables: Tables, clock: Callable[[Stamps, Stamps], Stamps]) -> Tables:
    """Tables as Humble and Iron make them, their stamps by another clock."""
    published, taken = tables["ros2:rmw_publish"], tables["ros2:rmw_take"]
    for column, kind in (("source_timestamp", pa.int64()), ("rmw_publisher_handle", pa.uint64())):
        published = replaced(published, column, pa.nulls(len(published), kind))
    stamp = taken["source_timestamp"].to_numpy()
    known = stamp > 0
    age = stamp - stamp[known].min()
    stamp = np.where(known, stamp + clock(age, age.max() - age), stamp)
    taken = replaced(taken, "source_timestamp", pa.array(stamp))
    return tables | {"ros2:rmw_publish": published, "ros2:rmw_take": taken}


def publication_of_take(model: Model) -> Stamps:
    """The timeline position of each take's publication."""
    out = np.full(len(model.takes), NONE, np.int64)
    out[model.matches.take] = model.publications.position[model.matches.publication]
    return out


BY_EVERY_CLOCK = ("fast_relay1p_st", "fast_relaymp_st", "fast_blocked_st", "fast_relay1p_mt_lossy")
OTHERS = (
    "fast_relay1p_mt",
    "fast_fanout",
    "fast_img720p30",
    "fast_pc2",
    "fast_generic_relay",
    "fast_fusion",
    "cyc_relay1p_st",
)


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
    exact = publication_of_take(build_model(tables, Ledger()))
    ledger = Ledger()
    model = build_model(as_humble(tables, CLOCKS[clock]), ledger)
    found = publication_of_take(model)
    matched = found != NONE
    assert (found[matched] == exact[matched]).all()
    # docs/method.md names this share.
    assert matched.sum() >= 0.95 * (exact != NONE).sum()
    assert set(model.matches.method.tolist()) == {PUBLISH_TIME}
    assert ledger.counts["matches_by_publish_time"] == matched.sum()


def test_topics_that_are_not_known_are_not_inferred(sample: Callable[[str], Path]) -> None:
    tables = open_trace(sample("fast_relay1p_st_latestart")).tables()
    ledger = Ledger()
    model = build_model(as_humble(tables, CLOCKS["as it was"]), ledger)
    assert len(model.takes) > 0
    assert len(model.matches.take) == 0
    assert ledger.counts["unmatched_takes"] == len(model.takes)
