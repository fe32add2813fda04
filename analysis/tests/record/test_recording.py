# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Real sessions around a real traced program: normal ends, failures, refusals."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from lttng_world import ROOT, World, events, manifest

pytestmark = pytest.mark.live


def _nothing_left(world: World) -> None:
    assert world.daemon_pid() is None


def test_records_a_command_and_leaves_nothing_running(
    world: World, tick: Path, tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    done = world.record("-o", target, "--", tick, "100")

    assert (done.returncode, done.stdout) == (0, "100 ticks\n")
    assert f"recorded into {target}" in done.stderr
    lines = events(target / "trace")
    assert len(lines) == 100
    assert all("ros2:tick" in line for line in lines)
    for context in ("vpid = ", "vtid = ", 'procname = "tick"', "pid_ns = "):
        assert all(context in line for line in lines)
    assert sorted(path.name for path in target.iterdir()) == [
        "manifest.json",
        "thread_cpu",
        "trace",
    ]
    assert [path.name for path in (target / "trace").iterdir()] == ["ust"]
    assert (target / "trace" / "ust" / "uid" / str(os.getuid()) / "64-bit" / "metadata").is_file()
    assert not (world.home / ".lttngrc").exists()
    _nothing_left(world)


def test_manifest_tells_what_was_recorded(world: World, tick: Path, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    before = time.time_ns() - time.monotonic_ns()
    environment = world.environment | {"ROS_DOMAIN_ID": "93", "CYCLONEDDS_URI": "<c/>"}
    world.record("-o", target, "--name", "mine", "--", tick, "7", env=environment)

    content = manifest(target)
    assert content["schema"] == 1
    assert re.fullmatch(r"strata-mine-\d+-\d+", content["session"])
    assert content["command"]["line"] == [str(tick), "7"]
    assert content["command"]["exit_status"] == 0
    assert content["command"]["signal"] is None
    assert content["command"]["succeeded"] is True
    assert content["config"]["file"] == str(ROOT / "trace_configs" / "ros2.yaml")
    assert content["config"]["events"]["ust"] == ["ros2:*", "rclpy:*", "ros2_statedump:*"]
    assert content["config"]["channel"]["subbuf_size"] == 1 << 20
    assert content["ros"] is None
    assert content["environment"]["ROS_DOMAIN_ID"] == "93"
    assert content["environment"]["CYCLONEDDS_URI"] == "<c/>"
    assert content["host"]["cpu_count"] == os.cpu_count()
    assert content["host"]["kernel"] == os.uname().release
    assert content["versions"]["lttng_tools"].startswith("2.")
    assert content["discarded_events"] == 0
    assert content["empty"] is False
    assert content["problems"] == []
    for moment in ("start", "end"):
        clocks = content[moment]["clocks"]
        # NTP may slew the clock between the two measurements, by 500 ppm at most.
        assert abs(clocks["realtime_minus_monotonic_ns"] - before) < 100_000_000
        assert 0 <= clocks["error_ns"] < 1_000_000
    assert 0 < content["duration_ns"] < 60_000_000_000
    pid = content["command"]["pid"]
    assert f"vpid = {pid}" in events(target / "trace")[0]


def test_the_manifest_tells_whose_processes_were_recorded(
    world: World, tick: Path, tmp_path: Path
) -> None:
    # Another program of the user emits events, too; the command's own is a child of its shell.
    target = tmp_path / "rec"
    go = tmp_path / "go"
    waits = f"while [ ! -e {go} ]; do sleep 0.05; done; {tick} 5"
    world.start_daemon()
    stranger = world.popen("sh", "-c", f"{waits}; sleep 30")
    try:
        script = f"touch {go}; {tick} 7; sleep 1"
        world.record("-o", target, "--", "sh", "-c", script)
    finally:
        stranger.kill()
        stranger.wait()
    told = manifest(target)["processes"]
    pids = [int(pid) for pid in re.findall(r"vpid = (\d+)", "".join(events(target / "trace")))]
    assert len(pids) == 12
    assert manifest(target)["command"]["pid"] in told["of_command"]
    own = {pid for pid in pids if pids.count(pid) == 7}
    assert len(own) == 1
    assert own.isdisjoint(told["others"])
    assert stranger.pid in told["others"]
    assert stranger.pid not in told["of_command"]


def test_a_failing_command_is_recorded_all_the_same(
    world: World, tick: Path, tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    done = world.record("-o", target, "--", "sh", "-c", f"{tick} 5; exit 3")

    assert done.returncode == 3
    assert "strata: the command failed: exit status 3\n" in done.stderr
    assert manifest(target)["command"]["exit_status"] == 3
    assert len(events(target / "trace")) == 5
    _nothing_left(world)


def test_a_crashing_command_is_recorded_all_the_same(
    world: World, tick: Path, tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    done = world.record("-o", target, "--", "sh", "-c", f"{tick} 5; kill -SEGV $$")

    assert done.returncode == 128 + signal.SIGSEGV
    assert "strata: the command failed: signal SIGSEGV\n" in done.stderr
    assert manifest(target)["command"]["signal"] == "SIGSEGV"
    assert len(events(target / "trace")) == 5
    _nothing_left(world)


def test_a_command_that_does_not_exist_starts_nothing(world: World, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    done = world.record("-o", target, "--", "no-such-program")

    assert done.returncode == 127
    assert done.stderr == (
        "strata: Cannot run no-such-program: no such program. Check the spelling and PATH; write "
        "./NAME for a file in this directory.\n"
    )
    assert not target.exists()
    _nothing_left(world)


def test_a_file_that_is_not_executable_is_told(world: World, tmp_path: Path) -> None:
    done = world.record("-o", tmp_path / "rec", "--", "/etc/passwd")
    assert done.returncode == 126
    assert "Cannot run /etc/passwd: /etc/passwd is not executable." in done.stderr


def test_a_command_that_cannot_be_executed_leaves_nothing(world: World, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    target = tmp_path / "rec"
    world.start_daemon()
    done = world.record("-o", target, "--", script)

    assert done.returncode == 126
    assert f"Cannot run {script}: No such file or directory." in done.stderr
    assert world.sessions() == []
    assert not target.exists()


def test_a_failure_in_mid_set_up_leaves_nothing(world: World, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    fake = tools / "lttng"
    fake.write_text(
        '#!/bin/sh\n[ "$2" = add-context ] && { echo "Error: planted" >&2; exit 7; }\n'
        'exec /usr/bin/lttng "$@"\n'
    )
    fake.chmod(0o755)
    target = tmp_path / "rec"
    daemon = world.start_daemon()
    path = f"{tools}:{world.environment['PATH']}"
    done = world.record("-o", target, "--", "true", env=world.environment | {"PATH": path})

    assert done.returncode == 125
    assert "planted (exit status 7)" in done.stderr
    assert world.sessions() == []
    assert world.daemon_pid() == daemon
    assert not target.exists()


def test_what_the_command_wrote_is_not_replaced(world: World, tick: Path, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    script = (
        f"mkdir $STRATA_SESSION_DIR/scenario; echo a >$STRATA_SESSION_DIR/scenario/mine; {tick} 1"
    )
    assert world.record("-o", target, "--", "sh", "-c", script).returncode == 0
    assert not [name for name in manifest(target)["files"] if name.startswith("scenario")]
    again = world.record("--force", "-o", target, "--", tick, "1")
    assert again.returncode == 125
    assert "scenario is not part of a recording" in again.stderr
    assert (target / "scenario/mine").read_text() == "a\n"


def test_a_foreign_daemon_and_its_sessions_are_left_alone(
    world: World, tick: Path, tmp_path: Path
) -> None:
    daemon = world.start_daemon()
    world.lttng("create", "theirs", f"--output={tmp_path / 'theirs'}")
    world.lttng("enable-event", "--userspace", "ros2:tick")
    world.lttng("start")
    settings = (world.home / ".lttngrc").read_text()
    done = world.record("-o", tmp_path / "rec", "--", tick, "11")

    assert done.returncode == 0
    assert world.daemon_pid() == daemon
    assert world.sessions() == ["theirs"]
    assert (world.home / ".lttngrc").read_text() == settings
    world.lttng("destroy", "theirs")
    assert len(events(tmp_path / "theirs")) == 11
    assert len(events(tmp_path / "rec" / "trace")) == 11


def test_a_daemon_of_ours_outlives_us_while_another_records(
    world: World, tick: Path, tmp_path: Path
) -> None:
    go = tmp_path / "go"
    waits = f"echo running; while [ ! -e {go} ]; do sleep 0.05; done; {tick} 9"
    first = world.start_recording(tmp_path / "a", "sh", "-c", "echo running; sleep 2")
    second = world.start_recording(tmp_path / "b", "sh", "-c", waits)
    _, said = first.communicate(timeout=60)
    assert "left running: other sessions use it" in said
    go.touch()
    second.communicate(timeout=60)

    assert (first.returncode, second.returncode) == (0, 0)
    assert len(events(tmp_path / "b" / "trace")) == 9


def test_recordings_that_start_at_once_share_a_daemon(
    world: World, tick: Path, tmp_path: Path
) -> None:
    def start(name: str) -> subprocess.Popen[str]:
        line = ("record", "-c", "ros2", "--no-ros", "-o", tmp_path / name, "--")
        return world.popen(sys.executable, "-m", "strata", *line, "sh", "-c", f"sleep 1; {tick} 9")

    both = {name: start(name) for name in "ab"}
    for name, process in both.items():
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
        # One daemon: each session has what the other's command emits while it records, too.
        assert len(events(tmp_path / name / "trace")) >= 9


def test_lost_events_are_counted_not_hidden(world: World, tick: Path, tmp_path: Path) -> None:
    config = tmp_path / "small.yaml"
    config.write_text(
        "events: {ust: ['ros2:*']}\n"
        "channel: {subbuf_size: 4096, num_subbuf: 2, read_timer: 1000000}\n"
    )
    target = tmp_path / "rec"
    done = world.strata("record", "-c", config, "--no-ros", "-o", target, "--", tick, "50000")

    lost = manifest(target)["discarded_events"]
    assert done.returncode == 0
    assert 0 < lost < 50000
    assert lost + len(events(target / "trace")) == 50000
    assert f"strata: {lost} events were lost to full buffers" in done.stderr


def test_an_untraced_command_is_told(world: World, tmp_path: Path) -> None:
    done = world.record("-o", tmp_path / "rec", "--", "true")

    assert done.returncode == 0
    assert "no event was recorded" in done.stderr
    assert manifest(tmp_path / "rec")["empty"] is True


def test_a_traced_command_without_events_is_told(world: World, tick: Path, tmp_path: Path) -> None:
    # `tick` has a tracepoint provider; asked for no event it emits none.
    done = world.record("-o", tmp_path / "rec", "--", tick, "0")

    assert done.returncode == 0, done.stderr
    assert next((tmp_path / "rec/trace").rglob("metadata"), None) is not None
    assert "no event was recorded" in done.stderr
    assert manifest(tmp_path / "rec")["empty"] is True


def test_the_command_learns_the_session_directory(world: World, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    done = world.record("-o", target, "--", "sh", "-c", 'echo "$STRATA_SESSION_DIR"')
    assert done.stdout == f"{target}\n"


def test_options_after_the_command_are_its_own(world: World, tmp_path: Path) -> None:
    done = world.record("-o", tmp_path / "rec", "echo", "-c", "--force", "--name")
    assert (done.returncode, done.stdout) == (0, "-c --force --name\n")
    done = world.record("--nmae", "x", "--", "true")
    assert (done.returncode, done.stdout) == (125, "")
    assert "No such option '--nmae'" in done.stderr.replace(":", "")


def test_the_default_directory_is_in_sessions(world: World, tmp_path: Path) -> None:
    (tmp_path / "trace_configs").symlink_to(ROOT / "trace_configs")
    environment = world.environment | {"STRATA_ROOT": str(tmp_path)}
    assert world.record("--name", "here", "--", "true", env=environment).returncode == 0
    (made,) = (tmp_path / "sessions").iterdir()
    assert re.fullmatch(r"\d{8}T\d{6}Z_here", made.name)


def test_an_existing_directory_is_refused(world: World, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    done = world.record("-o", tmp_path, "--", "true")

    assert done.returncode == 125
    assert done.stderr == (
        f"strata: Cannot record into {tmp_path}: it is not empty (notes.txt; 1 in all). Choose "
        "another -o, or replace an earlier recording with --force.\n"
    )


def test_force_replaces_a_recording_and_keeps_what_is_not_of_it(
    world: World, tick: Path, tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    world.record("-o", target, "--", tick, "3")
    (target / "notes.txt").write_text("mine")
    done = world.record("-o", target, "--force", "--", tick, "4")

    assert done.returncode == 0
    assert f"strata: removed {target}/trace\n" in done.stderr
    assert (target / "notes.txt").read_text() == "mine"
    assert len(events(target / "trace")) == 4


def test_force_does_not_touch_what_is_no_recording(world: World, tmp_path: Path) -> None:
    (tmp_path / "trace").mkdir()
    (tmp_path / "trace" / "precious").write_text("mine")
    done = world.record("-o", tmp_path, "--force", "--", "true")

    assert done.returncode == 125
    assert (
        "trace is not part of a recording: there is no manifest.json of a recording"
    ) in done.stderr
    assert (tmp_path / "trace" / "precious").read_text() == "mine"


def files_that_hold(directory: Path, text: str) -> list[str]:
    paths = [path for path in directory.rglob("*") if path.is_file()]
    return [path.name for path in paths if text.encode() in path.read_bytes()]


def test_secrets_are_masked_and_the_manifest_is_no_strangers(
    world: World, tick: Path, tmp_path: Path
) -> None:
    target = tmp_path / "rec"
    environment = world.environment | {"ROS_TOKEN": "hunter2", "ROS_KEEP": "last"}
    script = f"cat {target}/recording.json; exec {tick} 3 # --password hunter2"
    done = world.record(
        *("-o", target, "--", "sh", "-c", script, "--api-key=hunter2", "--secret", "hunter2"),
        env=environment,
    )
    assert done.returncode == 0
    assert '"session"' in done.stdout
    assert "hunter2" not in done.stdout + done.stderr
    assert files_that_hold(target, "hunter2") == []
    content = manifest(target)
    assert content["command"]["line"][-3:] == ["--api-key=***", "--secret", "***"]
    assert content["environment"]["ROS_TOKEN"] == "***"
    assert content["environment"]["ROS_KEEP"] == "last"
    assert (target / "manifest.json").stat().st_mode & 0o007 == 0
    for path in (target / "thread_cpu").iterdir():
        assert path.stat().st_mode & 0o007 == 0


def test_the_command_line_can_be_left_out(world: World, tick: Path, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    script = f"cat {target}/recording.json; exec {tick} 3"
    done = world.record("--no-command-line", "-o", target, "--", "sh", "-c", script)
    assert done.returncode == 0
    assert '"command": []' in done.stdout
    assert manifest(target)["command"]["line"] == []
    assert files_that_hold(target, script) == []


def test_a_running_recording_is_not_replaced(world: World, tmp_path: Path) -> None:
    target = tmp_path / "rec"
    first = world.start_recording(target, "sh", "-c", "echo running; exec sleep 30")
    done = world.record("-o", target, "--force", "--", "true")
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=60)

    assert done.returncode == 125
    assert f"process {first.pid} is recording into it" in done.stderr
    assert first.returncode == 128 + signal.SIGINT


def test_a_missing_session_daemon_program_is_told(world: World, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("lttng", "true", "nsenter", "mount"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    target = tmp_path / "rec"
    done = world.record("-o", target, "--", "true", env=world.environment | {"PATH": str(tools)})

    assert done.returncode == 125
    assert "Cannot start lttng-sessiond: it is not installed." in done.stderr
    assert not target.exists()


def test_kernel_events_are_left_out_where_they_cannot_be_had(
    world: World, tick: Path, tmp_path: Path
) -> None:
    config = tmp_path / "kernel.yaml"
    config.write_text("events: {ust: ['ros2:*'], kernel: [sched_switch]}\n")
    target = tmp_path / "rec"
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("lttng", "lttng-sessiond", "nsenter", "mount"):
        program = shutil.which(name)
        assert program is not None
        (tools / name).symlink_to(program)
    without_perf = world.environment | {"PATH": str(tools)}
    line = ("record", "-c", config, "--no-ros", "-o", target, "--", tick, "3")
    done = world.strata(*line, env=without_perf)

    kernel = manifest(target)["kernel_tracing"]
    assert done.returncode == 0, done.stderr
    assert kernel["recorded"] is kernel["available"]
    assert (kernel["why_not"] is None) is kernel["available"]
    if not kernel["available"]:
        assert "no kernel events: no lttng-modules (" in done.stderr
        assert "Cannot record with perf: it is not installed." in done.stderr
        assert kernel["perf"]["why_not"].startswith("Cannot record with perf")
    assert (target / "trace" / "kernel").exists() is kernel["available"]
    assert sum("ros2:tick" in line for line in events(target / "trace")) == 3


def test_buffers_can_be_one_set_for_each_process(world: World, tick: Path, tmp_path: Path) -> None:
    config = tmp_path / "pids.yaml"
    config.write_text("events: {ust: ['ros2:*']}\nbuffers: per-pid\n")
    target = tmp_path / "rec"
    line = ("sh", "-c", f"{tick} 2; {tick} 3")
    done = world.strata("record", "-c", config, "--no-ros", "-o", target, "--", *line)

    assert done.returncode == 0
    assert len(list((target / "trace" / "ust" / "pid").iterdir())) == 2
    assert len(events(target / "trace")) == 5
