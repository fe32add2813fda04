# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The preloaded library in processes of every kind: it neither hangs, nor crashes, nor shows."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest
from dds_events import LIBRARY, DdsEvent, Program, read, run
from native import PROGRAMS, compiled
from traced_ros import Lttng, Ros
from wheels import built, hooked, line

pytestmark = pytest.mark.live
DOMAIN = "73"
FORK_SAFE = "liblttng-ust-fork.so"
STORM = "writer_guid = [ [0] = 9, [1] = 9,"


@pytest.fixture(scope="module", params=["jazzy", "kilted"])
def ros(request: pytest.FixtureRequest) -> Ros:
    return Ros(request.param)


def recorded(lttng: Lttng, program: Program) -> tuple[str, str, list[DdsEvent]]:
    """Record the program's events: what it wrote on stdout and stderr, and these."""
    session, output = lttng.start("dds:*")
    try:
        (ended,) = run([program], lttng)
    finally:
        lttng.stop(session)
    events = list(read(output)) if any(output.rglob("metadata")) else []
    return ended.out, ended.err, events


SILENT = {
    "true": ["/bin/true"],
    "shell": ["/bin/sh", "-c", "echo one; (echo two); exec echo three"],
    "git": ["git", "--version"],
    "python": [
        sys.executable,
        "-c",
        "import socket; one, other = socket.socketpair(); print(one.send(b'RTPS'), other.recv(9))",
    ],
    "pipe": ["/bin/sh", "-c", "seq 1000 | sort -n | tail -1"],
}


@pytest.mark.parametrize("name", SILENT)
def test_a_program_without_dds_is_the_same_and_emits_nothing(lttng, name):
    words = [shutil.which(SILENT[name][0]) or SILENT[name][0], *SILENT[name][1:]]
    (plain,) = run([Program(words)])
    out, err, events = recorded(lttng, Program(words, {"LD_PRELOAD": str(LIBRARY)}))
    assert (out, err) == (plain.out, plain.err)
    assert events == []


@pytest.mark.parametrize("fork_safe", [False, True], ids=["", "with liblttng-ust-fork"])
def test_children_of_a_publishing_program_end_as_they_should(lttng, ros, fork_safe):
    environment = hooked(ros, DOMAIN, *([FORK_SAFE] if fork_safe else []))
    program = Program(ros.python(PROGRAMS / "forking.py"), environment)
    out, err, events = recorded(lttng, program)
    assert err == ""
    told = json.loads(out)
    assert {way: statuses for way, statuses in told["ended"].items() if statuses != [0]} == {}
    assert told["after"], "nothing arrived after the last child"
    assert any(event.name == "take_end" for event in events)


def test_a_hook_may_interrupt_a_hook(lttng, ros, tmp_path):
    """The handler's calls are those of a DDS library, and it records too."""
    storm = compiled(
        tmp_path / "libfastdds.so.storm",
        *["-shared", "-fPIC", PROGRAMS / "storm.c"],
        compiler="gcc",
    )
    words = line(ros, built(ros, "soak.c", tmp_path), "both", "50000")
    environment = hooked(ros, DOMAIN, storm) | {"DDS_TRACEPOINTS_QUIET": "1"}
    session, output = lttng.start("dds:sent,dds:writer_history_add,dds:taken")
    try:
        (ended,) = run([Program(words, environment)], lttng)
    finally:
        lttng.stop(session)
    assert ended.out.startswith("100000 messages, ")
    (counts,) = re.findall(r"(\d+) signals, (\d+) sent, (\d+) refused, (\d+) wrong", ended.err)
    signals, sent, refused, wrong = map(int, counts)
    assert signals > 50
    assert (wrong, sent + refused) == (0, 3 * signals)
    told = subprocess.run(["babeltrace2", output], capture_output=True, text=True, timeout=120)
    assert "discarded" not in told.stderr
    lines = [line for line in told.stdout.splitlines() if STORM in line]
    # The first signals come before LTTng is ready.
    assert 3 * signals * 0.9 < len(lines) <= 3 * signals


COUNT = """
import ctypes, socket, sys
counted = ctypes.CDLL(None).counted
standin = ctypes.CDLL(sys.argv[1])
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
message = ctypes.create_string_buffer(bytes.fromhex(sys.argv[2]))
def send():
    for _ in range(100):
        assert standin.standin_send(one.fileno(), message, 60, 0) == 60
        assert standin.standin_sendto(one.fileno(), message, 60, 0, None, 0) == 60
        one.sendmsg([b'RTPS'])
        other.recv(100), other.recv(100), other.recvmsg(100)
send()
before = counted()
send()
print(counted() - before)
"""


def test_when_off_a_socket_call_looks_for_no_caller(lttng, tmp_path):
    """With a session it does: the count would show it."""
    counting = compiled(
        tmp_path / "libcounting.so",
        *["-shared", "-fPIC", PROGRAMS / "counting.c", "-ldl"],
        compiler="gcc",
    )
    (tmp_path / "rows.inc").write_text("")
    standin = compiled(
        tmp_path / "libfastdds.so.3.2",
        *["-shared", "-fPIC", "-DWITH_GUIDS", f"-I{tmp_path}", PROGRAMS / "standin.cpp"],
    )
    message = (b"RTPS" + bytes([2, 3, 1, 15]) + bytes(52)).hex()
    words = [sys.executable, "-c", COUNT, standin, message]
    program = Program(words, {"LD_PRELOAD": f"{counting}:{LIBRARY}"})
    (off,) = run([program], lttng)
    assert off.out == "0\n"
    out, _, _ = recorded(lttng, program)
    # send, sendto, sendmsg and recvmsg, whoever calls them.
    assert int(out) == 400


def test_the_counter_is_the_one_that_the_hooks_call(tmp_path):
    needed = subprocess.run(["nm", "-D", "-u", LIBRARY], capture_output=True, text=True).stdout
    assert "_dl_find_object" in needed and "dl_iterate_phdr" in needed
