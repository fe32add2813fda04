# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of several recordings: two compared, and any number side by side."""

from __future__ import annotations

from strata.show.html.comparison.page import render_comparison
from strata.show.html.comparison.several import render_several

__all__ = ["render_comparison", "render_several"]
