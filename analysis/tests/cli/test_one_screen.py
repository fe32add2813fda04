# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What `strata analyze` prints of any sample: one screen, answer first, with whole names."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from made_analysis import Relay, make, nothing, with_chains
from rich.console import Console

import strata
from strata.analysis import Analysis
from strata.read.links import read_links
from strata.show.terminal.analysis import print_analysis
from strata.show.terminal.breaking import Named
from strata.show.terminal.summary import LINES
from strata.show.words.chain_choice import focus_chain
from strata.show.words.commands import Commands, continued
from strata.show.words.headline import headline
from strata.show.words.naming import Names, common_namespace, fitted, function_name, lines_of
from strata.show.words.slowest import slowest_messages
from strata.show.words.trust import trust_words

AnalysisOf = Callable[[str], Analysis]
ROOT = Path(__file__).resolve().parents[1]
# Those of other tracers hold no event of ROS 2.
SAMPLES = sorted(
    path.name.removesuffix(".tar.xz")
    for path in (ROOT / "traces").glob("*.tar.xz")
    if not path.name.startswith("ctf")
)


def screen(analysis: Analysis, width: int = 80, **options: object) -> list[str]:
    out = io.StringIO()
    print_analysis(analysis, Console(file=out, width=width), **options)  # type: ignore[arg-type]
    return [line.rstrip() for line in out.getvalue().splitlines()]


def check_screen(analysis: Analysis, lines: list[str]) -> None:
    assert len(lines) <= LINES
    path = analysis.trace.path
    assert [line for line in lines if len(line) > 80 and path not in line] == []
    assert "trust: " in " ".join(lines[:2])
    label = lines[1 if "trust: " in lines[0] else 2].split(" ")[0]
    # What was lost of the recording comes first.
    assert label in {"BOTTLENECK", "OK", "NO", "loss:", "warning:"}
    assert any(line.startswith("More: ") for line in lines[-4:])


def broken_names(lines: list[str], known: set[str]) -> list[str]:
    """Words that are a part of a known name, at the end or the beginning of a line."""
    parts = {part for name in known for part in re.split(r"[/ ]", name) if part}
    words = {word.strip(",:;()") for line in lines for word in re.split(r"[\s/]", line)}
    cut = set()
    for part in parts:
        for word in words - parts:
            # A cut is seen by both pieces being there.
            rest = part[len(word) :]
            if len(word) > 3 and part.startswith(word) and rest in words - parts:
                cut.add(part)
    return sorted(cut)


@pytest.mark.parametrize("name", SAMPLES)
def test_any_sample_is_one_screen_with_whole_names(analysis_of: AnalysisOf, name: str) -> None:
    analysis = analysis_of(name)
    lines = screen(analysis)
    check_screen(analysis, lines)
    known = set(analysis.nodes["name"]) | set(analysis.hops["topic"]) | set(analysis.trace.path)
    assert broken_names(lines, known) == []
    shown = {word for line in lines for word in line.split() if "…" in word and len(word) > 1}
    # Only a word that is longer than a line is shortened.
    assert shown == set()


def test_the_reference_system_names_its_full_executor_in_three_lines(
    sample: Callable[[str], Path],
) -> None:
    links = read_links(ROOT / "traces/ref_multi_full-links.yaml")
    analysis = strata.analyze(sample("ref_multi_full"), links=links)
    lines = screen(analysis, commands=Commands("ref", "links.yaml"))
    check_screen(analysis, lines)
    assert any("executor of 24 nodes is full: busy 98 %" in line for line in lines[:3])
    (executor,) = (line for line in lines if line.startswith("EXECUTORS"))
    assert "FULL  threads 171, 190:" in executor
    assert any(line.endswith("strata path ref --links links.yaml --message 1869") for line in lines)


