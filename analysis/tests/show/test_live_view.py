# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What `strata live` shows of a tally: its numbers, in the lines that there are."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from made_tally import (
    MS,
    SECOND,
    chain,
    hostile_tally,
    judged_windows,
    made_judged,
    made_window,
)
from rich.cells import cell_len
from rich.console import Console

from strata.analysis import SystemVerdict
from strata.live.judged import ChainSeen, ExecutorSeen, HopSeen
from strata.live.quantile_sketch import ACCURACY
from strata.live.tally import Counts, Tally
from strata.printable import printable
from strata.show.document.live import live_document
from strata.show.terminal.live import live_screen
from strata.units import format_ns

SAMPLES = ("fast_relay1p_st_ipc", "attached_jazzy", "dds_jazzy_udp_resends")
ONE, OTHER = ("/in -> /out", "/a -> /b -> /c"), ("/in -> /out", "/a -> /b -> /d")


@pytest.fixture(scope="module", params=SAMPLES)
def tally(request: pytest.FixtureRequest, sample: Callable[[str], Path]) -> Tally:
    found = Tally()
    for one in judged_windows(sample(request.param), 6):
        found.add(one)
    return found


def shown(tally: Tally, height: int | None = None, width: int = 80) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, markup=False, emoji=False, highlight=False)
    now_ns = None if tally.until_ns is None else tally.until_ns + 2 * SECOND
    console.print(live_screen(tally, height, now_ns))
    return out.getvalue().removesuffix("\n").split("\n")


def line_with(lines: list[str], text: str) -> str:
    found = [line for line in lines if text in line]
    assert len(found) == 1, (text, lines)
    return found[0]


def seconds(*windows: dict[tuple[str, str], ChainSeen]) -> Tally:
    tally = Tally()
    for at, chains in enumerate(windows):
        tally.add(made_judged(at + 1, chains))
    return tally


# --- the document --------------------------------------------------------------------------------


def test_the_document_has_the_numbers_of_the_tally(tally: Tally) -> None:
    document = json.loads(json.dumps(live_document(tally), allow_nan=False))
    assert document["schema"] == 1
    assert document["accuracy"] == ACCURACY
    assert (document["until_ns"], document["windows"]) == (tally.until_ns, 6)
    assert document["system"] == {
        "text": tally.system.text,
        "stands_out": tally.system.stands_out,
    }
    assert [one["busy"] for one in document["executors"]] == [one.busy for one in tally.executors]
    assert tally.recent().span_ns < tally.total.span_ns
    for name, counts in (("recent", tally.recent()), ("total", tally.total)):
        check_counts(document[name], counts)


def check_counts(found: dict, counts: Counts) -> None:
    assert found["span_ns"] == counts.span_ns
    assert {one["topic"]: one["count"] for one in found["published"]} == dict(counts.published)
    for one in found["published"]:
        assert one["per_s"] == pytest.approx(one["count"] / (counts.span_ns / 1e9))
    assert (found["taken"], found["matched"]) == (counts.taken, counts.matched)
    chains = {(one["name"], one["nodes"]): one for one in found["chains"]}
    assert chains.keys() == counts.chains.keys() != set()
    for key, of in counts.chains.items():
        one = chains[key]
        assert one["count"] == of.latency.count
        assert one["p50_ns"] == of.latency.quantile_ns(0.5)
        assert one["p99_ns"] == of.latency.quantile_ns(0.99)
        assert one["max_ns"] == of.latency.max_ns
        assert one["mean_ns"] == of.latency.sum_ns / of.latency.count
        assert {row["layer"]: row["ns"] for row in one["layers"]} == dict(of.layers_ns)
        assert sum(row["share"] for row in one["layers"]) == pytest.approx(1)
    hops = {
        (one["topic"], one["publisher_node"], one["subscription_node"]): one
        for one in found["hops"]
    }
    assert {key: one["received"] for key, one in hops.items()} == {
        key: of.received for key, of in counts.hops.items()
    }


def test_losses_are_in_the_document_by_cause() -> None:
    document = live_document(hostile_tally())
    assert document["total"]["lost"] == 20 * 30
    assert {json.dumps(hop["lost"]) for hop in document["total"]["hops"]} == {'{"overwritten": 30}'}
    assert {hop["received"] for hop in document["recent"]["hops"]} == {2 * 10}
    assert (document["discarded_events"], document["unseen_ns"]) == (3, 7 * 30)
    assert document["unread"] == 2


def test_the_document_before_the_first_window() -> None:
    document = json.loads(json.dumps(live_document(Tally()), allow_nan=False))
    assert document["until_ns"] is None
    assert document["total"]["chains"] == document["executors"] == []


