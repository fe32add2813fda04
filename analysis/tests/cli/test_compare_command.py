# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata compare` as a user and a CI job run it: sides, formats, gates, exit statuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from strata_command import strata

Sample = Callable[[str], Path]

GATES = """
gates:
  - chain p99 < 20 ms
  - gate: hop p50 not more than 5 % worse
    hop: /chain_1
  - hop p50 not more than 10 ms worse
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("compare")
    (made / "gates.yaml").write_text(GATES)
    return made


@pytest.fixture(scope="module")
def run(sample: Sample, place: Path) -> tuple[int, str, str]:
    """One process and five: everything is slower but the wait for the executor."""
    done = strata(
        *("compare", sample("fast_relay1p_st"), sample("fast_relaymp_st")),
        *("--gate", place / "gates.yaml", "--also", f"json={place / 'made.json'}"),
        *("--also", f"junit={place / 'gates.xml'}", "--also", f"markdown={place / 'made.md'}"),
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def document(run: tuple[int, str, str], place: Path) -> dict[str, Any]:
    made = json.loads((place / "made.json").read_text(), parse_constant=pytest.fail)
    assert isinstance(made, dict)
    return made


def test_the_text_fits_80_columns_and_a_broken_gate_ends_with_3(run: tuple[int, str, str]) -> None:
    status, text, errors = run
    assert status == 3
    assert [line.split()[0] for line in errors.splitlines()] == ["Wrote"] * 3
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert words.startswith("B is 57")
    assert "A fast_relay1p_st: 1 run B fast_relaymp_st: 1 run" in words
    assert "One run a side: differences between runs are not in these intervals." in words
    assert "broken: /chain_1 (/relay_0 -> /relay_1)" in words
    assert "holds: /chain_1 (/relay_0 -> /relay_1)" in words
    assert "gates: 5 holds, 1 broken: broken" in words


def test_chains_come_first_and_layers_by_what_they_add(document: dict[str, Any]) -> None:
    subjects = document["comparison"]["subjects"]
    kinds = [one["kind"] for one in subjects]
    assert kinds == sorted(kinds, key=["chain", "hop", "service", "callback"].index)
    for subject in subjects:
        added = [abs(layer["mean_difference_ns"]) for layer in subject["layers"]]
        assert added == sorted(added, reverse=True)
    hops = [one for one in subjects if one["kind"] == "hop"]
    shifts = [abs(one["latency"]["difference"]["shift_ns"]["value"]) for one in hops]
    assert shifts == sorted(shifts, reverse=True)
    wait = {one["layer"]: one for one in subjects[0]["layers"]}["executor wait"]
    assert wait["verdict"] == "faster"


def test_the_layers_add_up_in_whole_ns(document: dict[str, Any]) -> None:
    for subject in document["comparison"]["subjects"]:
        for side in "ab" if subject["layers"] else "":
            whole = subject["latency"][side]
            parts = [layer[side] for layer in subject["layers"] if layer[side]]
            assert sum(part["sum_ns"] for part in parts) == whole["sum_ns"]
            assert {part["of"] for part in parts} == {whole["count"]}
        if subject["layers"]:
            a, b = (subject["latency"][side] for side in "ab")
            mean = Fraction(b["sum_ns"], b["count"]) - Fraction(a["sum_ns"], a["count"])
            assert subject["latency"]["mean_difference_ns"] == pytest.approx(float(mean))


def test_json_is_documented(document: dict[str, Any], root: Path) -> None:
    page = (root / "docs/compare.md").read_text()

    def fields(value: Any) -> set[str]:
        if isinstance(value, dict):
            own = set(value) - {"p99", "p50"}
            return own.union(*(fields(one) for one in value.values()))
        return set().union(*(fields(one) for one in value)) if isinstance(value, list) else set()

    assert [name for name in sorted(fields(document)) if f"`{name}`" not in page] == []
    assert document["schema"] == 1
    assert document["broken"] == 1
    assert document["comparison"]["unit"] == "messages"


def test_junit_is_what_ci_systems_read(run: tuple[int, str, str], place: Path) -> None:
    schema = xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))
    schema.validate(str(place / "gates.xml"))
    root = ET.parse(place / "gates.xml").getroot()
    assert (root.get("tests"), root.get("failures")) == ("6", "1")
    (failed,) = (case for case in root.iter("testcase") if case.find("failure") is not None)
    assert failed.get("name") == "hop p50 not more than 5 % worse: /chain_1 (/relay_0 -> /relay_1)"
    failure = failed.find("failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("broken: /chain_1")
    names = [one.get("name") for one in root.iter("property")]
    assert names == ["A", "A.run", "B", "B.run"]


def test_junit_holds_any_name(sample: Sample, place: Path) -> None:
    file = place / "names.yaml"
    file.write_text('gates:\n- {gate: hop max < 1 s, name: "a<&\\0\\uFFFE\\uFFFF\\n\\e"}\n')
    done = strata("compare", sample("fast_blocked_st"), "--gate", file, "--format", "junit")
    assert done.returncode == 0, done.stderr
    root = ET.fromstring(done.stdout)
    names = [case.get("name") or "" for case in root.iter("testcase")]
    assert names
    assert all(name.startswith("a<&" + 5 * "\N{REPLACEMENT CHARACTER}") for name in names)


def test_markdown_has_whole_tables(run: tuple[int, str, str], place: Path) -> None:
    text = (place / "made.md").read_text()
    assert "| hop p50 not more than 5 % worse | **broken** |" in text
    tables = [block for block in text.split("\n\n") if block.startswith("| ")]
    assert len(tables) == 2
    for table in tables:
        widths = {line.replace("\\|", "").count("|") for line in table.splitlines()}
        assert len(widths) == 1
    assert "| hop /chain\\_1 (/relay\\_0 -\\> /relay\\_1) |" in text


@pytest.fixture(scope="module")
def repetitions(sample: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign's cell with two finished repetitions, and one that failed."""
    campaign = tmp_path_factory.mktemp("campaign")
    plan = {"cells": [{"id": f"study/cell/r{number}", "warm_up": 3} for number in (1, 2)]}
    (campaign / "campaign.json").write_text(json.dumps(plan))
    cell = campaign / "cells/study/cell"
    cell.mkdir(parents=True)
    for name, status in (("r1", "finished"), ("r2", "finished"), ("r3", "failed")):
        (cell / name).mkdir()
        (cell / name / "manifest.json").write_text("{}")
        (cell / name / "cell.json").write_text(json.dumps({"status": status}))
        (cell / name / "trace").symlink_to(sample("fast_blocked_st") / "ust")
    return cell


