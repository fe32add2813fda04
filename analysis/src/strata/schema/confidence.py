# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How sure a matched message is: words of the column `confidence`."""

from __future__ import annotations

UNSYNCHRONISED = "unsynchronised"
"""Between hosts whose clocks are not synchronised: what lies between them is not known."""
