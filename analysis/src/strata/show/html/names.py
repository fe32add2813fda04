# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of callbacks: short on the page, in full in the tooltip."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """A name as shown, and in full."""

    text: str
    full: str
