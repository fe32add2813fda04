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
