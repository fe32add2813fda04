# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures of an analysis, as bokeh has them: `bokeh.plotting.show(a.plot.latency())`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strata.api.chains import chain_id_of
from strata.errors import TraceError

if TYPE_CHECKING:
    import pandas as pd
    from bokeh.models import LayoutDOM
    from bokeh.plotting import figure

    from strata.analysis import Analysis


class Plots:
    """The figures of an analysis; each method returns a bokeh figure.

    ::

        from bokeh.plotting import show
        show(a.plot.latency())
        show(a.plot.layers(chain="/image -> /objects"))

    `chain` is a chain's topics or its `chain_id`; without it the first chain, which is the longest
    and busiest. Each method raises TraceError where there is nothing to draw, and for a chain that
    is not there.
    """

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis

    def latency(self, chain: str | int | None = None) -> LayoutDOM:
        """Plot the latency of each message of a chain over time, coloured by its largest layer, and
        beside it how many messages took how long.

        Above 12,000 messages the smallest, middle and largest of each stretch of time are points.
        """
        from strata.show.html.analysis.messages import chain_messages
        from strata.show.html.figures.latency import latency_over_time

        number = int(self._chain(chain)[0]["chain_id"].iloc[0])
        return latency_over_time(chain_messages(self._analysis, [number])[0]).plot

    def layers(self, chain: str | int | None = None) -> figure:
        """Plot the mean time in each layer, of all, the typical and the slowest messages."""
        from strata.show.html.figures.layers import layer_bars

        return layer_bars(*self._chain(chain))

    def quantiles(self, chain: str | int | None = None) -> figure:
        """Plot the quantiles of each layer's time, from the fastest to the slowest message."""
        from strata.show.html.figures.quantiles import layer_quantiles

        return layer_quantiles(*self._chain(chain)).plot

    def hops(self) -> figure:
        """Plot median, 99th percentile and maximum of the hops, at most 40, the most time first.

        Hops of internal topics (/rosout, /parameter_events) are left out.
        """
        from strata.schema.events import INTERNAL_TOPICS
        from strata.show.html.figures.hops import hop_ranges

        hops = self._analysis.hops
        own = hops[(hops["count"] > 0) & ~hops["topic"].isin(INTERNAL_TOPICS)]
        own = own[own["latency_p50_ns"].notna()]
        if own.empty:
            raise TraceError(
                f"Cannot plot hops of {self._analysis.trace.path}: 0 messages were followed from a "
                "publish to the end of a callback. `quality` says why."
            )
        return hop_ranges(own)

    def timeline(self, message: int | None = None) -> figure:
        """Plot one message over threads: its layers, and what else ran on the same threads.

        `message` is a `message_id`; without it the slowest message of the first chain. The frame of
        the same is `a.timeline(message).frame()`. Raises TraceError for a message that is not
        there.
        """
        from strata.show.html.figures.timeline import message_timeline_figure
        from strata.timeline import message_timeline

        if message is None:
            instances, _ = self._chain(None)
            message = int(instances["message_id"].iloc[int(instances["latency_ns"].argmax())])
        return message_timeline_figure(message_timeline(self._analysis, message))

    def _chain(self, chain: str | int | None) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Rows of `chain_instances` and `chain_segments`, never none."""
        number = chain_id_of(self._analysis, chain)
        instances, segments = self._analysis.chain_instances, self._analysis.chain_segments
        own = instances[instances["chain_id"] == number] if number is not None else instances[:0]
        if own.empty:
            raise TraceError(
                f"Cannot plot a chain of {self._analysis.trace.path}: no message was followed from "
                "a publish to a callback. `quality` says why."
            )
        return own, segments[segments["chain_id"] == number]
