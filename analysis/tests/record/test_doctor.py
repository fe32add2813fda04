# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata doctor`: a line for each thing that recording needs, and how to mend it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lttng_world import ROOT, World

pytestmark = pytest.mark.live


def _checks(world: World, **variables: str) -> tuple[int, dict[str, dict[str, Any]]]:
    done = world.strata("doctor", "--format", "json", env=world.environment | variables)
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    assert document["ready"] is (done.returncode == 0)
    return done.returncode, {check["name"]: check for check in document["checks"]}


def test_a_daemon_is_only_borrowed(world: World) -> None:
    _, checks = _checks(world)
    assert checks["session daemon"]["found"] == "starts and answers (none was running)"
    assert world.daemon_pid() is None
    daemon = world.start_daemon()
    _, checks = _checks(world)
    assert checks["session daemon"]["found"] == "running, answers"
    assert world.daemon_pid() == daemon


def test_a_machine_without_lttng_is_not_ready(world: World, tmp_path: Path) -> None:
    (tmp_path / "nsenter").symlink_to("/usr/bin/nsenter")
    status, checks = _checks(world, PATH=str(tmp_path))
    assert status == 1
    assert checks["lttng-tools"] == {
        "name": "lttng-tools",
        "status": "problem",
        "found": "not installed",
        "mend": "make setup",
    }
    assert "session daemon" not in checks


def test_wheels_without_the_provider_are_a_problem(world: World, tmp_path: Path) -> None:
    prefix = tmp_path / "venv"
    (prefix / "lib" / "python3.11" / "site-packages" / "ros_jazzy_rclpy-7.dist-info").mkdir(
        parents=True
    )
    (prefix / "lib" / "librcl.so").touch()
    (tmp_path / "trace_configs").symlink_to(ROOT / "trace_configs")
    status, checks = _checks(world, STRATA_ROS_PREFIX=str(prefix), STRATA_ROOT=str(tmp_path))
    assert status == 1
    assert (checks["ROS 2"]["status"], checks["provider"]["status"]) == ("ok", "problem")
    assert checks["provider"]["mend"] == "make setup"
    assert checks["ros2 events"]["status"] == "problem"


def test_buffers_that_do_not_fit_are_a_problem(world: World, tmp_path: Path) -> None:
    config = tmp_path / "huge.yaml"
    config.write_text("events: {ust: ['ros2:*']}\nchannel: {subbuf_size: 16G, num_subbuf: 1024}\n")
    done = world.strata("doctor", "--format", "json", "-c", config)
    (buffers,) = [c for c in json.loads(done.stdout)["checks"] if c["name"] == "buffers"]
    assert done.returncode == 1
    assert buffers["status"] == "problem"
    assert "lower channel.num_subbuf" in buffers["mend"]


def test_the_table_fits_80_columns(world: World) -> None:
    done = world.strata("doctor")
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    assert "session daemon" in done.stdout
