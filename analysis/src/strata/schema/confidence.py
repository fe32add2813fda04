# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How sure something is: words of the columns `confidence` and `cpu_confidence`."""

from __future__ import annotations

UNSYNCHRONISED = "unsynchronised"
"""Between hosts whose clocks are not synchronised: what lies between them is not known."""

EXACT = "exact"
ESTIMATED = "estimated"
"""Of CPU use: the kernel's events tell it, or samples of its counts bound it."""
