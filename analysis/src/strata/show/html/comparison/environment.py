# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the pages of several recordings share: their templates and their style sheets."""

from __future__ import annotations

from jinja2 import Environment
from markupsafe import Markup

from strata.show.html.embedding import page_asset
from strata.show.html.templates import page_templates

_STYLES = ("style.css", "explorer.css", "comparison.css")


def environment() -> Environment:
    """Return the templates of the pages of several recordings."""
    return page_templates("strata.show.html.comparison")


def style() -> Markup:
    """Return the style sheet: that of the report page, then what only these pages have."""
    return Markup("\n").join(map(page_asset, _STYLES))
