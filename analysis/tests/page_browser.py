# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Opens a page in the system's Chromium, which Playwright drives.

A test is skipped only where no Chromium is installed (`make setup` installs it).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route, sync_playwright

PROBE = Path(__file__).parent / "probe.js"
PATIENCE_MS = 60_000
"""How long a busy machine may take for what a page does."""


# Bokeh's that it has begun and is done; that the probe reads canvases.
_REMARKS = ("setting log level", "document idle at", "Canvas2D: Multiple readback")


@dataclass(frozen=True)
class Visit:
    """A page that is open, what it wrote to its console, and what it asked the network for.

    Violations of the page's content security policy are among what it wrote.
    """

    page: Page
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Seen:
    """What the probe saw in the browser, and what the page wrote to its console."""

    probe: dict[str, Any]
    console: list[str]


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start Chromium."""
    path = chromium()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path,
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
            timeout=PATIENCE_MS,
        )
        try:
            yield started
        finally:
            started.close()


def chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


@contextmanager
def visit(
    browser: Browser,
    path: Path,
    *,
    width: int = 1280,
    height: int = 720,
    dark: bool = False,
    fragment: str = "",
) -> Iterator[Visit]:
    """Open a page's file, with a window of its own; every request but that for it is refused."""
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE_MS)
    try:
        made = Visit(context.new_page())
        _listen(made, path)
        made.page.goto(path.as_uri() + fragment)
        yield made
    finally:
        context.close()


def _listen(made: Visit, path: Path) -> None:
    def on_request(route: Route) -> None:
        if route.request.url.partition("#")[0] == path.as_uri():
            route.continue_()
        else:
            made.requests.append(route.request.url)
            route.abort()

    def on_console(message: ConsoleMessage) -> None:
        if not any(text in message.text for text in _REMARKS):
            made.console.append(f"{message.type}: {message.text}")

    made.page.route("**/*", on_request)
    made.page.on("console", on_console)
    made.page.on("pageerror", lambda error: made.console.append(f"exception: {error}"))


def draw_everything(page: Page) -> None:
    """Go down the page until all its figures are drawn, and open what is folded away."""
    for place in page.query_selector_all(".plot"):
        place.evaluate("place => place.scrollIntoView()")
        page.wait_for_function("place => place.dataset.state", arg=place)
    page.evaluate("scrollTo(0, 0)")
    page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true; })")


def look_at(browser: Browser, path: Path, width: int) -> Seen:
    """Open a page with all that is folded away, and say what a browser made of it."""
    with visit(browser, path, width=width, height=2000) as made:
        draw_everything(made.page)
        probe = made.page.evaluate(PROBE.read_text())
        assert made.requests == []
        return Seen(probe, made.console)
