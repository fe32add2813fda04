# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""manifest.json: what was recorded, on what, and how it ended. docs/recording.md lists the keys."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from strata.marks import RECORDING_FORMAT
from strata.masking import mask_command
from strata.record.command import End
from strata.record.config import SessionConfig
from strata.record.dds import Dds
from strata.record.directory import MANIFEST, write_text
from strata.record.driver import Driver
from strata.record.former import written_files
from strata.record.host import (
    clock_offset,
    describe_host,
    describe_versions,
    relevant_environment,
)
from strata.record.lttng import Lttng
from strata.record.profiles import RmwProfile
from strata.record.ros import DEFAULT_RMW, Ros

SCHEMA = 1
NOT_ENDED = "the recording has not ended: its recorder is still running, or was killed"
_ROS_PACKAGES = (
    "tracetools",
    "rcl",
    "rmw",
    "rclcpp",
    "rclpy",
    "rmw_fastrtps_cpp",
    "rmw_cyclonedds_cpp",
)


@dataclass
class Manifest:
    """A manifest being filled while the recording goes on; `content` is the JSON document."""

    directory: Path
    content: dict[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """Name the file."""
        return self.directory / MANIFEST

    def describe(
        self,
        config: SessionConfig,
        *,
        session: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        ros: Ros | None,
        lttng: Lttng,
        dds: Dds | None,
        driver: Driver | None,
        rmw_profile: RmwProfile | None,
        attached: bool,
    ) -> None:
        """Fill in all that is known before the command starts, or before what runs is recorded."""
        self.content = {
            "schema": SCHEMA,
            "session": session,
            "host": describe_host(),
            "versions": describe_versions(lttng),
            "ros": describe_ros(ros, environment),
            "dds": dds.as_json() if dds else None,
            "driver": driver.as_json() if driver else None,
            "rmw_profile": rmw_profile.as_json(environment, ros) if rmw_profile else None,
            "config": {"file": str(config.file), "name": config.name, **config.as_json()},
            "command": {
                "line": mask_command(command),
                "attached": attached,
                "cwd": str(Path.cwd()),
                "uid": os.getuid(),
            },
            "environment": relevant_environment(environment),
        }

    @property
    def command_ran(self) -> bool:
        """Return whether the command was started at all, or recording began without one."""
        return "pid" in self.content.get("command", {})

    def write_unfinished(self) -> None:
        """Write what is known before the command starts, for the case that nobody ends it."""
        ended = {"complete": False, "problems": [NOT_ENDED], "discarded_events": None}
        whole = self.content
        self.content = whole | ended
        self.write()
        self.content = whole

    def begin(self) -> None:
        """Note the beginning: UTC and the clocks' offsets."""
        self.content["start"] = _moment()

    def end(self, end: End) -> None:
        """Note how the command ended, when, and the clocks' offsets then."""
        self.content["end"] = _moment()
        elapsed = (
            self.content["end"]["clocks"]["at_monotonic_ns"]
            - self.content["start"]["clocks"]["at_monotonic_ns"]
        )
        self.content["duration_ns"] = elapsed
        self.content["command"] |= {
            "exit_status": end.exit_status,
            "signal": end.signal,
            "interrupted_by": end.forwarded,
            "killed": end.killed,
            "succeeded": end.succeeded,
        }

    def write(self) -> None:
        """Write manifest.json, with the mark of a recording and the list of what it wrote."""
        files = written_files(self.directory, self.content)
        self.content |= {"format": RECORDING_FORMAT, "files": files}
        write_text(self.path, json.dumps(self.content, indent=1) + "\n")


def describe_ros(ros: Ros | None, environment: Mapping[str, str]) -> dict[str, Any] | None:
    """Describe the ROS 2 that was traced; null when none was."""
    if ros is None:
        return None
    return {
        "distro": ros.distro,
        "found_as": ros.kind,
        "prefix": str(ros.prefix),
        "workspace": str(_workspace(ros.spaces)) if ros.spaces else None,
        "provider": str(ros.provider) if ros.provider else None,
        "rclpy_tracepoints": ros.rclpy_tracepoints is not None,
        "rmw": environment.get("RMW_IMPLEMENTATION") or DEFAULT_RMW,
        "rmw_chosen_by": "RMW_IMPLEMENTATION"
        if environment.get("RMW_IMPLEMENTATION")
        else "default",
        "packages": ros.package_versions(*_ROS_PACKAGES),
    }


def _workspace(spaces: Sequence[Path]) -> Path:
    """Give the install directory of a workspace: colcon's isolated prefixes lie side by side."""
    return spaces[0] if len(spaces) == 1 else spaces[0].parent


def _moment() -> dict[str, Any]:
    return {
        "utc": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "clocks": clock_offset().as_json(),
    }
