# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a campaign's report: what they draw of frames whose values are known."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from bokeh.models import BoxAnnotation, GlyphRenderer, Whisker
from bokeh.plotting import figure
from made_campaign import (
    CPU,
    LATENCY,
    LAYERS,
    LOSS,
    MS,
    NO_ZENOH,
    SIZE,
    TRANSPORT,
    every_chart,
    layered,
    long,
    over_time,
    per_cell,
    study,
)

from strata.show.html.campaign.figure_parts import figure_part
from strata.show.html.campaign.figures import KINDS
from strata.show.html.campaign.figures.boxplot import box_of
from strata.show.html.campaign.figures.histogram import bin_edges, shares
from strata.show.html.campaign.figures.scales import places, scale_of, short_texts
from strata.study.campaign_results import Factor
from strata.study.frame_grouping import by_cell, layer_means, levels_of
from strata.study.interval_estimates import estimate
from strata.study.level_texts import level_text, levels_words
from strata.study.report_contents import HERE, Chart, Measure, Request
from strata.study.segmented_fits import fit_levels, shaped

ONE = study()


def drawn(plot: figure, glyph: str) -> list[dict[str, list[float]]]:
    """Columns of every glyph of a type."""
    return [
        {name: list(column) for name, column in item.data_source.data.items()}
        for item in plot.renderers
        if isinstance(item, GlyphRenderer) and type(item.glyph).__name__ == glyph
    ]


def only_panel(chart: Chart) -> figure:
    panels = KINDS[chart.request.kind](chart, ONE).panels
    assert len(panels) == 1 and panels[0].plot is not None
    return panels[0].plot


@pytest.mark.parametrize(
    "chart", every_chart(ONE), ids=lambda c: f"{c.request.kind}-{c.request.of}"
)
def test_every_kind_is_drawn_and_says_how_much_of_what(chart: Chart) -> None:
    part = figure_part(chart, ONE, "place")
    assert any(panel.plot is not None for panel in part.panels)
    assert part.caption[0].startswith(f"{len(chart.frame):,} ")
    assert "The first 5 messages of every hop are left out as warm-up." in part.caption


def test_a_level_that_was_skipped_is_a_box_with_its_reason() -> None:
    chart = Chart(Request("samples", "latency", panels=("transport",)), LATENCY, long(ONE))
    last = KINDS["samples"](chart, ONE).panels[-1]
    assert last.plot is None
    assert (last.title, last.empty) == ("transport zenoh", f"skipped: {NO_ZENOH}")


def test_levels_without_values_are_named_in_the_caption() -> None:
    request = Request("boxplot", "latency", x="transport")
    part = figure_part(Chart(request, LATENCY, long(ONE)), ONE, "p")
    assert f"No value at transport zenoh: skipped: {NO_ZENOH}." in part.caption


def test_a_figure_without_a_value_says_why_and_draws_nothing() -> None:
    request = Request("boxplot", "latency", x="size", where={"transport": ("zenoh",)})
    part = figure_part(Chart(request, LATENCY, long(ONE)), ONE, "p")
    assert part.panels == ()
    assert part.empty == f"skipped: {NO_ZENOH}"


def test_a_figure_by_a_column_that_is_not_there_says_so() -> None:
    part = figure_part(Chart(Request("boxplot", "latency", x="hop"), LATENCY, long(ONE)), ONE, "p")
    assert part.empty == "the values have no hop to be drawn by"


def test_no_value_although_cells_finished_is_not_blamed_on_the_skipped_ones() -> None:
    frame = long(ONE).iloc[:0]
    part = figure_part(Chart(Request("boxplot", "cpu", x="size"), CPU, frame), ONE, "p")
    assert part.empty.startswith("the finished cells have no such value")


def test_boxes_are_quartiles_whiskers_and_outliers() -> None:
    box = box_of(np.array([1.0, 2, 3, 4, 5, 6, 7, 100]))
    assert (box.q1, box.median, box.q3) == (2.75, 4.5, 6.25)
    assert (box.low, box.top, box.outliers.tolist()) == (1, 7, [100])
    assert box.mean == 16


def test_equal_values_have_a_box_without_height() -> None:
    box = box_of(np.full(9, 3.0))
    assert (box.low, box.q1, box.q3, box.top) == (3, 3, 3, 3)
    assert not len(box.outliers)


