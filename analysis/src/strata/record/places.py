# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the project's own files are: shipped configurations, install spaces, sessions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from strata.errors import StrataError
from strata.nearest import LISTED, did_you_mean, listed

ROOT_VARIABLE = "STRATA_ROOT"
_MANY = 20
"""So many names are still listed one by one."""
_SUFFIXES = (".yaml", ".yml", ".xml", ".json", ".json5")


def project_root() -> Path | None:
    """Find the checkout: `STRATA_ROOT`, else above this package, else above the working directory.

    Null when none of them holds `trace_configs/`; then nothing shipped can be looked up.
    """
    stated = os.environ.get(ROOT_VARIABLE)
    if stated:
        return Path(stated).resolve()
    candidates = [*Path(__file__).resolve().parents, Path.cwd(), *Path.cwd().parents]
    return next((path for path in candidates if (path / "trace_configs").is_dir()), None)


def shipped_files(directory: str, *suffixes: str) -> list[Path]:
    """List the files of a directory of `trace_configs/` that end so, by name."""
    root = project_root()
    files = sorted((root / "trace_configs" / directory).glob("*")) if root else []
    return [path for path in files if path.suffix in suffixes]


def find_file(
    name: str, what: str, shipped: list[Path], step: str, error: type[StrataError]
) -> Path:
    """Resolve the bare name of a shipped file, or a path.

    What has a `/`, or the suffix of such files, is a path; a file of the working directory never
    takes the place of a shipped one unseen. Raises `error` when there is no such file; the text
    names shipped ones that may have been meant.
    """
    path = Path(name)
    if "/" in name or path.suffix in _SUFFIXES:
        if path.is_file():
            return path.resolve()
    elif not any(name == candidate.stem for candidate in shipped) and path.is_file():
        raise error(
            f"Cannot read {what} {name}: no {what} of that name ships with Strata, but there is "
            f"a file in the working directory. Write ./{name} for the file."
        )
    for candidate in shipped:
        if name in (candidate.stem, candidate.name):
            return candidate.resolve()
    raise error(
        f"Cannot read {what} {name}: no such file, and no {what} of that name ships with Strata."
        f"{_shipped_text(name, [candidate.stem for candidate in shipped])} {step} a path or the "
        "name of a shipped one."
    )


def _shipped_text(name: str, shipped: Sequence[str]) -> str:
    """Name the shipped files that may have been meant; else all, or the first of very many."""
    meant = did_you_mean(name, shipped)
    many = len(shipped) > _MANY
    if meant and many:
        return meant
    return f"{meant} Shipped: {listed(shipped, LISTED if many else _MANY)}."


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
