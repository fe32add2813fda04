# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every field of every event of the recorded rclcpp traces is what libbabeltrace2 reads there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from oracle import assert_equal

SAMPLES = {
    "fast_blocked_st": 11177,
    "fast_relay1p_events": 68935,
    "fast_relay1p_mt_lossy": 89922,
    "fast_relay1p_st_latestart": 33447,
    "fast_relaymp_st": 109286,
    "fast_throws": 7820,
    "dds_jazzy_udp_resends": 3886,
    "dds_kilted_shm": 8508,
    "operations_udp": 5826,
    "ctf18_lttng_extra": 263,
}


@pytest.mark.parametrize(("name", "events"), SAMPLES.items())
def test_a_sample_is_read_as_babeltrace_reads_it(
    sample: Callable[[str], Path], name: str, events: int
) -> None:
    assert assert_equal(sample(name)) == events
