# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Hooks of the site: pages that live elsewhere in the repository join it under their paths there.

A page of docs/ may link to a file outside (`../launch/README.md`). Markdown files become pages of
the site below `repository/`; links to anything else become the name of the file. A link to a file
that does not exist is left as it is, and fails the strict build.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
PLACE = "repository"
_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def _linked_pages(text: str, directory: Path) -> set[Path]:
    """Return the Markdown files outside docs/ that a page in `directory` links to."""
    paths = {(directory / hit.group(2)).resolve() for hit in _LINK.finditer(text)}
    return {path for path in paths if path.suffix == ".md" and _is_outside(path)}


def _is_outside(path: Path) -> bool:
    return path.is_file() and path.is_relative_to(ROOT) and not path.is_relative_to(DOCS)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages outside docs/ that its pages link to, and those that these link to."""
    waiting = [Path(file.abs_src_path) for file in files.documentation_pages()]
    added: set[Path] = set()
    while waiting:
        path = waiting.pop()
        new = _linked_pages(path.read_text(), path.parent) - added
        added |= new
        waiting += new
    for path in sorted(added):
        source = f"{PLACE}/{path.relative_to(ROOT)}"
        file = File.generated(config, source, content=path.read_text())
        files.append(file)
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Point links that leave docs/ to the pages that `on_files` added."""
    uri = Path(page.file.src_uri)
    inside = uri.parts[0] == PLACE
    directory = ROOT / uri.relative_to(PLACE).parent if inside else DOCS / uri.parent

    def moved(hit: re.Match[str]) -> str:
        text, target, anchor = hit.group(1), hit.group(2), hit.group(3) or ""
        path = (directory / target).resolve()
        if "://" in target or not path.exists() or not path.is_relative_to(ROOT):
            return hit.group(0)
        if path.suffix == ".md":
            named = (
                path.relative_to(DOCS)
                if path.is_relative_to(DOCS)
                else PLACE / path.relative_to(ROOT)
            )
            return f"[{text}]({os.path.relpath(named, uri.parent)}{anchor})"
        # A directory or a source file: its name, as the site has no page for it.
        return text if text.startswith("`") else f"{text} (`{path.relative_to(ROOT)}`)"

    return _LINK.sub(moved, markdown)
