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
_PREFIX = {"jazzy": ".venv", "kilted": ".venv-kilted"}


@pytest.fixture
def recorded(world: World, tmp_path: Path) -> Callable[..., Recorded]:
    """Record a run of the relay chain and analyze it; the run must succeed.

    Options: config, profile (of the middleware), distro, name (of the session's directory).
    """

    def run(
        *arguments: str,
        config: str = "ros2",
        profile: str | None = None,
        distro: str = "jazzy",
        name: str = "session",
    ) -> Recorded:
        prefix = ROOT / _PREFIX[distro]
        if not prefix.is_dir():
            pytest.skip(f"the workspace is not built for {distro}: make setup-{distro}")
        environment = world.environment | {
            "ROS_DOMAIN_ID": str(random.randint(1, 100)),
            "STRATA_ROS_PREFIX": str(prefix),
        }
        options: list[str | Path] = ["-c", ROOT / f"trace_configs/{config}.yaml"]
        if profile:
            # A profile chooses the transports, which this variable would add some to.
            del environment["ROS_AUTOMATIC_DISCOVERY_RANGE"]
            options += ["--rmw-profile", profile]
        target = tmp_path / name
        # A history as deep as the run: a busy machine may stall for longer than ten messages.
        command = ["python3", "-m", "relay_chain", "--depth", "1000", *arguments]
        command += ["--log", str(target / "truth")]
        done = world.strata("record", *options, "-o", target, "--", *command, env=environment)
        assert done.returncode == 0, done.stderr
        manifest = json.loads((target / "manifest.json").read_text())
        assert manifest["discarded_events"] == 0
        return target, strata.analyze(target)

    return run
