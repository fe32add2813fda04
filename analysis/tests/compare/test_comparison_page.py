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
from page_barriers import serious_barriers
from page_browser import PATIENCE_MS, draw_everything, look_at, visit
from page_reader import Element, read
from playwright.sync_api import Browser, Page, expect

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
    (head,) = page.by_id("overview").every("p", "sentence")
    said = headline(comparison, answer(comparison)).replace(" us", " µs")
    assert head.words == " ".join(said.split())
    assert "/relay_2" in head.words
    assert [one.words for one in page.every("h1")] == ["B compared with A"]
    assert page.by_id("overview").every("div", "is-slower")


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
    shown = next(one for one in page.every("div", "layers-of") if "hidden" not in one.attributes)
    assert shown.attributes["data-layers-of"] == "chain:0"
    hops = shown.every("div", "two-sided")
    assert [hop.every("span", "label")[0].words for hop in hops] == [
        f"/chain_{at}" for at in range(3)
    ]
    for hop in hops:
        assert [one.words for one in hop.every("span", "letter")] == ["A", "B"]
        for part in hop.every("span", "part"):
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
    assert two.by_id("overview").every("p", "sentence")[0].words.startswith("B is 57")
    # A page of Strata's own in the default place is replaced.
    assert CliRunner().invoke(command, paths).output == "Wrote recordings.html\n"
    three = read((tmp_path / "recordings.html").read_text())
    assert three.every("h1")[0].words == ", ".join(names)
    assert three.every("h2")[0].words == "3 recordings side by side"
    hops = three.by_id("hops")
    heads = [one.words.split()[0] for one in hops.every("h3")]
    assert heads == [f"/chain_{at}" for at in range(4)]
    first = hops.every("tbody")[0].every("tr")
    assert [row.every("th")[0].words for row in first] == ["A", "B", "C"]


@pytest.fixture(scope="module")
def file(comparison: Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compared") / "page.html"
    path.write_text(render_comparison(comparison))
    return path


@pytest.mark.parametrize("width", [420, 700, 1280, 2560])
def test_a_browser_draws_it_and_nothing_is_cut(browser: Browser, file: Path, width: int) -> None:
    seen = look_at(browser, file, width)
    assert seen.probe["wide"] <= width, "the page is wider than the window"
    assert seen.probe["cut"] == []
    assert [figure["state"] for figure in seen.probe["figures"]] == ["drawn"]
    assert seen.console == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [420, 1280])
def test_it_has_no_serious_barrier(browser: Browser, file: Path, width: int, *, dark: bool) -> None:
    with visit(browser, file, width=width, dark=dark, fragment="#diff=node:/relay_2") as made:
        draw_everything(made.page)
        assert serious_barriers(made.page) == []
        assert (made.console, made.requests) == ([], [])


def subjects_shown(page: Page) -> set[str]:
    return set(
        page.eval_on_selector_all(
            "#rows tbody tr:not([hidden])", "rows => rows.map(row => row.dataset.subject)"
        )
    )


def layers_shown(page: Page) -> list[str]:
    return page.eval_on_selector_all(
        ".layers-of:not([hidden])", "parts => parts.map(part => part.dataset.layersOf)"
    )


def figure_values(page: Page) -> list[float]:
    return page.evaluate("Bokeh.documents[0].get_model_by_name('points').data.y")


def test_a_hop_of_the_graph_selects_its_rows_quantiles_and_layers(
    browser: Browser, file: Path, comparison: Comparison
) -> None:
    keys = {
        block.subject.name: f"{block.subject.kind}:{at}"
        for at, block in enumerate(comparison.blocks)
        if block.subject.kind == "hop"
    }
    with visit(browser, file) as made:
        page = made.page
        page.wait_for_selector("#shift[data-state=drawn]")
        whole = figure_values(page)
        assert layers_shown(page) == ["chain:0"]
        page.locator(f'.graph .link[data-selects="{keys["/chain_1"]}"] .hit').dispatch_event(
            "click"
        )
        assert subjects_shown(page) == {keys["/chain_1"]}
        assert layers_shown(page) == [keys["/chain_1"]]
        assert page.locator("#subject").input_value() == keys["/chain_1"]
        of_hop = figure_values(page)
        assert of_hop != whole
        assert page.url.endswith(f"#diff={keys['/chain_1']}")
        assert page.locator(".graph .picked").count() == 1
        page.locator("#subject").select_option(keys["/chain_2"])
        assert subjects_shown(page) == {keys["/chain_2"]}
        page.go_back()
        expect(page.locator("#subject")).to_have_value(keys["/chain_1"], timeout=PATIENCE_MS)
        assert figure_values(page) == of_hop
        page.locator("#diff-clear").click()
        assert "chain:0" in subjects_shown(page)
        assert figure_values(page) == whole
        assert made.console == []


