# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is preloaded so that children made by fork are traced, and can execute other programs."""

from __future__ import annotations

from pathlib import Path

from strata.record.preflight.libraries import system_directories

LIBRARY = "lib/ust_fork/libust_fork.so"
_LTTNGS = "liblttng-ust-fork.so.1"


def fork_libraries(space: Path) -> tuple[Path, ...]:
    """Give our library and LTTng's; empty unless both are there.

    `space` is the install space of what else is preloaded. Without ours, LTTng's ends children that
    close their files.
    """
    ours = space / LIBRARY
    candidates = (directory / _LTTNGS for directory in system_directories())
    lttngs = next((path for path in candidates if path.is_file()), None)
    return (ours, lttngs) if lttngs and ours.is_file() else ()
