# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The recorder's side of the driver events: what is preloaded into unmodified sensor drivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.errors import SessionError
from strata.record.guard import preload
from strata.record.preload import built_library, guards_beside
from strata.record.ros import Ros, prepend

LIBRARY = "lib/driver_tracepoints/libdriver_hooks.so"
PORTS_VARIABLE = "DRIVER_TRACEPOINTS_UDP_PORTS"


@dataclass(frozen=True)
class Driver:
    """The driver side of a recording; `library` null: nothing is preloaded.

    `ports` are the UDP ports whose sockets are traced, `guard` the libraries that keep programs
    as they are. `remarks` are for the user.
    """

    library: Path | None
    guard: tuple[Path, ...]
    ports: tuple[int, ...]
    remarks: tuple[str, ...] = ()

    def preload(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Give an environment in which the hooks are preloaded, behind what already is.

        Behind: hooks that look at who calls them, as the DDS hooks do, are asked first.
        """
        preloaded = dict(environment)
        if self.library is None:
            return preloaded
        preload(preloaded, [self.library, *self.guard], behind=True)
        preloaded[PORTS_VARIABLE] = ",".join(str(port) for port in self.ports)
        # Drivers that emit by themselves find the library that the hooks were built with.
        prepend(preloaded, "LD_LIBRARY_PATH", [self.library.parents[1]])
        return preloaded

    def as_json(self) -> dict[str, Any]:
        """Give what the manifest keeps."""
        return {
            "hooks": str(self.library) if self.library else None,
            "guard": [str(path) for path in self.guard],
            "ports": list(self.ports),
        }


def plan_driver(ros: Ros | None, ports: Sequence[int]) -> Driver:
    """Decide what is preloaded into a command for the events of its sensor drivers.

    Raises SessionError when the package that a ROS 2 needs is not built; a command without ROS 2 is
    recorded without it then.
    """
    library = built_library(LIBRARY, ros)
    if library is None and ros is not None:
        raise SessionError(
            f"Cannot record driver events with ROS 2 {ros.distro}: driver_tracepoints is not built "
            f"(no {LIBRARY} below tracing_ws/install/{ros.distro}). Run `make setup`, or record "
            "with a configuration without driver events, such as ros2."
        )
    if library is None:
        remark = "no driver events: driver_tracepoints is not built (`make setup`)"
        return Driver(None, (), tuple(ports), (remark,))
    return Driver(library, guards_beside(library, LIBRARY, ros), tuple(ports))