def test_boxes_of_a_series_stand_beside_those_of_the_next() -> None:
    request = Request("boxplot", "latency", x="size", by="transport")
    boxes = drawn(only_panel(Chart(request, LATENCY, long(ONE))), "VBar")
    assert [len(box["x"]) for box in boxes] == [3, 3]
    shm, udp = (np.array(box["x"]) for box in boxes)
    assert (shm < udp).all() and (np.abs(shm - [0, 1, 2]) < 0.5).all()


def test_boxes_have_the_error_of_their_clocks_about_the_median() -> None:
    frame = long(ONE)
    wrong = str(frame["cell"].iloc[0])
    request = Request("boxplot", "latency", x="size", by="transport", scale="linear")
    chart = Chart(request, LATENCY, frame, errors={wrong: 40_000.0})
    plot = only_panel(chart)
    (bar,) = plot.select(Whisker)
    data = bar.source.data
    boxes = [box for box in drawn(plot, "VBar") if any(box["error"])]
    (box,) = boxes
    (at,) = np.flatnonzero(box["error"])
    # The unit of the axis is us; the bar is the larger error of the two repetitions.
    assert data["error_high"] == pytest.approx([box["median"][at] + 40])
    assert data["error_low"] == pytest.approx([box["median"][at] - 40])
    assert list(data["x"]) == [box["x"][at]]
    assert any("ed bar over a median" in text for text in figure_part(chart, ONE, "p").caption)
    without = replace(chart, errors={})
    assert not list(only_panel(without).select(Whisker))
    assert not any(
        "ed bar over a median" in text for text in figure_part(without, ONE, "p").caption
    )


@pytest.mark.parametrize(("kind", "glyph"), [("quantiles", "VArea"), ("samples", "Segment")])
def test_lines_and_points_have_the_error_of_their_clocks(kind: str, glyph: str) -> None:
    frame = long(ONE)
    wrong = str(frame["cell"].iloc[0])
    frame = frame[frame["cell"].isin(frame["cell"].unique()[:2])]
    chart = Chart(Request(kind, "latency", scale="linear"), LATENCY, frame, errors={wrong: 40_000})
    shown = drawn(only_panel(chart), glyph)
    (bars,) = shown
    wide = np.array(bars["error_high"]) - np.array(bars["error_low"])
    # In us. A point has the error of its cell, and a line of two cells the larger one.
    wanted = [80.0] * 100 + [0.0] * 100 if kind == "samples" else [80.0] * len(wide)
    assert wide == pytest.approx(wanted, abs=1e-3)
    middle = (np.array(bars["error_high"]) + np.array(bars["error_low"])) / 2
    assert middle == pytest.approx(np.array(bars["y"]), rel=1e-3)
    assert any("(+-)" in text for text in figure_part(chart, ONE, "p").caption)
    assert drawn(only_panel(replace(chart, errors={})), glyph) == []


def test_a_band_has_the_error_of_its_clocks_beyond_its_ends() -> None:
    frame = long(ONE)
    frame = frame.assign(column=frame["number"] % 4)
    errors = dict.fromkeys(frame["cell"].astype(str).unique(), 40_000.0)
    chart = Chart(Request("band", "latency", x="column"), LATENCY, frame, errors=errors)
    plot = only_panel(chart)
    (band,) = drawn(plot, "VArea")
    median, low, high = drawn(plot, "Line")
    assert median["y"] == band["y"]
    assert np.array(band["low"]) - np.array(low["y"]) == pytest.approx([40.0] * 4)
    assert np.array(high["y"]) - np.array(band["high"]) == pytest.approx([40.0] * 4)
    assert len(drawn(only_panel(replace(chart, errors={})), "Line")) == 1


def test_error_bars_end_at_a_logarithmic_axis() -> None:
    frame = long(ONE)
    cells = frame["cell"].astype(str).unique()
    request = Request("quantiles", "latency", by="size", scale="log")
    errors = dict.fromkeys(cells, 1e12)
    plot = only_panel(Chart(request, LATENCY, frame, errors=errors))
    for band in drawn(plot, "VArea"):
        assert min(band["error_low"]) == pytest.approx(plot.y_range.start, rel=1e-6)
        assert plot.y_range.start > 0
        assert max(band["error_high"]) < plot.y_range.end


