# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The report page has no serious accessibility fault, in light and dark, narrow and wide."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_analysis import Relay, make
from made_sections import with_sections
from page_barriers import serious_barriers
from page_browser import draw_everything, visit
from playwright.sync_api import Browser

from strata.show.html import write_report


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    analysis = with_sections(make(Relay(blocked_ns=50_000_000)), "")
    path = tmp_path_factory.mktemp("report") / "page.html"
    return write_report(analysis, path, title="made", force=True)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [420, 1280])
def test_it_has_no_serious_barrier(browser: Browser, file: Path, width: int, *, dark: bool) -> None:
    with visit(browser, file, width=width, dark=dark) as made:
        draw_everything(made.page)
        assert serious_barriers(made.page) == []
        assert made.page.evaluate("document.documentElement.scrollWidth") <= width
        assert (made.console, made.requests) == ([], [])


def test_printed_it_has_no_controls(browser: Browser, file: Path) -> None:
    with visit(browser, file) as made:
        made.page.emulate_media(media="print")
        for name in ("#appearance", "#search", ".top nav"):
            assert not made.page.locator(name).is_visible()


def test_a_planted_barrier_is_found(browser: Browser, file: Path) -> None:
    with visit(browser, file) as made:
        made.page.evaluate("document.querySelector('.brand').style.color = '#eeeeee'")
        made.page.evaluate("document.querySelector('#appearance').textContent = ''")
        made.page.evaluate("document.querySelector('#appearance').removeAttribute('aria-label')")
        rules = {one.partition(":")[0] for one in serious_barriers(made.page)}
        assert rules == {"color-contrast", "button-name"}
