# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a click on the page selects, against the tables of the analysis, on three recordings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from page_browser import visit
from page_truth import (
    IN_NODES,
    MOST_ROWS,
    address,
    instances_of,
    largest_causes,
    listed,
    longest_first,
    segments_of,
    slowest_first,
)
from playwright.sync_api import Browser, Page
from recorded_pages import NAMES, RecordedPages

from strata.analysis import Analysis
from strata.schema.layer import Owner
from strata.schema.layers import BY_NAME
from strata.units import format_ns

# Of a link, where its line is half as long: its label, and other links, may lie over its middle.
_ON_LINK = """link => {
    const line = link.querySelector(".line"), box = line.ownerSVGElement;
    link.scrollIntoView({ block: "center", inline: "center" });
    for (const part of [0.5, 0.3, 0.7, 0.15, 0.85]) {
        const point = line.getPointAtLength(line.getTotalLength() * part);
        const at = point.matrixTransform(line.getScreenCTM());
        const hit = document.elementFromPoint(at.x, at.y);
        if (hit && hit.closest(".pick") === link) return [at.x, at.y];
    }
    return null;
}"""
# Where something of a plot is drawn: `part` 0 is the plot of points, 1 that of bars.
_ON_PLOT = """([part, x, y]) => {
    const place = document.getElementById("latency");
    place.scrollIntoView({ block: "center" });
    const view = Bokeh.index.roots.find(root => root.model.name === "latency").child_views[part];
    const box = view.el.getBoundingClientRect();
    return [box.left + view.frame.x_scale.compute(x), box.top + view.frame.y_scale.compute(y)];
}"""
_OWN_SPANS = """() => Array.from(document.querySelectorAll("#timeline .span"))
    .map(group => group.strataSpan).filter(span => span.own)
    .map(span => [span.hop, span.layer, span.begin, span.end])"""


@contextmanager
def opened(browser: Browser, path: Path, fragment: str = "") -> Iterator[Page]:
    """A page whose first figure is drawn; it may have written nothing to its console."""
    with visit(browser, path, height=1000, fragment=fragment) as seen:
        seen.page.wait_for_selector("#latency[data-state=drawn]")
        yield seen.page
        assert seen.console == []
        assert seen.requests == []


def on_page(page: Page, chain: int) -> pd.Index:
    """The messages of a chain that the page holds."""
    found: list[int] = page.evaluate(
        "chain => strata.data.chains.find(item => item.id === chain).message", chain
    )
    return pd.Index(found)


def shown_chain(page: Page) -> int:
    """The chain whose messages are listed."""
    return int(address(page).get("chain") or page.evaluate("strata.data.chains[0].id"))


def check_times(
    page: Page, analysis: Analysis, wanted: Callable[[pd.DataFrame], pd.Series]
) -> None:
    """The list has the messages with time in some layers, that longest first, with that time."""
    chain = shown_chain(page)
    kept = on_page(page, chain)
    truth = [item for item in longest_first(analysis, chain, wanted) if item[0] in kept]
    latency = instances_of(analysis, chain)["latency_ns"]
    expected = [(message, [int(latency[message]), ns]) for message, ns in truth]
    assert expected
    assert listed(page) == expected[:MOST_ROWS]
    assert page.inner_text("#selection-words").split(": ")[-1].startswith(f"{len(expected):,} of ")
    assert int(address(page)["msg"]) == expected[0][0]


def check_messages(page: Page, analysis: Analysis, chosen: list[int]) -> None:
    """The list has messages of the chain shown, the slowest first, with their latency."""
    latency = instances_of(analysis, shown_chain(page))["latency_ns"]
    expected = [(message, [int(latency[message])]) for message in chosen]
    assert expected
    assert listed(page) == expected[:MOST_ROWS]
    assert page.inner_text("#selection-words").split(": ")[-1].startswith(f"{len(expected):,} of ")


def of_cause(analysis: Analysis, cause: Any) -> Callable[[pd.DataFrame], pd.Series]:
    """Which layers of which hops a cause of the whole system is."""
    hops = analysis.hops
    if cause["kind"] == "hop":
        # A callback whose message goes on is followed until it publishes.
        own_layers = {"callback", "hold"} if cause["layer"] == "callback" else {cause["layer"]}
        return lambda rows: rows["hop_id"].eq(cause["hop_id"]) & rows["layer"].isin(own_layers)
    if cause["kind"] == "topic":
        own, owner = hops["topic"].eq(cause["where"]), Owner.TOPIC
    else:
        own = hops["subscription_node"].isin(cause["where"].split(", "))
        owner = Owner.EXECUTOR
    layers = {name for name, item in BY_NAME.items() if item.owner in (owner, Owner.UNDIVIDED)}
    of_hops = set(hops.loc[own, "hop_id"])
    return lambda rows: rows["hop_id"].isin(of_hops) & rows["layer"].isin(layers)


