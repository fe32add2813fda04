# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Error bars of values that compare two clocks: by how much imported logs say they may be off."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from bokeh.models import LogScale, Range1d
from bokeh.plotting import figure

from strata.show.html.campaign.figures.scales import Floats

COLOUR = "#b3261e"
BAND_ALPHA = 0.18


def errors_of(rows: pd.DataFrame, errors: Mapping[str, float]) -> Floats:
    """Return the error of each row's cell, in the unit of `errors`; 0 where none is known."""
    if not errors:
        return np.zeros(len(rows))
    own = rows["cell"].astype(str).map(errors).fillna(0.0)
    return np.asarray(own.to_numpy(), np.float64)


def largest_error(rows: pd.DataFrame, errors: Mapping[str, float]) -> float:
    """Return the largest error of the cells of these rows; 0 where none is known."""
    cells = rows["cell"].astype(str).unique() if errors else ()
    return max((errors.get(cell, 0.0) for cell in cells), default=0.0)


def with_error(low: float, top: float, error: float, *, is_log: bool) -> tuple[float, float]:
    """Return the ends of an axis with room for the bars; a logarithmic one never gets to 0."""
    under = low - error
    return (low if is_log and under <= 0 else under), top + error


def lower_ends(plot: figure, ends: Floats) -> Floats:
    """Return the lower ends of bars; on a logarithmic axis, those below it end at the axis."""
    span = plot.y_range
    if not isinstance(plot.y_scale, LogScale) or not isinstance(span, Range1d):
        return ends
    assert isinstance(span.start, int | float)
    return np.maximum(ends, span.start)
