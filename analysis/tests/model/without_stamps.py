# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Events as releases record them whose publications have no stamp."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scene import Scene

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


def unstamped(tables: Tables, nth: int | None = None) -> Tables:
    """Tables whose publications have no stamp, but for each `nth`."""
    name = "ros2:rmw_publish"
    if name not in tables:
        return tables
    stamp = tables[name]["source_timestamp"].combine_chunks()
    gone = np.ones(len(stamp), bool)
    if nth is not None:
        gone = np.arange(len(stamp)) % nth != nth - 1
    stamps = pa.array(stamp.fill_null(0).to_numpy(), pa.int64(), mask=gone | stamp.is_null())
    return tables | {name: replaced(tables[name], "source_timestamp", stamps)}


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
