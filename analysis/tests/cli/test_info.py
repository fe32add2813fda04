# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata info`: what a trace holds, on any terminal, whatever is called whatever."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from small_trace import write_trace
from strata_command import strata

from strata.read import open_trace
from strata.read.contents import describe
from strata.show.terminal.breaking import broken

Sample = Callable[[str], Path]


def test_info_counts_what_the_tables_hold(sample: Sample) -> None:
    directory = sample("fast_relaymp_st")
    run = strata("info", directory, "--format", "json")
    assert run.returncode == 0, run.stderr
    document = json.loads(run.stdout)
    tables = open_trace(directory).tables()
    assert document["event_counts"] == {name: len(table) for name, table in tables.items()}
    assert document["events"] == sum(map(len, tables.values())) == 109286
    assert document["begin_ns"] == min(table["timestamp"][0].as_py() for table in tables.values())
    assert sum(process["events"] for process in document["processes"]) == 109286
    assert len({process["vpid"] for process in document["processes"]}) == 5
    (trace,) = document["traces"]
    assert (trace["domain"], trace["buffering"], trace["ctf"]) == ("ust", "uid", "1.8")
    assert trace["bytes"] == sum(
        path.stat().st_size for path in directory.rglob("ros2_?") if path.is_file()
    )


@pytest.mark.parametrize("columns", [40, 60, 80, 132])
def test_info_fits_any_terminal(sample: Sample, tmp_path: Path, columns: int) -> None:
    """Long paths, brackets, several traces: nothing is cut off, and names break at slashes."""
    deep = tmp_path / "of_a_long_campaign/with_several/machines[0]/and_days/[/]"
    shutil.copytree(sample("fast_relay1p_mt_lossy"), deep / "host_a")
    write_trace(deep / "host_b/ust/uid/1000/64-bit", [b""] * 3, event="e[/b]", process="[/]")
    run = strata("info", deep, "--all", columns=columns)
    assert run.returncode == 0, run.stderr
    lines = [line.rstrip() for line in run.stdout.splitlines()]
    assert max(map(len, lines)) <= columns
    text = " ".join(run.stdout.split())
    assert str(deep) in re.sub(r"\s", "", run.stdout)
    for path in ("host_a/ust/ust/uid/0/64-bit", "host_b/ust/uid/1000/64-bit"):
        assert path in lines
    assert "ust 2.13, CTF 1.8, per-UID buffers, 2 streams, 871 packets of up to 4.0 KiB" in text
    assert "1 stream, 1 packet of up to" in text
    assert "25,631 events were discarded" in text
    assert "discarded_events: 25,631, from" in text
    assert "  host_a/ust/ust/uid/0/64-bit/ros2_0" in lines
    assert any(re.fullmatch(r"host +\[/\] +42 +3", line) for line in lines)
    assert any(re.fullmatch(r"e\[/b\] +3 +< 0\.1 %", line) for line in lines)
    for head in (["host", "process", "pid", "events"], ["event", "count", "share"]):
        assert head in [line.split() for line in lines]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("a/b", 80, ["a/b"]),
        ("/aaa/bbb/ccc", 8, ["/aaa/", "bbb/ccc"]),
        ("/aaa/bbb/ccc", 9, ["/aaa/bbb/", "ccc"]),
        ("aaaaaa/b", 4, ["aaaa", "aa/b"]),
        ("x/aaaaaa/b", 4, ["x/", "aaaa", "aa/b"]),
        ("one two three", 7, ["one two", "three"]),
        ("", 5, [""]),
        ("日本/語", 5, ["日本/", "語"]),
    ],
)
def test_a_path_breaks_after_a_slash(text: str, width: int, lines: list[str]) -> None:
    assert broken(text, width).split("\n") == lines


def test_a_trace_without_a_clock_has_no_time(tmp_path: Path) -> None:
    write_trace(tmp_path / "a", [b""] * 3, clock=False)
    document = json.loads(strata("info", tmp_path, "--format", "json").stdout)
    assert (document["events"], document["begin_ns"], document["end_ns"]) == (3, None, None)
    assert document["traces"][0]["clock"] is False
    text = strata("info", tmp_path).stdout
    assert "no clock" in text
    assert "1970" not in text
    # Beside one that has a clock, it does not move the begin to 1970.
    write_trace(tmp_path / "b", [b""] * 3)
    contents = describe(open_trace(tmp_path))
    assert contents.begin_ns == 1_700_000_000 * 10**9
    assert contents.end_ns == contents.begin_ns + 2000
    assert "2023-11-14" in strata("info", tmp_path).stdout


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    bad = "\x1b]0;owned\x07\x9b31m\x7f"
    name = f"dir{bad}"
    write_trace(tmp_path / name, [b""], process=f"p{bad}", host="h\x1b[31m", event=f"e{bad}")
    (tmp_path / name / "worse").mkdir()
    (tmp_path / name / "worse/metadata").write_text("no metadata")
    for path in (tmp_path, tmp_path / name):
        run = strata("info", path, columns=200)
        assert run.returncode == 0, run.stderr
        shown = run.stdout + run.stderr
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)
        assert "p\ufffd]0;owned\ufffd" in shown
        assert "h\ufffd[31m" in shown
    run = strata("info", tmp_path / name / "worse")
    assert run.returncode == 1
    assert "\x1b" not in run.stderr