def test_the_suggested_message_is_the_slowest_of_the_chain(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_blocked_st")
    chain = focus_chain(analysis)
    assert chain is not None
    first, *rest = slowest_messages(analysis, chain, 3)
    own = analysis.chain_instances[analysis.chain_instances["chain_id"] == chain]
    assert first.latency_ns == own["latency_ns"].max()
    assert [one.latency_ns for one in (first, *rest)] == sorted(own["latency_ns"])[::-1][:3]
    lines = screen(analysis)
    begin = next(at for at, line in enumerate(lines) if "try: " in line)
    end = next(at for at in range(begin, len(lines)) if not lines[at].endswith("\\"))
    text = "\n".join(lines[begin : end + 1]).partition("try: ")[2]
    command = shlex.split(text.replace("\\\n", " "))
    assert command[:2] == ["strata", "path"]
    assert command[-2:] == ["--message", str(first.message_id)]


def test_the_lines_of_a_chain_add_up_to_its_mean(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_blocked_st")
    lines = screen(analysis)
    at = next(at for at, line in enumerate(lines) if line.startswith("/fast  "))
    assert "mean 1.96 ms" in lines[at]
    hop, callback = lines[at + 1], lines[at + 2]
    assert "pubs > /fast > subs" in hop and "1.93 ms" in hop
    assert "<" in hop, "the bottleneck"
    assert "subs: callback" in callback and "30.8 us" in callback
    assert pytest.approx(analysis.chains["latency_mean_ns"][0] / 1e6, abs=0.01) == 1.93 + 0.0308


def test_what_was_lost_is_in_the_head_and_in_the_lines(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("driver_polled")
    assert trust_words(analysis) == (
        "2 remarks, 314 sensor packets dropped, 7 sensor packets missing"
    )
    text = " ".join(" ".join(screen(analysis)).split())
    assert "314 dropped (queue full), 7 never came" in text
    assert "driver queue of UDP port 39701" in text


@pytest.mark.parametrize("name", ["fast_svc", "services_kilted"])
def test_a_trace_without_a_chain_shows_what_there_is(analysis_of: AnalysisOf, name: str) -> None:
    lines = screen(analysis_of(name))
    text = "\n".join(lines)
    assert "NO CHAIN    no message was followed from a publish to a callback" in text
    assert "CALLBACKS" in text and "TIMERS" in text
    assert ("SERVICES" in text) == (name == "services_kilted")
    assert "strata path" not in text


def test_an_empty_trace_has_a_screen() -> None:
    lines = screen(nothing())
    check_screen(nothing(), lines)


def test_a_thousand_chains_are_one_screen() -> None:
    analysis = with_chains(make(Relay(hops=9, messages=30)), 1000)
    lines = screen(analysis)
    check_screen(analysis, lines)
    assert any(re.fullmatch(r"and \d+ more chains \(--layers, --all\)", line) for line in lines)


def test_a_common_namespace_is_said_once() -> None:
    relay = Relay(hops=2, node="/perception/lidar/relay_{}", topic="/perception/chain_{}")
    lines = screen(make(relay))
    text = "\n".join(lines)
    assert text.count("/perception/lidar") == 1
    assert "  names are below /perception/lidar/" in lines
    assert "> /perception/chain_0 > relay_1" in text
    assert " 3 nodes " in lines[0]


def test_the_namespace_of_some_is_not_of_all() -> None:
    assert common_namespace(["/a/x", "/a/b/y"]) == "/a"
    assert common_namespace(["/ab/x", "/ac/y"]) == ""
    assert common_namespace(["/a/x"]) == ""
    assert common_namespace(["/x", "/y"]) == ""


def test_a_long_name_is_shortened_at_slashes_then_in_its_middle() -> None:
    assert fitted("/perception/lidar/front", 16) == "…/lidar/front"
    assert fitted("/" + "x" * 30, 11) == "/xxxx…xxxxx"
    assert lines_of("aaa bbb 98 % of it", 10) == ["aaa bbb", "98 % of it"]


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("relay_chain.nodes.Relay.on_message", "Relay.on_message"),
        ("__main__.listen.<locals>.<lambda> (x.py:3)", None),
        ("main::{lambda()#1}::operator()() const", None),
        ("Relay<Image_<std::allocator<void> > >::on_message(int)", "Relay::on_message"),
        ("0x5581f0", None),
    ],
)
def test_a_callback_is_named_by_its_function_where_it_has_one(
    symbol: str, name: str | None
) -> None:
    assert function_name(symbol) == name


def test_commands_can_be_pasted() -> None:
    commands = Commands("my runs/a b", links="l 1.yaml", all_processes=True, program="x/strata")
    made = shlex.split(commands.path(7))
    assert made == [
        *("x/strata", "path", "my runs/a b", "--links", "l 1.yaml", "--all-processes"),
        *("--message", "7"),
    ]
    assert shlex.split(commands.analyze("--layers", chain="/a -> /b"))[-1] == "/a -> /b"
    assert commands.follow_links().count("--all-processes") == 2
    assert Commands("-odd").report() == "strata report ./-odd"
    lines = continued(commands.path(7), 30)
    assert max(map(len, lines)) <= 30
    assert shlex.split("\n".join(lines).replace("\\\n", " ")) == made
    assert Commands("a\x1b[2J").report() == "strata report 'a�[2J'"


def test_cells_break_between_the_parts_of_names() -> None:
    out = io.StringIO()
    Console(file=out, width=20).print(Named("main::{lambda#1}::operator()::{lambda#1} [/slow]"))
    assert [line.rstrip() for line in out.getvalue().splitlines()] == [
        "main::{lambda#1}::",
        "operator()::",
        "{lambda#1} [/slow]",
    ]


def test_nothing_stands_out_of_a_healthy_relay(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relay1p_st")
    answer = headline(analysis, Names(analysis))
    assert not answer.stands_out
    assert answer.statements[0].startswith("nothing stands out; the largest part is the wait for")
    lines = screen(analysis)
    assert lines[1].startswith("OK ")
    assert not any("BOTTLENECK" in line for line in lines)


@pytest.mark.parametrize("page", ["README.md", "docs/analyze.md"])
def test_the_screen_in_the_documentation_is_that_of_the_sample(
    analysis_of: AnalysisOf, root: Path, page: str
) -> None:
    lines = screen(analysis_of("fast_blocked_st"), commands=Commands("fast_blocked_st"))
    assert "\n".join(["```", *lines, "```"]) in (root / page).read_text(encoding="utf-8")
