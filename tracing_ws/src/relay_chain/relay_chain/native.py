# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The executables of the nodes in C++. Importing this needs no ROS."""

from __future__ import annotations

from pathlib import Path


class NotBuiltError(Exception):
    """The nodes in C++ are not there."""


def executable(name: str) -> str:
    """Find an executable of the package.

    Raises NotBuiltError when it is not there.
    """
    from ament_index_python.packages import get_package_prefix

    path = Path(get_package_prefix("relay_chain")) / "lib/relay_chain" / name
    if not path.exists():
        raise NotBuiltError(
            f"Cannot run nodes in C++: there is no {path}. "
            "Build the workspace where rclcpp is installed, or use --client rclpy."
        )
    return str(path)
