# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Stages that make values from values: each runs when what it gives is first asked for.

What needs what is declared once, so that no result depends on the order in which results are asked
for. What a stage finds wrong is among what it gives, and gathered here alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from strata.engine.memory import within_bound
from strata.schema.quality import NOTHING_FOUND, Findings

FINDINGS = "findings"
"""What a stage gives that finds something wrong, and needs that tells what all stages found."""


@dataclass(frozen=True)
class Stage:
    """A function, the names of its arguments' values, and of what it returns.

    One that gives several values returns them in this order. Each may give `FINDINGS`: its own.
    `part` is what a user who waits for it is shown; empty where that is too short to be shown.
    """

    gives: tuple[str, ...]
    make: Callable[..., Any]
    needs: tuple[str, ...]
    part: str = ""


def stage(gives: str | Sequence[str], make: Callable[..., Any], *needs: str) -> Stage:
    """Declare a stage."""
    return Stage((gives,) if isinstance(gives, str) else tuple(gives), make, needs)


def shown_as(part: str, stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """Return stages that a user who waits for them is shown under one name."""
    return tuple(replace(one, part=part) for one in stages)


class Made:
    """Values by name: given, or made by the one stage that gives them."""

    def __init__(
        self,
        stages: Sequence[Stage],
        *,
        on_part: Callable[[str], None] | None = None,
        **given: Any,
    ) -> None:
        """Take the stages, in the order of their findings, and the values that are there.

        `on_part` is called with the `part` of each stage that runs.
        """
        self._on_part = on_part
        self._stages = stages
        self._stage_of = {name: one for one in stages for name in one.gives if name != FINDINGS}
        self._values: dict[str, Any] = dict(given)
        self._found: dict[Stage, Findings] = {}

    def __getitem__(self, name: str) -> Any:
        """Return a value; raises KeyError for one that no stage gives."""
        if name not in self._values:
            self._run(self._stage_of[name])
        return self._values[name]

    def findings(self) -> Findings:
        """What all stages find, when those that give findings have run."""
        finding = [one for one in self._stages if FINDINGS in one.gives]
        for one in finding:
            if one not in self._found:
                self._run(one)
        return sum((self._found[one] for one in finding), NOTHING_FOUND)

    def _run(self, one: Stage) -> None:
        needed = [self.findings() if name == FINDINGS else self[name] for name in one.needs]
        if self._on_part and one.part:
            self._on_part(one.part)
        with within_bound():
            made = one.make(*needed)
        given = dict(zip(one.gives, made if len(one.gives) > 1 else (made,), strict=True))
        if FINDINGS in given:
            self._found[one] = given.pop(FINDINGS)
        self._values.update(given)
