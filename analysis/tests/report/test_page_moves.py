# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Ways through the page: address, search, views of the graph, keyboard, tables, timeline, print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from page_browser import visit
from page_truth import address, listed, slowest_first
from playwright.sync_api import Browser, Page
from recorded_pages import BLOCKED, FLEET, NAMES, REFERENCE, RecordedPages

from strata.schema.events import INTERNAL_TOPICS

# The middle of a span of some class, of all those by length.
_ON_SPAN = """([name, at]) => {
    document.getElementById("timeline").scrollIntoView({ block: "center" });
    const boxes = Array.from(document.querySelectorAll("#timeline rect." + name))
        .map(item => item.getBoundingClientRect()).sort((a, b) => b.width - a.width);
    return [boxes[at].left + boxes[at].width / 2, boxes[at].top + boxes[at].height / 2];
}"""


@contextmanager
def opened(
    browser: Browser, path: Path, fragment: str = "", *, dark: bool = False
) -> Iterator[Page]:
    """A page whose scripts have run; it may have written nothing to its console."""
    with visit(browser, path, fragment=fragment, dark=dark) as seen:
        seen.page.wait_for_function("() => document.getElementById('message-rows').rows.length")
        yield seen.page
        assert seen.console == []
        assert seen.requests == []


def current(page: Page) -> int:
    """The message that is shown."""
    found = re.match(r"Message #(\d+): ", page.inner_text("#message-head"))
    assert found
    return int(found[1])


def view(page: Page) -> str:
    """The view of the graph that is shown."""
    (found,) = page.query_selector_all(".graph-view:not([hidden])")
    return found.get_attribute("data-view") or ""


