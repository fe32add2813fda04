# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is lost when something fails while it records, and that nobody says that nothing was."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lttng_world import World, events, manifest, wait_until

pytestmark = pytest.mark.live

_INCOMPLETE = 121
_CANNOT_RECORD = 125


def _tool(directory: Path, script: str) -> str:
    """Put a `lttng` before LTTng's own on the path, which runs `script` and then the real one."""
    directory.mkdir()
    tool = directory / "lttng"
    tool.write_text(f'#!/bin/sh\n{script}\nexec /usr/bin/lttng "$@"\n')
    tool.chmod(0o755)
    return str(directory)


def _recording(world: World, target: Path, *command: str | Path) -> subprocess.Popen[str]:
    """Begin to record 100 ticks a second."""
    return world.start_recording(target, "sh", "-c", f"echo running; exec {command[0]} 60000 10000")


def _children(world: World, name: str) -> list[int]:
    daemon = world.daemon_pid()
    assert daemon is not None
    files = Path(f"/proc/{daemon}/task").glob("*/children")
    children = [word for file in files for word in file.read_text().split()]
    return [
        int(word)
        for word in children
        if name.encode() in Path(f"/proc/{word}/cmdline").read_bytes()
    ]


def _nothing_runs(world: World) -> bool:
    return world.daemon_pid() is None


def test_events_can_be_read_a_second_after_they_happened(
    world: World, tick: Path, tmp_path: Path
) -> None:
    process = _recording(world, tmp_path / "rec", tick)
    time.sleep(2.0)
    shutil.copytree(tmp_path / "rec" / "trace", tmp_path / "copy")
    unfinished = manifest(tmp_path / "rec")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)

    assert unfinished["complete"] is False
    assert "has not ended" in unfinished["problems"][0]
    # A busy machine sleeps longer than it should.
    assert len(events(tmp_path / "copy")) > 50
    finished = manifest(tmp_path / "rec")
    assert (finished["complete"], finished["problems"]) == (True, [])


@pytest.mark.parametrize("victim", ["lttng-consumerd", "lttng-sessiond"])
def test_a_killed_daemon_leaves_what_was_recorded_and_is_told(
    world: World, tick: Path, tmp_path: Path, victim: str
) -> None:
    target = tmp_path / "rec"
    process = _recording(world, target, tick)
    time.sleep(2.5)
    daemon = world.daemon_pid()
    (pid,) = [daemon] if victim == "lttng-sessiond" else _children(world, victim)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    time.sleep(1.5)
    # The command goes on; it is the user's to end.
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=90)

    content = manifest(target)
    assert process.returncode == 128 + signal.SIGINT
    assert f"{victim} (process {pid}) ended; nothing is recorded" in said
    assert f"INCOMPLETE (see above): recorded into {target}" in said
    assert content["complete"] is False
    assert content["stopped_early"]["reason"] == "daemon"
    assert content["discarded_events"] is None
    assert len(events(target / "trace")) > 50
    wait_until(lambda: _nothing_runs(world), "the end of the daemons")


def test_an_incomplete_recording_has_a_status_of_its_own(
    world: World, tick: Path, tmp_path: Path
) -> None:
    process = world.start_recording(
        tmp_path / "rec", "sh", "-c", f"{tick} 1 >&2; echo running; sleep 2"
    )
    (pid,) = _children(world, "lttng-consumerd")
    os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=90)
    assert process.returncode == _INCOMPLETE