def test_shares_of_a_histogram_add_up_and_hold_the_largest_value() -> None:
    values = np.array([1.0, 1, 2, 3, 10])
    edges = bin_edges([values], is_log=False)
    found = shares(values, edges)
    assert found.sum() == pytest.approx(100)
    assert found[-1] == pytest.approx(20)
    assert edges[0] == 1 and edges[-1] == 10


def test_a_histogram_of_equal_values_has_bins() -> None:
    edges = bin_edges([np.full(5, 2.0)], is_log=False)
    assert shares(np.full(5, 2.0), edges).sum() == pytest.approx(100)


def test_layers_are_means_by_hop_and_add_up() -> None:
    means = layer_means(layered(ONE), "size")
    assert set(means.columns) == set(LAYERS)
    assert means["transport"].tolist() == pytest.approx([0.5 * MS] * 3)
    assert means.sum(axis=1).tolist() == pytest.approx([1.0 * MS] * 3)


def test_a_hop_without_a_layer_spent_no_time_in_it() -> None:
    rows = layered(ONE)
    first = rows["cell"].iloc[0]
    cut = rows[~((rows["cell"] == first) & (rows["layer"] == "serialize"))]
    cells = rows[rows["size"] == "1024"]["cell"].nunique()
    means = layer_means(cut, "size")
    assert means.loc["1024", "serialize"] == pytest.approx(0.1 * MS * (cells - 1) / cells)


def test_stacked_layers_begin_where_those_below_end() -> None:
    request = Request("bars", "layer", x="size")
    bars = drawn(
        only_panel(Chart(request, Measure("layer", "ms", "cell", ""), layered(ONE))), "VBar"
    )
    assert len(bars) == len(LAYERS)
    assert bars[0]["bottom"] == [0, 0, 0]
    for below, above in pairwise(bars):
        assert above["bottom"] == pytest.approx(below["top"])


def test_processes_of_a_cell_are_summed_unless_they_are_shown() -> None:
    frame = per_cell(ONE, [2.0, 3.0], ["source", "sink"])
    chart = Chart(Request("curve", "cpu", x="size", statistic="mean"), CPU, frame)
    assert by_cell(chart)["value"].tolist() == [5.0] * 12
    apart = replace(chart, request=replace(chart.request, by="process"))
    assert len(by_cell(apart)) == 24


def test_the_loss_of_a_cell_is_of_all_that_its_hops_expected() -> None:
    one = per_cell(ONE, [50.0]).assign(hop="/a", lost=5, expected=10)
    other = per_cell(ONE, [0.0]).assign(hop="/b", lost=0, expected=90)
    chart = Chart(Request("curve", "loss", x="size"), LOSS, pd.concat([one, other]))
    assert by_cell(chart)["value"].tolist() == pytest.approx([5.0] * 12)


def test_a_curve_has_the_median_its_interval_and_the_repetitions() -> None:
    frame = long(ONE)
    request = Request("curve", "latency", x="size", by="transport", statistic="p50")
    figure_ = KINDS["curve"](Chart(request, LATENCY, frame), ONE)
    line = drawn(figure_.panels[0].plot, "Line")[0]
    shm = frame[frame["transport"] == "shm"].groupby("size", observed=True)["value"].median()
    assert line["y"] == pytest.approx((shm / 1000).tolist())
    assert all(
        low < y < high for low, y, high in zip(line["low"], line["y"], line["high"], strict=True)
    )
    assert line["x"] == pytest.approx(np.log2([1024, 65536, 1048576]))
    small = drawn(figure_.panels[0].plot, "Scatter")[3]
    assert len(small["x"]) == 6
    assert any("95 % intervals" in text for text in figure_.caption)


