# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What nodes are called in results: by their process only where others have their name.

Rows were stored with the process in every name, as no window knows the nodes of the others.
"""

from __future__ import annotations

from strata.model.naming import label_parts
from strata.schema.rows import Coded, Rows

_NAMES = ("publisher_node", "subscription_node", "client_node", "service_node", "server_node")


class Labels:
    """Takes the process off the names of nodes that no other process has."""

    def __init__(self, nodes: Rows) -> None:
        """Take the table `nodes`."""
        self._places: dict[str, set[tuple[str, int]]] = {}
        for host, vpid, name in zip(
            nodes.texts("host"), nodes["vpid"].tolist(), nodes.texts("name"), strict=True
        ):
            self._places.setdefault(name, set()).add((host, vpid))

    def of_rows(self, rows: Rows) -> Rows:
        """Return rows whose columns of nodes have the names that results show."""
        own = [name for name in _NAMES if name in rows]
        return rows.with_columns({name: self._of(rows.words(name)) for name in own})

    def _of(self, column: Coded) -> Coded:
        words = tuple(map(self._plain, column.words))
        if len(set(words)) < len(words):
            return Coded.of(Coded(column.codes, words).texts())
        return Coded(column.codes, words)

    def _plain(self, label: str) -> str:
        parts = label_parts(label)
        if parts is None or len(self._places.get(parts[0], ())) > 1:
            return label
        return parts[0] if parts[0] in self._places else label
