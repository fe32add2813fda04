# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign's page in a real browser: figures drawn, nothing wider than the window, no error."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_campaign import whole_page
from page_browser import look_at
from playwright.sync_api import Browser

from strata.show.html import theme
from strata.show.html.embedding import write_page


@pytest.mark.parametrize("width", [1400, 500])
def test_every_figure_is_drawn_and_nothing_is_cut(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    path = write_page(tmp_path / "report.html", whole_page())
    seen = look_at(browser, path, width)
    assert seen.probe["width"] == width
    assert seen.probe["wide"] <= width, "the page is wider than the window"
    assert seen.probe["cut"] == []
    assert len(seen.probe["figures"]) == 15
    assert {figure["state"] for figure in seen.probe["figures"]} == {"drawn"}
    assert all(figure["height"] >= 250 for figure in seen.probe["figures"])
    assert seen.console == []
    painted = {colour for figure in seen.probe["figures"] for colour in figure["colours"]}
    assert theme.paint("transport").fill in painted
