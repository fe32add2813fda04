# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A kind of trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trial import Trial


def nothing(trial: Trial) -> None:
    """Do nothing."""
    del trial


@dataclass(frozen=True)
class Kind:
    """What is done: `prepare` before the recorder starts, `fault` once it has been started.

    `tamper` is done to what is left, before it is judged: to show that the judge sees it. `weight`
    is how many trials of this kind there are for one of another.
    """

    name: str
    about: str
    fault: Callable[[Trial], None] = nothing
    prepare: Callable[[Trial], None] = nothing
    tamper: Callable[[Trial], None] = nothing
    weight: int = 1
