# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace may hold that the engine has no machine for yet."""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE
from strata.onepass.tables import EngineTables


def lacks(tables: EngineTables) -> str | None:
    """Say what a trace holds that the engine has no machine for; None where it has all."""
    inits = tables.engine.inits()
    contexts = inits.get("ros2:rcl_init")
    if contexts is not None and len(np.unique(contexts["process"])) < len(contexts["process"]):
        return "several contexts in a process"
    if (tables.rows["processes"]["pid_ns"] != NONE).any():
        spaces = tables.rows["processes"]
        keys = set(zip(spaces["host"].tolist(), spaces["vpid"].tolist(), strict=True))
        if len(keys) < len(spaces["vpid"]):
            return "several namespaces of process ids"
    return None