def test_a_fit_is_a_dotted_line_and_its_breakpoint_a_band() -> None:
    """Sizes with a planted breakpoint over shm; over udp a straight line."""
    levels = tuple(str(2**power) for power in range(10, 21))
    sizes = Factor("size", levels, "B", tuple(map(float, levels)))
    of = study((TRANSPORT, sizes), repetitions=1)
    frame = long(of)
    size = frame["size"].astype(float)
    bent = (
        1e6 + 2 * size + np.where(frame["transport"] == "shm", 20 * np.clip(size - 6e4, 0, None), 0)
    )
    noise = np.random.default_rng(2).normal(1, 0.02, len(frame))
    frame["value"] = np.rint(bent * noise).astype(np.int64)
    request = Request("curve", "latency", x="size", by="transport", fit="segmented")
    fitted = [
        ({"transport": str(level), "origin": HERE}, fit_levels(rows, sizes, "p50", 0.95))
        for level, rows in frame.groupby("transport", observed=True)
    ]
    known = {tuple(one.levels.values()): one for one in shaped(fitted)}
    drawing = KINDS["curve"](Chart(request, LATENCY, frame, fits=known), of)
    plot = drawing.panels[0].plot
    fits = [item for item in plot.renderers if getattr(item.glyph, "line_dash", None) == [2, 4]]
    assert len(fits) == 2
    along = fits[0].data_source.data
    assert np.interp(np.log2(6e4), along["x"], along["y"]) == pytest.approx(1120, rel=0.03)
    assert along["y"][-1] == pytest.approx((1e6 + 2 * 2**20 + 20 * (2**20 - 6e4)) / 1e3, rel=0.05)
    (band,) = [one for one in plot.center if isinstance(one, BoxAnnotation)]
    assert band.left < np.log2(6e4) < band.right
    caption = " ".join(drawing.caption)
    assert "bands its 95 % interval (shm " in caption
    assert "in 1 of 2 curves no breakpoint is supported" in caption
    few = KINDS["curve"](Chart(request, LATENCY, long(ONE)), ONE)
    assert any("too few levels" in text for text in few.caption)


@pytest.mark.parametrize(
    ("limit", "x", "y"),
    [
        # In ms: the values are in us.
        (118_000.0, None, [118.0, 118.0]),
        ("x", np.log2([1024, 65536, 1048576]), [1.024, 65.536, 1048.576]),
    ],
)
def test_a_curve_has_a_line_of_reference(
    limit: float | str, x: list[float] | None, y: list[float]
) -> None:
    request = Request("curve", "latency", x="size", by="transport", limit=(limit, "what it is"))
    figure_ = KINDS["curve"](Chart(request, LATENCY, long(ONE)), ONE)
    plot = figure_.panels[0].plot
    [line] = [item for item in plot.renderers if item.name == "limit"]
    scale = line.data_source.data["y"][0] / y[0]
    assert list(line.data_source.data["y"]) == pytest.approx([scale * one for one in y])
    # All of it is on the axis.
    assert plot.y_range.start < min(line.data_source.data["y"])
    assert plot.y_range.end > max(line.data_source.data["y"])
    if x is not None:
        assert list(line.data_source.data["x"]) == pytest.approx(list(x))
    assert "dotted: what it is" in figure_.caption


def test_few_values_have_no_interval() -> None:
    found = estimate(long(ONE, count=2).iloc[:2], "message", "p50", 0.95)
    assert (found.low, found.high, found.method) == (None, None, "")


def test_values_of_cells_get_an_interval_over_repetitions() -> None:
    rows = pd.DataFrame({"cell": ["a", "b", "c"], "value": [1.0, 2.0, 3.0]})
    found = estimate(rows, "cell", "mean", 0.95)
    # t(2 degrees of freedom, 97.5 %) = 4.302653, s = 1
    assert (found.low, found.high) == pytest.approx((2 - 4.302653 / 3**0.5, 2 + 4.302653 / 3**0.5))
    assert estimate(rows.iloc[:1], "cell", "mean", 0.95).low is None


def test_what_was_imported_is_drawn_apart() -> None:
    frame = pd.concat([long(ONE), long(ONE, origin="old laptop", seed=2)], ignore_index=True)
    figure_ = KINDS["boxplot"](Chart(Request("boxplot", "latency", x="size"), LATENCY, frame), ONE)
    assert [(key.text, key.hollow) for key in figure_.legend] == [
        ("here", False),
        ("old laptop (another machine)", True),
    ]
    part = figure_part(Chart(Request("boxplot", "latency", x="size"), LATENCY, frame), ONE, "p")
    assert any("another machine" in text for text in part.caption)