def test_every_field_is_documented(root: Path) -> None:
    page = (root / "docs/json.md").read_text()
    section = page.partition("## `strata live")[2].partition("\n## ")[0]
    document = live_document(hostile_tally())
    fields = {*document, *document["system"], *document["total"], *document["executors"][0]}
    for name in ("published", "chains", "hops"):
        fields |= set(document["total"][name][0])
    fields |= set(document["total"]["chains"][0]["layers"][0])
    documented = set(re.findall(r"`([a-z0-9_]+)`", section))
    assert fields - documented == set()


# --- the screen ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 60, 132])
@pytest.mark.parametrize("height", [None, *range(1, 30), 60, 300])
def test_the_screen_fits(height: int | None, width: int) -> None:
    lines = shown(BIG, height, width)
    assert max(map(cell_len, lines)) <= width
    if height is not None:
        assert len(lines) <= height
        # No line is left unused while something is left out, but what a row has at most.
        assert len(lines) >= height - 3 or "not shown" not in lines[-1]


BIG = hostile_tally()


@pytest.mark.parametrize("height", [1, 2, 5, 12, 24, 50])
def test_the_screen_of_a_sample_fits(tally: Tally, height: int) -> None:
    lines = shown(tally, height)
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= 80


@pytest.mark.parametrize("height", [6, 12, 24, 40, 80])
def test_what_is_left_out_is_counted(height: int) -> None:
    lines = shown(BIG, height)
    counts = {
        word: int(number)
        for number, word in re.findall(r"(\d+) (chain|loss|executor|topic)", lines[-1])
    }
    there = "\n".join(lines[:-1])
    rows = {
        "chain": len(re.findall(r"(?m)( +\S+ [mu]s| +-){4}$", there)),
        "loss": there.count("overwritten in the reader's full queue"),
        "executor": there.count(" threads"),
        "topic": len(re.findall(r"(?m)^.* 3\.00 +90$", there)),
    }
    whole = {"chain": 47, "loss": 20, "executor": 47, "topic": 47}
    assert {name: rows[name] + counts.get(name, 0) for name in whole} == whole


def test_everything_is_shown_without_a_height() -> None:
    lines = shown(BIG)
    assert len([line for line in lines if " threads" in line]) == 47
    assert "not shown" not in "\n".join(lines)


def test_no_control_character_reaches_the_terminal() -> None:
    text = "".join(shown(BIG, None, 200))
    assert text == printable(text)
    assert "[red]m[/]" in text


def test_the_numbers_of_a_sample_are_shown(tally: Tally) -> None:
    lines = shown(tally)
    recent = tally.recent()
    for key, of in tally.total.chains.items():
        last = recent.chains[key].latency
        figures = [one.quantile_ns(at) for one in (last, of.latency) for at in (0.5, 0.99)]
        wanted = " +".join(map(re.escape, map(format_ns, figures)))
        assert re.search(wanted, "\n".join(lines))
    for topic, count in tally.total.published.items():
        assert line_with(lines[5:], f"  {topic}  ").endswith(f" {count:,}")
    verdict = " ".join(line.strip() for line in lines[1:6])
    assert f"System: {tally.system.text}" in verdict
    assert f"{tally.events_per_s:,.0f} events/s" in lines[0]
    assert "2.00 s ago" in lines[0]


def test_before_the_first_window_events_are_awaited() -> None:
    assert shown(Tally(), 10) == ["Waiting for events of ROS 2."]


def test_what_was_not_seen_is_said_only_if_there_is_something() -> None:
    tally = seconds({ONE: chain(1, MS)})
    assert "Not complete" not in "\n".join(shown(tally))
    tally.add(made_judged(2, {}, window=made_window(2, discarded=1200, unseen_ns=5 * MS)))
    tally.unread = 1
    assert (
        shown(tally)[1] == "Not complete: 1,200 events discarded, 5.00 ms unseen, 1 window unread"
    )


def changed(before: ChainSeen | None, now: ChainSeen | None) -> list[str]:
    """Return the lines of a chain that was so for 90 s, and is so for 10 s."""
    windows = [{OTHER: chain(1, 50 * MS)} | ({ONE: of} if of else {}) for of in [before] * 90]
    windows += [{OTHER: chain(1, 50 * MS)} | ({ONE: of} if of else {}) for of in [now] * 10]
    lines = shown(seconds(*windows))
    at = next(at for at, line in enumerate(lines) if "/c" in line)
    return lines[at : at + 2]


def test_a_slower_chain_is_marked() -> None:
    line, words = changed(chain(10, MS), chain(10, 4 * MS))
    assert line.startswith("! /in -> /out > /c ")
    assert "slower: p50 is 4.0" in words or "slower: p50 is 3.9" in words


def test_a_faster_chain_is_marked() -> None:
    line, words = changed(chain(10, 4 * MS), chain(10, MS))
    assert line.startswith("! ")
    assert "faster: p50 is 25 %" in words


