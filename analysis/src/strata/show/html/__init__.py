# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The report page: an analysis as one self-contained HTML file."""

from __future__ import annotations

from strata.show.html.analysis.page import MAX_CHAINS, render_page, write_report
from strata.show.html.embedding import check_target

__all__ = ["MAX_CHAINS", "check_target", "render_page", "write_report"]
