# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the project's own files are: shipped configurations, install spaces, sessions."""

from __future__ import annotations

import os
from pathlib import Path

ROOT_VARIABLE = "STRATA_ROOT"


def project_root() -> Path | None:
    """Find the checkout: `STRATA_ROOT`, else above this package, else above the working directory.

    Null when none of them holds `trace_configs/`; then nothing shipped can be looked up.
    """
    stated = os.environ.get(ROOT_VARIABLE)
    if stated:
        return Path(stated).resolve()
    candidates = [*Path(__file__).resolve().parents, Path.cwd(), *Path.cwd().parents]
    return next((path for path in candidates if (path / "trace_configs").is_dir()), None)


def sessions_root() -> Path:
    """Give the directory of recordings: the project's `sessions/`, else the working directory's."""
    return (project_root() or Path.cwd()) / "sessions"


def install_space(distro: str) -> Path | None:
    """Give the colcon install space of a ROS distribution; null when it was not built."""
    root = project_root()
    if root is None:
        return None
    space = root / "tracing_ws" / "install" / distro
    return space if space.is_dir() else None


def install_spaces() -> list[Path]:
    """List the colcon install spaces of all ROS distributions that were built."""
    root = project_root()
    spaces = (root / "tracing_ws" / "install").glob("*") if root else []
    return sorted(path for path in spaces if path.is_dir())