def test_a_silent_chain_is_marked() -> None:
    line, words = changed(chain(10, MS), None)
    assert line.startswith("! ")
    assert re.search(r" 0 +- +- +1\.\d\d ms|  0 +- +- +\d+ us", line)
    assert "no message in the last 10 s" in words


def test_a_chain_with_fewer_messages_is_marked() -> None:
    line, words = changed(chain(10, MS), chain(2, MS))
    assert line.startswith("! ")
    assert re.search(r"fewer messages: 2\d % of the rate", words)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (chain(10, MS), chain(10, MS)),
        (chain(10, 10 * MS), chain(10, 14 * MS)),
        (chain(10, MS // 20), chain(10, MS // 8)),
        (chain(10, MS), chain(7, MS)),
    ],
)
def test_what_differs_little_is_not_marked(before: ChainSeen, now: ChainSeen) -> None:
    line, _ = changed(before, now)
    assert line.startswith("  /in")


def test_nothing_has_changed_in_the_first_seconds() -> None:
    tally = seconds({ONE: chain(10, MS)}, {ONE: chain(10, 9 * MS)}, {ONE: chain(10, 9 * MS)})
    tally.add(made_judged(4, {}, hops={("/t", "/p", "/s"): HopSeen(1, {"overwritten": 1})}))
    lines = shown(tally)
    assert line_with(lines, "/t, /p -> /s")
    assert not [line for line in lines if line.startswith("! ")]


def test_a_chain_that_is_rare_is_not_marked_while_it_is_silent() -> None:
    lines = shown(seconds({ONE: chain(2, MS)}, *[{}] * 60))
    assert line_with(lines, "/in -> /out").startswith("  /in")
    lines = shown(seconds({ONE: chain(20, MS)}, *[{}] * 60))
    assert line_with(lines, "/in -> /out").startswith("! /in")


def test_internal_topics_come_last() -> None:
    tally = Tally()
    tally.add(made_judged(1, {}, published={"/rosout": 99, "/a": 1, "/b": 2}))
    assert [line.split()[0] for line in shown(tally)[-3:]] == ["/b", "/a", "/rosout"]


def test_what_changed_comes_first() -> None:
    slow, fast = ("/slow", "/a -> /b"), ("/fast", "/a -> /c")
    windows = [{slow: chain(5, 90 * MS), fast: chain(5, MS)}] * 50
    assert "/slow" in shown(seconds(*windows))[3]
    windows += [{slow: chain(5, 90 * MS), fast: chain(5, 3 * MS)}] * 10
    lines = shown(seconds(*windows))
    assert lines[3].startswith("! /fast")


def test_layers_of_the_worst_chains_are_named() -> None:
    layers = {"executor_wait": 62, "transport": 20, "take": 14, "hold": 3, "callback": 1}
    lines = shown(seconds({ONE: chain(1, 100, **layers)}))
    assert "    executor wait 62 %, transport 20 %, take 14 %" in lines


def test_busiest_executors_first() -> None:
    shares = [("/idle", 0.02), ("/unknown", None), ("/full", 0.95)]
    executors = tuple(ExecutorSeen("h", 7, nodes, 1, busy) for nodes, busy in shares)
    tally = Tally()
    tally.add(made_judged(1, {}, executors=executors))
    assert shown(tally)[1] == "No message has reached the end of its callback yet."
    rows = [line.split()[:4] for line in shown(tally) if "pid 7" in line]
    assert rows[0] == ["95", "%", "FULL", "/full"]
    assert rows[1][:3] == ["2.0", "%", "/idle"]
    assert rows[2][:2] == ["-", "/unknown"]


def test_new_losses_are_marked() -> None:
    tally = Tally()
    old, new = ("/old", "/p", "/s"), ("/new", "/p", "/s")
    for at in range(1, 41):
        hops = {old: HopSeen(10, {"overwritten": 1})}
        if at > 35:
            hops[new] = HopSeen(10, {"lost on the way": 2})
        tally.add(made_judged(at, {}, hops=hops))
    lines = shown(tally)
    at = next(at for at, line in enumerate(lines) if "/new, /p" in line)
    assert re.fullmatch(r"! /new, /p -> /s +10 +10", lines[at])
    assert lines[at + 1] == "    new: sent once, and never received"
    assert re.fullmatch(r"  /old, /p -> /s +10 +40", lines[at + 2])


def test_the_verdict_is_shortened_on_a_small_screen() -> None:
    tally = Tally()
    text = "The path over /chain takes much of the time. " * 9
    tally.add(made_judged(1, {ONE: chain(1, MS)}, system=SystemVerdict(text, True)))
    assert len([line for line in shown(tally) if "The path" in line]) > 4
    assert [line[-1] for line in shown(tally, 6) if "The path" in line] == ["…"]