@pytest.mark.parametrize("name", NAMES)
def test_a_cause_selects_the_messages_that_spent_time_in_it(
    browser: Browser, recorded: RecordedPages, name: str
) -> None:
    analysis = recorded(name).analysis
    causes = analysis.system_causes.head(5).to_dict("records")
    with opened(browser, recorded(name).path) as page:
        buttons = page.query_selector_all("#overview .cause")
        assert len(buttons) == len(causes)
        for number, (button, cause) in enumerate(zip(buttons, causes, strict=True)):
            button.click()
            assert address(page)["sel"] == f"system:{number}"
            assert button.get_attribute("aria-pressed") == "true"
            check_times(page, analysis, of_cause(analysis, cause))
        button.click()
        assert "sel" not in address(page)
        assert button.get_attribute("aria-pressed") == "false"


@pytest.mark.parametrize("name", NAMES)
def test_a_cause_of_a_chain_selects_the_messages_that_it_is_the_largest_of(
    browser: Browser, recorded: RecordedPages, name: str
) -> None:
    analysis = recorded(name).analysis
    with opened(browser, recorded(name).path) as page:
        chain = shown_chain(page)
        kept, largest = on_page(page, chain), largest_causes(analysis, chain)
        named = page.eval_on_selector_all(
            "#chain-causes .cause-name", "items => items.map(item => item.textContent)"
        )
        checked = 0
        for at, cause in enumerate(named):
            own = [message for message in kept if cause in largest[message]]
            if not own:
                continue
            page.locator("#chain-causes .cause").nth(at).click()
            check_messages(page, analysis, slowest_first(analysis, chain, pd.Index(own)))
            assert {cause} == set(
                page.eval_on_selector_all(
                    "#message-rows td.name", "cells => cells.map(cell => cell.textContent)"
                )
            )
            checked += 1
        assert checked >= 1


@pytest.mark.parametrize("name", NAMES)
def test_links_and_boxes_of_the_graph_select_the_messages_that_went_through_them(
    browser: Browser, recorded: RecordedPages, name: str
) -> None:
    analysis = recorded(name).analysis
    with opened(browser, recorded(name).path) as page:
        hops_of_links = [
            link.get_attribute("data-hops")
            for link in page.query_selector_all(".graph-view:not([hidden]) .link")
        ]
        checked = 0
        for text in hops_of_links[:8]:
            link = page.query_selector(f".graph-view:not([hidden]) .link[data-hops='{text}']")
            assert link is not None
            at = link.evaluate(_ON_LINK)
            if at is None or not text:
                continue
            page.mouse.click(*at)
            hops = [int(hop) for hop in text.split()]
            assert address(page)["sel"] == f"hops:{','.join(map(str, hops))}"
            assert "picked" in (link.get_attribute("class") or "").split()
            check_times(page, analysis, to_callback(hops))
            named = analysis.hops.set_index("hop_id").loc[hops]
            assert all(topic in link.text_content() for topic in named["topic"])
            checked += 1
        assert checked >= min(3, len(hops_of_links))
        boxes = page.query_selector_all(".graph-view:not([hidden]) .box:not([data-hops=''])")
        for box in boxes[:3]:
            hops = [int(hop) for hop in (box.get_attribute("data-hops") or "").split()]
            (node,) = set(analysis.hops.set_index("hop_id").loc[hops, "subscription_node"])
            assert (box.get_attribute("aria-label") or "").startswith(f"node {node};")
            box.click()
            assert address(page)["sel"] == f"callbacks:{','.join(map(str, hops))}"
            check_times(page, analysis, in_callbacks(hops))


def to_callback(hops: list[int]) -> Callable[[pd.DataFrame], pd.Series]:
    """The time of hops until the callback starts."""
    return lambda rows: rows["hop_id"].isin(hops) & ~rows["layer"].isin(IN_NODES)


def in_callbacks(hops: list[int]) -> Callable[[pd.DataFrame], pd.Series]:
    """The time in the node that takes the messages of hops."""
    return lambda rows: rows["hop_id"].isin(hops) & rows["layer"].isin(IN_NODES)


