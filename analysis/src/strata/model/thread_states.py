# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The states of threads, from the scheduler's events (native/model/thread_states.hpp)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from strata.model.columns import Ints


class State(IntEnum):
    """What a thread does."""

    RUNNING = 0
    PREEMPTED = 1
    BLOCKED = 2
    UNKNOWN = 3


@dataclass(frozen=True)
class Intervals:
    """Intervals of threads, by thread and time; those of a thread leave no gap.

    `cpu` is where it ran, or in whose queue it was; `NONE` when blocked or not known.
    """

    thread: Ints
    start_ns: Ints
    end_ns: Ints
    state: Ints
    cpu: Ints
