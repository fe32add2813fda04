# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real ROS 2 processes, made by `strata record` as a user would."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from lttng_world import ROOT, World

import strata
from strata.analysis import Analysis

Recorded = tuple[Path, Analysis]


@pytest.fixture
def recorded(world: World, tmp_path: Path) -> Callable[..., Recorded]:
    """Record a run of the relay chain and analyze it; the run must succeed."""

    def run(*arguments: str) -> Recorded:
        target = tmp_path / "session"
        world.environment["ROS_DOMAIN_ID"] = str(random.randint(1, 100))
        # A history as deep as the run: a busy machine may stall for longer than ten messages.
        command = ["python3", "-m", "relay_chain", "--depth", "1000", *arguments]
        command += ["--log", str(target / "truth")]
        config = ROOT / "trace_configs/ros2.yaml"
        done = world.strata("record", "-c", config, "-o", target, "--", *command)
        assert done.returncode == 0, done.stderr
        manifest = json.loads((target / "manifest.json").read_text())
        assert manifest["discarded_events"] == 0
        return target, strata.analyze(target)

    return run