def test_a_slope_is_told_with_its_interval() -> None:
    chart = Chart(Request("timeline", "rss"), Measure("rss", "MiB", "sample", ""), over_time(ONE))
    told = KINDS["timeline"](chart, ONE).caption
    sink = next(text for text in told if text.startswith("sink: "))
    # 0.01 MiB a second
    assert float(sink.split()[1]) == pytest.approx(36, rel=0.1)
    assert "it holds 0" not in sink
    assert next(text for text in told if text.startswith("source: ")).count("it holds 0") == 1


def test_panels_of_far_medians_have_axes_of_their_own() -> None:
    frame = long(ONE)
    far = frame.assign(value=frame["value"] * np.where(frame["transport"] == "udp", 100.0, 1.0))
    request = Request("samples", "latency", panels=("transport",))
    near = KINDS["samples"](Chart(request, LATENCY, frame), ONE)
    apart = KINDS["samples"](Chart(request, LATENCY, far), ONE)
    assert not any("own axis" in text for text in near.caption)
    assert any("own axis" in text for text in apart.caption)


def test_a_long_series_is_thinned_and_keeps_its_largest() -> None:
    frame = long(ONE, count=5000)
    frame.loc[777, "value"] = 99 * MS
    figure_ = KINDS["samples"](Chart(Request("samples", "latency"), LATENCY, frame), ONE)
    points = drawn(figure_.panels[0].plot, "Scatter")
    assert sum(len(series["x"]) for series in points) <= 40_000
    assert max(max(series["y"]) for series in points) == pytest.approx(99_000, rel=1e-4)
    assert any("points are drawn" in text for text in figure_.caption)


@pytest.mark.parametrize(
    ("level", "factor", "text"),
    [
        ("1024", SIZE, "1 KiB"),
        ("1048576", SIZE, "1 MiB"),
        ("10.0", Factor("rate", ("10.0",), "Hz", (10.0,)), "10 Hz"),
        ("3", Factor("relays", ("3",), None, (3.0,)), "3"),
        ("udp", TRANSPORT, "udp"),
        ("256", Factor("size", ("256",), "B", (256.0,)), "256 B"),
        ("1500", Factor("size", ("1500",), "B", (1500.0,)), "1,500 B"),
    ],
)
def test_levels_as_text(level: str, factor: Factor, text: str) -> None:
    assert level_text(level, factor) == text


def test_levels_are_named_by_their_factors() -> None:
    cpu = Factor("cpu_all", ("0.5",), None, (0.5,))
    of = study((SIZE, TRANSPORT, cpu))
    levels = {"size": "65536", "transport": "shm", "cpu_all": 0.5, "sent_by": "/talker"}
    told = "size 64 KiB, transport shm, CPU of all processes 0.5, sent by /talker"
    assert levels_words(of, levels) == told
    assert levels_words(of, {}) == ""
    assert levels_words(of, {"size": "1024", "transport": "udp"}, " + ") == (
        "size 1 KiB + transport udp"
    )


def test_sizes_are_spread_by_doublings_and_names_one_by_one() -> None:
    assert places(list(SIZE.levels), SIZE, "size", spread=True).at == {
        "1024": 10,
        "65536": 16,
        "1048576": 20,
    }
    assert list(places(["udp", "shm"], TRANSPORT, "transport", spread=True).at.values()) == [0, 1]


def test_hops_are_in_natural_order_and_named_by_topic() -> None:
    hops = [f"/chain_{at}: /relay_{at} -> /relay_{at + 1}" for at in range(12)]
    frame = pd.DataFrame({"hop": hops[::-1]})
    assert levels_of(frame, "hop", ONE) == hops
    assert short_texts(hops)[hops[10]] == "/chain_10"
    fan = ["/a: /x -> /y", "/a: /x -> /z"]
    assert list(short_texts(fan).values()) == ["/a /y", "/a /z"]


@pytest.mark.parametrize(
    ("values", "unit", "is_log"),
    [([0.1, 0.2], "µs", False), ([100.0, 101], "ms", False), ([1.0, 1, 1, 50], "ms", True)],
)
def test_the_axis_suits_the_values(values: list[float], unit: str, is_log: bool) -> None:
    scale = scale_of(np.array(values) * MS, LATENCY)
    assert (scale.unit, scale.is_log) == (unit, is_log)
    assert scale_of(np.array(values) * MS, LATENCY, asked="linear").is_log is False
