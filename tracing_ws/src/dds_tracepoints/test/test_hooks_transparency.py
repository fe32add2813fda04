# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every hook gives on what it is given, and gives back what it gets; of unknown releases too."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from dds_events import LIBRARY, DdsEvent, Program, read, read_raw
from native import PROGRAMS, compiled
from standins import BUILD, build, rows
from traced_ros import Lttng, alone

pytestmark = pytest.mark.live

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


def line(
    program: Path, *calls: Path, objects: str = "VALID", threads: int = 1, rounds: int = 1
) -> list[str | Path]:
    return [program, objects, "HOOKED", str(threads), str(rounds), *calls]


def preloaded(**variables: str) -> dict[str, str]:
    return {"LD_PRELOAD": str(LIBRARY), **variables}


def start(lttng: Lttng, program: Program) -> subprocess.CompletedProcess[str]:
    """Run where no other session than the test's own is."""
    words = alone(program.line, program.environment, lttng)
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def recorded(
    lttng: Lttng, program: Program
) -> tuple[subprocess.CompletedProcess[str], list[DdsEvent]]:
    session, output = lttng.start("dds:*")
    try:
        done = start(lttng, program)
    finally:
        lttng.stop(session)
    return done, list(read(output)) if any(output.rglob("metadata")) else []


def expect_no_difference(
    done: subprocess.CompletedProcess[str], *sonames: str, times: int = 1
) -> None:
    count = times * sum(CALLS * len(rows(soname)) for soname in sonames)
    assert (done.stdout, done.returncode) == (f"{count} calls, 0 differences\n", 0), done


@pytest.mark.parametrize("soname", BUILD)
def test_the_check_finds_nothing_without_hooks(program, calls, soname):
    asked = ["PLAIN" if word == "HOOKED" else word for word in line(program, calls[soname])]
    done = subprocess.run(asked, capture_output=True, text=True, env={})
    expect_no_difference(done, soname)


@pytest.mark.parametrize("soname", KNOWN)
def test_nothing_changes_without_a_session(lttng, program, calls, soname):
    done = start(lttng, Program(line(program, calls[soname]), preloaded()))
    expect_no_difference(done, soname)
    assert done.stderr == ""


@pytest.mark.parametrize("soname", KNOWN)
def test_nothing_changes_while_every_event_is_recorded(lttng, program, calls, soname):
    done, events = recorded(lttng, Program(line(program, calls[soname]), preloaded()))
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
    # What the functions returned, as 32 bits; 2.14 writes with bools, too.
    codes = {"wait_end": 1, "take_end": 3} | ({} if "2.14" in soname else {"write_end": 4})
    for name, functions in codes.items():
        results = Counter(event["result"] for event in events if event.name == name)
        assert results == {0: functions, 1: 2 * functions, 2: functions}, name
    # Made with any result but null.
    assert (names["create_writer"], names["create_reader"]) == (3, 3)


@pytest.mark.parametrize("session", [False, True])
def test_of_an_unknown_release_no_object_is_touched_and_it_is_told_once(
    lttng, program, calls, session
):
    """The objects are memory without access: a read of one ends the program."""
    asked = Program(line(program, calls[UNKNOWN], objects="POISONED"), preloaded())
    if session:
        done, events = recorded(lttng, asked)
        names = Counter(event.name for event in events)
        assert (names["send_begin"], names["receive"]) == (8, 8)
        named = {event.sample for event in events if event.name in ("send_begin", "receive")}
        assert named == {(bytes([*range(1, 13), 0, 0, 19, 3]), 7)}
        (guid,) = {e["gid_prefix"] + e["gid_entity"] for e in events if e.name == "create_writer"}
        assert guid == bytes([*range(1, 16), 4])
    else:
        done = start(lttng, asked)
    expect_no_difference(done, UNKNOWN)
    (told,) = done.stderr.splitlines()
    assert told.startswith(f"dds_tracepoints: The layout of objects of {UNKNOWN} is not known.")


