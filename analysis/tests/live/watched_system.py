# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A small system (programs/watched.py) that runs ready to be recorded."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lttng_world import ROOT, World, any_domain

PROGRAM = Path(__file__).parent / "programs/watched.py"
CHAIN = "/a -> /b"
ENDLESS = 1_000_000


def ready_environment(world: World) -> dict[str, str]:
    return world.environment | {
        "ROS_DOMAIN_ID": any_domain(),
        "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
    }


def program(
    messages: int, *, busy_at: int = -1, busy_ms: int = 0, depth: int = 100
) -> list[str | Path]:
    return ["python3", PROGRAM, *map(str, (messages, busy_at, busy_ms, depth))]


@contextlib.contextmanager
def watched(
    world: World, environment: dict[str, str], words: list[str | Path]
) -> Iterator[subprocess.Popen[str]]:
    """Run a program, ready to be recorded, until this ends."""
    line = [sys.executable, "-m", "strata", "env", "--", *words]
    process = world.popen(*line, env=environment, stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)
