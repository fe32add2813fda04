# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a report page the way a browser's parser does, without a browser."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "wbr", "link", "img", "hr"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text below, without scripts and styles."""
        if self.tag in ("script", "style"):
            return ""
        return "".join(part if isinstance(part, str) else part.text for part in self.children)

    @property
    def words(self) -> str:
        return " ".join(self.text.split())

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()

    def every(self, tag: str = "", css: str = "") -> list[Element]:
        """Elements below of that tag and class, in the order of the page."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if (not tag or child.tag == tag) and (not css or css in child.classes):
                    found.append(child)
                found += child.every(tag, css)
        return found

    def by_id(self, name: str) -> Element:
        return next(item for item in self.every() if item.attributes.get("id") == name)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        # The page closes what it opens, in order: anything else is a fault of the template.
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(page: str) -> Element:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert [item.tag for item in reader.open] == [""], "an element was not closed"
    return reader.root
