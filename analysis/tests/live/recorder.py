# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of real ROS 2 processes, made by `strata record` as a user would."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from lttng_world import ROOT, World, any_domain
from starved import was_starved

import strata
from strata.analysis import Analysis

_PREFIX = {"jazzy": ".venv", "kilted": ".venv-kilted"}
Recorded = tuple[Path, Analysis]
Meanwhile = Callable[[Popen[str]], None]


@dataclass(frozen=True)
class Recorder:
    """Records into directories of one place; a run must succeed and lose no event."""

    world: World
    place: Path
    made: list[Recorded] = field(default_factory=list)

    def was_starved(self) -> bool:
        """Tell whether anything that was recorded until now had to wait for CPUs."""
        return any(was_starved(session, analysis) for session, analysis in self.made)

    def clear(self) -> None:
        """Remove all that was recorded, as if nothing had been."""
        self.made.clear()
        for path in self.place.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def __call__(self, *arguments: str, inside: Sequence[str] = (), **options: Any) -> Recorded:
        """Record and analyze a run of the relay chain; `inside` are words before its command.

        Its truth is in the session's directory. Options are those of `run`.
        """
        truth = self.place / options.get("name", "session") / "truth"
        # A history as deep as the run: a busy machine may stall for longer than ten messages.
        command = [*inside, "python3", "-m", "relay_chain", "--depth", "1000", *arguments]
        return self.run([*command, "--log", str(truth)], **options)

    def run(
        self,
        command: Sequence[str | Path],
        *,
        config: str | Path = "ros2",
        profile: str | None = None,
        distro: str = "jazzy",
        name: str = "session",
        options: Sequence[str] = (),
        meanwhile: Meanwhile | None = None,
    ) -> Recorded:
        """Record and analyze a command; `profile` is the middleware's.

        `config` names a file of trace_configs, or is the path of another.
        `options` are further ones of `strata record`. `meanwhile` is called with the recording
        process once that was started.
        """
        prefix = ROOT / _PREFIX[distro]
        if not prefix.is_dir():
            pytest.skip(f"the workspace is not built for {distro}: make setup-{distro}")
        environment = self.world.environment | {
            "ROS_DOMAIN_ID": any_domain(),
            "STRATA_ROS_PREFIX": str(prefix),
        }
        file = ROOT / f"trace_configs/{config}.yaml" if isinstance(config, str) else config
        given: list[str | Path] = ["-c", file, *options]
        if profile:
            # A profile chooses the transports, which this variable would add some to.
            del environment["ROS_AUTOMATIC_DISCOVERY_RANGE"]
            given += ["--rmw-profile", profile]
        target = self.place / name
        line = [sys.executable, "-m", "strata", "record", *given, "-o", target, "--", *command]
        process = self.world.popen(*line, env=environment)
        try:
            if meanwhile:
                meanwhile(process)
            _, errors = process.communicate(timeout=120)
        finally:
            process.kill()
        assert process.returncode == 0, errors
        manifest = json.loads((target / "manifest.json").read_text())
        assert manifest["discarded_events"] == 0
        self.made.append((target, strata.analyze(target)))
        return self.made[-1]
