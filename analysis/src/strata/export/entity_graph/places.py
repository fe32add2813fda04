# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes of the graph, with their processes and executors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from strata.analysis import Analysis
from strata.export.entity_graph.entities import Place


class Places:
    """Nodes by a key: of an entity whose node is not known, one for its process."""

    def __init__(self, analysis: Analysis) -> None:
        """Take an analysis."""
        self._process = {
            (row["host"], row["vpid"]): row["procname"]
            for row in analysis.rows("processes").records()
        }
        self._executors: dict[tuple[str, int, str], list[str]] = {}
        for row in analysis.rows("executors").records():
            for node in row["nodes"].split(", "):
                text = f"executor {row['executor_id']} ({row['kind']})"
                self._executors.setdefault((row["host"], row["vpid"], node), []).append(text)
        self._places = {
            f"node {row['node_id']}": self._place(f"node {row['node_id']}", row["name"], row)
            for row in analysis.rows("nodes").records()
        }

    def _place(self, key: str, name: str, row: Mapping[str, Any]) -> Place:
        of = row["host"], row["vpid"]
        procname = self._process.get(of)
        process = f"{row['vpid']}{f' ({procname})' if procname else ''} on {row['host']}"
        return Place(key, name, process, tuple(self._executors.get((*of, name), ())))

    def of_node(self, node_id: int | None, row: Mapping[str, Any]) -> str:
        """Return the key of a node, or that of the row's process without one."""
        if node_id is not None:
            return f"node {node_id}"
        key = f"process {row['host']} {row['vpid']}"
        self._places.setdefault(key, self._place(key, "(unknown)", row))
        return key

    def is_unknown(self, key: str) -> bool:
        """Return whether a key is that of a process, not of a node."""
        return key.startswith("process ")

    def name(self, key: str) -> str:
        """Return the name of a node."""
        return self._places[key].name

    def named(self, node: str) -> str:
        """Return the key of a node by its name; one that is not in `nodes` is added."""
        for key, place in self._places.items():
            if place.name == node:
                return key
        key = f"named {node}"
        self._places[key] = Place(key, node, "(unknown)", ())
        return key

    def of(self, keys: Collection[str]) -> tuple[Place, ...]:
        """Return the places with these keys, in order."""
        return tuple(place for key, place in self._places.items() if key in keys)
