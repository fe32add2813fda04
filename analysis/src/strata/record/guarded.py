# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A watcher that can fail without harm."""

from __future__ import annotations

from collections.abc import Callable

from strata.record.command import Watcher

# A watcher that fails is not called all the time.
_LEAST_PATIENCE_S = 0.01


class Guarded:
    """A watcher whose failures end neither the recording nor its command, but are told, once."""

    def __init__(self, watcher: Watcher, problem: Callable[[str], None]) -> None:
        self._watcher, self._problem = watcher, problem

    @property
    def patience_s(self) -> float:
        """How long it is until the next look."""
        return max(_LEAST_PATIENCE_S, self._watcher.patience_s)

    def look(self) -> None:
        """Look, when that is due."""
        try:
            self._watcher.look()
        except Exception as error:
            self._problem(f"Strata could not monitor the recording: {error!r}")
