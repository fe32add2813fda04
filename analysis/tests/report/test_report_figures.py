# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the figures draw, read from their data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bokeh.models import ColumnDataSource, GlyphRenderer
from bokeh.models.annotations.geometry import Span
from made_analysis import BEGIN_NS, Relay, make

from strata.analysis import Analysis
from strata.show.html import theme
from strata.show.html.analysis.messages import chain_messages
from strata.show.html.figures import thinning
from strata.show.html.figures.latency import LatencyFigure, latency_over_time
from strata.show.html.figures.quantiles import QuantileFigure, layer_quantiles
from strata.units import format_ns


def document_of(analysis: Analysis) -> dict[str, Any]:
    """The messages of the first chain, as the page holds them."""
    return chain_messages(analysis, [0])[0]


def named(figure: LatencyFigure, name: str) -> dict[str, Any]:
    """The data of that name, which the page's scripts look for."""
    (source,) = figure.plot.select({"type": ColumnDataSource, "name": name})
    return dict(source.data)


def sources(figure: QuantileFigure) -> dict[str, ColumnDataSource]:
    """Data by name in the legend."""
    legend = figure.plot.legend[0]
    out = {}
    for item in legend.items:
        (renderer,) = item.renderers
        assert isinstance(renderer, GlyphRenderer)
        out[item.label.value] = renderer.data_source
    assert legend.click_policy == "hide"
    return out


def test_every_message_is_a_point_at_its_time() -> None:
    analysis = make(Relay(messages=300))
    figure = latency_over_time(document_of(analysis))
    points = named(figure, "messages")
    own = analysis.chain_instances.sort_values("begin_ns")
    np.testing.assert_allclose(points["x"], (own["begin_ns"].to_numpy() - BEGIN_NS) / 1e9)
    np.testing.assert_array_equal(points["y"], own["latency_ns"])
    assert list(points["message"]) == own["message_id"].tolist()
    assert points["text"] == [format_ns(ns, micro="µs") for ns in own["latency_ns"]]
    assert (figure.shown, figure.count) == (300, 300)
    assert len(named(figure, "current")["x"]) == 0


def test_points_are_coloured_by_the_layer_that_took_the_most() -> None:
    points = named(
        latency_over_time(document_of(make(Relay(messages=300, blocked_ns=50_000_000)))), "messages"
    )
    waits = [layer == "executor wait" for layer in points["layer"]]
    assert sum(waits) == 30
    assert set(points["layer"]) == {"executor wait", "middleware"}
    assert all((ns > 50_000_000) == wait for ns, wait in zip(points["y"], waits, strict=True))
    fills = [theme.paint(layer).fill for layer in points["layer"]]
    assert points["fill"] == fills


def test_the_median_and_p99_are_marked_and_the_summary_says_them() -> None:
    analysis = make(Relay(messages=300))
    figure = latency_over_time(document_of(analysis))
    for name, quantile in (("p50", 0.5), ("p99", 0.99)):
        (mark,) = figure.plot.select({"type": Span, "name": name})
        value = np.quantile(analysis.chain_instances["latency_ns"], quantile)
        assert mark.location == pytest.approx(value, abs=1)
        assert mark.visible
        assert format_ns(value, micro="µs") in figure.summary
    assert figure.summary.startswith("300 messages over 3.0 s: median ")


def test_bars_count_every_message_once() -> None:
    bars = named(latency_over_time(document_of(make(Relay(messages=300)))), "bars")
    assert sum(bars["count"]) == 300
    assert bars["low"][1:] == bars["high"][:-1]


@pytest.mark.parametrize(
    ("relay", "most"),
    [(Relay(), 1.0), (Relay(blocked_ns=80_000_000), 2.5)],
    ids=["within a decade", "over two decades"],
)
def test_ticks_are_few_labelled_and_within_the_axis(relay: Relay, most: float) -> None:
    figure = latency_over_time(document_of(relay_analysis := make(relay)))
    latency = relay_analysis.chain_instances["latency_ns"]
    assert np.log10(latency.max() / latency.min()) < most
    plot, beside = figure.plot.children
    ticks = plot.yaxis[0].ticker.ticks
    assert 3 <= len(ticks) <= 7
    assert all(plot.y_range.start <= tick <= plot.y_range.end for tick in ticks)
    assert set(ticks) <= set(plot.yaxis[0].major_label_overrides)
    assert beside.y_range is plot.y_range
    assert plot.y_range.start < latency.min() < latency.max() < plot.y_range.end


def test_one_message_has_a_range_to_be_drawn_in() -> None:
    plot, _ = latency_over_time(document_of(make(Relay(messages=1)))).plot.children
    assert plot.x_range.start < plot.x_range.end
    assert plot.y_range.start < plot.y_range.end


@pytest.mark.parametrize("count", [0, 1, 2, 3, 99, 100, 101, 5_000])
def test_thinning_keeps_order_and_extremes(count: int) -> None:
    values = np.random.default_rng(count).integers(1, 10**9, count)
    kept = thinning.keep(values, 100)
    assert len(kept) <= 100
    assert (np.diff(kept) > 0).all()
    if count:
        assert values[kept].max() == values.max()
        assert values[kept].min() == values.min()
    if count <= 100:
        assert len(kept) == count


def test_thinning_keeps_every_outlier_that_has_a_bucket_of_its_own() -> None:
    values = np.full(10_000, 100)
    values[::1_000] = 10**6
    kept = thinning.keep(values, 300)
    assert (values[kept] == 10**6).sum() == 10


def test_quantile_lines_hold_the_layer_sums_of_the_messages() -> None:
    analysis = make(Relay(messages=200))
    drawn = sources(layer_quantiles(analysis.chain_instances, analysis.chain_segments))
    assert next(iter(drawn)) == "whole chain"
    segments = analysis.chain_segments
    waits = segments[segments["layer"] == "executor wait"]
    sums = waits.groupby("chain_instance_id")["duration_ns"].sum()
    np.testing.assert_array_equal(drawn["executor wait"].data["y"], np.sort(sums.to_numpy()))
    latency = np.sort(analysis.chain_instances["latency_ns"].to_numpy())
    np.testing.assert_array_equal(drawn["whole chain"].data["y"], latency)


def test_quantile_axis_counts_nines_and_keeps_the_slowest() -> None:
    analysis = make(Relay(messages=5_000, hops=1))
    figure = layer_quantiles(analysis.chain_instances, analysis.chain_segments)
    data = sources(figure)["whole chain"].data
    latency = np.sort(analysis.chain_instances["latency_ns"].to_numpy())
    assert len(data["x"]) < 400
    np.testing.assert_array_equal(data["y"][-30:], latency[-30:])
    at_p99 = np.searchsorted(data["x"], 2.0)
    assert data["y"][at_p99] == pytest.approx(np.quantile(latency, 0.99), rel=0.01)
    assert figure.plot.xaxis[0].major_label_overrides[2.0] == "99 %"


def test_no_time_has_no_place_on_a_logarithmic_axis() -> None:
    analysis = make(Relay(messages=100, hops=1))
    segments = analysis.chain_segments.copy()
    waits = (segments["layer"] == "executor wait") & (segments["chain_instance_id"] < 60)
    segments.loc[waits, "duration_ns"] = 0
    drawn = sources(layer_quantiles(analysis.chain_instances, segments))["executor wait"].data
    assert np.isnan(drawn["y"][:60]).all()
    assert (drawn["y"][60:] > 0).all()
    assert drawn["text"][0] == "0 ns"
