# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The installed workspaces, and the patches that were built."""

from __future__ import annotations

import sys

import pytest
from traced_ros import Ros, distros


@pytest.fixture(scope="session", params=distros())
def ros(request: pytest.FixtureRequest) -> Ros:
    found = Ros(request.param)
    if not (found.hook / "sitecustomize.py").is_file():
        pytest.fail(f"{found.install} holds no rclpy_tracepoints: run make setup", pytrace=False)
    return found


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
