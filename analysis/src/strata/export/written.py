# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What an export wrote, and how large it may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MAX_BYTES = 1 << 30
"""An export is at most so large, unless the user allows more."""


@dataclass(frozen=True)
class Written:
    """A file or directory that was written, and its size in bytes.

    `counts` says how many of what it holds, by a word in the plural: {"slices": 1200, "flows": 99}.
    `notes` are sentences about what the format cannot hold, or what was left out.
    """

    target: Path
    size: int
    counts: Mapping[str, int]
    notes: tuple[str, ...] = ()
