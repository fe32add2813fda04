# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Opens a page in a real browser and tells what it made of it.

A test is skipped only where no Chromium is installed (`make setup` installs it).
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PROBE = Path(__file__).parent / "probe.js"


@dataclass(frozen=True)
class Seen:
    """What the probe saw in the browser, and what the browser wrote to its console."""

    probe: dict[str, Any]
    console: list[str]


def look_at(path: Path, width: int, profile: Path) -> Seen:
    """Open a copy of a page with all that is folded away, and a probe in it."""
    script = f"<script>{PROBE.read_text()}</script></body>"
    page = path.read_text().replace("<details>", "<details open>")
    path.write_text(page.replace("</body>", script))
    return open_page(chromium(), path, width, profile)


def chromium() -> str:
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


def open_page(chromium: str, path: Path, width: int, profile: Path) -> Seen:
    flags = "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-sync"
    flags += " --no-first-run --virtual-time-budget=15000 --enable-logging=stderr --dump-dom"
    done = subprocess.run(
        [
            chromium,
            *flags.split(),
            f"--user-data-dir={profile}",
            f"--window-size={width},2000",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    probe = re.search(r'<body data-probe="([^"]*)"', done.stdout)
    assert probe, done.stderr
    return Seen(json.loads(html.unescape(probe[1])), re.findall(r"CONSOLE[^\n]*", done.stderr))


def only_news(console: list[str]) -> list[str]:
    """Lines of the console, without bokeh's two remarks that it has begun and is done."""
    return [line for line in console if "setting log level" not in line and "idle at" not in line]
