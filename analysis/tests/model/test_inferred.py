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
from scene import Scene

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.matching import PUBLISH_TIME
from strata.model.of_tables import model_of_tables
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
    """When the publication of each take was published."""
    out = np.full(len(model.takes), NONE, np.int64)
    out[model.matches.take] = model.publications.rmw_publish_ns[model.matches.publication]
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
    exact = publication_of_take(model_of_tables(tables, Ledger()))
    ledger = Ledger()
    model = model_of_tables(as_humble(tables, CLOCKS[clock]), ledger)
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
    model = model_of_tables(as_humble(tables, CLOCKS["as it was"]), ledger)
    assert len(model.takes) > 0
    assert len(model.matches.take) == 0
    assert ledger.counts["unmatched_takes"] == len(model.takes)


def bare_publisher(count: int, period_ns: int, jitter_ns: int) -> Tables:
    """Tables of a thread that emits nothing but publications, and of one that takes them.

    The stamp is some microseconds after rmw_publish, the take up to 100 us after that.
    """
    random = np.random.default_rng(1)
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    at = np.cumsum(period_ns + random.integers(-jitter_ns, jitter_ns, count))
    stamp = at + random.integers(1_000, 9_000, count)
    take = stamp + random.integers(20_000, 100_000, count)
    lines = [
        f"{t - 900} 1.1 rcl_publish /t\n{t} 1.1 rmw_publish /t {s}\n{r} 2.2 rmw_take on_t {s}"
        for t, s, r in zip(at.tolist(), stamp.tolist(), take.tolist(), strict=True)
    ]
    scene.play("\n".join(lines))
    return scene.tables()


@pytest.mark.parametrize("period_ms", [1, 10, 100])
def test_a_thread_that_only_publishes_is_matched(period_ms: int) -> None:
    # Until its next publication nothing bounds the time at which a message was stamped.
    count = 1_000
    tables = bare_publisher(count, period_ms * 1_000_000, 60_000)
    exact = publication_of_take(model_of_tables(tables, Ledger()))
    found = publication_of_take(model_of_tables(as_humble(tables, CLOCKS["5 ms ahead"]), Ledger()))
    matched = found != NONE
    assert (found[matched] == exact[matched]).all()
    assert matched.sum() >= 0.99 * count
