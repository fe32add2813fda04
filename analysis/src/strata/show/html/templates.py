# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The templates of a page: those of its own, the head of all pages, and how they write values."""

from __future__ import annotations

import re

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from strata.show.html import theme
from strata.show.html.embedding import breakable, glued, seen
from strata.show.html.theme import MICRO
from strata.units import format_ns


def with_micro(text: str) -> str:
    """Write µs where a sentence that is for terminals, too, has us."""
    return re.sub(r"(?<=\d) us\b", f" {MICRO}", text)


def page_templates(package: str) -> Environment:
    """Return the templates of a package and `frame.html.j2`, the head that pages share.

    A name that a template does not know is an error.
    """
    made = Environment(
        loader=ChoiceLoader([PackageLoader(package, ""), PackageLoader("strata.show.html", "")]),
        autoescape=True,
        finalize=seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["duration"] = lambda ns: format_ns(ns, micro=MICRO)
    made.filters["glued"] = lambda text: glued(with_micro(text))
    made.filters["breakable"] = breakable
    made.filters["count"] = lambda number: f"{number:,}"
    made.filters["slug"] = lambda layer: theme.paint(layer).slug
    return made
