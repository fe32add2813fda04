# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The camera scenarios; `ros2 launch FILE --show-args` lists what can be set."""

from __future__ import annotations

import sys
from pathlib import Path

from launch import LaunchDescription

sys.path.insert(0, str(Path(__file__).resolve().parent))
from scenario_launch import describe


def generate_launch_description() -> LaunchDescription:
    """Describe the launch."""
    return describe("camera", "camera_480p30")