def boxes(page: Page) -> list[str]:
    """What the boxes of the graph are named, in lines."""
    return page.eval_on_selector_all(
        ".graph-view:not([hidden]) .box",
        "items => items.map(item => item.getAttribute('aria-label').split(/[:;]/)[0])",
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_address_holds_what_is_selected(
    browser: Browser, recorded: RecordedPages, name: str
) -> None:
    analysis, path = recorded(name).analysis, recorded(name).path
    with opened(browser, path) as page:
        chains = page.evaluate("strata.data.chains.map(chain => chain.id)")
        chain = chains[-1]
        page.evaluate("scrollTo(0, 0)")
        first = current(page)
        page.select_option("#chain-choice", str(chain))
        assert address(page) == {"chain": str(chain)}
        order = slowest_first(analysis, chain)
        assert current(page) == order[0]
        page.click("#next")
        state = page.evaluate("location.hash")
        assert address(page) == {"chain": str(chain), "msg": str(listed(page)[1][0])}
        page.go_back()
        assert current(page) == order[0]
        page.go_back()
        assert current(page) == first
        page.go_forward()
        page.go_forward()
        assert page.evaluate("location.hash") == state
        shown = current(page), listed(page)[:20]
    with opened(browser, path, state) as page:
        assert (current(page), listed(page)[:20]) == shown
        assert page.input_value("#chain-choice") == str(chain)
    last = order[-1]
    with opened(browser, path, f"#msg={last}&chain={chain}&sel=cause:0") as page:
        assert current(page) == last
        assert (
            page.get_attribute("#chain-causes [data-selects='cause:0']", "aria-pressed") == "true"
        )
        assert page.is_visible("#selection-clear")
        page.click("#selection-clear")
        assert address(page) == {"msg": str(last), "chain": str(chain)}
        assert current(page) == last


@pytest.mark.parametrize(
    "fragment", ["#msg=999999&chain=77", "#sel=bar:x&msg=-1", "#msg=%3Cb%3E", "#sel=hops:99"]
)
def test_an_address_that_names_nothing_shows_the_slowest(
    browser: Browser, recorded: RecordedPages, fragment: str
) -> None:
    page_of = recorded(BLOCKED)
    with opened(browser, page_of.path, fragment) as page:
        chain = page.evaluate("strata.data.chains[0].id")
        assert current(page) == slowest_first(page_of.analysis, chain)[0]


def test_links_lead_to_sections_and_back(browser: Browser, recorded: RecordedPages) -> None:
    with opened(browser, recorded(REFERENCE).path, "#hops") as page:
        assert 0 <= top_of(page, "hops") < 150, "below the navigation"
        for link in page.query_selector_all("nav a"):
            link.click()
            target = (link.get_attribute("href") or "")[1:]
            page.wait_for_function(
                """id => {
                    const top = document.getElementById(id).getBoundingClientRect().top;
                    const below = document.documentElement.scrollHeight - innerHeight - scrollY;
                    return (-5 < top && top < 300) || below < 5;
                }""",
                arg=target,
            )
            assert page.evaluate("document.activeElement.id") == target
            assert address(page)["at"] == target
        header = page.locator("header.top").bounding_box()
        assert header is not None
        assert header["y"] == 0, "the navigation stays in sight"


def top_of(page: Page, place: str) -> float:
    found: float = page.evaluate(
        "place => document.getElementById(place).getBoundingClientRect().top", place
    )
    return found


def test_the_search_finds_nodes_topics_chains_callbacks_and_messages(
    browser: Browser, recorded: RecordedPages
) -> None:
    analysis = recorded(FLEET).analysis
    with opened(browser, recorded(FLEET).path) as page:
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.id") == "search"
        page.keyboard.type("robot_1/detector")
        assert page.get_attribute("#search", "aria-expanded") == "true"
        found = page.eval_on_selector_all(
            "#search-found li", "items => items.map(i => i.textContent)"
        )
        assert found[0] == "node /robot_1/detector"
        assert any(item.startswith("chain /robot_1/camera → ") for item in found)
        assert any(item.startswith("callback /robot_1/detector") for item in found)
        page.keyboard.press("Enter")
        (hop,) = analysis.hops.index[analysis.hops["subscription_node"] == "/robot_1/detector"]
        hop_id = analysis.hops.loc[hop, "hop_id"]
        assert address(page)["sel"] == f"callbacks:{hop_id}"
        assert not page.is_visible("#search-found")

        page.fill("#search", "/robot_2/plan")
        options = page.locator("#search-found li")
        page.keyboard.press("ArrowDown")
        at = options.all_text_contents().index("topic /robot_2/plan")
        for _ in range((at - 1) % options.count()):
            page.keyboard.press("ArrowDown")
        assert page.get_attribute("#search", "aria-activedescendant") == f"found-{at}"
        assert options.nth(at).get_attribute("aria-selected") == "true"
        page.keyboard.press("Enter")
        (hop,) = analysis.hops.index[analysis.hops["topic"] == "/robot_2/plan"]
        assert address(page)["sel"] == f"hops:{analysis.hops.loc[hop, 'hop_id']}"

        chain = int(
            analysis.chains.loc[
                analysis.chains["nodes"].str.contains("/robot_3/"), "chain_id"
            ].iloc[0]
        )
        message = slowest_first(analysis, chain)[7]
        page.fill("#search", f"#{message}")
        page.locator("#search-found li").first.click()
        assert current(page) == message
        assert int(address(page)["chain"]) == chain

        page.fill("#search", "Planner0::make_plan")
        page.keyboard.press("Enter")
        row = page.locator("#callbacks tr.found")
        assert "/robot_0/planner" in row.inner_text()
        assert row.is_visible()

        page.fill("#search", "nothing has that name")
        assert options.all_text_contents() == ["Nothing on this page has that in its name."]
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
        assert page.input_value("#search") == ""


def test_executors_and_namespaces_fold_and_open(browser: Browser, recorded: RecordedPages) -> None:
    analysis = recorded(FLEET).analysis
    with opened(browser, recorded(FLEET).path) as page:
        assert view(page) == "nodes"
        assert len(boxes(page)) == 20
        page.click("[data-graph=namespaces]")
        assert sorted(boxes(page)) == [
            *(f"namespace /robot_{number}" for number in range(4)),
            "namespace /station",
        ]
        assert page.get_attribute("[data-graph=namespaces]", "aria-pressed") == "true"
        page.locator(".graph-view:not([hidden]) .box", has_text="robot_2").click()
        assert view(page) == "namespaces:/robot_2"
        opened_boxes = boxes(page)
        assert {
            f"node /robot_2/{name}" for name in ("camera", "filter", "detector", "planner")
        } < set(opened_boxes)
        assert "namespace /robot_1" in opened_boxes
        assert address(page)["graph"] == "namespaces:/robot_2"
        page.go_back()
        assert view(page) == "namespaces"
        page.click("[data-graph=executors]")
        executors = analysis.executors.set_index("executor_id")["nodes"]
        (perception,) = [
            n for n, nodes in executors.items() if nodes.startswith("/robot_0/filter,")
        ]
        assert f"executor {perception}" in boxes(page)
        page.locator(f".graph-view:not([hidden]) .box[data-open='executors:{perception}']").click()
        assert {"node /robot_0/filter", "node /robot_0/detector"} < set(boxes(page))
        page.click("[data-graph=nodes]")
        assert view(page) == "nodes"


@pytest.mark.parametrize("name", NAMES)
def test_the_keyboard_alone_gets_from_the_graph_to_a_message(
    browser: Browser, recorded: RecordedPages, name: str
) -> None:
    with opened(browser, recorded(name).path) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('.graph .pick') !== null"):
                break
        else:
            pytest.fail("the graph cannot be reached by Tab")
        seen = []
        for _ in range(60):
            seen.append(page.evaluate("document.activeElement.getAttribute('aria-label')"))
            if page.evaluate("document.activeElement.classList.contains('link')"):
                break
            page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == seen[-1]
        outline = page.evaluate(
            """() => getComputedStyle(document.activeElement.querySelector(".line")).strokeWidth"""
        )
        assert float(outline.removesuffix("px")) > 0
        page.keyboard.press("Enter")
        assert address(page)["sel"].startswith("hops:")
        before = current(page)
        page.keyboard.press("Tab")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("n")
        assert current(page) == listed(page)[1][0] != before
        page.keyboard.press("p")
        assert current(page) == before
        page.keyboard.press("Escape")
        assert "sel" not in address(page)
        for place in ("#message-rows tr:nth-child(3) button", "#chain-causes button"):
            page.focus(place)
            focused = page.evaluate("document.activeElement.textContent")
            page.keyboard.press("Enter")
            assert page.evaluate("document.activeElement.textContent") == focused


def test_tables_are_sorted_by_a_click_on_a_head(browser: Browser, recorded: RecordedPages) -> None:
    analysis = recorded(REFERENCE).analysis
    with opened(browser, recorded(REFERENCE).path) as page:
        hops = page.locator("#hops table").first
        head = hops.locator("th", has_text="p50")
        column = head.evaluate("head => head.cellIndex + 1")
        cells = hops.locator(f"tbody td:nth-child({column})")
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "descending"
        down = [ns_of(text) for text in cells.all_inner_texts()]
        assert down == sorted(down, reverse=True)
        own = analysis.hops[~analysis.hops["topic"].isin(INTERNAL_TOPICS)]
        assert down[0] == pytest.approx(own["latency_p50_ns"].max(), rel=0.005)
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == "ascending"
        up = [ns_of(text) for text in cells.all_inner_texts()]
        assert up == sorted(up)
        callbacks = page.locator("#callbacks table").first
        callbacks.locator("th button").first.click()
        nodes = callbacks.locator("tbody td:first-child").all_inner_texts()
        assert all(a.lower() <= b.lower() for a, b in pairwise(nodes))
        # The list of messages, whose rows come and go.
        latency = page.locator("#message-table th", has_text="latency")
        latency.locator("button").click()
        latency.locator("button").click()
        rows = listed(page)
        assert [values[0] for _, values in rows] == sorted(values[0] for _, values in rows)
        page.locator(f"[data-message='{rows[3][0]}']").click()
        assert current(page) == rows[3][0]
        assert listed(page) == rows, "the order that was chosen stays"


def ns_of(text: str) -> float:
    """A duration as the page writes it, in ns."""
    number, _, unit = text.replace("\xa0", " ").replace(",", "").partition(" ")
    return float(number) * {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_is_as_the_system_until_the_button_is_pressed(
    browser: Browser, recorded: RecordedPages, dark: bool
) -> None:
    first, other = ("dark", "light") if dark else ("light", "dark")
    appearance = "document.documentElement.dataset.appearance"
    with opened(browser, recorded(BLOCKED).path, dark=dark) as page:
        assert page.evaluate(appearance) == first
        ground = "getComputedStyle(document.body).backgroundColor"
        before = page.evaluate(ground)
        page.click("#appearance")
        assert page.evaluate(appearance) == other
        assert page.evaluate(ground) != before
        assert page.inner_text("#appearance").lower() == first
        page.reload()
        assert page.evaluate(appearance) == other, "it is kept"
        page.click("#appearance")
        assert page.evaluate(appearance) == first


def test_the_timeline_zooms_and_says_what_a_span_is(
    browser: Browser, recorded: RecordedPages
) -> None:
    with opened(browser, recorded(BLOCKED).path) as page:

        def ticks() -> list[str]:
            return page.locator("#timeline .tick").all_text_contents()

        whole = ticks()
        width = """() => Math.max(...Array.from(document.querySelectorAll("#timeline .own"))
            .map(span => span.getBoundingClientRect().width))"""
        before = page.evaluate(width)
        page.click("#timeline button:text('zoom in')")
        assert page.evaluate(width) == pytest.approx(2 * before, rel=0.01)
        page.click("#timeline button:text('zoom out')")
        assert ticks() == whole
        page.locator("#timeline .span rect.own").first.click()
        detail = page.inner_text("#timeline-detail")
        assert "from 0 ns after the first publish" in detail
        page.mouse.click(*page.evaluate(_ON_SPAN, ["behind", 0]))
        assert "a message of this route waited" in page.inner_text("#timeline-detail")
        assert page.locator("#timeline .span.chosen rect.behind").count() == 1
        page.wait_for_timeout(600)
        page.mouse.dblclick(*page.evaluate(_ON_SPAN, ["own", 1]))
        assert ticks() != whole
        assert page.inner_text("#timeline-detail").startswith("middleware: ")
        page.click("#timeline button:text('whole message')")
        assert ticks() == whole
        page.focus("#timeline .span[tabindex='0']")
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.classList.contains('span')")
        assert page.inner_text("#timeline-detail") == page.evaluate(
            "document.activeElement.getAttribute('aria-label')"
        )
        said = page.inner_text("#timeline-detail")
        page.keyboard.press("+")
        assert ticks() != whole
        page.keyboard.press("-")
        assert ticks() == whole
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.getAttribute('aria-label')") == said


@pytest.mark.parametrize("name", NAMES)
def test_a_print_has_every_section_and_figure(
    browser: Browser, recorded: RecordedPages, name: str
) -> None:
    with opened(browser, recorded(name).path, dark=True) as page:
        page.emulate_media(media="print")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for section in page.query_selector_all("main > section, footer"):
            assert section.is_visible()
        for part in ("nav", "#search", "#appearance", "#next", ".timeline-tools"):
            assert not page.locator(part).first.is_visible(), part
        assert all(item.is_visible() for item in page.query_selector_all(".view"))
        page.emulate_media(media="screen")
        page.wait_for_function(
            """() => Array.from(document.querySelectorAll(".plot"))
                .every(place => place.dataset.state === "drawn")"""
        )
        # Without a look at them: each figure is an image of its height.
        images = re.findall(rb"/Subtype\s*/Image[^<>]*?/Height (\d+)", page.pdf())
        figures = page.locator(".plot.quantile").count()
        assert sum(int(height) >= 400 for height in images) >= figures
        assert page.evaluate("document.documentElement.dataset.appearance") == "dark"
