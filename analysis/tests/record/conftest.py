# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A small traced program for the tests that record."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def tick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the traced program."""
    program = tmp_path_factory.mktemp("tick") / "tick"
    subprocess.run(
        ["cc", "-I", HERE, HERE / "tick.c", "-o", program, "-llttng-ust", "-ldl"], check=True
    )
    return program


@pytest.fixture(scope="session")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the traced program that names things."""
    program = tmp_path_factory.mktemp("named") / "named"
    subprocess.run(
        ["cc", "-I", HERE, HERE / "named.c", "-o", program, "-llttng-ust", "-ldl"], check=True
    )
    return program