def test_markup_is_text_in_an_analysis(own_sample: Sample) -> None:
    directory = own_sample("fast_blocked_st")
    changed = 0
    for stream in directory.rglob("ros2_?"):
        content = stream.read_bytes()
        changed += content.count(b"/slow\0")
        stream.write_bytes(
            content.replace(b"/slow\0", b"/s[/]\0").replace(b"/fast\0", b"/f\x1b[m\0")
        )
    assert changed
    run = strata("analyze", directory, "--all")
    assert run.returncode == 0, run.stderr
    assert "/s[/]" in run.stdout
    assert "/f\ufffd[m" in run.stdout
    assert "\x1b" not in run.stdout


def test_the_losses_are_listed_with_place_and_time(sample: Sample) -> None:
    place = sample("fast_relay1p_mt_lossy")
    document = json.loads(strata("info", place, "--format", "json").stdout)
    assert sum(loss["count"] for loss in document["losses"]) == 25631
    first = document["losses"][0]
    assert list(first) == ["code", "count", "where", "begin_ns", "end_ns"]
    assert document["begin_ns"] <= first["begin_ns"] <= first["end_ns"] <= document["end_ns"]


def test_long_lists_end_and_say_so(tmp_path: Path) -> None:
    for number in range(25):
        directory = write_trace(tmp_path / f"trace{number:02}", [b""])
        (directory / "empty").touch()
    text = strata("info", tmp_path).stdout
    assert text.count("empty_streams: 1") == 20
    assert text.count("... and 5 more (--all)") == 2
    assert "25 stream files hold no packet" in text
    text = strata("info", tmp_path, "--all").stdout
    assert text.count("empty_streams: 1") == 25
    assert "--all" not in text


def test_a_place_is_told_below_the_path_and_not_shortened_inside(tmp_path: Path) -> None:
    (write_trace(tmp_path / "a/data/a", [b""]) / "empty").touch()
    text = strata("info", "a", cwd=tmp_path).stdout
    assert "\n  data/a/empty\n" in text


def test_events_of_the_kernel_make_no_process(own_sample: Sample) -> None:
    session = own_sample("fast_throws")
    before = json.loads(strata("info", session, "--format", "json").stdout)
    # Not in the catalogue, and with the contexts of whoever called.
    write_trace(session / "kernel", [b""] * 3, event="syscall_entry_read", domain="kernel")
    after = json.loads(strata("info", session, "--format", "json").stdout)
    assert after["event_counts"]["syscall_entry_read"] == 3
    assert after["processes"] == before["processes"]
    analyzed = json.loads(strata("analyze", session, "--format", "json").stdout)
    known = {item["vpid"] for item in before["processes"]}
    assert {item["vpid"] for item in analyzed["trace"]["processes"]} == known


def test_one_is_no_plural(tmp_path: Path) -> None:
    (write_trace(tmp_path, [b""]) / "empty").touch()
    text = strata("info", tmp_path).stdout
    assert "1 stream file holds no packet" in text
    assert "1 of 1 type\n" in re.sub(" +\n", "\n", text)
    assert "1 stream, 1 packet" in text


def test_what_could_not_be_read_is_named(tmp_path: Path) -> None:
    write_trace(tmp_path / "good", [b""])
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/metadata").touch()
    run = strata("info", tmp_path, columns=400)
    assert "1 directory at or below the path could not be read and was left out" in run.stdout
    assert "  bad: Cannot read metadata bad/metadata: it is empty" in run.stdout
    run = strata("convert", tmp_path, "-o", tmp_path / "out")
    assert f"left out: {tmp_path}/bad: Cannot read metadata" in run.stderr


def test_the_buffers_of_a_session(own_sample: Sample) -> None:
    session = own_sample("fast_throws")
    channel = {"subbuf_size": 1 << 20, "num_subbuf": 8}
    (session / "manifest.json").write_text(json.dumps({"config": {"channel": channel}}))
    document = json.loads(strata("info", session, "--format", "json").stdout)
    assert document["buffers"] == {"count": 8, "bytes": 1 << 20}
    assert "8 x 1.0 MiB a channel and CPU" in strata("info", session).stdout
    (session / "manifest.json").write_text('{"config": null}')
    document = json.loads(strata("info", session, "--format", "json").stdout)
    assert document["buffers"] is None
