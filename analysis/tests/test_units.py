# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pandas as pd
import pytest

from strata import units


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (7, "7 ns"),
        (7.26, "7.26 ns"),
        (412, "412 ns"),
        (999, "999 ns"),
        (999.6, "1.00 us"),
        (1_000, "1.00 us"),
        (1_240, "1.24 us"),
        (12_340, "12.3 us"),
        (123_400, "123 us"),
        (999_499, "999 us"),
        (999_500, "1.00 ms"),
        (5_020_000, "5.02 ms"),
        (75_000_000_000, "75.0 s"),
        (1_234_000_000_000, "1,234 s"),
        (-5_020_000, "-5.02 ms"),
        (None, "-"),
        (math.nan, "-"),
        (pd.NA, "-"),
    ],
)
def test_durations_have_three_digits_and_a_fitting_unit(ns: float | None, text: str) -> None:
    assert units.format_ns(ns) == text


def test_micro_is_spelled_as_asked() -> None:
    assert units.format_ns(1_500, micro="µs") == "1.50 µs"
    assert units.format_ns(1_500_000, micro="µs") == "1.50 ms"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.0004, "< 0.1 %"),
        (0.042, "4.2 %"),
        (0.0999, "10 %"),
        (0.834, "83 %"),
        (1.0, "100 %"),
        (None, "-"),
    ],
)
def test_shares(share: float | None, text: str) -> None:
    assert units.format_share(share) == text


def test_instants_are_exact_to_the_millisecond() -> None:
    assert units.format_instant(1_700_000_000_987_999_999) == "2023-11-14 22:13:20.987 UTC"


def test_unit_of_an_axis() -> None:
    assert units.unit_for(3_000_000).name == "ms"
    assert units.unit_for(0).name == "ns"


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0, "0"), (1_000, "1 us"), (2_500_000, "2.5 ms"), (100, "100 ns"), (20_000_000_000, "20 s")],
)
def test_ticks_have_no_trailing_zeros(ns: float, text: str) -> None:
    assert units.format_tick(ns) == text


def test_sizes_have_binary_prefixes() -> None:
    sizes = (0, 1023, 1 << 10, 3 << 19, 1023 << 20, 1 << 30, 147 << 30, 2000 << 30)
    assert [units.format_size(size) for size in sizes] == [
        "0 bytes",
        "1023 bytes",
        "1 KiB",
        "1.5 MiB",
        "1023 MiB",
        "1 GiB",
        "147 GiB",
        "2000 GiB",
    ]
