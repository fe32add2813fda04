# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The phases of a goal of an action: their names, where each begins and ends, in order.

Like the layers of a message (strata.schema.layers): the phases of one goal never overlap and leave
no gap, and a checkpoint that was not recorded merges the phases on both sides of it.
"""

from __future__ import annotations

from strata.schema.layer import Layer

_BASE = (
    ("goal request", "the goal's request is sent", "the server answers it"),
    ("start", "the server answers the goal's request", "the callback that executes it starts"),
    ("execution", "the callback that executes the goal starts", "it ends"),
    (
        "reply",
        "the execution ends",
        "the server sends the result (or the client requests it, if that is later)",
    ),
    ("result", "the server sends the result", "the client takes it"),
)
CHECKPOINTS = 6
"""Sent, answered, started, ended, replied, taken: a phase lies between each two."""


def _phase(first: int, last: int) -> Layer:
    names = [name for name, _, _ in _BASE[first : last + 1]]
    column = "_".join(names).replace(" ", "_") + "_ns"
    return Layer(" + ".join(names), column, f"{_BASE[first][1]} -> {_BASE[last][2]}")


BETWEEN: dict[tuple[int, int], Layer] = {
    (first, last + 1): _phase(first, last)
    for first in range(len(_BASE))
    for last in range(first, len(_BASE))
}
"""The phase between two checkpoints, by their numbers."""

ACTION_PHASES: tuple[Layer, ...] = tuple(BETWEEN.values())
"""In the order in which a goal meets them."""
