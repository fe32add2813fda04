# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Stages that make values from values: each runs when what it gives is first asked for.

What needs what is declared once, so that no result depends on the order in which results are asked
for. A stage that counts findings has a ledger of its own for them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from strata.engine.memory import within_bound
from strata.schema.quality import Ledger

LEDGER = "ledger"
"""What a stage needs that counts findings."""

FINDINGS = "findings"
"""What a stage needs that tells the findings of all stages."""


@dataclass(frozen=True)
class Stage:
    """A function, the names of its arguments' values, and of what it returns.

    One that gives several values returns them in this order.
    """

    gives: tuple[str, ...]
    make: Callable[..., Any]
    needs: tuple[str, ...]


def stage(gives: str | Sequence[str], make: Callable[..., Any], *needs: str) -> Stage:
    """Declare a stage."""
    return Stage((gives,) if isinstance(gives, str) else tuple(gives), make, needs)


class Made:
    """Values by name: given, or made by the one stage that gives them."""

    def __init__(self, stages: Sequence[Stage], **given: Any) -> None:
        """Take the stages, of which findings are told in this order, and what is there."""
        self._stages = stages
        self._stage_of = {name: one for one in stages for name in one.gives}
        self._values: dict[str, Any] = dict(given)
        self._ledgers: dict[tuple[str, ...], Ledger] = {}

    def __getitem__(self, name: str) -> Any:
        """Return a value; raises KeyError for one that no stage gives."""
        if name not in self._values:
            self._run(self._stage_of[name])
        return self._values[name]

    def findings(self) -> Ledger:
        """What all stages count, when those that count have run."""
        found = Ledger()
        for one in self._stages:
            if LEDGER in one.needs:
                self[one.gives[0]]
                found.merge(self._ledgers[one.gives])
        return found

    def _run(self, one: Stage) -> None:
        ledger = Ledger()
        needed = [self._needed(name, ledger) for name in one.needs]
        with within_bound():
            made = one.make(*needed)
        self._values.update(zip(one.gives, made if len(one.gives) > 1 else (made,), strict=True))
        self._ledgers[one.gives] = ledger

    def _needed(self, name: str, ledger: Ledger) -> Any:
        if name == LEDGER:
            return ledger
        return self.findings() if name == FINDINGS else self[name]
