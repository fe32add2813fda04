# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Places of boxes and routes of links, of any graph."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.show.graph.layout import Box, Layout, Link, lay_out


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Box], list[Link]]:
    """Up to 14 boxes of any size, with links among them: cycles, self loops, several of a pair."""
    sizes = st.floats(10, 200)
    count = draw(st.integers(0, 14))
    boxes = [Box(f"box {at}", draw(sizes), draw(sizes)) for at in range(count)]
    ends = st.integers(0, max(count - 1, 0)).map("box {}".format)
    links = st.builds(Link, ends, ends, st.floats(0, 300))
    return boxes, draw(st.lists(links, max_size=30)) if count else []


def chain(*names: str) -> tuple[list[Box], list[Link]]:
    boxes = [Box(name, 100, 30) for name in dict.fromkeys(names)]
    return boxes, [Link(a, b) for a, b in pairwise(names)]


def column_of(layout: Layout, key: str) -> float:
    return layout.places[key][0]


@given(graphs())
def test_boxes_lie_apart_and_within_the_drawing(graph: tuple[list[Box], list[Link]]) -> None:
    boxes, links = graph
    layout = lay_out(boxes, links)
    assert layout.places.keys() == {box.key for box in boxes}
    for box in boxes:
        x, y = layout.places[box.key]
        assert x >= -1e-6
        assert y >= -1e-6
        assert x + box.width <= layout.width + 1e-6
        assert y + box.height <= layout.height + 1e-6
    for one, other in combinations(boxes, 2):
        (x0, y0), (x1, y1) = layout.places[one.key], layout.places[other.key]
        beside = x0 + one.width <= x1 + 1e-6 or x1 + other.width <= x0 + 1e-6
        above = y0 + one.height <= y1 + 1e-6 or y1 + other.height <= y0 + 1e-6
        assert beside or above, (one, other)


@given(graphs())
def test_links_go_from_side_to_side(graph: tuple[list[Box], list[Link]]) -> None:
    boxes, links = graph
    size = {box.key: box for box in boxes}
    layout = lay_out(boxes, links)
    assert len(layout.routes) == len(links)
    against = []
    for link, route in zip(links, layout.routes, strict=True):
        if link.source == link.target:
            assert route == []
            continue
        xs = [x for x, _ in route]
        forward = xs == sorted(xs)
        against.append(not forward)
        begin, end = (link.source, link.target) if forward else (link.target, link.source)
        points = route if forward else route[::-1]
        assert [x for x, _ in points] == sorted(xs)
        (x0, y0), (x1, y1) = layout.places[begin], layout.places[end]
        half = size[begin].height / 2
        assert points[0] == pytest.approx((x0 + size[begin].width, y0 + half))
        assert points[-1] == pytest.approx((x1, y1 + size[end].height / 2))
    if not any(against):
        return
    # Only where links lead back to where they came from does one go against the flow.
    assert has_cycle(links)


def has_cycle(links: list[Link]) -> bool:
    left = {(link.source, link.target) for link in links if link.source != link.target}
    while left:
        targets = {b for _, b in left}
        first = {(a, b) for a, b in left if a not in targets}
        if not first:
            return True
        left -= first
    return False


@given(graphs())
def test_the_same_graph_has_the_same_layout(graph: tuple[list[Box], list[Link]]) -> None:
    boxes, links = graph
    assert lay_out(boxes, links) == lay_out(list(boxes), list(links))


@given(graphs(), st.floats(20, 100))
def test_between_columns_there_is_space_for_labels(
    graph: tuple[list[Box], list[Link]], gap: float
) -> None:
    boxes, links = graph
    layout = lay_out(boxes, links, gap=gap)
    for link, route in zip(links, layout.routes, strict=True):
        if route:
            (x0, _), (x1, _) = route[-2:] if route[0][0] < route[-1][0] else route[:2][::-1]
            assert x1 - x0 >= max(gap, link.label) - 1e-6


def test_a_chain_is_a_straight_line() -> None:
    layout = lay_out(*chain("a", "b", "c", "d"))
    places = [layout.places[name] for name in "abcd"]
    assert [x for x, _ in places] == sorted({x for x, _ in places})
    assert len({y for _, y in places}) == 1
    assert all(len(route) == 2 for route in layout.routes)


def test_a_cycle_has_one_link_against_the_flow() -> None:
    layout = lay_out(*chain("a", "b", "c", "a"))
    forward = [route[0][0] < route[-1][0] for route in layout.routes]
    assert forward == [True, True, False]


def test_a_long_link_goes_around_the_boxes_between() -> None:
    boxes, links = chain("a", "b", "c")
    layout = lay_out(boxes, [*links, Link("a", "c")])
    _, top = layout.places["b"]
    around = layout.routes[-1]
    assert len(around) == 4
    assert all(y < top or y > top + 30 for _, y in around[1:-1])


def test_a_source_is_directly_before_what_it_feeds() -> None:
    boxes, links = chain("a", "b", "c", "d")
    layout = lay_out([*boxes, Box("late", 100, 30)], [*links, Link("late", "d")])
    assert column_of(layout, "late") == column_of(layout, "c")


def test_links_that_need_not_cross_do_not() -> None:
    boxes = [Box(name, 50, 20) for name in ("a", "b", "c", "x", "y", "z")]
    links = [Link("a", "z"), Link("b", "y"), Link("c", "x")]
    layout = lay_out(boxes, links)
    begins = [route[0][1] for route in layout.routes]
    ends = [route[-1][1] for route in layout.routes]
    assert sorted(range(3), key=begins.__getitem__) == sorted(range(3), key=ends.__getitem__)


def test_nothing_and_isolated_boxes() -> None:
    assert lay_out([], []) == Layout(0.0, 0.0, {}, [])
    layout = lay_out([Box("a", 10, 10), Box("b", 20, 20)], [Link("a", "a")])
    assert layout.routes == [[]]
    assert layout.places["a"] != layout.places["b"]
