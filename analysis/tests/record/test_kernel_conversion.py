# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording that ends while perf's data become part of the trace; perf is a stand-in here."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lttng_world import World, alive, events, manifest, wait_until

pytestmark = pytest.mark.live

# Records at once what there is to record, and prints it in two minutes if who asked lives so long:
# one whose asker is gone before it looks does not see that, and still ends.
_PERF = """#!{python}
import os, signal, sys, time
if "--version" in sys.argv:
    print("perf version 6.1.0")
elif sys.argv[1] == "script":
    parent, end = os.getppid(), time.monotonic() + 120
    while os.getppid() == parent and time.monotonic() < end:
        time.sleep(0.1)
else:
    options = dict(option.split("=", 1) for option in sys.argv if "=" in option)
    open(options["--output"], "w").write("recorded")
    signal.signal(signal.SIGINT, lambda *_: sys.exit())
    control, answers = map(int, options["--control"].removeprefix("fd:").split(","))
    os.read(control, 64)
    os.write(answers, b"ack\\n")
    signal.pause()
"""


def start(world: World, tick: Path, place: Path) -> tuple[subprocess.Popen[str], Path]:
    """Begin a recording, and wait until it converts; return it and its directory."""
    program = place / "bin" / "perf"
    program.parent.mkdir()
    program.write_text(_PERF.format(python=sys.executable))
    program.chmod(0o755)
    target = place / "a recording"
    path = f"{program.parent}:{world.environment['PATH']}"
    line = ("record", "-c", "ros2", "--kernel", "--no-ros", "-o", target, "--", tick, "5")
    process = world.popen(
        *(sys.executable, "-m", "strata", *line), env=world.environment | {"PATH": path}
    )
    metadata = target / "trace" / "kernel" / "metadata"
    wait_until(lambda: metadata.exists() or process.poll() is not None, "the conversion")
    if not (target / "perf.data").exists():
        _, said = process.communicate(timeout=60)
        assert manifest(target)["kernel_tracing"]["available"], said
        pytest.skip("lttng-modules are here, perf is not used")
    return process, target


def test_a_recorder_killed_in_the_conversion_leaves_perfs_data(
    world: World, tick: Path, tmp_path: Path
) -> None:
    process, target = start(world, tick, tmp_path)
    state = json.loads((target / "recording.json").read_text())
    assert (state["perf_pid"], state["command_pid"]) == (None, None)
    assert state["phase"] == "converting"
    process.kill()
    _, said = process.communicate(timeout=60)
    assert "converting 0.0 MiB of perf's data" in said
    assert "was killed while it ended the recording; its session was ended" in said
    assert f"kernel events are in {target / 'perf.data'} (perf script), not in the trace" in said
    assert not (target / "CLEANUP.txt").exists()
    wait_until(lambda: not alive(state["daemon_pid"]), "the daemon's end")
    assert (target / "perf.data").read_text() == "recorded"
    assert not (target / "trace" / "kernel").exists()
    assert len(events(target / "trace")) == 5


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_the_conversion_and_leaves_perfs_data(
    world: World, tick: Path, tmp_path: Path, name: str
) -> None:
    process, target = start(world, tick, tmp_path)
    process.send_signal(signal.Signals[name])
    _, said = process.communicate(timeout=30)
    assert process.returncode == 121
    problem = f"Cannot convert {target}/perf.data: {name} came. It is left unchanged."
    assert f"strata: {problem}\n" in said
    assert manifest(target)["problems"] == [problem]
    assert manifest(target)["kernel_tracing"]["recorded"] is False
    names = ["manifest.json", "perf.data", "thread_cpu", "trace"]
    assert sorted(path.name for path in target.iterdir()) == names
    assert [path.name for path in (target / "trace").iterdir()] == ["ust"]
    assert len(events(target / "trace")) == 5
    assert world.daemon_pid() is None