@pytest.mark.parametrize("name", NAMES)
def test_bars_and_points_of_the_plot_select_their_messages(
    browser: Browser, recorded: RecordedPages, name: str
) -> None:
    analysis = recorded(name).analysis
    with opened(browser, recorded(name).path) as page:
        chain = shown_chain(page)
        own = instances_of(analysis, chain)
        histogram = page.evaluate("strata.data.chains[0].histogram")
        counts, edges = histogram["counts"], list(pairwise(histogram["edges"]))
        in_bars = [int(own["latency_ns"].between(a, b, inclusive="left").sum()) for a, b in edges]
        assert counts == in_bars
        assert sum(counts) == len(own)
        page.click("#next")
        slowest = slowest_first(analysis, chain)[0]
        assert int(address(page)["msg"]) != slowest
        seconds = (own["begin_ns"][slowest] - analysis.trace.begin_ns) / 1e9
        page.mouse.click(*page.evaluate(_ON_PLOT, [0, seconds, int(own["latency_ns"][slowest])]))
        until(page, f"msg={slowest}")
        for bar in sorted(range(len(counts)), key=lambda at: -counts[at])[:2]:
            low, high = edges[bar]
            at = page.evaluate(_ON_PLOT, [1, counts[bar] / 2, (low * high) ** 0.5])
            # Two clicks that follow each other at once are a double click.
            page.wait_for_timeout(700)
            page.mouse.click(*at)
            until(page, f"sel=bar:{bar}")
            kept = on_page(page, chain)
            inside = own.index[own["latency_ns"].between(low, high, inclusive="left")]
            check_messages(
                page, analysis, slowest_first(analysis, chain, kept.intersection(inside))
            )


@pytest.mark.parametrize("name", NAMES)
def test_a_message_is_shown_with_its_layers_and_over_its_threads(
    browser: Browser, recorded: RecordedPages, name: str
) -> None:
    analysis = recorded(name).analysis
    with opened(browser, recorded(name).path) as page:
        chain = shown_chain(page)
        own = instances_of(analysis, chain)
        order = slowest_first(analysis, chain, on_page(page, chain))
        assert order[:20] == slowest_first(analysis, chain)[:20], "the slowest are on the page"
        check_messages(page, analysis, order)
        assert page.is_disabled("#previous")
        check_message(page, analysis, chain, order[0])
        page.click("#next")
        check_message(page, analysis, chain, order[1])
        page.locator("#message-rows [data-message]").nth(5).click()
        check_message(page, analysis, chain, order[5])
        page.click("#previous")
        check_message(page, analysis, chain, order[4])
        page.keyboard.press("n")
        page.keyboard.press("n")
        check_message(page, analysis, chain, order[6])
        page.keyboard.press("p")
        check_message(page, analysis, chain, order[5])
        assert page.inner_text("#message-command") == (
            f"strata path {analysis.trace.path} --message {order[5]}"
        )
        assert len(own) == int(analysis.chains.set_index("chain_id").loc[chain, "count"])


def check_message(page: Page, analysis: Analysis, chain: int, message: int) -> None:
    """One message is shown: its latency, the layers of each hop, its spans over threads."""
    whole = int(instances_of(analysis, chain).loc[message, "latency_ns"])
    assert page.inner_text("#message-head") == f"Message #{message}: {words(whole)}"
    assert page.get_attribute("#message-rows tr[aria-current] button", "data-message") == str(
        message
    )
    segments = segments_of(analysis, chain)
    segments = segments[segments["ends_as"] == message]
    by_layer = segments.groupby(["hop", "layer"], sort=False)["duration_ns"].sum()
    by_layer = by_layer[by_layer > 0]
    drawn = page.eval_on_selector_all(
        "#message-layers .segment", "items => items.map(item => [item.title, item.style.width])"
    )
    assert [title for title, _ in drawn] == [
        f"{layer} {words(ns)}" for (_, layer), ns in by_layer.items()
    ]
    for (_, width), ns in zip(drawn, by_layer, strict=True):
        assert float(width.rstrip("%")) == pytest.approx(100 * ns / whole, abs=0.002)
    spans = page.evaluate(_OWN_SPANS)
    assert spans, "the slowest messages have a timeline"
    frame = pd.DataFrame(spans, columns=["hop", "layer", "begin", "end"])
    assert (frame["end"] - frame["begin"]).sum() == whole
    assert frame["begin"].min() == 0
    assert frame["end"].max() == whole
    sums = (frame["end"] - frame["begin"]).groupby([frame["hop"], frame["layer"]]).sum()
    assert sums[sums > 0].to_dict() == by_layer.to_dict()


def until(page: Page, state: str) -> None:
    """Wait until the address has some state, as bokeh takes a moment to know a click from two."""
    page.wait_for_function("state => decodeURIComponent(location.hash).includes(state)", arg=state)


def words(ns: int) -> str:
    """A duration as the page writes it."""
    return format_ns(ns, micro="µs")
