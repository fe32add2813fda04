# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Strata: in which layer of a ROS 2 system did the time go?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from strata.analysis import Analysis
    from strata.pipeline import analyze
    from strata.sql import Opened, open  # noqa: A004

__version__ = "0.1.0"
__all__ = ["Analysis", "Opened", "analyze", "open"]


def __getattr__(name: str) -> Any:
    """Import the analysis on first use, so that `strata record` does not pay for it."""
    if name == "analyze":
        from strata.pipeline import analyze

        return analyze
    if name == "Analysis":
        from strata.analysis import Analysis

        return Analysis
    if name in ("open", "Opened"):
        from strata import sql

        return getattr(sql, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
