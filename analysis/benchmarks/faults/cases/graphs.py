# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs that faults are planted in (see programs/graph.py)."""

from __future__ import annotations

import copy
import json
from typing import Any

Spec = dict[str, Any]
CHAIN = "/image -> /objects"


def pipeline(
    *, period_ms: float = 50, count: int = 110, size: int = 1000, settle_s: float = 0
) -> Spec:
    """Return camera -> /image -> detector -> /objects -> planner, a process each; healthy."""
    image = {"topic": "/image", "bytes": size}
    timer = {"period_ms": period_ms, "count": count, "publish": [image], "settle_s": settle_s}
    relayed = {"topic": "/image", "publish": [{"topic": "/objects", "bytes": 200}]}
    return {
        "processes": {
            "camera": {"nodes": {"camera": {"timers": [timer]}}},
            "detector": {"nodes": {"detector": {"inputs": [relayed]}}},
            "planner": {"nodes": {"planner": {"inputs": [{"topic": "/objects"}]}}},
        }
    }


def of_robots(count: int, graph: Spec) -> Spec:
    """Repeat a graph in the namespaces /robot_1 and on, in processes of their own."""
    processes = {}
    for number in range(1, count + 1):
        robot = f"/robot_{number}"
        own = json.loads(json.dumps(graph).replace('"topic": "/', f'"topic": "{robot}/'))
        for name, process in own["processes"].items():
            for node in process["nodes"].values():
                node["namespace"] = robot
            processes[f"{name}_{number}"] = process
    return {"processes": processes}


def with_input(graph: Spec, name: str, **changes: Any) -> Spec:
    """Change the first input of the node of that name, in the process of that name."""
    changed = copy.deepcopy(graph)
    changed["processes"][name]["nodes"][name]["inputs"][0].update(changes)
    return changed


def with_source(graph: Spec, name: str, **changes: Any) -> Spec:
    """Change the timer of the node of that name, in the process of that name."""
    changed = copy.deepcopy(graph)
    changed["processes"][name]["nodes"][name]["timers"][0].update(changes)
    return changed


def with_process(graph: Spec, name: str, **changes: Any) -> Spec:
    """Change how a process runs."""
    changed = copy.deepcopy(graph)
    changed["processes"][name].update(changes)
    return changed


def with_node(graph: Spec, process: str, name: str, node: Spec) -> Spec:
    """Put a further node into a process."""
    changed = copy.deepcopy(graph)
    changed["processes"][process]["nodes"][name] = node
    return changed
