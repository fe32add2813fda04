# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Placeholders of a scenario's file, and elements that are repeated by them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scenario_files import ENDS, written

from strata.errors import ScenarioError
from strata.scenario.load import load_scenario


def test_a_placeholder_may_be_a_neighbour_of_a_whole_number(tmp_path: Path) -> None:
    text = ENDS + "    arguments: ['n${messages+2}', 'n${messages-1}']\n"
    (process,) = load_scenario(str(written(tmp_path, text)), {}, "5").scenario.processes
    assert process.arguments == ["n7", "n4"]


def test_a_placeholder_may_choose_between_two_texts(tmp_path: Path) -> None:
    text = "settings: {loud: {default: false, text: T}}\n" + ENDS
    path = str(written(tmp_path, text + "    arguments: ['${loud?a b:0}', 'x${loud?:y}']\n"))
    (process,) = load_scenario(path).scenario.processes
    assert process.arguments == ["0", "xy"]
    (process,) = load_scenario(path, {"loud": "true"}).scenario.processes
    assert process.arguments == ["a b", "x"]


def test_a_placeholder_may_ask_for_one_of_some_words(tmp_path: Path) -> None:
    text = "settings: {way: {default: fast, text: T}, n: {default: 2, text: T}}\n" + ENDS
    path = str(written(tmp_path, text + "    arguments: ['-${way=fast|slow}', '-${n=2}']\n"))
    (process,) = load_scenario(path).scenario.processes
    assert process.arguments == ["-true", "-true"]
    (process,) = load_scenario(path, {"way": "other", "n": "3"}).scenario.processes
    assert process.arguments == ["-false", "-false"]


def test_an_element_may_be_repeated_by_several_numbers(tmp_path: Path) -> None:
    line = "  - {repeat: {a: '${messages}', b: 2}, name: 'n${a}_${b+1}', command: [sh]}\n"
    scenario = load_scenario(str(written(tmp_path, ENDS + line)), {}, "2").scenario
    names = [process.name for process in scenario.processes]
    assert names == ["a", "n0_1", "n0_2", "n1_1", "n1_2"]
    line = line.replace("b: 2", "b: 0")
    assert len(load_scenario(str(written(tmp_path, ENDS + line))).scenario.processes) == 1


def test_sums_and_products_of_whole_numbers_are_worked_out(tmp_path: Path) -> None:
    text = """settings:
  a: {default: 3, text: a}
  b: {default: 2, text: b}
  rate: {default: 1.5, text: r}
duration: {seconds: 1}
processes:
  - name: one
    command: ['n${(a+1)*b}', 'n${a*b - 1}', 'n${a+b}', 'n${b}']
"""
    file = written(tmp_path, text)
    scenario = load_scenario(str(file)).scenario
    assert scenario.processes[0].command == ["n8", "n5", "n5", "n2"]
    shell = written(tmp_path, text.replace("${b}", "${COLOUR-none} ${COUNT:-1}"))
    (own,) = load_scenario(str(shell)).scenario.processes
    assert own.command[-1] == "n${COLOUR-none} ${COUNT:-1}"
    for wrong, fact in (
        ("${a*rate}", "1.5 is not a whole number"),
        ("${a*none}", "'${none}' is not known"),
        ("${a**b}", "is no sum or product"),
        ("${(a+}", "is no sum or product"),
        ("${a(b)}", "is no sum or product"),
        # A name with a typing error, beside a number or a parenthesis, is no shell's own.
        ("${aa+1}", "'${aa+1}' has no name that is known"),
        ("${2*(aa-k)}", "'${2*(aa-k)}' has no name that is known"),
    ):
        changed = written(tmp_path, text.replace("${b}", wrong))
        with pytest.raises(ScenarioError, match=re.escape(fact)):
            load_scenario(str(changed))


def test_an_element_is_repeated_for_each_combination_of_counters(tmp_path: Path) -> None:
    text = """settings: {a: {default: 2, text: a}, b: {default: 3, text: b}}
duration: {seconds: 1}
processes:
  - name: first
    command: ['true']
  - repeat: {i: "${a}", k: "${b-1}"}
    name: node_${i}_${k}
    command: ['n${i+k}']
"""
    names = [one.name for one in load_scenario(str(written(tmp_path, text))).scenario.processes]
    assert names == ["first", "node_0_0", "node_0_1", "node_1_0", "node_1_1"]
    none = written(tmp_path, text.replace("default: 3", "default: 1"))
    assert len(load_scenario(str(none)).scenario.processes) == 1
    negative = written(tmp_path, text.replace("default: 3", "default: 0"))
    with pytest.raises(ScenarioError, match="repeat is '-1'"):
        load_scenario(str(negative))
    many = written(
        tmp_path, text.replace("default: 2", "default: 5000").replace("default: 3", "default: 5000")
    )
    with pytest.raises(ScenarioError, match="repeat is 24,995,000, above 10,000"):
        load_scenario(str(many))
