# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`python3 -m relay_chain.single KIND [--parent PID] --ros-args ...`: one node, one process."""

from __future__ import annotations

import sys

from relay_chain.stop import end_with, hold_signals


def main(kind: str, arguments: list[str]) -> int:
    """Run a node of that kind; the exit status."""
    hold_signals()
    if arguments[:1] == ["--parent"]:
        end_with(int(arguments[1]))
        arguments = arguments[2:]
    # Only now: these start threads.
    from relay_chain.process import run_node

    return run_node(kind, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
