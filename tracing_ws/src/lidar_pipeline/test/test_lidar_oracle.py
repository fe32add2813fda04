# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""ouster-sdk accepts what the emulator sends, pixel for pixel (`make oracle` has it take more)."""

from __future__ import annotations

import json
import subprocess

import pytest
from lidar_process import PACKAGE, ROOT

from lidar_pipeline.sensor.packet import MODES

PYTHON = ROOT / ".venv-oracle/bin/python"


def accepted(*arguments: str) -> list[dict]:
    if not PYTHON.exists():
        pytest.fail(f"{PYTHON} is not there: run make setup-oracle", pytrace=False)
    program = PACKAGE / "test/programs/oracle.py"
    done = subprocess.run(
        [PYTHON, program, *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_scans_of_every_mode_are_accepted() -> None:
    found = accepted("--scans", "30")
    assert [each["mode"] for each in found] == list(MODES)
    for each in found:
        assert (each["scans"], each["wrong_pixels"], each["wrong_headers"]) == (30, 0, 0)


def test_a_running_emulator_is_accepted() -> None:
    for each in accepted("--process", "--scans", "5", "--modes", "512x20", "2048x10"):
        assert (each["scans"], each["wrong_pixels"], each["wrong_headers"]) == (5, 0, 0)
        assert each["sent"]["send_errors"] == 0


def test_the_sdk_as_client_sets_the_emulator_up() -> None:
    own = ["unshare", "--net"]
    if subprocess.run([*own, "true"], capture_output=True).returncode:
        pytest.skip("no right to make a network namespace: the client knows only port 80")
    program = PACKAGE / "test/programs/sdk_client.py"
    done = subprocess.run([*own, PYTHON, program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.stdout, done.stderr)
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["prod_line"], told["lidar_mode"]) == ("OS-1-16", "512x20")
    assert min(told["packets"].values()) >= 10
    assert set(told["packets"]) == {"LidarPacket", "ImuPacket"}
