# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the DDS libraries that a process would load, and the ROS middleware that calls them."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from strata.errors import SessionError
from strata.record.preflight.binding import VENDORS, vendor_of
from strata.record.preflight.elf import Library

RMW_LIBRARIES = (
    "librmw_fastrtps_shared_cpp.so",
    "librmw_fastrtps_cpp.so",
    "librmw_fastrtps_dynamic_cpp.so",
    "librmw_cyclonedds_cpp.so",
)


def multiarch() -> str | None:
    """Name the subdirectory of this machine's libraries, as Debian does; null without one."""
    name = sysconfig.get_config_var("MULTIARCH")
    return str(name) if name else None


def system_directories() -> list[Path]:
    """List where the loader looks by itself."""
    directories = [Path("/usr/local/lib"), Path("/usr/lib64"), Path("/usr/lib")]
    name = multiarch()
    if name:
        directories = [Path(f"/usr/local/lib/{name}"), Path(f"/usr/lib/{name}"), *directories]
    return directories


def search_path(environment: Mapping[str, str], prefixes: Iterable[Path] = ()) -> list[Path]:
    """List the directories that are searched for libraries, in the loader's order.

    Those of LD_LIBRARY_PATH, of ROS 2's prefixes (packages find their libraries there by RUNPATH),
    and the system's. Only those that exist.
    """
    stated = environment.get("LD_LIBRARY_PATH", "").split(":")
    directories = [Path(path) for path in stated if path]
    for prefix in prefixes:
        directories.append(prefix / "lib")
        name = multiarch()
        if name:
            directories.append(prefix / "lib" / name)
    directories += system_directories()
    return [path for path in dict.fromkeys(directories) if path.is_dir()]


def find_libraries(
    directories: Sequence[Path], given: Sequence[Path] = ()
) -> tuple[list[Library], list[Library]]:
    """Find the DDS libraries, and the middleware libraries of ROS 2.

    `given` files come first and stand for what has the same name. Raises SessionError for a given
    one that cannot be read or that the hooks have nothing to do with.
    """
    dds: dict[str, Library] = {}
    rmw: dict[str, Library] = {}
    for path in given:
        library = Library(path)
        if vendor_of(library) is None and library.soname not in RMW_LIBRARIES:
            raise SessionError(
                f"Cannot find out what binds in {path}: {library.soname} is not a library with "
                f"hooks. Name one called {', '.join(VENDORS)} or librmw_*."
            )
        (rmw if vendor_of(library) is None else dds)[library.soname] = library
    for directory in directories:
        for library in _dds_libraries(directory):
            dds.setdefault(library.soname, library)
        for name in RMW_LIBRARIES:
            if name not in rmw and (directory / name).is_file():
                rmw[name] = Library(directory / name)
    return list(dds.values()), list(rmw.values())


def users_of(dds: Library, rmw: Sequence[Library]) -> list[Library]:
    """Pick the middleware libraries that are linked to a DDS library."""
    return [library for library in rmw if dds.soname in library.needed]


def _dds_libraries(directory: Path) -> list[Library]:
    paths = [path for stem in VENDORS for path in sorted(directory.glob(f"{stem}[.-]*so*"))]
    libraries = []
    for path in paths:
        try:
            libraries.append(Library(path))
        except SessionError:
            # A linker script, or a symbolic link into nowhere: nothing that a process loads.
            continue
    # Wheels hold copies under several names: the loader opens the one with the right name.
    return sorted(libraries, key=lambda library: library.path.name != library.soname)
