# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever stops a recording: the command hears of it once, the session is gone afterwards."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lttng_world import World, alive, events, manifest, wait_until

pytestmark = pytest.mark.live

# Counts the SIGINTs that reach it, to show that a signal is passed on once.
_COUNTER = """
import signal, sys, time
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
print("running", flush=True)
while not seen:
    time.sleep(0.05)
time.sleep(0.5)
print(len(seen), flush=True)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_ends_the_command_and_completes_the_recording(
    world: World, tick: Path, tmp_path: Path, name: str
) -> None:
    target = tmp_path / "rec"
    process = world.start_recording(
        target, "sh", "-c", f"{tick} 5 >&2; echo running; exec sleep 60"
    )
    process.send_signal(signal.Signals[name])
    process.communicate(timeout=60)

    # As a shell says of the command: the recording is complete all the same.
    assert process.returncode == 128 + signal.Signals[name]
    assert manifest(target)["complete"] is True
    command = manifest(target)["command"]
    assert (command["signal"], command["interrupted_by"], command["killed"]) == (name, name, False)
    assert len(events(target / "trace")) == 5
    assert world.daemon_pid() is None
    assert not alive(command["pid"])


def test_a_signal_is_passed_on_once(world: World, tmp_path: Path) -> None:
    process = world.start_recording(tmp_path / "rec", sys.executable, "-c", _COUNTER)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "1\n")


def test_a_second_ctrl_c_kills(world: World, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    deaf = "trap '' INT; echo running; while true; do sleep 0.1; done"
    process = world.start_recording(target, "sh", "-c", deaf)
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 128 + signal.SIGKILL
    assert said.endswith("strata: the command failed: signal SIGKILL after SIGINT\n")
    assert manifest(target)["command"]["killed"] is True
    assert world.daemon_pid() is None


def test_a_status_after_a_signal_that_is_a_failure_stays_one(world: World, tmp_path: Path) -> None:
    fails = "trap 'exit 5' TERM; echo running; while true; do sleep 0.1; done"
    process = world.start_recording(tmp_path / "rec", "sh", "-c", fails)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 5
    assert said.endswith("strata: the command failed: exit status 5 after SIGTERM\n")


def test_killing_the_recorder_leaves_instructions_that_work(
    world: World, tick: Path, tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    process = world.start_recording(
        target, "sh", "-c", f"{tick} 5 >&2; echo running; exec sleep 300"
    )
    process.kill()
    # The command holds our pipe too, so read what is there instead of waiting for its end.
    note = wait_until(
        lambda: (target / "CLEANUP.txt").exists() and (target / "CLEANUP.txt").read_text(), "note"
    )
    assert process.stderr is not None
    said = _read_now(process.stderr.fileno(), until="CLEANUP.txt)\n")
    process.wait()
    state = json.loads((target / "recording.json").read_text())

    assert note in said
    assert f"(process {process.pid}) was killed" in note
    assert world.sessions() == [state["session"]]
    doctor = world.strata("doctor", "--format", "json")
    (left,) = [
        check
        for check in json.loads(doctor.stdout)["checks"]
        if check["name"] == "leftover session"
    ]
    assert state["session"] in left["found"]
    assert left["mend"] == f"sh {target}/CLEANUP.txt"
    again = world.record("-o", tmp_path / "next", "--", "true")
    assert f"a killed recording left session {state['session']}" in again.stderr

    assert json.loads((target / "manifest.json").read_text())["complete"] is False
    assert world.run("dash", target / "CLEANUP.txt").returncode == 0
    wait_until(lambda: not alive(state["command_pid"]), "end of the command")
    wait_until(lambda: world.daemon_pid() is None, "end of the session daemon")
    assert len(events(target / "trace")) == 5
    assert sorted(path.name for path in target.iterdir()) == [
        "manifest.json",
        "thread_cpu",
        "trace",
    ]
    process.stderr.close()


def test_the_instructions_of_a_foreign_daemon_spare_it(world: World, tmp_path: Path) -> None:
    daemon = world.start_daemon()
    target = tmp_path / "rec"
    process = world.start_recording(target, "sh", "-c", "echo running; exec sleep 300")
    process.kill()
    note = wait_until(
        lambda: (target / "CLEANUP.txt").exists() and (target / "CLEANUP.txt").read_text(), "note"
    )
    process.wait()
    os.kill(json.loads((target / "recording.json").read_text())["command_pid"], signal.SIGKILL)
    assert f"kill {daemon}" not in note


def test_a_command_that_reads_the_terminal_gets_it(world: World, tmp_path: Path) -> None:
    master, slave = pty.openpty()
    line = ("record", "-c", "ros2", "--no-ros", "-o", tmp_path / "rec", "--")
    process = subprocess.Popen(
        [
            *world.prefix,
            # setsid --ctty makes the terminal ours, as it is in a shell.
            *("setsid", "--ctty", "--wait", sys.executable, "-m", "strata", *map(str, line)),
            *("sh", "-c", 'read word; echo "got $word"'),
        ],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=world.environment,
    )
    os.close(slave)
    _read_now(master, until="LTTng session")
    os.write(master, b"sesame\n")
    assert "got sesame" in _read_now(master, until="got sesame")
    assert process.wait(timeout=60) == 0
    os.close(master)


def test_ctrl_c_at_a_terminal_is_passed_on(world: World, tmp_path: Path) -> None:
    master, slave = pty.openpty()
    line = ("record", "-c", "ros2", "--no-ros", "-o", tmp_path / "rec", "--")
    process = subprocess.Popen(
        [
            *world.prefix,
            *("setsid", "--ctty", "--wait", sys.executable, "-m", "strata", *map(str, line)),
            *(sys.executable, "-c", _COUNTER),
        ],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=world.environment,
    )
    os.close(slave)
    _read_now(master, until="running")
    os.write(master, b"\x03")
    said = _read_now(master, until="(manifest.json, trace/)")
    assert "1" in said.replace("^C", "").split()
    assert process.wait(timeout=60) == 0
    os.close(master)


def _read_now(descriptor: int, *, until: str) -> str:
    """Read until a text has come, without waiting for the writers' end."""
    text = ""
    deadline = time.monotonic() + 60
    while until not in text and time.monotonic() < deadline:
        if select.select([descriptor], [], [], 0.1)[0]:
            try:
                text += os.read(descriptor, 65536).decode()
            except OSError:
                break
    return text
