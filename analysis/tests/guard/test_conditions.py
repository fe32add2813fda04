# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The words of conditions are read strictly: what is none is refused, with what is wrong."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.comparison.gates.grammar import ABSOLUTE
from strata.guard.conditions import (
    SUBJECTS,
    Busy,
    Condition,
    Event,
    Measure,
    Skipped,
    parse,
    reach_ns,
)
from strata.schema.layers import BY_NAME

MORE = st.sampled_from([">", ">="])
ANY = st.sampled_from(["<", "<=", ">", ">="])
NUMBERS = st.decimals("0", "14999", places=3)
SHARES = st.decimals("0", "99.999", places=3)
SHORT = st.sampled_from(["ns", "us", "ms"])
OF = st.sampled_from([*SUBJECTS, *BY_NAME])
WORD = st.from_regex(r"[a-z_][a-z0-9_.]{0,12}", fullmatch=True)
NAMES = st.builds(lambda provider, name: f"{provider}:{name}", WORD, WORD)
TEXTS = st.text(max_size=12).filter(lambda text: not ('"' in text and "'" in text))
MEASURES = st.one_of(
    st.builds(Measure, OF, st.sampled_from(ABSOLUTE), MORE, NUMBERS, SHORT),
    st.builds(Measure, OF, st.just("min"), ANY, NUMBERS, SHORT),
    st.builds(Measure, st.just("loss"), st.just(""), MORE, SHARES, st.just("%")),
)
OTHERS = st.one_of(
    st.builds(Skipped, MORE, st.integers(0, 10**9 - 1)),
    st.builds(Busy, MORE, SHARES, st.decimals("0.001", "28999", places=3), st.just("ms")),
)
EVENTS = st.one_of(
    st.builds(Event, NAMES),
    st.builds(
        Event,
        NAMES,
        WORD,
        st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
        st.decimals("-99999", "99999", places=2),
    ),
    st.builds(Event, NAMES, WORD, st.sampled_from(["==", "!="]), TEXTS),
)


@given(st.one_of(MEASURES, OTHERS, EVENTS))
def test_what_is_said_is_read_as_it_was_meant(condition: Condition) -> None:
    assert parse(str(condition)) == condition


@given(st.one_of(MEASURES, OTHERS))
def test_blanks_do_not_matter(condition: Condition) -> None:
    tight = str(condition).replace(" > ", ">").replace(" ms", "ms").replace(" %", "%")
    assert parse(tight) == condition
    assert parse("  " + str(condition).replace(" ", " \t ") + " ") == condition


@given(st.text(max_size=60))
def test_any_text_is_a_condition_or_refused(text: str) -> None:
    try:
        said = parse(text)
    except ValueError as error:
        assert len(str(error)) > 20
    else:
        assert parse(str(said)) == said


@given(st.one_of(MEASURES, OTHERS), st.data())
def test_a_word_less_or_more_is_refused(condition: Condition, data: st.DataObject) -> None:
    words = str(condition).split(" ")
    behind = len(condition.subject.split(" "))
    at = data.draw(st.integers(behind, len(words) - 1))
    for wrong in (" ".join(words[:at] + words[at + 1 :]), " ".join([*words, "nearly"])):
        with pytest.raises(ValueError, match=r"write it as|one of the units"):
            parse(wrong)


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("chain max > 50 ms", Measure("chain", "max", ">", Decimal(50), "ms")),
        ("hop p99>=20ms", Measure("hop", "p99", ">=", Decimal(20), "ms")),
        ("executor wait max > 10 ms", Measure("executor wait", "max", ">", Decimal(10), "ms")),
        ("period min < 5 ms", Measure("period", "min", "<", Decimal(5), "ms")),
        ("loss > 0 %", Measure("loss", "", ">", Decimal(0), "%")),
        ("timer max > 5 ms", Measure("timer", "max", ">", Decimal(5), "ms")),
        ("timer skipped > 0", Skipped(">", 0)),
        ("executor busy > 95 % for 2 s", Busy(">", Decimal(95), Decimal(2), "s")),
        ("event a:b", Event("a:b")),
        ("event a:b size > 5", Event("a:b", "size", ">", Decimal(5))),
        ("event a:b size>-5", Event("a:b", "size", ">", Decimal(-5))),
        ("event  a:b  name == 'p  > q'", Event("a:b", "name", "==", "p  > q")),
    ],
)
def test_the_forms(text: str, condition: Condition) -> None:
    assert parse(text) == condition


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("chain max > 50", "'50' is no number with one of the units ns, us, ms, s"),
        ("chain p95 > 20 ms", "is no condition: write it as 'chain max > 50 ms'"),
        ("chian p99 > 20 ms", "'chian' is neither subject nor layer: use one of chain, hop"),
        ("chain p50 not more than 5 % worse", "compares two recordings"),
        ("chain p99 < 20 ms", "says what the fault is, so write 'chain p99 >= 20 ms'"),
        ("chain max <= 20 ms", "write 'chain max > 20 ms'"),
        ("loss <= 0.1 %", "write 'loss > 0.1 %'"),
        ("loss > 1 ms", "no number with one of the units %"),
        ("loss > 100 %", "no share is > 100 %"),
        ("loss max > 1 %", "is no condition on losses: write it as 'loss > 0 %'"),
        ("period > 150 ms", "is no condition: write it as"),
        ("chain max > 15.1 s", "a bound is at most 15 s, as a window looks back 30 s at most"),
        ("timer skipped > 1.5", "is no condition on timers"),
        ("timer skipped < 1", "is no condition on timers"),
        ("executor busy > 95 %", "is no condition on executors"),
        ("executor busy < 95 % for 2 s", "is no condition on executors"),
        ("executor busy > 101 % for 2 s", "no share is > 101 %"),
        ("executor busy > 95 % for 2", "no number with one of the units"),
        ("executor busy > 95 % for 0 s", "is of no time"),
        ("executor busy > 95 % for 29.5 s", "its time is at most 29 s"),
        ("event callback_start", "is no condition on events: write it as 'event PROVIDER:NAME'"),
        ("event a:b size", "is no condition on events"),
        ("event ros2:*", "is no name of one event: patterns are of topics"),
        ("event a:b size = 5", "is no condition on events"),
        ("event a:b size > 5 kB", "'5 kB' is neither a number nor a text in quotes"),
        ("event a:b name == source", "neither a number nor a text in quotes"),
        ("event a:b name > 'source'", "a text is compared by == or !=, and not by >"),
        ("", "is no condition"),
    ],
)
def test_what_is_refused(text: str, fact: str) -> None:
    with pytest.raises(ValueError, match=re.escape(fact)):
        parse(text)


def test_how_far_a_window_looks_back() -> None:
    reach_s = {text: reach_ns(parse(text)) / 1e9 for text in ("chain max > 15 s", "loss > 0 %")}
    assert reach_s == {"chain max > 15 s": 30, "loss > 0 %": 0}
    assert reach_ns(parse("executor busy > 95 % for 29 s")) == 30_000_000_000
    assert reach_ns(parse("timer skipped > 0")) == reach_ns(parse("event a:b")) == 0
