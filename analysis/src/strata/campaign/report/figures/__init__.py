# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a campaign's report: long frames to bokeh figures."""

from __future__ import annotations

from collections.abc import Callable

from strata.campaign.report.contents import Chart, Study
from strata.campaign.report.figures.bars import draw_bars
from strata.campaign.report.figures.boxplot import draw_boxplot
from strata.campaign.report.figures.curve import draw_curve
from strata.campaign.report.figures.histogram import draw_histogram
from strata.campaign.report.figures.quantiles import draw_quantiles
from strata.campaign.report.figures.ranges import draw_ranges
from strata.campaign.report.figures.samples import draw_samples
from strata.campaign.report.figures.split import Drawn, Key, Panel
from strata.campaign.report.figures.timeline import draw_timeline

__all__ = ["KINDS", "Drawn", "Key", "Panel"]

KINDS: dict[str, Callable[[Chart, Study], Drawn]] = {
    "samples": draw_samples,
    "quantiles": draw_quantiles,
    "boxplot": draw_boxplot,
    "histogram": draw_histogram,
    "curve": draw_curve,
    "bars": draw_bars,
    "timeline": draw_timeline,
    "ranges": draw_ranges,
}
"""Each kind of figure and what draws a frame that has rows; `ranges` come by imports alone."""
