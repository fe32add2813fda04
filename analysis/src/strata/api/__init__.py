# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata.analyze` and what it returns. The command line is made of the same."""

from __future__ import annotations

from strata.api.analysis import Analysis
from strata.api.milliseconds import in_ms
from strata.api.run import analyze

__all__ = ["Analysis", "analyze", "in_ms"]
