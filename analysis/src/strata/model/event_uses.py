# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What events were used for, as the engine counts them."""

from __future__ import annotations

from dataclasses import dataclass

UNEXPLAINED = "unexplained"


@dataclass(frozen=True)
class EventUse:
    """`count` events of a name were used, or not, for the reason that `text` gives."""

    event: str
    used: bool
    text: str
    count: int
