# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the project's own files are: shipped configurations, install spaces, sessions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from strata.errors import StrataError
from strata.nearest import LISTED, did_you_mean, listed

ROOT_VARIABLE = "STRATA_ROOT"
LIBRARY_PACKAGES = (
    "dds_tracepoints",
    "driver_tracepoints",
    "memory_lock",
    "rclpy_tracepoints",
    "ros2_statedump",
    "tracetools_provider",
    "ust_guard",
)
"""The packages of `tracing_ws/src` that a recording preloads or puts on a path."""
# An installed package carries what is in `trace_configs/` of the checkout (native/CMakeLists.txt).
_CARRIED = Path(__file__).parents[1] / "shipped"
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
    """List the files of a directory of `trace_configs/` that end so, by name.

    Without a checkout those that the installed package carries.
    """
    files = sorted((shipped_root() / directory).glob("*"))
    return [path for path in files if path.suffix in suffixes]


def shipped_root() -> Path:
    """Give the directory of shipped configurations: the checkout's, else the package's own."""
    root = project_root()
    return root / "trace_configs" if root else _CARRIED


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


def sourced_spaces(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """List the prefixes of a sourced colcon workspace that hold packages of `tracing_ws/src`.

    One prefix with a merged layout; one per package with colcon's isolated layout, whose plain
    CMake packages are found below COLCON_PREFIX_PATH.
    """
    named = [
        Path(one)
        for variable in ("COLCON_PREFIX_PATH", "AMENT_PREFIX_PATH")
        for one in environment.get(variable, "").split(":")
        if one
    ]
    found = [
        prefix
        for base in named
        for package in LIBRARY_PACKAGES
        for prefix in (base, base / package)
        if (prefix / "share" / package).is_dir()
    ]
    return tuple(dict.fromkeys(found))


def install_spaces() -> list[Path]:
    """List the colcon install spaces of all ROS distributions that were built."""
    root = project_root()
    spaces = (root / "tracing_ws" / "install").glob("*") if root else []
    return sorted(path for path in spaces if path.is_dir())
