# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of recordings in a browser: what it shows at first, fits, draws, loads and costs."""

from __future__ import annotations

import time

import pytest
from page_barriers import serious_barriers
from page_browser import PROBE, draw_everything, visit
from playwright.sync_api import Browser, Page
from recorded_pages import FLEET, NAMES, RecordedPages

from strata.show.words.headline import headline
from strata.show.words.naming import Names

WIDTHS = (420, 1280, 2560)
MOST_BYTES = 10_000_000
OPENS_WITHIN_S = 10.0
"""Three seconds are the aim; what else runs on a machine of tests may take the rest."""


def without_repetition(page: Page) -> None:
    """Leave a few rows of each table and one chain's section: axe-core takes seconds a thousand."""
    page.evaluate(
        """() => document.querySelectorAll("tbody tr:nth-child(n+6), section.chain ~ section.chain")
            .forEach(item => item.remove())"""
    )


def appear(page: Page, name: str) -> None:
    """Press the button until the page is light or dark."""
    if page.evaluate("document.documentElement.dataset.appearance") != name:
        page.click("#appearance")
    assert page.evaluate("document.documentElement.dataset.appearance") == name


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_everything_is_drawn_and_fits_light_and_dark(
    browser: Browser, recorded: RecordedPages, name: str, width: int
) -> None:
    with visit(browser, recorded(name).path, width=width) as seen:
        page = seen.page
        draw_everything(page)
        for appearance in ("light", "dark"):
            appear(page, appearance)
            probe = page.evaluate(PROBE.read_text())
            assert probe["width"] == width
            assert probe["wide"] <= width, "the page is wider than the window"
            assert probe["cut"] == []
            assert {figure["state"] for figure in probe["figures"]} == {"drawn"}
            assert all(len(figure["colours"]) > 3 for figure in probe["figures"])
            card = page.evaluate(
                "getComputedStyle(document.documentElement).getPropertyValue('--card').trim()"
            )
            assert all(card in figure["colours"] for figure in probe["figures"])
        assert seen.console == []
        assert seen.requests == []
        if width < 2000:
            without_repetition(page)
            for appearance in ("dark", "light"):
                appear(page, appearance)
                assert serious_barriers(page) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_first_screen_has_the_answer(
    browser: Browser, recorded: RecordedPages, name: str
) -> None:
    with visit(browser, recorded(name).path) as seen:
        seen.page.wait_for_selector("#latency[data-state=drawn]")
        tops = {
            place: seen.page.eval_on_selector(place, "item => item.getBoundingClientRect().top")
            for place in (".answer .sentence", ".causes .cause", "#latency")
        }
        graph = seen.page.locator(".graph:visible").bounding_box()
        assert graph is not None
        tops["graph"] = graph["y"]
        assert all(0 < top < 720 for top in tops.values()), tops
        # The name of a recording, not the menu, gives way.
        long_name = "title => title.textContent = '20261126T175509Z_demo'"
        seen.page.eval_on_selector(".top h1", long_name)
        assert seen.page.eval_on_selector(".top nav", "nav => nav.scrollWidth <= nav.clientWidth")
        said = seen.page.inner_text(".answer .sentence").replace("\xa0", " ")
        analysis = recorded(name).analysis
        first = headline(analysis, Names(analysis)).statements[0]
        assert said.replace("µs", "us").casefold() == first.casefold()


def test_a_long_recording_is_small_and_opens_at_once(
    browser: Browser, recorded: RecordedPages
) -> None:
    path = recorded(FLEET).path
    assert path.stat().st_size <= MOST_BYTES
    began = time.monotonic()
    with visit(browser, path) as seen:
        seen.page.wait_for_selector("#latency[data-state=drawn]")
        took_s = time.monotonic() - began
        print(f"{path.stat().st_size / 1e6:.1f} MB, first figure after {took_s:.2f} s")
        assert took_s <= OPENS_WITHIN_S
        assert seen.page.inner_text("#message-rows tr >> nth=0") != ""
