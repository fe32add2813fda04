# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Systems of periodic topics, as worlds.steady_world takes them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

OFFSETS = st.one_of(
    st.integers(-50_000_000, 50_000_000).map(lambda ns: lambda at: ns),
    st.integers(-100, 100).map(lambda ppm: lambda at: at * ppm // 1_000_000),
    st.integers(-4_000_000, 4_000_000).map(lambda ns: lambda at: ns if at > 1_000_000_000 else 0),
)
SYSTEMS = st.fixed_dictionaries(
    {
        "periods_ns": st.lists(st.sampled_from([5, 10, 20, 33, 50]), min_size=1, max_size=3).map(
            lambda all_ms: {f"/t{at}": ms * 1_000_000 for at, ms in enumerate(all_ms)}
        ),
        "count": st.integers(20, 80),
        "jitter": st.lists(st.integers(0, 200_000), min_size=7, max_size=31),
        "delay": st.lists(st.integers(300, 15_000), min_size=1, max_size=13),
        "latency": st.lists(st.integers(60_000, 4_000_000), min_size=3, max_size=11),
        "offset": OFFSETS,
    }
)

# Systems in which the offset stands out by chance: the clock is set where most is published, and
# delays that go with the period make a message fit the one before.
_DELAYS = [1351, 356, 1073, 10382, 1008, 2752, 561, 11980]
MISLEADING: dict[str, dict[str, Any]] = {
    "a clock that was set after a topic ended": {
        "periods_ns": {"/t0": 5_000_000, "/t1": 50_000_000, "/t2": 50_000_000},
        "count": 74,
        "jitter": [0],
        "delay": [300],
        "latency": [60_000],
        "offset": lambda at: 1_958_579 if at > 1_000_000_000 else 0,
    },
    "delays that vary more than the period": {
        "periods_ns": {"/t0": 10_000_000},
        "count": 72,
        "jitter": _DELAYS,
        "delay": _DELAYS,
        "latency": [83_953, 271_366, 565_212, 1_424_858, 342_061],
        "offset": lambda at: 0,
    },
}
