# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the page holds, read with a parser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from made_analysis import Relay, make, nothing, with_chains
from page_reader import Element, read

from strata.analysis import Analysis
from strata.show.html import MAX_CHAINS, render_page

MARKUP = ["<b>bold</b>", "</script><script>alert(1)</script>", "\"'><img src=x onerror=alert(2)>"]


def page_of(analysis: Analysis, title: str = "made") -> Element:
    return read(render_page(analysis, title=title))


@pytest.fixture(scope="module")
def page() -> Element:
    return page_of(make(Relay(losses={"empty_takes": 5})))


def test_sections_come_in_the_order_of_questions(page: Element) -> None:
    sections = [item for item in page.every() if item.tag in ("section", "footer")]
    ids = [item.attributes["id"] for item in sections if "panel" not in item.classes]
    assert ids == [
        *("overview", "messages", "answer", "chain-0", "hops", "callbacks", "quality"),
        "definitions",
    ]
    panels = [item.every("h2")[0].words for item in sections if "panel" in item.classes]
    assert panels == ["Flow of messages", "Top causes", "Latency over time"]


def test_headings_do_not_skip_a_level(page: Element) -> None:
    levels = [int(item.tag[1]) for item in page.every() if re.fullmatch("h[1-6]", item.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_links_lead_to_something_and_ids_are_unique(page: Element) -> None:
    ids = [item.attributes["id"] for item in page.every() if "id" in item.attributes]
    assert len(ids) == len(set(ids))
    assert {link.attributes["href"] for link in page.every("a")} <= {f"#{name}" for name in ids}


def test_tables_have_column_headers_of_the_right_number(page: Element) -> None:
    tables = page.every("table")
    assert len(tables) >= 5
    for table in tables:
        heads = table.every("th")
        assert heads
        assert all(head.attributes["scope"] == "col" for head in heads)
        for row in table.every("tbody")[0].every("tr"):
            assert len(row.every("td")) == len(heads)


def test_figures_say_in_words_what_they_show(page: Element) -> None:
    for place in ("latency", "quantile-0"):
        figure = page.by_id(place)
        assert figure.attributes["role"] == "img"
        assert "median" in figure.attributes["aria-label"]


def test_the_head_names_the_trace_and_its_processes(page: Element) -> None:
    text = page.by_id("quality").words
    facts = page.by_id("overview").every("ul", "facts")[0].words
    assert "/sessions/made" in facts
    assert "2,000 messages received" in facts
    assert "/relay_0" in text
    assert "/relay_4" in text


def test_nothing_lost_is_said_plainly(page: Element) -> None:
    assert "Nothing was lost" in page.by_id("quality").words


def test_loss_comes_first_and_in_red() -> None:
    losses = {"empty_takes": 1, "no_init_events": 2, "discarded_events": 1234}
    quality = page_of(make(Relay(losses=losses))).by_id("quality")
    verdict = quality.every("p", "verdict")[0]
    assert "loss" in verdict.classes
    assert "Data were lost" in verdict.words
    assert "Nothing was lost" not in quality.words
    kinds = [item.classes[0] for item in quality.every("ul", "findings")[0].every("li")]
    assert kinds == ["loss", "warning", "info"]
    assert "1,234 events were discarded" in quality.words


def test_a_warning_is_no_clean_verdict() -> None:
    quality = page_of(make(Relay(losses={"inferred_matches": 3}))).by_id("quality")
    assert "warning" in quality.every("p", "verdict")[0].classes
    verdict = quality.every("p", "verdict")[0].words
    assert "No event of the trace was lost, but there are warnings" in verdict
    # Packets, images or messages may have been.
    assert "Nothing was lost" not in verdict
    assert not quality.every("p", "good")


def test_the_answer_is_the_bottleneck_of_the_analysis() -> None:
    analysis = make(Relay(work_ns={1: 5_000_000}))
    said = page_of(analysis).by_id("answer").every("p", "sentence")[0].words
    assert said.replace("µs", "us") == " ".join(analysis.bottlenecks[0].text.split())
    assert "hold of Relay::on_message [/chain_1] (/relay_2)" in said
    assert "5.03 ms" in said


def test_every_hop_and_callback_has_a_row(page: Element) -> None:
    hops = [row.words for row in page.by_id("hops").every("tbody")[0].every("tr")]
    assert len(hops) == 4
    assert "/chain_2" in hops[2]
    assert "/relay_2 → /relay_3" in hops[2]
    callbacks = page.by_id("callbacks").every("tbody")[0].every("tr")
    assert len(callbacks) == 4
    symbol = callbacks[0].every("span")[0]
    assert symbol.words == "Relay::on_message"
    assert symbol.attributes["title"].startswith("Relay<sensor_msgs")


def test_internal_topics_come_after_the_others() -> None:
    analysis = make(Relay())
    hops = analysis.hops.assign(topic=["/rosout", *analysis.hops["topic"][1:]])
    section = page_of(analysis.replaced(hops=hops)).by_id("hops")
    first, folded = section.every("table")
    assert "/rosout" not in first.words
    assert "/rosout" in folded.words


@pytest.mark.parametrize("markup", MARKUP)
def test_names_are_text_wherever_they_stand(markup: str) -> None:
    relay = Relay(
        node=f"/n{{}}{markup}", topic=f"/t{{}}{markup}", symbol=markup, blocked_ns=50_000_000
    )
    page = page_of(with_chains(make(relay), MAX_CHAINS + 1), title=markup)
    plain = page_of(with_chains(make(Relay(blocked_ns=50_000_000)), MAX_CHAINS + 1))
    for tag in ("script", "img", "b"):
        assert len(page.every(tag)) == len(plain.every(tag)), tag
    assert page.every("h1")[0].text == markup
    assert f"/n2{markup}" in page.by_id("hops").text
    assert not [name for item in page.every() for name in item.attributes if name[:2] == "on"]


def test_the_page_loads_nothing(page: Element) -> None:
    for item in page.every():
        for name in ("src", "href", "srcset", "data", "action", "poster"):
            assert item.attributes.get(name, "#").startswith("#"), item.attributes
        assert item.tag not in ("link", "iframe", "object", "embed")
    style = "".join(str(part) for item in page.every("style") for part in item.children)
    assert set(re.findall(r"url\(.", style)) <= {"url(#"}, "a pattern of the page itself"
    assert "@import" not in style


def test_the_page_forbids_every_request(page: Element) -> None:
    policies = [
        item.attributes["content"]
        for item in page.every("meta")
        if item.attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    assert "default-src 'none'" in policies[0]
    assert "http" not in policies[0]
    assert "unsafe-eval" not in policies[0]


def test_figures_are_data_for_places_that_exist(page: Element) -> None:
    items = [item for item in page.every("script") if "data-figure" in item.attributes]
    assert [item.attributes["data-figure"] for item in items] == ["latency", "quantile-0"]
    for item in items:
        parsed = json.loads(str(item.children[0]))
        assert parsed["target_id"] == item.attributes["data-figure"]
        page.by_id(parsed["target_id"])


def test_a_trace_without_messages_says_so() -> None:
    page = page_of(nothing())
    assert "No chain was found" in page.by_id("answer").words
    assert "No hop was found" in page.by_id("hops").words
    assert "No callback was recorded" in page.by_id("callbacks").words
    assert not [item for item in page.every("script") if "data-figure" in item.attributes]


def test_one_message_is_enough() -> None:
    page = page_of(make(Relay(messages=1)))
    captions = [item.words for item in page.by_id("chain-0").every("figcaption")]
    assert captions[0].startswith("Typical messages: mean of 1 message,")
    assert captions[1].startswith("Slowest 1 %: mean of 1 message,")
    assert page.by_id("latency")


def test_merged_layers_are_hatched_and_defined() -> None:
    page = page_of(make(Relay(merged=True, init=False)))
    name = "middleware + executor wait + take"
    assert name in page.by_id("definitions").words
    assert (
        "layer-middleware-executor-wait-take"
        in page.by_id("chain-0").every("li")[1].every()[1].classes
    )
    assert "no nodes known" in page.by_id("quality").words


def test_only_the_first_chains_have_sections_and_the_others_are_named() -> None:
    page = page_of(with_chains(make(Relay(messages=20)), MAX_CHAINS + 3))
    chains = [item for item in page.every("section") if "chain" in item.classes]
    assert len(chains) == MAX_CHAINS
    table = page.by_id("answer").every("table")[0]
    assert len(table.every("tbody")[0].every("tr")) == 3
    assert "3 more chains" in table.words


def test_of_a_long_chain_a_part_of_the_messages_is_there() -> None:
    page = page_of(make(Relay(hops=1, messages=21_000)))
    (chain,) = explorer(page)["chains"]
    assert chain["count"] == 21_000
    assert 10_000 < len(chain["message"]) <= 12_020
    assert sum(chain["histogram"]["counts"]) == 21_000, "the histogram is of all"
    assert "21,000 messages over 210.0 s" in page.by_id("latency-words").words
    assert len(explorer(page_of(make(Relay())))["chains"][0]["message"]) == 500


def explorer(page: Element) -> dict[str, Any]:
    """What the page's scripts select messages by."""
    found: dict[str, Any] = json.loads(str(page.by_id("explorer-data").children[0]))
    return found


@pytest.mark.parametrize(
    "name",
    [
        "fast_relay1p_st",
        "fast_relaymp_st",
        "fast_blocked_st",
        "fast_relay1p_mt_lossy",
        "fast_relay1p_st_latestart",
        "fast_throws",
        "fast_relay1p_events",
    ],
)
def test_recorded_traces_render(name: str, analysis_of: Callable[[str], Analysis]) -> None:
    analysis = analysis_of(name)
    page = page_of(analysis, title=name)
    assert len(page.by_id("quality").every("ul", "findings")[0].every("li")) == len(
        analysis.quality
    )
    shown = [item for item in page.every("section") if "chain" in item.classes]
    assert len(shown) == min(MAX_CHAINS, len(analysis.chains))
    assert "nan" not in re.findall(r"[a-z]+", page.every("main")[0].text)
