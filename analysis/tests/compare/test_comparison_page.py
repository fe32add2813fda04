# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The pages of two recordings compared and of several side by side."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_analysis import Relay
from made_runs import side
from page_browser import look_at, only_news
from page_reader import Element, read

from strata.cli.report import command
from strata.comparison.answer import answer
from strata.comparison.comparison import Comparison, compare_sides
from strata.comparison.sentences import headline
from strata.show.html.comparison import render_comparison
from strata.show.html.comparison.graph import SAME, SLOWER, difference_graph

PLANTED_NS = 500_000


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    a = side("A", Relay(hops=3, messages=300, seed=1))
    b = side("B", Relay(hops=3, messages=300, seed=2, work_ns={1: PLANTED_NS}))
    return compare_sides(a, b)


@pytest.fixture(scope="module")
def page(comparison: Comparison) -> Element:
    return read(render_comparison(comparison))


def test_the_sentence_is_the_head(page: Element, comparison: Comparison) -> None:
    (head,) = page.every("h1")
    assert head.words == " ".join(headline(comparison, answer(comparison)).split())
    assert "/relay_2" in head.words
    assert "is-slower" in page.by_id("answer").classes


def test_the_page_can_load_nothing(page: Element) -> None:
    policy = next(
        one.attributes["content"]
        for one in page.every("meta")
        if one.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'")
    assert not [one for one in page.every() if "src" in one.attributes]


def test_the_graph_says_where_it_changed(comparison: Comparison) -> None:
    graph = difference_graph(comparison)
    changed = {node.name: node for node in graph.nodes if node.kind != SAME}
    assert list(changed) == ["/relay_2"]
    assert changed["/relay_2"].kind == SLOWER
    assert changed["/relay_2"].label.startswith("\N{BLACK UP-POINTING TRIANGLE} +")
    assert [edge.label for edge in graph.edges] == ["", "", ""]
    assert [edge.source for edge in graph.edges if edge.target == "/relay_2"] == ["/relay_1"]


def test_an_edge_of_a_loop_is_drawn() -> None:
    from strata.show.html.comparison.drawing import drawn
    from strata.show.html.comparison.graph import DifferenceGraph, GraphEdge, GraphNode

    nodes = tuple(GraphNode(name, "", SAME) for name in ("/a", "/b"))
    edges = tuple(
        GraphEdge(source, target, "/t", "", SAME, "title", 0.0)
        for source, target in (("/a", "/b"), ("/b", "/a"), ("/a", "/a"))
    )
    page = str(drawn(DifferenceGraph(nodes, edges)))
    # What a node publishes to itself is in its box.
    assert page.count('class="pick link') == 2


def test_bars_are_of_both_sides_and_on_one_scale(page: Element) -> None:
    hops = page.every("div", "hop")
    assert [hop.every("span", "label")[0].words for hop in hops] == [
        f"/chain_{at}" for at in range(3)
    ]
    for hop in hops:
        assert [one.words for one in hop.every("span", "letter")] == ["A", "B"]
        for part in hop.every("span", "segment"):
            left, width = (
                float(text.split(":")[1].rstrip("%"))
                for text in part.attributes["style"].split(";")
            )
            assert 0 <= left <= left + width <= 100.01


def test_relevant_rows_come_first_and_the_others_are_folded_away(page: Element) -> None:
    (body,) = page.by_id("rows").every("tbody")
    rows = body.every("tr")
    minor = ["minor" in row.classes for row in rows]
    assert minor == sorted(minor)
    assert not minor[0]
    assert all("hidden" in row.attributes for row in rows if "minor" in row.classes)


def test_two_recordings_are_compared_and_more_are_put_side_by_side(
    sample: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("fast_relay1p_st", "fast_relaymp_st", "fast_relay1p_mt")
    paths = [str(sample(name)) for name in names]
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke(command, paths[:2])
    assert run.output == "Wrote recordings.html\n"
    two = read((tmp_path / "recordings.html").read_text())
    assert two.every("h1")[0].words.startswith("B is 57")
    # A page of Strata's own in the default place is replaced.
    assert CliRunner().invoke(command, paths).output == "Wrote recordings.html\n"
    three = read((tmp_path / "recordings.html").read_text())
    assert three.every("h1")[0].words == "3 recordings"
    hops = three.by_id("hops")
    assert [one.words for one in hops.every("h3")] == [f"/chain_{at}" for at in range(4)]
    first = hops.every("tbody")[0].every("tr")
    assert [row.every("th")[0].words for row in first] == ["A", "B", "C"]


@pytest.mark.parametrize("width", [1280, 600])
def test_a_browser_draws_it_and_nothing_is_cut(
    comparison: Comparison, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "page.html"
    path.write_text(render_comparison(comparison))
    seen = look_at(path, width, tmp_path / "profile")
    assert seen.probe["wide"] <= width, "the page is wider than the window"
    assert [figure["state"] for figure in seen.probe["figures"]] == ["drawn"]
    assert only_news(seen.console) == []
