# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""When threads did anything first after losses of events, from the engine's rows."""

from __future__ import annotations

from strata.model.thread_steps import ThreadSteps
from strata.onepass.tables import EngineTables


def find_thread_steps(tables: EngineTables) -> ThreadSteps:
    """Return the first steps of all threads after losses of events, in order of time."""
    of = "steps_after_losses"
    return ThreadSteps(tables.ints(of, "thread"), tables.ints(of, "ns"), tables.ints(of, "over"))
