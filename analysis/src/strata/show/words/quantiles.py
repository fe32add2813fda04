# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The quantiles that a text or a document shows: those that the user chose, else the usual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from strata.analysis import Analysis
from strata.schema.rows import NONE
from strata.stats.quantiles import name_of

Of = tuple[str, int]
"""What quantiles are of (`of` of the table `quantiles`), and its number."""


class Quantiles:
    """Quantiles of an analysis, by what they are of."""

    def __init__(self, analysis: Analysis) -> None:
        """Take an analysis; without rows in its table `quantiles` the usual ones are shown."""
        rows = analysis.rows("quantiles")
        self._values: dict[tuple[Of, int, str | None], dict[str, float]] = {}
        self._names: tuple[str, ...] = ()
        for row in rows.records():
            hop = NONE if row["hop"] is None else row["hop"]
            key = (row["of"], row["number"]), hop, row["layer"]
            self._values.setdefault(key, {})[name_of(row["quantile"])] = row["value_ns"]
        if len(rows):
            self._names = tuple(next(iter(self._values.values())))

    def __bool__(self) -> bool:
        """Tell whether the user chose any."""
        return bool(self._names)

    def names(self, usual: Sequence[str]) -> tuple[str, ...]:
        """Return what the columns are called."""
        return self._names or tuple(usual)

    def values(
        self,
        of: Of,
        usual: Sequence[str],
        row: Mapping[str, Any],
        prefix: str = "",
        *,
        hop: int = NONE,
        layer: str | None = None,
    ) -> list[float | None]:
        """Return the quantiles of something in the order of `names`; None without values.

        The usual ones are in `row`, under names that begin with `prefix`.
        """
        if not self._names:
            return [row[f"{prefix}{name}_ns"] for name in usual]
        found = self._values.get((of, hop, layer), {})
        return [found.get(name) for name in self._names]

    def chosen(self, of: Of, *, hop: int = NONE, layer: str | None = None) -> dict[str, Any]:
        """Return {"quantiles_ns": {name: ns}} for a document; nothing where none were chosen."""
        if not self._names:
            return {}
        found = self._values.get((of, hop, layer), {})
        return {"quantiles_ns": {name: found.get(name) for name in self._names}}
