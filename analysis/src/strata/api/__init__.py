# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The Python API: what `import strata` offers. The command line is made of the same."""

from __future__ import annotations

from strata.api.analysis import Analysis
from strata.api.functions import analyze, compare

__all__ = ["Analysis", "analyze", "compare"]
