# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A graph as SVG: names of any kind are text, boxes hold what is written in them."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_reader import Element, read

from strata.show.graph.drawing import DrawnBox, DrawnLink, draw, elided, wrapped

HOSTILE = [
    "<b>bold</b>",
    "</svg></script><script>alert(1)</script>",
    "\"'><img src=x onerror=alert(2)>",
    "a\u202egpj.exe\u200b",
    "&amp;<!--",
]


def drawn(name: str) -> Element:
    boxes = [
        DrawnBox("one", (name,), (name, "2 nodes"), name, "node", {"hops": name}),
        DrawnBox("two", ("two",), (), "two"),
    ]
    links = [
        DrawnLink("one", "two", (name, "1 ms"), name, 0.5, "hot", {"hops": name}),
        DrawnLink("two", "two", ("itself",), "itself", 1.0),
    ]
    return read(str(draw(boxes, links, label=name, key="g0").svg))


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text(name: str) -> None:
    page, plain = drawn(name), drawn("plain")
    assert [item.tag for item in page.every()] == [item.tag for item in plain.every()]
    assert not [key for item in page.every() for key in item.attributes if key[:2] == "on"]
    seen = re.sub("[\u202e\u200b]", "\ufffd", name)
    box, link = page.every("g", "box")[0], page.every("g", "link")[0]
    assert box.every("text")[0].text == seen
    for item in (box, link):
        assert item.attributes["aria-label"] == seen
        assert item.attributes["data-hops"] == seen
        assert item.every("title")[0].text == seen
    assert page.every("svg")[0].attributes["aria-label"] == seen


def test_everything_that_can_be_selected_is_a_named_button() -> None:
    picks = drawn("name").every("g", "pick")
    assert len(picks) == 3, "a link of a box to itself is not drawn"
    for pick in picks:
        assert pick.attributes["role"] == "button"
        assert pick.attributes["tabindex"] == "-1"
        assert pick.attributes["aria-label"]


def test_a_heavy_link_is_thick_and_a_weight_has_bounds() -> None:
    def width(weight: float) -> float:
        boxes = [DrawnBox(name, (name,), (), name) for name in "ab"]
        svg = draw(boxes, [DrawnLink("a", "b", (), "", weight)], label="", key="g").svg
        (line,) = read(str(svg)).every("path", "line")
        return float(line.attributes["stroke-width"])

    assert width(-1) == width(0) < width(0.5) < width(1) == width(7)


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"])), st.integers(3, 30))
def test_a_name_is_broken_without_a_loss_of_letters(name: str, most: int) -> None:
    lines = wrapped(name, most)
    assert all(len(line) <= most for line in lines)
    if not any("…" in line for line in lines):
        assert "".join(lines) == name


def test_names_are_broken_where_a_word_begins() -> None:
    assert wrapped("EuclideanClusterDetector", 16) == ("EuclideanCluster", "Detector")
    assert wrapped("robot_7/camera_driver", 12) == ("robot_7/", "camera_", "driver")
    assert wrapped("short", 12) == ("short",)


@given(st.text(max_size=60), st.integers(3, 30))
def test_an_elided_name_keeps_its_ends(name: str, most: int) -> None:
    short = elided(name, most)
    assert len(short) <= max(most, 0)
    if len(name) > most:
        assert len(short) == most
        head, tail = short.split("…") if short.count("…") == 1 else (short[:1], short[-1:])
        assert name.startswith(head)
        assert name.endswith(tail)


def test_a_box_is_as_wide_as_what_is_written_in_it() -> None:
    boxes = [DrawnBox("a", ("a rather long name of a node",), ("x",), "a")]
    page = read(str(draw(boxes, [], label="", key="g").svg))
    (rectangle,) = page.every("rect")
    assert float(rectangle.attributes["width"]) > 6 * len("a rather long name of a node")


def test_labels_of_links_lie_below_each_other() -> None:
    boxes = [DrawnBox(name, (name,), (), name) for name in "abcd"]
    links = [DrawnLink(name, "d", ("/topic", "1 ms"), name, 0.1) for name in "abc"]
    page = read(str(draw(boxes, links, label="", key="g").svg))
    tops = sorted(
        float(text.attributes["y"])
        for link in page.every("g", "link")
        for text in link.every("text")
    )
    assert all(after - before >= 12.9 for before, after in pairwise(tops))