def test_a_recording_stops_in_good_order_before_the_disk_is_full(
    world: World, tick: Path, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    world.run("mount", "-t", "tmpfs", "-o", "size=64m", "none", disk)
    target = disk / "rec"
    fills = f"{tick} 50 10000 >&2; head -c 50M /dev/zero > {disk}/other; {tick} 250 10000 >&2"
    # 3.2 MiB, a twentieth, is what stays free.
    done = world.record(
        "--name", "full", "-o", target, "--", "sh", "-c", f"{fills}; rm {disk}/other"
    )
    wider = world.record("--min-free", "20M", "-o", disk / "b", "--", "sh", "-c", fills)
    content = world.run("cat", disk / "b" / "manifest.json").stdout
    read = world.run("babeltrace2", disk / "b" / "trace").stdout

    assert done.returncode == 0, done.stderr
    assert wider.returncode == _INCOMPLETE
    assert "the recording was stopped before its command: the disk has" in wider.stderr
    assert '"reason": "disk"' in content
    assert 50 <= len(read.splitlines()) < 300
    assert _nothing_runs(world)


def test_too_little_space_is_refused_at_once(world: World, tmp_path: Path) -> None:
    done = world.record("--min-free", "900T", "-o", tmp_path / "rec", "--", "true")
    assert done.returncode == _CANNOT_RECORD
    assert "but a recording stops at" in done.stderr
    assert not (tmp_path / "rec").exists()


def test_buffers_that_do_not_fit_are_refused(world: World, tmp_path: Path) -> None:
    script = f"mount -t tmpfs -o size=6m none /dev/shm && exec {sys.executable} -m strata record"
    line = f"{script} -c ros2 --no-ros -o {tmp_path}/rec -- true"
    done = world.run("unshare", "--mount", "sh", "-c", line)
    assert done.returncode == _CANNOT_RECORD
    assert "in /dev/shm, which has 6" in done.stderr
    assert not (tmp_path / "rec").exists()


def test_a_limit_of_file_sizes_is_told(world: World, tick: Path, tmp_path: Path) -> None:
    line = (
        f"ulimit -f 64; exec {sys.executable} -m strata record -c ros2 --no-ros -o {tmp_path}/rec"
    )
    done = world.run("sh", "-c", f"{line} -- {tick} 10")
    # Who has the right lifts it for the daemon.
    if done.returncode == 0:
        assert len(events(tmp_path / "rec" / "trace")) == 10
    else:
        assert done.returncode == _CANNOT_RECORD
        assert "files are limited to 32 KiB (ulimit -f)" in done.stderr


def test_a_recording_ends_after_its_duration(world: World, tick: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    done = world.record("--duration", "1s", "-o", tmp_path / "rec", "--", tick, "60000", "10000")
    assert done.returncode == 0, done.stderr
    assert 1 < time.monotonic() - began < 50
    command = manifest(tmp_path / "rec")["command"]
    assert (command["signal"], command["interrupted_by"]) == ("SIGINT", "SIGINT")
    done = world.record("--duration", "0.5s", "-o", tmp_path / "b", "--", "sh", "-c", _CAUGHT)
    assert done.returncode == 7
    for wrong in ("30", "0s", "nans", "1e9s", "-1s"):
        done = world.record("--duration", wrong, "--", "true")
        assert done.returncode == _CANNOT_RECORD
        assert "Invalid value for '--duration'" in done.stderr


_CAUGHT = "trap 'exit 7' INT; while true; do sleep 0.05; done"


def test_a_renamed_directory_keeps_its_recording(world: World, tick: Path, tmp_path: Path) -> None:
    process = _recording(world, tmp_path / "rec", tick)
    time.sleep(0.5)
    (tmp_path / "rec").rename(tmp_path / "moved")
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert f"the recording is in {tmp_path / 'moved'}" in said
    assert not (tmp_path / "rec").exists()
    assert manifest(tmp_path / "moved")["complete"] is True
    assert manifest(tmp_path / "moved")["thread_cpu"]["recorded"] is True
    assert len(events(tmp_path / "moved" / "trace")) > 50


def test_a_directory_that_is_renamed_in_the_set_up_is_refused(world: World, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    moves = f'[ "$2" = add-context ] && mv {target} {tmp_path}/moved'
    path = f"{_tool(tmp_path / 'bin', moves)}:{world.environment['PATH']}"
    done = world.record("-o", target, "--", "true", env=world.environment | {"PATH": path})
    assert done.returncode == _CANNOT_RECORD
    assert "it was renamed or removed while the session was set up" in done.stderr
    assert not target.exists()
    assert _nothing_runs(world)


def test_a_removed_directory_is_told(world: World, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    line = f"sleep 0.5; rm -rf {target}; sleep 0.5"
    done = world.record("-o", target, "--", "sh", "-c", line)
    assert done.returncode == _INCOMPLETE
    assert f"{target} was removed during the recording" in done.stderr
    assert not target.exists()
    assert _nothing_runs(world)


@pytest.mark.parametrize("step", ["create", "add-context", "start"])
def test_a_recorder_killed_in_its_set_up_leaves_nothing(
    world: World, tmp_path: Path, step: str
) -> None:
    reached = tmp_path / "reached"
    wait = f'[ "$2" = {step} ] && {{ touch {reached}; sleep 1; }}'
    path = f"{_tool(tmp_path / 'bin', wait)}:{world.environment['PATH']}"
    target = tmp_path / "rec"
    process = world.popen(
        *(sys.executable, "-m", "strata", "record", "-c", "ros2", "--no-ros", "-o", target, "--"),
        *("sleep", "60"),
        env=world.environment | {"PATH": path},
    )
    wait_until(reached.exists, f"lttng {step}")
    process.kill()
    _, said = process.communicate(timeout=60)
    assert "was killed before its command ran; its setup was removed" in said
    assert _nothing_runs(world)
    assert not target.exists()


def test_a_recorder_killed_while_it_stops_leaves_a_whole_trace(
    world: World, tick: Path, tmp_path: Path
) -> None:
    reached = tmp_path / "reached"
    wait = f'[ "$2" = stop ] && [ ! -e {reached} ] && {{ touch {reached}; sleep 1; }}'
    path = f"{_tool(tmp_path / 'bin', wait)}:{world.environment['PATH']}"
    target = tmp_path / "rec"
    process = world.popen(
        *(sys.executable, "-m", "strata", "record", "-c", "ros2", "--no-ros", "-o", target, "--"),
        *(tick, "300"),
        env=world.environment | {"PATH": path},
    )
    wait_until(reached.exists, "lttng stop")
    process.kill()
    _, said = process.communicate(timeout=60)
    assert "was killed while it ended the recording; its session was ended" in said
    wait_until(lambda: _nothing_runs(world), "the end of the session daemon")
    assert len(events(target / "trace")) == 300
    assert manifest(target)["complete"] is False
    assert sorted(path.name for path in target.iterdir()) == [
        "manifest.json",
        "thread_cpu",
        "trace",
    ]


def test_files_of_a_recording_are_not_for_everyone(
    world: World, tick: Path, tmp_path: Path
) -> None:
    world.record("-o", tmp_path / "rec", "--", tick, "3")
    assert stat.S_IMODE((tmp_path / "rec" / "manifest.json").stat().st_mode) == 0o640


def test_two_recorders_do_not_share_a_directory(world: World, tick: Path, tmp_path: Path) -> None:
    # On a busy machine each step of LTTng's takes a while.
    path = f"{_tool(tmp_path / 'bin', 'sleep 0.2')}:{world.environment['PATH']}"
    line = (sys.executable, "-m", "strata", "record", "-c", "ros2", "--no-ros", "-o")
    both = []
    for _ in range(2):
        command = (*line, tmp_path / "rec", "--", tick, "10")
        both.append(world.popen(*command, env=world.environment | {"PATH": path}))
        time.sleep(0.1)
    said = [process.communicate(timeout=100)[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, _CANNOT_RECORD], said
    assert len(events(tmp_path / "rec" / "trace")) == 10


def test_a_closed_stderr_ends_neither_the_command_nor_the_recording(
    world: World, tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    script = f"echo running; sleep 4; touch {tmp_path}/done"
    line = ("record", "-c", "ros2", "--no-ros", "-o", tmp_path / "rec", "--", "sh", "-c", script)
    process = world.popen(sys.executable, "-m", "strata", *line, stderr=writing)
    os.close(writing)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    os.close(reading)
    (pid,) = _children(world, "lttng-consumerd")
    os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=90)
    assert process.returncode == _INCOMPLETE
    assert (tmp_path / "done").exists()
    assert manifest(tmp_path / "rec")["stopped_early"]["reason"] == "daemon"


def test_a_recorder_that_cannot_end_leaves_the_rest_to_its_watchdog(
    world: World, tick: Path, tmp_path: Path
) -> None:
    # From the command's end on the tool cannot be executed by the recorder, only by others.
    tools = tmp_path / "bin"
    path = f"{_tool(tools, ':')}:{world.environment['PATH']}"
    line = f"{tick} 300 >&2; rm {tools}/lttng; mkdir {tools}/lttng; ln -s /bin/false {tools}/no"
    done = world.record(
        *("-o", tmp_path / "rec", "--", "sh", "-c", line), env=world.environment | {"PATH": path}
    )
    assert done.returncode in (0, _INCOMPLETE)
    assert len(events(tmp_path / "rec" / "trace")) == 300
    assert _nothing_runs(world)


def test_memory_for_buffers_is_counted_with_what_goes_beside(
    world: World, tick: Path, tmp_path: Path
) -> None:
    cpus = os.cpu_count() or 1
    config = tmp_path / "small.yaml"
    config.write_text(
        "events: {ust: ['ros2:*']}\nchannel: {subbuf_size: 1M, num_subbuf: 2}\n", encoding="utf-8"
    )
    needed = 3 * cpus + 3
    for size, recorded in ((needed - 1, False), (needed + 1, True)):
        target = tmp_path / f"rec{size}"
        script = f"mount -t tmpfs -o size={size}m none /dev/shm && exec {sys.executable} -m strata"
        line = f"{script} record -c {config} --no-ros -o {target} -- {tick} 10"
        done = world.run("unshare", "--mount", "sh", "-c", line)
        assert done.returncode == (0 if recorded else _CANNOT_RECORD), done.stderr
        assert target.exists() is recorded
        if recorded:
            assert len(events(target / "trace")) == 10
