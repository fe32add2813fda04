# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the figures draw, read from their data."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import ColumnDataSource, GlyphRenderer
from made_analysis import BEGIN_NS, Relay, make

from strata.analysis import Analysis
from strata.show.html.figures import thinning
from strata.show.html.figures.latency import LatencyFigure, latency_over_time
from strata.show.html.figures.quantiles import QuantileFigure, layer_quantiles


def latency_figure(analysis: Analysis, limit: int = 20_000) -> LatencyFigure:
    return latency_over_time(
        analysis.chain_instances, analysis.chain_segments, trace_begin_ns=BEGIN_NS, limit=limit
    )


def sources(figure: LatencyFigure | QuantileFigure) -> dict[str, ColumnDataSource]:
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
    figure = latency_figure(analysis)
    drawn = sources(figure)
    seconds = np.sort(np.concatenate([item.data["x"] for item in drawn.values()]))
    begun = (analysis.chain_instances["begin_ns"].to_numpy() - BEGIN_NS) / 1e9
    np.testing.assert_allclose(seconds, np.sort(begun))
    assert (figure.shown, figure.count) == (300, 300)


def test_points_are_coloured_by_the_layer_that_took_the_most() -> None:
    drawn = sources(latency_figure(make(Relay(messages=300, blocked_ns=50_000_000))))
    assert list(drawn) == ["mostly middleware", "mostly executor wait"]
    assert len(drawn["mostly executor wait"].data["x"]) == 30
    assert drawn["mostly executor wait"].data["executor wait"].min() >= 50  # ms, as the median


def test_the_layers_of_a_point_add_up_to_its_latency() -> None:
    data = sources(latency_figure(make(Relay(messages=50))))["mostly middleware"].data
    layers = [name for name in data if name not in ("x", "y", "latency", "index")]
    assert len(layers) == 7
    np.testing.assert_allclose(
        np.sum([data[name] for name in layers], axis=0), data["latency"], rtol=1e-5
    )


def test_the_axis_is_logarithmic_only_where_the_tail_is_long() -> None:
    assert not latency_figure(make(Relay())).is_log
    assert latency_figure(make(Relay(blocked_ns=80_000_000))).is_log


def test_one_message_has_a_range_to_be_drawn_in() -> None:
    plot = latency_figure(make(Relay(messages=1))).plot
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
