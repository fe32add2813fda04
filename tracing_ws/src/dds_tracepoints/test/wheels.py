# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs in C on the rcl of the wheels, whose libraries need a Python around them."""

from __future__ import annotations

from pathlib import Path

from dds_events import LIBRARY
from native import PROGRAMS, compiled
from traced_ros import Ros

_CALL = """
import ctypes, sys
words = [word.encode() for word in sys.argv[1:]]
sys.exit(ctypes.CDLL(sys.argv[1]).main(len(words), (ctypes.c_char_p * len(words))(*words)))
"""


def built(ros: Ros, source: str, directory: Path) -> Path:
    """Compile a program to a library that `line` calls."""
    assert ros.wheels is not None
    include = ros.wheels / "include"
    places = [f"-I{place}" for place in (include, *include.iterdir()) if place.is_dir()]
    names = ["rcl", "rmw", "rcutils", "rosidl_runtime_c"]
    names += [f"std_msgs__rosidl_{part}_c" for part in ("typesupport", "generator")]
    return compiled(
        directory / f"{source}.so",
        *["-shared", "-fPIC", "-pthread", *places, PROGRAMS / source],
        *[f"-L{ros.wheels / 'lib'}", *(f"-l{name}" for name in names)],
        compiler="gcc",
    )


def line(ros: Ros, library: Path, *arguments: str) -> list[str]:
    """Give the command line that calls its main."""
    return ros.python("-c", _CALL, library, *arguments)


def hooked(ros: Ros, domain: str, *more: Path | str) -> dict[str, str]:
    """Give an environment with the hooks, and more, preloaded."""
    environment = ros.environment(hook=False) | {"ROS_DOMAIN_ID": domain}
    hooks = ros.install / "lib/dds_tracepoints" / LIBRARY.name
    preloaded = [environment["LD_PRELOAD"], str(hooks), *map(str, more)]
    return environment | {"LD_PRELOAD": ":".join(preloaded)}
