# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser: figures drawn, nothing cut, no error, no request.

Skipped only where no Chromium is installed (`make setup` installs it).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from made_analysis import Relay, make, nothing, with_chains
from made_sections import with_sections
from page_browser import Seen, look_at
from playwright.sync_api import Browser

from strata.analysis import Analysis
from strata.show.html import theme, write_report

LONG = Relay(
    hops=10,
    node="/robot_7/perception/pointcloud_preprocessing/voxel_grid_filter_component_{}",
    topic="/robot_7/perception/cropped_and_downsampled/points_with_intensity_{}",
    symbol="robot::perception::VoxelGridFilterComponent::on_message_with_a_very_long_name_indeed",
    work_ns={3: 5_000_000},
    blocked_ns=30_000_000,
)


@pytest.fixture
def browse(browser: Browser, tmp_path: Path) -> Callable[[Analysis, int], Seen]:
    def look(analysis: Analysis, width: int) -> Seen:
        path = write_report(analysis, tmp_path / "page.html", title="made", force=True)
        return look_at(browser, path, width)

    return look


@pytest.mark.parametrize("width", [1280, 700])
@pytest.mark.parametrize(
    "relay",
    [Relay(blocked_ns=50_000_000), LONG, Relay(merged=True, init=False), Relay(messages=1)],
    ids=["relay", "long names", "no init events", "one message"],
)
def test_figures_are_drawn_and_nothing_is_cut(
    browse: Callable[[Analysis, int], Seen], relay: Relay, width: int
) -> None:
    seen = browse(make(relay), width)
    assert seen.probe["width"] == width
    assert seen.probe["wide"] <= width, "the page is wider than the window"
    assert seen.probe["cut"] == []
    assert seen.probe["scrolled"] == []
    assert [figure["state"] for figure in seen.probe["figures"]] == ["drawn", "drawn"]
    assert [figure["id"] for figure in seen.probe["figures"]] == ["latency", "quantile-0"]
    assert all(figure["height"] >= 200 for figure in seen.probe["figures"])
    assert seen.console == []


@pytest.mark.parametrize("width", [1280, 700])
@pytest.mark.parametrize("relay", [Relay(messages=50), LONG], ids=["short names", "long names"])
def test_every_section_fits_into_the_window(
    browse: Callable[[Analysis, int], Seen], relay: Relay, width: int
) -> None:
    suffix = "_with_a_name_that_goes_on_and_on" if relay is LONG else ""
    seen = browse(with_sections(make(relay), suffix), width)
    assert seen.probe["wide"] <= width, "the page is wider than the window"
    assert seen.probe["cut"] == []
    assert seen.probe["scrolled"] == []
    assert seen.console == []


def test_the_colours_of_the_layers_are_on_the_canvas(
    browse: Callable[[Analysis, int], Seen],
) -> None:
    seen = browse(make(Relay()), 1280)
    quantiles = next(f for f in seen.probe["figures"] if f["id"] == "quantile-0")
    layers = ["client publish", "middleware", "executor wait", "take", "client take", "hold"]
    assert {theme.paint(name).fill for name in layers} <= set(quantiles["colours"])


def test_every_chain_is_drawn(browse: Callable[[Analysis, int], Seen]) -> None:
    seen = browse(with_chains(make(Relay(messages=40)), 3), 1280)
    assert [figure["state"] for figure in seen.probe["figures"]] == ["drawn"] * 4


def test_a_page_without_figures_has_no_error(browse: Callable[[Analysis, int], Seen]) -> None:
    seen = browse(nothing(), 700)
    assert seen.probe["figures"] == []
    assert seen.probe["cut"] == []
    assert seen.console == []
