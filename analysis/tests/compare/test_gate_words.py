# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The words of gates are read strictly: what is no gate is refused, with what is wrong."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strata.comparison.gates.grammar import ABSOLUTE, LIMITS, RELATIVE, UNITS, Condition, parse
from strata.comparison.gates.load import read_gates
from strata.errors import GateError
from strata.schema.layers import BY_NAME

NUMBERS = st.decimals("0", "99999", places=3)
OF = st.sampled_from(["chain", "hop", "transfer", "service", "callback", *BY_NAME])
CONDITIONS = st.one_of(
    st.builds(
        Condition,
        OF,
        st.sampled_from(ABSOLUTE),
        st.sampled_from(LIMITS),
        NUMBERS,
        st.sampled_from([*UNITS]),
    ),
    st.builds(
        Condition,
        OF,
        st.sampled_from(RELATIVE),
        st.none(),
        NUMBERS,
        st.sampled_from([*UNITS, "%"]),
    ),
    st.builds(
        Condition, st.just("loss"), st.just(""), st.sampled_from(LIMITS), NUMBERS, st.just("%")
    ),
)


@given(CONDITIONS)
def test_what_is_said_is_read_as_it_was_meant(condition: Condition) -> None:
    assert parse(str(condition)) == condition
    tight = str(condition).replace(" < ", "<").replace(" ms", "ms").replace("chain ", " chain\t")
    assert parse(tight) == condition


@given(st.text(max_size=60))
def test_any_text_is_a_gate_or_refused(text: str) -> None:
    try:
        said = parse(text)
    except ValueError as error:
        assert len(str(error)) > 20
    else:
        assert parse(str(said)) == said


@given(CONDITIONS, st.data())
def test_a_word_less_or_more_is_refused(condition: Condition, data: st.DataObject) -> None:
    words = str(condition).split(" ")
    at = data.draw(st.integers(0, len(words) - 1))
    # A part of a merged layer's name is a layer, too: cut behind the subject.
    behind = len(condition.subject.split(" "))
    changed = words[: max(at, behind)] + words[max(at, behind) + 1 :]
    for wrong in (" ".join(changed), " ".join([*words, "nearly"])):
        with pytest.raises(ValueError, match=r"gate|unit|use one"):
            parse(wrong)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("chain p99 < 20", "'20' is no number with one of the units ns, us, ms, s"),
        ("chain p99 < 20 %", "no number with one of the units"),
        ("chain p95 < 20 ms", "write it as"),
        ("chian p99 < 20 ms", "'chian' is neither subject nor layer"),
        ("serialise p50 < 1 ms", "use one of chain, hop"),
        ("serialize p50 not more than 5 worse", "units %, ns"),
        ("serialize p50 not more than 5 % better", "write it as"),
        ("serialize max not more than 5 % worse", "max has no interval"),
        ("loss <= 1 ms", "units %"),
        ("loss p99 <= 1 %", "no gate of losses"),
        ("chain p99 < -5 ms", "no number"),
        ("chain p99 == 5 ms", "write it as"),
        ("transport + transport p50 < 1 ms", "neither subject nor layer"),
    ],
)
def test_what_is_wrong_is_said(text: str, fact: str) -> None:
    with pytest.raises(ValueError, match=fact):
        parse(text)


def test_units_and_percent_are_what_they_are() -> None:
    assert parse("chain p99<20ms").bound == 20_000_000
    assert parse("chain p99.9 <= 1.5 us").bound == 1_500
    assert parse("loss <= 0.1 %").bound == pytest.approx(0.001)
    assert parse("hop mean not more than 2.50 % worse").number == Decimal("2.50")


def gates(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "gates.yaml"
    file.write_text(text)
    return file


def test_a_file_of_gates(tmp_path: Path) -> None:
    text = """
undecided: fails
gates:
  - chain p99 < 20 ms
  - gate: serialize p50 not more than 5 % worse
    chain: /a -> *
    undecided: passes
    name: the copy
  - hold p50 < 1 ms
"""
    first, second, third = read_gates(gates(tmp_path, text))
    assert (first.kind, first.pattern, first.undecided, first.line) == ("chain", "*", "fails", 4)
    assert (second.kind, second.pattern, second.undecided) == ("chain", "/a -> *", "passes")
    assert (second.name, second.line) == ("the copy", 5)
    # Only chains have it.
    assert third.kind == "chain"


@pytest.mark.parametrize(
    ("text", "line", "fact"),
    [
        ("gates:\n- chain p99 < 20\n", 2, "is no number"),
        ("gates:\n- gate: chain p99 < 20 ms\n  hop: /a\n", 2, "has one scope of chain"),
        ("gates:\n- gate: hop p50 < 1 ms\n  hops: /a\n", 3, "key 'hops' is none of"),
        ("gates:\n- gate: hop p50 < 1 ms\n  hop: /a\n  hop: /b\n", 4, "occurs twice"),
        ("gates:\n- hop: /a\n", 2, "no key `gate`"),
        ("undecided: maybe\ngates:\n- loss < 1 %\n", 1, "'maybe'"),
        ("gates: []\n", 1, "at least one gate"),
        ("gates:\n- [1]\n", 2, "a gate is a text"),
        ("gates: {a: b}\n", 1, "no list"),
        ("- loss < 1 %\n", 1, "no key `gates`"),
        ("gates:\n- a: [\n", 3, "not YAML"),
        ("", 1, "no key `gates`"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, fact: str
) -> None:
    file = gates(tmp_path, text)
    with pytest.raises(GateError) as caught:
        read_gates(file)
    assert str(caught.value).startswith(f"Cannot use gates {file}:{line}: ")
    assert fact in str(caught.value)
    assert "docs/compare.md" in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(GateError, match="Cannot read gates"):
        read_gates(tmp_path / "none.yaml")
