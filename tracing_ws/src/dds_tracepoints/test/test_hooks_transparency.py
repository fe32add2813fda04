# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every hook gives on what it is given, and gives back what it gets; of unknown releases too."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from dds_events import LIBRARY, DdsEvent, Program, read
from native import PROGRAMS, compiled
from standins import BUILD, build, rows
from traced_ros import Lttng

# Results with and without an exception, for every function.
CALLS = 4 * 2
KNOWN = ["libfastrtps.so.2.14", "libfastdds.so.3.2"]
UNKNOWN = "libfastdds.so.9.9"


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("standins")


@pytest.fixture(scope="module")
def program(directory: Path) -> Path:
    source = PROGRAMS / "transparency.cpp"
    return compiled(directory / "transparency", "-rdynamic", source, "-ldl")


@pytest.fixture(scope="module")
def calls(directory: Path) -> dict[str, Path]:
    return {soname: build(directory, soname) for soname in BUILD}


def line(program: Path, calls: Path, objects: str, hooks: str = "HOOKED") -> list[str | Path]:
    return [program, calls, objects, hooks, "1"]


def preloaded(**variables: str) -> dict[str, str]:
    return {"LD_PRELOAD": str(LIBRARY), **variables}


def recorded(lttng: Lttng, program: Program) -> tuple[subprocess.CompletedProcess[str], list]:
    session, output = lttng.start("dds:*")
    try:
        given = [f"{k}={v}" for k, v in (lttng.variables | dict(program.environment)).items()]
        done = subprocess.run(
            [*lttng.prefix, "env", "-i", *given, *map(str, program.line)],
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        lttng.stop(session)
    events: list[DdsEvent] = list(read(output)) if any(output.rglob("metadata")) else []
    return done, events


def expect_no_difference(done: subprocess.CompletedProcess[str], soname: str) -> None:
    count = CALLS * len(rows(soname))
    assert (done.stdout, done.returncode) == (f"{count} calls, 0 differences\n", 0), done


@pytest.mark.parametrize("soname", BUILD)
def test_the_check_finds_nothing_without_hooks(program, calls, soname):
    done = subprocess.run(
        line(program, calls[soname], "VALID", "PLAIN"), capture_output=True, text=True, env={}
    )
    expect_no_difference(done, soname)


@pytest.mark.parametrize("soname", KNOWN)
def test_nothing_changes_without_a_session(program, calls, soname):
    done = subprocess.run(
        line(program, calls[soname], "VALID"), capture_output=True, text=True, env=preloaded()
    )
    expect_no_difference(done, soname)
    assert done.stderr == ""


@pytest.mark.live
@pytest.mark.parametrize("soname", KNOWN)
def test_nothing_changes_while_every_event_is_recorded(lttng, program, calls, soname):
    done, events = recorded(lttng, Program(line(program, calls[soname], "VALID"), preloaded()))
    expect_no_difference(done, soname)
    assert done.stderr == ""
    names = Counter(event.name for event in events)
    # Per function 4 calls return and 4 throw; what begins with a call begins with all of them.
    assert (names["write_begin"], names["write_end"]) == (4 * 8, 4 * 4)
    assert (names["serialize_begin"], names["serialize_end"]) == (8, 4)
    assert (names["deserialize_begin"], names["deserialize_end"]) == (8, 4)
    assert (names["take_begin"], names["take_end"]) == (3 * 8, 3 * 4)
    assert (names["wait_begin"], names["wait_end"]) == (8, 4)
    assert (names["send_begin"], names["send_end"]) == (8, 4)
    assert (names["receive"], names["wake_up"], names["reader_notify"]) == (8, 8, 8)
    # Made with any result but null.
    assert (names["create_writer"], names["create_reader"]) == (3, 3)


@pytest.mark.live
@pytest.mark.parametrize("session", [False, True])
def test_of_an_unknown_release_no_object_is_touched_and_it_is_told_once(
    lttng, program, calls, session
):
    """The objects are memory without access: a read of one ends the program."""
    asked = Program(line(program, calls[UNKNOWN], "POISONED"), preloaded())
    if session:
        done, events = recorded(lttng, asked)
        names = Counter(event.name for event in events)
        assert (names["send_begin"], names["receive"]) == (8, 8)
        named = {event.sample for event in events if event.name in ("send_begin", "receive")}
        assert named == {(bytes([*range(1, 13), 0, 0, 19, 3]), 7)}
        (guid,) = {e["gid_prefix"] + e["gid_entity"] for e in events if e.name == "create_writer"}
        assert guid == bytes([*range(1, 16), 4])
    else:
        done = subprocess.run(
            list(map(str, asked.line)), capture_output=True, text=True, env=asked.environment
        )
    expect_no_difference(done, UNKNOWN)
    (told,) = done.stderr.splitlines()
    assert told.startswith(f"dds_tracepoints: The layout of objects of {UNKNOWN} is not known.")


def test_the_notice_can_be_silenced(program, calls):
    done = subprocess.run(
        line(program, calls[UNKNOWN], "POISONED"),
        capture_output=True,
        text=True,
        env=preloaded(DDS_TRACEPOINTS_QUIET="1"),
    )
    expect_no_difference(done, UNKNOWN)
    assert done.stderr == ""


@pytest.mark.parametrize("soname", KNOWN)
def test_without_a_session_no_object_of_a_known_release_is_touched_either(program, calls, soname):
    done = subprocess.run(
        line(program, calls[soname], "POISONED"), capture_output=True, text=True, env=preloaded()
    )
    expect_no_difference(done, soname)


@pytest.mark.live
def test_poisoned_objects_end_a_program_that_reads_them(lttng, program, calls):
    """Hold that the checks above would find a read: while events are recorded there are some."""
    done, _ = recorded(lttng, Program(line(program, calls[KNOWN[0]], "POISONED"), preloaded()))
    assert done.returncode == -signal.SIGSEGV
