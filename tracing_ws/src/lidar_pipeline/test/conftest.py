# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes the package's own modules importable; those that need ROS run in processes of their own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lidar_process import STARTED


@pytest.fixture(autouse=True)
def _nothing_left() -> Iterator[None]:
    yield
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.communicate()
