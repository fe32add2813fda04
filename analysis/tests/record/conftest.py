# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests that record: a private LTTng world and a small traced program."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from lttng_world import HERE, World, alive, private_namespace, wait_until


@pytest.fixture
def world() -> Iterator[World]:
    home = Path(tempfile.mkdtemp(prefix="st", dir="/tmp"))
    holder = private_namespace() if os.geteuid() == 0 else None
    prefix = ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", "--"] if holder else []
    place = World(home, prefix)
    if place.daemon_pid() is not None:
        pytest.skip("root's session daemon runs, and no mount namespace can be made beside it")
    try:
        yield place
    finally:
        left = place.daemon_pid()
        if left is not None:
            os.kill(left, signal.SIGTERM)
            wait_until(lambda: not alive(left), "end of the world's session daemon")
        if holder is not None:
            holder.kill()
            holder.communicate()
        shutil.rmtree(home)


@pytest.fixture(scope="session")
def tick(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the traced program."""
    program = tmp_path_factory.mktemp("tick") / "tick"
    subprocess.run(
        ["cc", "-I", HERE, HERE / "tick.c", "-o", program, "-llttng-ust", "-ldl"], check=True
    )
    return program
