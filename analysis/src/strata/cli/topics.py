# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The topics of `strata help`: Markdown files in `help/`, which are pages of the site too."""

from __future__ import annotations

import re
from pathlib import Path

DIRECTORY = Path(__file__).parents[1] / "help"

# In the order in which a reader needs them.
TOPICS = (
    "layers",
    "bottleneck",
    "chains",
    "links",
    "configurations",
    "sessions",
    "trust",
    "gates",
    "scenarios",
)

_LINK = re.compile(r"\[([^\]]*)\]\(([^)]*)\)")


def text(topic: str) -> str:
    """Return the Markdown of a topic for a terminal: its links become names of files."""
    return _LINK.sub(_named, (DIRECTORY / f"{topic}.md").read_text())


def summary(topic: str) -> str:
    """Return the first sentence of a topic, on one line."""
    body = text(topic).split("\n\n")[1]
    return " ".join(body.split()).partition(". ")[0].rstrip(".") + "."


def _named(link: re.Match[str]) -> str:
    target = link.group(2).partition("#")[0]
    name = Path(target).name
    if "docs/" in target:
        return f"{link.group(1)} (docs/{name})"
    return f"{link.group(1)} (`strata help {Path(name).stem}`)"
