# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The recorder's side of the DDS events: what is preloaded, and what of it will bind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.errors import SessionError
from strata.record.guard import preload
from strata.record.places import project_root
from strata.record.preflight.binding import UNUSED
from strata.record.preflight.hooks import read_hooks
from strata.record.preflight.libraries import find_libraries, search_path
from strata.record.preflight.preflight import Preflight, examine
from strata.record.preflight.releases import CYCLONEDDS, FASTDDS
from strata.record.preload import built_library, guards_beside, spaces_of
from strata.record.ros import DEFAULT_RMW, Ros, ament_prefixes

LIBRARY = "lib/dds_tracepoints/libdds_tracepoints.so"
_TABLE = "share/dds_tracepoints/hooks.def"
_TABLE_IN_SOURCES = "tracing_ws/src/dds_tracepoints/src/hooks.def"
_MOST_NAMED = 3


@dataclass(frozen=True)
class Hooks:
    """What is preloaded: the hook library, and the guard of programs beside it."""

    library: Path
    guard: tuple[Path, ...]

    def preload(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Give an environment in which they are preloaded, before what already is."""
        preloaded = dict(environment)
        preload(preloaded, [self.library, *self.guard])
        return preloaded


@dataclass(frozen=True)
class Dds:
    """The DDS side of a recording; `hooks` null: nothing is preloaded.

    `preflights` are of the libraries that the middleware in use is linked to, as far as they were
    found. `remarks` are for the user: what does not bind, and why.
    """

    hooks: Hooks | None
    preflights: tuple[Preflight, ...]
    remarks: tuple[str, ...]

    @property
    def wanted(self) -> int:
        """Count the hooks that the libraries in use have something for."""
        return sum(one.status != UNUSED for each in self.preflights for one in each.bindings)

    @property
    def bound(self) -> int:
        """Count the hooks among them that every call reaches."""
        return self.wanted - sum(len(each.faults) for each in self.preflights)

    def as_json(self) -> dict[str, Any]:
        """Give what the manifest keeps."""
        return {
            "hooks": str(self.hooks.library) if self.hooks else None,
            "guard": [str(path) for path in self.hooks.guard] if self.hooks else [],
            "preflight": [preflight.summary() for preflight in self.preflights],
        }


def find_hooks(ros: Ros | None) -> Hooks | None:
    """Find what is to be preloaded; null when it is not built."""
    library = built_library(LIBRARY, ros)
    return Hooks(library, guards_beside(library, LIBRARY, ros)) if library else None


def plan_dds(ros: Ros | None, environment: Mapping[str, str]) -> Dds:
    """Decide what is preloaded into a command, and tell what of it will bind.

    `environment` is the command's. Raises SessionError when the hooks that a ROS 2 needs are not
    built; a command without ROS 2 is recorded without them then.
    """
    hooks = find_hooks(ros)
    if hooks is None and ros is not None:
        raise SessionError(
            f"Cannot record DDS events of ROS 2 {ros.distro}: their hooks are not built (no "
            f"{LIBRARY} below tracing_ws/install/{ros.distro}). Run `make setup`, or record with "
            "a configuration without dds events, such as ros2."
        )
    if hooks is None:
        return Dds(None, (), ("no DDS events: their hooks are not built (`make setup`)",))
    vendor = _vendor_in_use(ros, environment)
    if vendor is None:
        rmw = environment.get("RMW_IMPLEMENTATION")
        return Dds(hooks, (), (f"no DDS events: {rmw} has no hooks",) if rmw else ())
    try:
        used, _ = in_use(preflight(ros, environment), ros, environment)
    except SessionError as error:
        # The recording is worth more than its forecast.
        return Dds(hooks, (), (str(error),))
    remarks = [line for each in used for line in _remarks(each)]
    if not used:
        remarks.append(f"no {vendor} library was found: it is not known which DDS hooks bind")
    return Dds(hooks, used, tuple(remarks))


def in_use(
    found: Sequence[Preflight], ros: Ros | None, environment: Mapping[str, str]
) -> tuple[tuple[Preflight, ...], tuple[Preflight, ...]]:
    """Part libraries into those that the middleware in use is linked to, and the others.

    Where none of that middleware is linked, all libraries of its vendor count as in use; none where
    no hooks are known for it.
    """
    vendor = _vendor_in_use(ros, environment)
    own = [one for one in found if one.vendor == vendor]
    used = tuple([one for one in own if one.callers] or own)
    return used, tuple(one for one in found if one not in used)


def _vendor_in_use(ros: Ros | None, environment: Mapping[str, str]) -> str | None:
    rmw = environment.get("RMW_IMPLEMENTATION") or (DEFAULT_RMW if ros else "")
    if rmw.startswith("rmw_fastrtps"):
        return FASTDDS
    return CYCLONEDDS if rmw == "rmw_cyclonedds_cpp" else None


def preflight(
    ros: Ros | None, environment: Mapping[str, str], given: Sequence[Path] = ()
) -> list[Preflight]:
    """Examine the DDS libraries that a command could load, and `given` ones in their stead.

    Raises SessionError when the table of hooks or a given library cannot be read.
    """
    prefixes = [*ament_prefixes(environment), *([ros.prefix] if ros else [])]
    libraries, rmw = find_libraries(search_path(environment, prefixes), given)
    return examine(read_hooks(_table(ros)), libraries, rmw)


def _table(ros: Ros | None) -> Path:
    spaces = (ros.spaces if ros else ()) or spaces_of(None)
    installed = (space / _TABLE for space in spaces if (space / _TABLE).is_file())
    # Before the first build the sources tell the same.
    return next(installed, (project_root() or Path.cwd()) / _TABLE_IN_SOURCES)


def _remarks(found: Preflight) -> list[str]:
    lines = []
    faults = found.faults
    if faults:
        names = [binding.what for binding in faults[:_MOST_NAMED]]
        names += [f"{len(faults) - _MOST_NAMED} more"] if len(faults) > _MOST_NAMED else []
        merged = [layer for layer in found.layers if " + " in layer]
        effect = f"layers that merge: {', '.join(merged)}" if merged else "no layers merge"
        lines.append(
            f"{len(faults)} of {len(found.bindings)} DDS hooks do not bind in {found.soname} "
            f"({'; '.join(names)}); {effect} (see `strata doctor --dds`)"
        )
    if found.note:
        lines.append(found.note)
    return lines