def test_the_address_selects_and_an_unknown_one_is_said(browser: Browser, file: Path) -> None:
    with visit(browser, file, fragment="#diff=node:/relay_2") as made:
        rows = made.page.locator("#rows tbody tr:not([hidden])")
        nodes = rows.evaluate_all("rows => rows.map(row => row.dataset.nodes)")
        assert set(nodes) == {"/relay_2"}
        assert made.page.locator('.graph .box[aria-pressed="true"]').count() == 1
    with visit(browser, file, fragment="#diff=hop:999") as made:
        assert "does not have" in made.page.locator("#chosen-words").inner_text()
        assert made.page.locator("#rows tbody tr:not([hidden])").count() > 0
        assert made.console == []


def test_the_keyboard_reaches_the_graph(browser: Browser, file: Path) -> None:
    with visit(browser, file) as made:
        page = made.page
        stops = page.locator('.graph .pick[tabindex="0"]')
        assert stops.count() == 1
        stops.focus()
        page.keyboard.press("ArrowRight")
        wanted = page.evaluate("document.activeElement.dataset.selects")
        page.keyboard.press("Enter")
        assert page.url.endswith(f"#diff={wanted}")
        page.keyboard.press("Escape")
        assert "#" not in page.url


def test_the_search_finds_nodes_hops_and_layers(browser: Browser, file: Path) -> None:
    with visit(browser, file) as made:
        page = made.page
        page.keyboard.press("/")
        page.keyboard.type("relay_2")
        kinds = page.locator("#search-found .chip").all_inner_texts()
        assert {"node", "hop", "callback"} <= set(kinds)
        page.keyboard.press("Enter")
        assert page.url.endswith("#diff=node:/relay_2")
        page.locator("#search").fill("executor wait")
        page.keyboard.press("Enter")
        rows = page.locator("#rows tbody tr:not([hidden])")
        assert set(rows.evaluate_all("rows => rows.map(row => row.dataset.layer)")) == {
            "executor wait"
        }


def test_a_head_sorts_and_rows_that_are_not_relevant_can_be_shown(
    browser: Browser, file: Path
) -> None:
    with visit(browser, file) as made:
        page = made.page
        few = page.locator("#rows tbody tr:not([hidden])").count()
        page.locator("#every").check()
        rows = page.locator("#rows tbody tr:not([hidden])")
        assert rows.count() > few
        assert page.url.endswith("#rows=all")
        page.get_by_role("button", name="shift", exact=True).click()
        shifts = rows.evaluate_all("rows => rows.map(row => Number(row.cells[4].dataset.value))")
        assert shifts == sorted(shifts, reverse=True)


def test_the_button_turns_it_dark_figure_included(browser: Browser, file: Path) -> None:
    ground = "Bokeh.documents[0].roots()[0].background_fill_color"
    with visit(browser, file) as made:
        page = made.page
        page.wait_for_selector("#shift[data-state=drawn]")
        light = page.evaluate(ground)
        page.locator("#appearance").click()
        assert page.evaluate("document.documentElement.dataset.appearance") == "dark"
        assert page.evaluate(ground) != light


def test_printed_it_is_light_and_has_no_controls(browser: Browser, file: Path) -> None:
    with visit(browser, file, dark=True) as made:
        page = made.page
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.dataset.appearance") == "light"
        for name in ("#appearance", "#search", "#every", ".top nav"):
            assert not page.locator(name).is_visible()
        assert page.locator("#rows").is_visible()


@pytest.fixture(scope="module")
def several(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("several") / "page.html"
    names = ("fast_relay1p_st", "fast_relaymp_st", "fast_relay1p_mt")
    done = CliRunner().invoke(command, [*(str(sample(one)) for one in names), "-o", str(path)])
    assert done.exit_code == 0, done.output
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [420, 1280])
def test_several_recordings_have_no_serious_barrier(
    browser: Browser, several: Path, width: int, *, dark: bool
) -> None:
    with visit(browser, several, width=width, dark=dark) as made:
        assert serious_barriers(made.page) == []
        assert made.page.evaluate("document.documentElement.scrollWidth") <= width
        assert (made.console, made.requests) == ([], [])


def test_the_search_goes_to_a_hop_of_several_recordings(browser: Browser, several: Path) -> None:
    with visit(browser, several) as made:
        made.page.keyboard.press("/")
        made.page.keyboard.type("chain_3 sink")
        assert "hop" in made.page.locator("#search-found .chip").all_inner_texts()
        made.page.locator("#search-found li", has_text="hop").first.dispatch_event("mousedown")
        place = made.page.locator("#hops h3", has_text="/chain_3")
        expect(place).to_be_in_viewport(timeout=PATIENCE_MS)


def test_the_address_of_several_recordings_names_a_section(browser: Browser, several: Path) -> None:
    with visit(browser, several, fragment="#at=hops") as made:
        expect(made.page.locator("#hops h2")).to_be_in_viewport(timeout=PATIENCE_MS)
