# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a campaign's report: long frames to bokeh figures."""

from __future__ import annotations

from collections.abc import Callable

from strata.show.html.campaign.figures.band import draw_band
from strata.show.html.campaign.figures.bars import draw_bars
from strata.show.html.campaign.figures.boxplot import draw_boxplot
from strata.show.html.campaign.figures.curve import draw_curve
from strata.show.html.campaign.figures.histogram import draw_histogram
from strata.show.html.campaign.figures.quantiles import draw_quantiles
from strata.show.html.campaign.figures.ranges import draw_ranges
from strata.show.html.campaign.figures.samples import draw_samples
from strata.show.html.campaign.figures.split import Drawn, Key, Panel
from strata.show.html.campaign.figures.timeline import draw_timeline
from strata.study.report_contents import Chart, Study

__all__ = ["KINDS", "Drawn", "Key", "Panel"]

KINDS: dict[str, Callable[[Chart, Study], Drawn]] = {
    "samples": draw_samples,
    "quantiles": draw_quantiles,
    "boxplot": draw_boxplot,
    "histogram": draw_histogram,
    "curve": draw_curve,
    "bars": draw_bars,
    "timeline": draw_timeline,
    "band": draw_band,
    "ranges": draw_ranges,
}
"""Each kind of figure and what draws a frame that has rows; `ranges` come by imports alone."""
