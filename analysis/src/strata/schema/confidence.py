# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How certain something is: values of the columns `confidence` and `cpu_confidence`."""

from __future__ import annotations

UNSYNCHRONISED = "unsynchronised"
"""Between hosts whose clocks are not synchronised: the time between them is not known."""

EXACT = "exact"
ESTIMATED = "estimated"
"""CPU use: known from kernel events, or bounded by samples of the kernel's counters."""
