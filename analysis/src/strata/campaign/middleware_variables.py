# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Variables that choose or set up a middleware: the cells of a campaign have their own.

What the caller's shell exports would make every cell of another middleware be skipped, or change
what a level says without its saying so.
"""

from __future__ import annotations

from collections.abc import Mapping

_NAMES = ("RMW_IMPLEMENTATION",)
_BEGINNINGS = ("RMW_FASTRTPS_", "FASTRTPS_", "FASTDDS_", "CYCLONEDDS_", "ZENOH_")


def set_aside(environment: Mapping[str, str]) -> list[str]:
    """Name the variables of an environment that the cells of a campaign do not inherit."""
    return sorted(name for name in environment if name in _NAMES or name.startswith(_BEGINNINGS))


def own_middleware(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what chooses a middleware: the default, unless a cell does."""
    left_out = set(set_aside(environment))
    return {name: value for name, value in environment.items() if name not in left_out}