def test_the_notice_can_be_silenced(lttng, program, calls):
    environment = preloaded(DDS_TRACEPOINTS_QUIET="1")
    done = start(lttng, Program(line(program, calls[UNKNOWN], objects="POISONED"), environment))
    expect_no_difference(done, UNKNOWN)
    assert done.stderr == ""


@pytest.mark.parametrize("soname", KNOWN)
def test_without_a_session_no_object_of_a_known_release_is_touched_either(
    lttng, program, calls, soname
):
    done = start(lttng, Program(line(program, calls[soname], objects="POISONED"), preloaded()))
    expect_no_difference(done, soname)


def test_poisoned_objects_end_a_program_that_reads_them(lttng, program, calls):
    """Hold that the checks above would find a read: while events are recorded there are some."""
    done, _ = recorded(
        lttng, Program(line(program, calls[KNOWN[0]], objects="POISONED"), preloaded())
    )
    assert done.returncode == -signal.SIGSEGV


@pytest.mark.parametrize("soname", KNOWN)
def test_threads_that_come_first_at_once_find_the_same(lttng, program, calls, soname):
    for _ in range(20):
        asked = line(program, calls[soname], threads=8)
        done = start(lttng, Program(asked, preloaded()))
        expect_no_difference(done, soname, times=8)


@pytest.mark.parametrize("soname", KNOWN)
def test_a_library_that_is_closed_and_opened_again(lttng, program, calls, soname):
    asked = line(program, calls[soname], threads=2, rounds=5)
    done, events = recorded(lttng, Program(asked, preloaded()))
    expect_no_difference(done, soname, times=10)
    assert Counter(event.name for event in events)["wake_up"] == 10 * CALLS


@pytest.fixture(scope="module")
def apart(directory: Path) -> dict[str, Path]:
    """Both releases, without the middleware, of which a process has one."""
    return {soname: build(directory / "apart", soname, rmw=False) for soname in KNOWN}


@pytest.mark.parametrize("order", [1, -1])
def test_two_releases_in_a_process_each_get_their_own_calls(lttng, program, apart, order):
    asked = line(program, *list(apart.values())[::order], rounds=3)
    done, events = recorded(lttng, Program(asked, preloaded()))
    calls = 3 * CALLS * sum(len(rows(soname)) - 2 for soname in KNOWN)
    assert done.stdout == f"{calls} calls, 0 differences\n"
    assert done.stderr.startswith("dds_tracepoints: Two Fast DDS libraries are in this process.")
    assert Counter(event.name for event in events)["take_begin"] == 2 * 3 * 3 * CALLS


STUCK = {
    "write_with_timestamp": ("written", "write_begin", "write_end"),
    "take": ("taken", "take_begin", "take_end"),
    "shm_send": ("sent", "send_begin", "send_end"),
    "receive": ("received", "receive", "receive"),
}


@pytest.mark.parametrize(("ms", "ends"), [(60_000, False), (1_500, True)])
@pytest.mark.parametrize("soname", KNOWN)
def test_what_does_not_end_is_seen(lttng, program, calls, soname, ms, ends):
    """Of what ends late its own event counts, once."""
    session, output = lttng.start("dds:*")
    try:
        done = start(
            lttng, Program([program, "STUCK", str(ms), *STUCK, calls[soname]], preloaded())
        )
    finally:
        lttng.stop(session)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    raw = [event for event, _ in read_raw(output)]
    seen = [event for event in raw if event.name == "unfinished"]
    assert sorted((e["operation"], e["may_end"]) for e in seen) == [(i, 1) for i in (1, 2, 3, 4)]
    assert len({event["thread"] for event in seen}) == 4
    assert {event["thread"] for event in seen}.isdisjoint({event.vtid for event in seen})
    names = Counter(event.name for event in raw)
    steps = Counter(event.name for event in read(output))
    for own, begin, end in STUCK.values():
        assert names[own] == ends
        assert steps[begin] == 1
        assert end == begin or steps[end] == ends
