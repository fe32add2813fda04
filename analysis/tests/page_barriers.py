# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds what keeps people from using a page, with axe-core (WCAG)."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

SERIOUS = ("serious", "critical")


def serious_barriers(page: Page) -> list[str]:
    """Say of each serious violation which rule it is of, and of which elements."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['failureSummary'][:240]}"
        for one in found
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]