def test_a_directory_of_sessions_is_a_side_of_several_runs(repetitions: Path) -> None:
    done = strata("compare", repetitions, repetitions / "r1", "--format", "json")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert [(run["name"], run["warm_up"]) for run in made["a"]["runs"]] == [("r1", 3), ("r2", 3)]
    assert made["b"]["runs"][0]["warm_up"] == 3
    assert made["comparison"]["unit"] == "runs"
    assert "One side has one run only" in " ".join(made["comparison"]["notes"])
    verdicts = {one["latency"]["verdict"] for one in made["comparison"]["subjects"]}
    assert verdicts == {"no difference found"}


def test_a_trace_alone_is_held_against_gates(sample: Sample, place: Path) -> None:
    file = place / "alone.yaml"
    file.write_text("gates:\n- hop p99 < 1 s\n- {gate: loss <= 1 %, hop: /fast}\n")
    done = strata("compare", sample("fast_blocked_st"), "--gate", file)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "shift" not in done.stdout
    assert "no gate is broken" in done.stdout
    relative = strata("compare", sample("fast_blocked_st"), "--gate", place / "gates.yaml")
    assert relative.returncode == 1
    assert f"{place / 'gates.yaml'}:4: 'hop p50 not more than 5 % worse'" in relative.stderr


def test_all_shows_every_comparison(sample: Sample) -> None:
    done = strata("compare", sample("fast_relay1p_st"), sample("fast_relaymp_st"), "--all")
    words = " ".join(done.stdout.split())
    assert "corrected (Holm) over all" in words
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert len(done.stdout.splitlines()) > 100


def test_the_least_relevant_difference_is_an_option(sample: Sample) -> None:
    both = (sample("fast_relay1p_st"), sample("fast_relaymp_st"))
    done = strata("compare", *both, "--relevant", "0%,10ms")
    assert done.stdout.startswith("No relevant difference in the chain")
    for wrong in ("5", "5%", "5%,20", "20us,5%"):
        refused = strata("compare", *both, "--relevant", wrong)
        assert refused.returncode == 2
        assert "is not a percentage and a time, as in 5%,20us" in refused.stderr


def test_nothing_in_common_ends_with_1_and_says_what_each_has(
    sample: Sample, place: Path, tmp_path: Path
) -> None:
    both = (sample("fast_relay1p_st"), sample("driver_polled"))
    done = strata("compare", *both)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Cannot compare fast_relay1p_st with driver_polled" in done.stderr
    assert "A has the chain /chain_0" in done.stderr
    assert "B has the chain /points" in done.stderr
    holds = tmp_path / "holds.yaml"
    holds.write_text("gates:\n- hop p99 < 10 s\n")
    assert strata("compare", *both, "--gate", holds).returncode == 1
    assert strata("compare", *both, "--gate", place / "gates.yaml").returncode == 3


def test_usage(sample: Sample, place: Path) -> None:
    trace = sample("fast_blocked_st")
    assert strata("compare", trace).returncode == 2
    assert strata("compare", trace, trace, "--format", "junit").returncode == 2
    assert strata("compare", trace, trace, "--format", "html").returncode == 2
    assert strata("compare", trace, "--also", f"html={place / 'p.html'}").returncode == 2
    missing = strata("compare", trace, place / "none")
    assert (missing.returncode, missing.stdout) == (1, "")
    wrong = place / "wrong.yaml"
    wrong.write_text("gates:\n- chain p99 < 20\n")
    refused = strata("compare", trace, trace, "--gate", wrong)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"{wrong}:2: '20' is no number" in refused.stderr
