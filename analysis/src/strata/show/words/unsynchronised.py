# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The mark of what was measured by the clocks of two hosts, and what it means."""

from __future__ import annotations

MARK = " (unsynchronised)"
NOTE = (
    "unsynchronised: measured by the clocks of two hosts, so it also holds how far they are apart"
)


def marked(name: str, count: int) -> str:
    """Return a name with the mark, where `count` of what it names was measured so."""
    return f"{name}{MARK if count else ''}"
