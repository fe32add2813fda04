# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How an analysis reports its progress: events that were read, and the stage that it is in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable


@runtime_checkable
class Progress(Protocol):
    """Is called while an analysis runs. A plain function of a count is called with events alone."""

    def __call__(self, events: int, /) -> None:
        """Take how many further events were read."""

    def stage(self, name: str, /) -> None:
        """Take what is done from now on, in a few words: "following messages"."""


def stage_of(progress: object) -> Callable[[str], None]:
    """Return what takes the names of stages; nothing is done with them for a plain function."""
    return progress.stage if isinstance(progress, Progress) else _unheard


def _unheard(_: str) -> None:
    return None
