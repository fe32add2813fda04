# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`python3 -m relay_chain.group PARENT JSON`: several nodes, one process.

The JSON document has `nodes`, the parameters of each by its name, `executor` and `threads`.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from relay_chain.stop import end_with, hold_signals

if TYPE_CHECKING:
    from relay_chain.node import ChainNode

Parameters = dict[str, dict[str, object]]
"""The parameters of nodes, by name."""


def kind_of(name: str) -> str:
    """Give the kind of the node of a name: source, relay, sink or distractor."""
    return name.partition("_")[0]


def run_group(nodes: Parameters, executor: str, threads: int) -> int:
    """Run nodes on one executor; the exit status. The signals must be held already."""
    # Only now, with the signals held: these start threads.
    from rclpy.parameter import Parameter

    from relay_chain.process import KINDS, run_nodes

    def make() -> list[ChainNode]:
        made: list[ChainNode] = []
        for name, own in nodes.items():
            overrides = [Parameter(key, value=value) for key, value in own.items()]
            named = {} if name in KINDS else {"name": name}
            made.append(KINDS[kind_of(name)](overrides, **named))
        return made

    return run_nodes(make, [], (executor, threads))


def main(parent: str, document: str) -> int:
    """Run the nodes of a document, as a child of the process `parent`; the exit status."""
    hold_signals()
    end_with(int(parent))
    settings = json.loads(document)
    return run_group(settings["nodes"], settings["executor"], settings["threads"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
