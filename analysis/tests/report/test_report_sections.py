# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sections that the page has only where there is something to show, read with a parser."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from made_analysis import Relay, make, nothing, with_chains
from made_sections import PREFIX, RIVAL, with_kernel, with_sections
from page_reader import Element, read

from strata.analysis import Analysis
from strata.schema.service_layers import SERVICE_LAYERS
from strata.show.html import MAX_CHAINS, render_page
from strata.units import format_share

AnalysisOf = Callable[[str], Analysis]
MARKUP = ["<b>bold</b>", "</script><script>alert(1)</script>", "\"'><img src=x onerror=alert(2)>"]
SECTIONS = ["services", "executors", "timers", "lifecycle"]


def page_of(analysis: Analysis) -> Element:
    return read(render_page(analysis, title="made"))


def ids_of(page: Element) -> list[str]:
    main = page.every("main")[0]
    return [
        item.attributes["id"]
        for item in (*main.children, *page.every("footer"))
        if is_section(item)
    ]


def is_section(item: Element | str) -> bool:
    return isinstance(item, Element) and item.tag in ("section", "footer")


def rows_of(table: Element) -> list[list[str]]:
    return [[cell.words for cell in row.every("td")] for row in table.every("tbody")[0].every("tr")]


def widths_of(row: Element) -> dict[str, float]:
    """Per cent of each part of a row's stacked bar, by its class."""
    return {
        part.classes[0]: float(part.attributes["style"].removeprefix("width:").rstrip("%"))
        for part in row.every("span", "stack")[0].every("span")
    }


def table_of(page: Element, section: str) -> Element:
    return page.by_id(section).every("table")[0]


@pytest.fixture(scope="module")
def page() -> Element:
    return page_of(with_sections(make(Relay(messages=50))))


def test_sections_come_between_hops_and_callbacks(page: Element) -> None:
    ids = ids_of(page)
    assert ids == [
        *("overview", "messages", "answer", "chain-0", "hops"),
        *(*SECTIONS, "callbacks", "quality", "definitions"),
    ]
    links = [link.attributes["href"] for link in page.every("nav")[0].every("a")]
    assert links == [f"#{name}" for name in ids if name != "chain-0"], "chains are in the answer"


def test_a_section_of_nothing_is_not_there() -> None:
    whole = with_sections(make(Relay(messages=20)))
    tables = ["services", "executors", "timer_statistics", "lifecycle_statistics"]
    details = {"services": ["service_layers"], "executors": ["executor_threads"]}
    for section, table in zip(SECTIONS, tables, strict=True):
        emptied = {name: getattr(whole, name).iloc[:0] for name in [table, *details.get(table, [])]}
        page = page_of(whole.replaced(**emptied))
        assert [name for name in SECTIONS if name not in ids_of(page)] == [section]
        assert f"#{section}" not in {link.attributes["href"] for link in page.every("a")}
    for bare in (make(Relay(messages=20)), nothing()):
        page = page_of(bare)
        assert not set(SECTIONS) & set(ids_of(page))
        assert "What the threads did" not in page.words
        assert "What a thread did" not in page.words
        assert "Layers of service calls" not in page.words


