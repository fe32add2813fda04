# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The executables of the nodes in C++. Importing this needs no ROS."""

from __future__ import annotations

from pathlib import Path


class NotBuiltError(Exception):
    """The nodes in C++ are not there."""


def chain_words() -> list[str]:
    """Begin the command line of the executable that runs several nodes.

    Raises NotBuiltError when it is not there.
    """
    return [_executable("chain_cpp")]


def node_words(kind: str) -> list[str]:
    """Begin the command line of the executable that runs one node of a kind.

    Raises NotBuiltError when it is not there.
    """
    return [_executable(f"{kind}_cpp")]


def _executable(name: str) -> str:
    from ament_index_python.packages import get_package_prefix

    path = Path(get_package_prefix("relay_chain")) / "lib/relay_chain" / name
    if not path.exists():
        raise NotBuiltError(
            f"Cannot run nodes in C++: there is no {path}. "
            "Build the workspace where rclcpp is installed, or use --client rclpy."
        )
    return str(path)
