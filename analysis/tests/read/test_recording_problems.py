# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a manifest says of an incomplete recording is said before all else, by every verb."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import strata
from strata.cli.analyze import command as analyze_command
from strata.cli.compare import command as compare_command
from strata.cli.convert import command as convert_command
from strata.cli.hops import command as hops_command
from strata.cli.info import command as info_command
from strata.cli.links import command as links_command
from strata.cli.path import command as path_command
from strata.cli.report import command as report_command
from strata.errors import TraceError
from strata.read import open_trace

WHY = "the consumer daemon died after 2.1 s"
INCOMPLETE = {
    "schema": 1,
    "complete": False,
    "problems": [f"{WHY}."],
    "stopped_early": None,
    "discarded_events": None,
}
COMPLETE = {**INCOMPLETE, "complete": True, "problems": [], "discarded_events": 0}
SAID = f"loss: The recording is incomplete: {WHY}. Something that is missing from it may"


@pytest.fixture
def session(own_sample: Callable[[str], Path]) -> Path:
    return own_sample("fast_blocked_st")


def say(session: Path, content: dict[str, Any] | str) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (session / "manifest.json").write_text(text)


def run(verb: click.Command, *arguments: str | Path) -> Result:
    done = CliRunner().invoke(verb, [str(one) for one in arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("verb", [analyze_command, info_command, path_command])
def test_verbs_of_one_trace_say_it_first(session: Path, verb: click.Command) -> None:
    say(session, INCOMPLETE)
    found = flat(run(verb, session).stdout)
    # The summary begins with what was recorded and how far it can be trusted.
    head = found[: found.index(SAID)]
    assert head == "" or (verb is analyze_command and "trust: 2 remarks (--quality)" in head)
    assert "BOTTLENECK" not in head
    assert "LTTng did not report how many events it discarded" in found
    assert not re.search("Nothing was lost|nothing lost", found)


def test_hops_links_convert_and_report_say_it(session: Path, tmp_path: Path) -> None:
    say(session, INCOMPLETE)
    assert flat(run(hops_command, session).stdout).startswith("A, fast_blocked_st: The recording")
    assert run(links_command, session).stdout.startswith(f"# The recording is incomplete: {WHY}")
    assert run(convert_command, session, "-o", tmp_path / "tables").stderr.startswith(SAID)
    assert run(report_command, session, "-o", tmp_path / "page.html").stderr.startswith(SAID)
    page = (tmp_path / "page.html").read_text().partition("<main>")[2].lstrip()
    first = re.findall(r"<p[^>]*>(.*?)</p>", page, re.DOTALL)[0]
    assert first.startswith(f"<strong>The recording is incomplete: {WHY}.")
    assert "Nothing was lost" not in page
    assert "<dt>events discarded</dt><dd>unknown</dd>" in page


def test_documents_carry_it(session: Path) -> None:
    say(session, INCOMPLETE)
    codes = ["incomplete_recording", "discarded_unknown"]
    for verb in (analyze_command, info_command):
        document = json.loads(run(verb, session, "--format", "json").stdout)
        assert [row["code"] for row in document["quality"][:2]] == codes
    analysis = json.loads(run(analyze_command, session, "--format", "json").stdout)
    assert analysis["trace"]["discarded_events"] is None
    path = json.loads(run(path_command, session, "--format", "json").stdout)
    assert WHY in path["trace"]["recording"][0]
    hops = json.loads(run(hops_command, session, "--format", "json").stdout)
    assert WHY in hops["traces"][0]["recording"][0]
    losses = json.loads(run(info_command, session, "--format", "json").stdout)["losses"]
    assert losses[0]["code"] == "incomplete_recording"
    # What is missing is behind what the stream that ends first tells.
    packets = open_trace(session).decoder.packets
    last = [packets["end_ns"][packets["stream"] == n].max() for n in set(packets["stream"])]
    assert losses[0]["begin_ns"] == min(last)


def test_a_complete_recording_says_nothing(session: Path) -> None:
    without = strata.analyze(session).quality
    say(session, COMPLETE)
    assert strata.analyze(session).quality.equals(without)
    # Of versions that did not say it.
    say(session, {"schema": 1, "problems": [], "discarded_events": 0})
    assert strata.analyze(session).quality.equals(without)
    assert "Nothing was lost." in run(info_command, session).stdout


@pytest.mark.parametrize(
    ("manifest", "code", "text"),
    [
        ({"problems": ["a stream is cut"]}, "incomplete_recording", "incomplete: a stream is cut."),
        ({"complete": False}, "incomplete_recording", "without a reason"),
        (
            {**COMPLETE, "problems": ["perf was not there"]},
            "recording_problems",
            "1 problem: perf was not there.",
        ),
        (
            {**COMPLETE, "stopped_early": {"reason": "disk", "utc": "", "text": "1 MB was free"}},
            "stopped_early",
            "early: 1 MB was free.",
        ),
        ('{"schema": 1, "comp', "damaged_manifest", "it is not a complete JSON document"),
        ("[1]", "damaged_manifest", "it is not a JSON object"),
        ('{"complete": 1}', "damaged_manifest", "its `complete` is neither true nor false"),
        ('{"problems": [1]}', "damaged_manifest", "its `problems` is not a list of strings"),
        ('{"stopped_early": 1}', "damaged_manifest", "its `stopped_early` is not an object"),
        ('{"discarded_events": "x"}', "damaged_manifest", "its `discarded_events` is not a number"),
        ("[" * 100_000, "damaged_manifest", "it is not a complete JSON document"),
        (
            '{"complete": ' + "1" * 5000 + "}",
            "damaged_manifest",
            "it is not a complete JSON document",
        ),
        (" " * (17 << 20), "damaged_manifest", "and at most 16,777,216 are read"),
    ],
)
def test_every_kind_of_manifest(
    session: Path, manifest: dict[str, Any] | str, code: str, text: str
) -> None:
    say(session, manifest)
    (first,) = open_trace(session).findings.rows()
    assert first["code"] == code
    assert text in str(first["text"])


@pytest.mark.parametrize("wrong", [1, "x", [1], True])
def test_sections_of_a_wrong_type_are_left_out(session: Path, wrong: object) -> None:
    keys = ("host", "ros", "processes", "config", "command", "scenario", "start", "end")
    say(session, dict.fromkeys(keys, wrong))
    run(analyze_command, session)
    run(info_command, session)
    say(session, {"processes": {"others": wrong}, "host": {"name": wrong, "cpu_model": wrong}})
    run(analyze_command, session)


def test_sessions_beside_each_other_are_named(
    own_sample: Callable[[str], Path], tmp_path: Path
) -> None:
    for name, content in (("first", INCOMPLETE), ("second", COMPLETE)):
        (tmp_path / "both").mkdir(exist_ok=True)
        own = tmp_path / "both" / name
        own_sample("fast_throws").rename(own)
        say(own, content)
    rows = {row["code"]: row["text"] for row in open_trace(tmp_path / "both").findings.rows()}
    assert f"first: {WHY}" in str(rows["incomplete_recording"])


def test_a_recording_without_a_trace_says_why(tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    say(tmp_path, INCOMPLETE)
    with pytest.raises(TraceError, match=f"no directory.*Its manifest says: {WHY}"):
        open_trace(tmp_path)


def gate(session: Path, tmp_path: Path, policy: str = "") -> Result:
    gates = tmp_path / "gates.yaml"
    gates.write_text(f"{policy}gates:\n  - hop p50 < 100 s\n")
    arguments = [str(session), "--gate", str(gates), "--also", f"markdown={tmp_path / 'gates.md'}"]
    return CliRunner().invoke(compare_command, [*arguments, "--force"], catch_exceptions=False)


def test_no_gate_passes_on_an_incomplete_recording_unless_its_file_says_so(
    session: Path, tmp_path: Path
) -> None:
    assert gate(session, tmp_path).exit_code == 0
    say(session, INCOMPLETE)
    done = gate(session, tmp_path)
    assert done.exit_code == 3
    assert flat(done.stdout).startswith("B, fast_blocked_st: The recording is incomplete")
    assert "data missing" in done.stdout
    assert (tmp_path / "gates.md").read_text().splitlines()[2].startswith("* B, fast")
    done = gate(session, tmp_path, "missing: passes\n")
    assert done.exit_code == 0
    assert flat(done.stdout).startswith("B, fast_blocked_st: The recording is incomplete")
