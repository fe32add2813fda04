# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the kind of machine is known, only allowed reasons skip a test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TESTS = """
import pytest

def test_of_a_package_that_is_gone():
    pytest.skip("dds_tracepoints is not built")

@pytest.mark.skipif(True, reason="not allowed here: no rights")
def test_of_rights():
    pass

@pytest.mark.xfail(strict=True)
def test_that_is_known_to_fail():
    assert False

def test_that_runs():
    pass
"""


def outcomes(place: Path, text: str, *options: str) -> tuple[int, str]:
    (place / "test_skips.py").write_text(text)
    environment = os.environ | {"PYTHONPATH": str(HERE)}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "allowed_skips", *options, "test_skips.py"],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_skip_for_another_reason_fails(tmp_path: Path, workers: tuple[str, ...]) -> None:
    status, out = outcomes(tmp_path, TESTS, "--machine", "wheels", *workers)
    assert status == 1
    assert "1 failed, 1 passed, 1 skipped, 1 xfailed" in out
    assert "Cannot skip test_skips.py::test_of_a_package_that_is_gone" in out
    assert "dds_tracepoints is not built" in out


def test_without_a_kind_every_skip_is_a_skip(tmp_path: Path) -> None:
    status, out = outcomes(tmp_path, TESTS)
    assert status == 0
    assert "1 passed, 2 skipped, 1 xfailed" in out


def test_a_file_that_is_skipped_as_a_whole_fails(tmp_path: Path) -> None:
    text = "import pytest\npytest.importorskip('no_such_module_of_ours')\n"
    status, out = outcomes(tmp_path, text, "--machine", "wheels")
    assert status != 0
    assert "Cannot skip test_skips.py" in out
