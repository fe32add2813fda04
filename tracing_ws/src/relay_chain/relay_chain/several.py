# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`chain [--parent PID] NAME... --ros-args ...`: several nodes on one executor, one process.

Each node is of the kind that its name begins with; the parameters executor and threads are read of
the first.
"""

from __future__ import annotations

import sys

from relay_chain.stop import end_with, hold_signals

_ROS_ARGUMENTS = "--ros-args"


def kind_of(name: str) -> str:
    """Give the kind of the node of a name: its name up to the first underscore."""
    return name.partition("_")[0]


def run_several(arguments: list[str]) -> int:
    """Run the nodes that the arguments name; the exit status. The signals must be held already."""
    ros = arguments.index(_ROS_ARGUMENTS) if _ROS_ARGUMENTS in arguments else len(arguments)
    names = arguments[:ros]
    # Only now: these start threads.
    from relay_chain.process import KINDS, run_nodes

    unknown = [name for name in names if kind_of(name) not in KINDS]
    if unknown or not names:
        fact = f"{unknown[0]!r} names none of {', '.join(KINDS)}" if unknown else "no node is named"
        sys.stderr.write(f"Cannot run the chain: {fact}. Name some, like source relay_0 sink.\n")
        return 2
    return run_nodes(lambda: [KINDS[kind_of(name)](name) for name in names], arguments[ros:])


def main(arguments: list[str]) -> int:
    """Run the nodes that a command line names; the exit status."""
    hold_signals()
    if arguments[:1] == ["--parent"]:
        end_with(int(arguments[1]))
        arguments = arguments[2:]
    return run_several(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
