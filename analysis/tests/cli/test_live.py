# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What `strata live` and `strata guard` refuse, before anything is recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from relay_daemon import free_ports


def strata(*words: str | Path, place: Path) -> subprocess.CompletedProcess[str]:
    # No session daemon of the user's is asked.
    environment = os.environ | {"LTTNG_HOME": str(place), "HOME": str(place)}
    line = [sys.executable, "-m", "strata", *map(str, words)]
    return subprocess.run(
        line, capture_output=True, text=True, cwd=place, env=environment, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["live", "nowhere"], 125, "Cannot follow nowhere: nothing is recorded there now"),
        (["live", "net://"], 125, "it is no address of a session"),
        (["live", "net://host/a/b"], 125, "it is no address of a session"),
        (["live", "net://host:x/a"], 125, "Cannot follow net://host:x/a: Port could not be cast"),
        (["live", "-c", "full", "nowhere"], 2, "-c and --memory are of a recording of its own"),
        (["live", "--format", "json"], 2, "--format json is for --once"),
        (["live", "--memory", "10k"], 125, "Cannot record into ring buffers of 10"),
        (["guard", "-c", "guard.yaml"], 125, "Missing a command after `--`, or --attach"),
        (["guard", "-c", "guard.yaml", "--attach", "--", "true"], 125, "it takes no command"),
        (["guard", "-c", "none.yaml", "--", "true"], 125, "'none.yaml' does not exist"),
        (
            ["guard", "-c", "bad.yaml", "--", "true"],
            125,
            "bad.yaml:2: 'chain is slow' is no condition",
        ),
        (["guard", "-c", "guard.yaml", "--", "no-such-program"], 127, "no-such-program"),
    ],
)
def test_what_cannot_be_is_refused(
    words: list[str], status: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "guard.yaml").write_text("when: [chain max > 50 ms]\n")
    (tmp_path / "bad.yaml").write_text("when:\n  - chain is slow\n")
    done = strata(*words, place=tmp_path)
    assert done.returncode == status, done.stderr
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".yaml") in (
        [],
        # Where snapshots were to go.
        ["guard"],
    )


def test_a_relay_daemon_that_is_not_there_is_named(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    done = strata("live", f"net://127.0.0.1:{port}/mine", "--once", place=tmp_path)
    assert done.returncode == 125
    assert f"Cannot reach lttng-relayd at 127.0.0.1:{port}" in done.stderr


@pytest.mark.parametrize("text", ["x", "1.2.3.4:", "70000", "1:2:3x"])
def test_a_port_that_is_none_is_refused(text: str, tmp_path: Path) -> None:
    done = strata("live", "--prometheus", text, "--once", place=tmp_path)
    assert done.returncode == 2
    assert "is no port" in done.stderr
