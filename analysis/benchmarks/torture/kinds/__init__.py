# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of trials: what is done to a recording."""

from __future__ import annotations

from kinds import bounds, disks, kills, limits, places
from kinds.kind import Kind
from kinds.tampered import TAMPERED

KINDS: tuple[Kind, ...] = (
    *kills.KINDS,
    *disks.KINDS,
    *limits.KINDS,
    *places.KINDS,
    *bounds.KINDS,
)
BY_NAME = {kind.name: kind for kind in (*KINDS, TAMPERED)}
