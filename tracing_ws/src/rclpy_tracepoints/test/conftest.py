# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The installed workspaces, and an LTTng of the tests' own."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from traced_ros import Lttng, Ros, distros


@pytest.fixture(scope="session", params=distros())
def ros(request: pytest.FixtureRequest) -> Ros:
    found = Ros(request.param)
    if not (found.hook / "sitecustomize.py").is_file():
        pytest.fail(f"{found.install} holds no rclpy_tracepoints: run make setup", pytrace=False)
    return found


@pytest.fixture(scope="session")
def lttng() -> Iterator[Lttng]:
    # Short, and not pytest's: socket paths have 108 characters.
    home = Path(tempfile.mkdtemp(prefix="rt", dir="/tmp"))
    own = Lttng(home)
    try:
        yield own
    finally:
        own.close()
        shutil.rmtree(home)


@pytest.fixture
def patches(monkeypatch: pytest.MonkeyPatch):
    """Import the patches that were built for this Python."""
    found = Ros("jazzy")
    assert found.hook.is_dir(), f"{found.install} holds no rclpy_tracepoints: run make setup"
    monkeypatch.syspath_prepend(str(found.packages))
    from rclpy_tracepoints import patches

    yield patches
    for name in [name for name in sys.modules if name.startswith("rclpy_tracepoints")]:
        del sys.modules[name]