def test_the_structure_of_the_page_holds(page: Element) -> None:
    tables = page.every("table")
    assert len(tables) >= 11
    for table in tables:
        heads = table.every("th")
        assert all(head.attributes["scope"] == "col" for head in heads)
        for row in table.every("tbody")[0].every("tr"):
            assert len(row.every("td")) == len(heads)
    levels = [int(item.tag[1]) for item in page.every() if re.fullmatch("h[1-6]", item.tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [item.attributes["id"] for item in page.every() if "id" in item.attributes]
    assert len(ids) == len(set(ids))


def test_every_colour_of_a_bar_is_defined(page: Element) -> None:
    style = "".join(str(part) for part in page.every("style")[0].children)
    bars = page.every("span", "stack") + page.every("span", "swatch") + page.every("span", "gauge")
    used = {name for bar in bars for part in [bar, *bar.every("span")] for name in part.classes}
    painted = {name for name in used if name.startswith(("layer-", "state-"))}
    assert {"state-mutex", "state-preempted", "layer-respond"} <= painted
    assert "layer-unknown" not in painted
    for name in painted:
        assert f".{name} {{ --fill: #" in style


@pytest.mark.parametrize("markup", MARKUP)
def test_names_in_every_section_are_text(markup: str) -> None:
    plain = page_of(with_sections(make(Relay(messages=20))))
    page = page_of(with_sections(make(Relay(messages=20)), markup))
    for tag in ("script", "img", "b"):
        assert len(page.every(tag)) == len(plain.every(tag)), tag
    for section in SECTIONS:
        assert markup in page.by_id(section).text, section
    assert f"rival{markup}" in page.by_id("chain-0").text
    assert not [name for item in page.every() for name in item.attributes if name[:2] == "on"]


def test_threads_are_shown_with_the_shares_of_their_time(page: Element) -> None:
    table = table_of(page, "executors")
    rows = rows_of(table)
    # That of the busiest thread comes first; it has no executor events.
    assert rows[0][0].startswith("without events python3 101")
    assert rows[0][1:] == ["101", "", "99 %", "-", "-", "-", "50"]
    assert rows[1][0].startswith(
        f"multi-threaded python3 100{PREFIX}/voxel_grid_filter_component_0"
    )
    assert rows[1][0].endswith("and 6 more")
    assert rows[1][1:] == ["100", "", "40 %", "30 %", "25 %", "5.0 %", "123,456"]
    assert [row[0] for row in rows[2:]] == ["the same executor"] * 3
    busiest, first, *_, idle = table.every("tbody")[0].every("tr")
    assert widths_of(busiest) == {"state-executing": 99}
    assert widths_of(first) == {
        "state-executing": 40,
        "state-waiting": 30,
        "state-mutex": 25,
        "state-ready": 5,
    }
    assert widths_of(idle) == {"state-waiting": 100}


def test_timers_that_skipped_come_first_and_in_red(page: Element) -> None:
    table = table_of(page, "timers")
    rows = rows_of(table)
    assert rows[0][0] == (
        f"{PREFIX}/busybusy::Filter::on_timer1 began anew after a cancel, reset or longer period"
    )
    assert rows[0][1:] == [
        "100 ms", "4", "200 ms", "200 ms", "99.0 ms", "99.0 ms", "99.0 ms", "7", "2",
    ]  # fmt: skip
    assert rows[1][1:] == [
        "10.0 ms", "1,000", "10.0 ms", "10.0 ms", "100 µs", "100 µs", "100 µs", "0", "0",
    ]  # fmt: skip
    # One fire has no interval.
    assert rows[2][1:5] == ["1.00 s", "1", "-", "-"]
    assert [cell.words for cell in table.every("td", "bad")] == ["7"]
    symbol = table.every("tbody")[0].every("span")[0]
    assert symbol.attributes["title"] == "busy::Filter<int>::on_timer(int)"


def test_services_are_shown_with_what_was_lost_and_their_layers(page: Element) -> None:
    section = page.by_id("services")
    short, whole = section.every("table")
    rows = rows_of(short)
    assert rows[0] == [
        f"{PREFIX}/set_the_region{PREFIX}/client → {PREFIX}/server",
        "",
        "20",
        "0",
        *["2.00 ms"] * 3,
    ]
    assert rows[1][0] == f"/mute{PREFIX}/client → (unknown)"
    assert rows[1][2:] == ["3", "3", "-", "-", "-"]
    assert [cell.words for cell in short.every("td", "bad")] == ["3"]
    parts = widths_of(short.every("tbody")[0].every("tr")[0])
    assert list(parts) == [
        "layer-request-middleware-executor-wait",
        "layer-request-take",
        "layer-client-take",
        "layer-callback",
        "layer-respond",
        "layer-response-middleware",
    ]
    assert sum(parts.values()) == pytest.approx(100)
    assert [row[1:4] for row in rows_of(whole)][3] == ["callback", "50 %", "1.00 ms"]
    definitions = page.by_id("definitions").words
    docs = {layer.name: layer.doc for layer in SERVICE_LAYERS}
    assert docs["respond"] in definitions
    assert docs["service + response"] not in definitions


def test_lifecycle_states_are_shown_by_their_time(page: Element) -> None:
    rows = rows_of(table_of(page, "lifecycle"))
    assert [row[1:] for row in rows] == [
        ["inactive", "50 %", "1", "500 ns", "-", "-"],
        ["configuring", "30 %", "1", "300 ns", "300 ns", "300 ns"],
        ["unconfigured", "20 %", "1", "200 ns", "-", "-"],
    ]
    assert {row[0] for row in rows} == {f"{PREFIX}/managed"}


def test_what_threads_did_is_shown_where_the_kernel_tells() -> None:
    analysis = with_kernel(make(Relay(work_ns={3: 5_000_000})))
    chain = page_of(analysis).by_id("chain-0")
    assert "What the threads did in each layer" in [item.words for item in chain.every("h3")]
    held, folded = chain.every("table", "threads")
    (row,) = held.every("tbody")[0].every("tr")
    hop, layer, where, _, running, preempted, blocked, unknown = rows_of(held)[0]
    assert (hop, layer) == ("4", "callback")
    assert where.endswith(f"preempted by rival ({RIVAL})")
    assert (running, preempted, blocked, unknown) == ("3.37 ms", "1.69 ms", "0 ns", "0 ns")
    widths = widths_of(row)
    assert widths["state-running"] == pytest.approx(66.667, abs=0.01)
    assert sum(widths.values()) == pytest.approx(100, abs=0.01)
    assert [row[1] for row in rows_of(folded)] == ["client take"] * 4
    assert "preempted" not in " ".join(row[2] for row in rows_of(folded))


def test_chains_of_one_name_are_told_apart_by_their_nodes() -> None:
    long = "/a_robot_with_a_long_name/and_a_long_namespace/relay_{}"
    analysis = with_chains(make(Relay(messages=20, node=long)), MAX_CHAINS + 2)
    nodes = [
        " -> ".join([long.format(0), f"/branch_{at}", long.format(2)])
        for at in range(MAX_CHAINS + 2)
    ]
    page = page_of(analysis.replaced(chains=analysis.chains.assign(nodes=nodes)))
    further = rows_of(page.by_id("answer").every("table")[0])
    for at, row in enumerate(further, MAX_CHAINS):
        assert row[0].endswith(nodes[at].replace("->", "→"))
    named = [item.words for item in page.by_id("chain-choice").every("option")]
    assert named == [f"{at + 1}: {name.replace('->', '→')}" for at, name in enumerate(nodes)]
    answers = page.by_id("answer").every("article")
    for at in range(MAX_CHAINS):
        section = page.by_id(f"chain-{at}")
        assert f"/branch_{at}" in section.every("h2")[0].words
        link = answers[at].every("a")[0]
        assert link.attributes["href"] == f"#chain-{at}"
        assert f"/branch_{at}" in answers[at].every("p", "of")[0].words


def test_a_chain_with_a_name_of_its_own_is_named_by_its_topics() -> None:
    analysis = with_chains(make(Relay(messages=20)), MAX_CHAINS + 2)
    names = [f"/topic_{at}" for at in range(MAX_CHAINS + 2)]
    # No message went over topics of these names, so none can be followed.
    page = page_of(analysis.replaced(chains=analysis.chains.assign(name=names, count=0)))
    further = rows_of(page.by_id("answer").every("table")[0])
    assert [row[0] for row in further] == names[MAX_CHAINS:]


@pytest.mark.parametrize(
    ("name", "sections"),
    [
        ("fast_relay1p_mt", ["executors", "timers"]),
        ("fast_relay1p_overload", ["executors", "timers"]),
        ("fast_lifecycle", ["executors", "lifecycle"]),
        ("services_kilted", ["services", "executors", "timers"]),
    ],
)
def test_recorded_traces_have_the_sections_of_what_they_hold(
    name: str, sections: list[str], analysis_of: AnalysisOf
) -> None:
    analysis = analysis_of(name)
    page = page_of(analysis)
    assert [name for name in SECTIONS if name in ids_of(page)] == sections
    assert "nan" not in re.findall(r"[a-z]+", page.every("main")[0].text)
    threads = rows_of(table_of(page, "executors"))
    assert len(threads) == len(analysis.executor_threads)
    for row in table_of(page, "executors").every("tbody")[0].every("tr"):
        assert sum(widths_of(row).values()) == pytest.approx(100, abs=0.1)


def test_a_busy_thread_and_its_late_timer_are_seen(analysis_of: AnalysisOf) -> None:
    page = page_of(analysis_of("fast_relay1p_overload"))
    ((_, _, _, executing, waiting, mutex, _, _),) = rows_of(table_of(page, "executors"))
    assert (executing, waiting, mutex) == ("99 %", "0.7 %", "-")
    timer = rows_of(table_of(page, "timers"))[0]
    assert timer[1:3] == ["10.0 ms", "1,001"]
    assert timer[-2:] == ["806", "806"]


def test_calls_of_a_recorded_trace_are_those_of_its_table(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("services_kilted")
    short, whole = page_of(analysis).by_id("services").every("table")
    rows = rows_of(short)
    assert [(row[0], row[2], row[3]) for row in rows] == [
        ("/work/client → /server", "100", "0"),
        ("/mute/client → (unknown)", "3", "3"),
    ]
    shares = [format_share(share) for share in analysis.service_layers["share"]]
    assert [row[2] for row in rows_of(whole)] == shares
