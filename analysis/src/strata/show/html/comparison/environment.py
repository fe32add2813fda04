# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The templates of the pages of several recordings, and how they write numbers and names."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from strata.comparison.amounts import signed_ns
from strata.show.html import theme
from strata.show.html.embedding import breakable, glued, seen
from strata.units import format_ns

MICRO = "µs"


def environment() -> Environment:
    """Return the environment; a name that a template does not know is an error."""
    made = Environment(
        loader=PackageLoader("strata.show.html.comparison", ""),
        autoescape=True,
        finalize=seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["duration"] = lambda ns: format_ns(ns, micro=MICRO)
    made.filters["change"] = lambda ns: signed_ns(ns).replace(" us", f" {MICRO}")
    made.filters["glued"] = glued
    made.filters["breakable"] = breakable
    made.filters["count"] = lambda number: f"{number:,}"
    made.filters["slug"] = lambda layer: theme.paint(layer).slug
    return made
