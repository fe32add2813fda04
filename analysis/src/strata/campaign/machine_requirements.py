# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a level may need of the machine, and why this one does not have it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from strata.record.profiles import has_rmw
from strata.record.ros import ament_prefixes
from strata.scenario.network import namespaces_unavailable
from strata.scenario.place import Placement, lock_library, refused

CPUS = Path("/sys/devices/system/cpu")
_FIFO = 98
_FREQUENCIES = ("fixed", "scaled")


class Needs:
    """Answers what is missing; each need is looked up once. `environment` is that of the cells."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._known: dict[str, str | None] = {}

    def unmet(self, need: str) -> str | None:
        """Say why a need is not met; null when it is."""
        if need not in self._known:
            kind, _, value = need.partition(":")
            self._known[need] = _KINDS[kind][1](value, self._environment)
        return self._known[need]


def unknown_need(need: str) -> str | None:
    """Say what is wrong with a need's text; null when nothing is."""
    kind, colon, value = need.partition(":")
    if kind not in _KINDS:
        return f"'{need}' is no need (there are {', '.join(form for form, _ in _KINDS.values())})"
    form = _KINDS[kind][0]
    if (":" in form) != bool(colon and value):
        return f"'{need}' is no need: write {form}"
    if kind in ("cpus", "gib") and not _is_number(value):
        return f"'{need}' is no need: '{value}' is no number"
    if kind == "frequency" and value not in _FREQUENCIES:
        return f"'{need}' is no need: write {form}"
    return None


def _is_number(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


def _cpp(package: str, environment: Mapping[str, str]) -> str | None:
    prefixes = ament_prefixes(environment)
    if any(any((prefix / "lib" / package).glob("*_cpp")) for prefix in prefixes):
        return None
    rclcpp = any((prefix / "share/rclcpp/package.xml").is_file() for prefix in prefixes)
    why = "" if rclcpp else ", because rclcpp is not installed"
    return f"the C++ executables of {package} are not built{why}"


def _rmw(implementation: str, environment: Mapping[str, str]) -> str | None:
    return None if has_rmw(implementation, environment) else f"{implementation} is not installed"


def _program(name: str, environment: Mapping[str, str]) -> str | None:
    places = [prefix / "lib" for prefix in ament_prefixes(environment)]
    if shutil.which(name, path=environment.get("PATH", os.defpath)):
        return None
    # rmw_zenohd lies in its package's directory, as `ros2 run` finds it.
    if any(os.access(path, os.X_OK) for place in places for path in place.glob(f"*/{name}")):
        return None
    return f"the program {name} is not installed"


def _package(name: str, environment: Mapping[str, str]) -> str | None:
    prefixes = ament_prefixes(environment)
    there = any((prefix / "share" / name / "package.xml").is_file() for prefix in prefixes)
    return None if there else f"the package {name} is not installed"


def _fifo(_: str, environment: Mapping[str, str]) -> str | None:
    why = refused(Placement(fifo=_FIFO, lock_memory=True))
    if why is None and lock_library(environment) is None:
        return "the package memory_lock, which locks memory, is not built"
    return why


def _namespaces(_: str, __: Mapping[str, str]) -> str | None:
    return namespaces_unavailable()


def _cpus(count: str, _: Mapping[str, str]) -> str | None:
    usable = len(os.sched_getaffinity(0))
    return None if usable >= float(count) else f"{usable} CPUs are usable, and {count} needed"


def _gib(size: str, _: Mapping[str, str]) -> str | None:
    free = available_bytes()
    if free is None or free >= float(size) * 2**30:
        return None
    return f"{free / 2**30:.1f} GiB of memory are free, and {size} needed"


def _frequency(wanted: str, _: Mapping[str, str]) -> str | None:
    """Say why the usable CPUs do not all have a fixed frequency, or do not all scale theirs.

    Fixed is the governor performance, or bounds that are equal.
    """
    told = {cpu: _is_fixed(CPUS / f"cpu{cpu}/cpufreq") for cpu in os.sched_getaffinity(0)}
    if None in told.values():
        return (
            "the kernel shows no frequency scaling (no cpufreq): this is often so in a virtual "
            "machine"
        )
    others = sorted(cpu for cpu, fixed in told.items() if fixed != (wanted == "fixed"))
    if not others:
        return None
    state = "scaled" if wanted == "fixed" else "fixed"
    return (
        f"the frequency of {len(others)} of {len(told)} usable CPUs is {state}, first of CPU "
        f"{others[0]}; set it before the run (docs/campaigns.md)"
    )


def _is_fixed(place: Path) -> bool | None:
    """Tell whether a CPU keeps its frequency; null where the kernel does not say."""
    try:
        governor, low, high = (
            (place / f"scaling_{name}").read_text().strip()
            for name in ("governor", "min_freq", "max_freq")
        )
    except OSError:
        return None
    return governor == "performance" or low == high


def available_bytes() -> int | None:
    """Give the memory that programs can still get; null where the kernel does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    found = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    kib = next(found, None)
    return int(kib) * 1024 if kib else None


_KINDS: dict[str, tuple[str, Callable[[str, Mapping[str, str]], str | None]]] = {
    "cpp": ("cpp:PACKAGE", _cpp),
    "rmw": ("rmw:IMPLEMENTATION", _rmw),
    "program": ("program:NAME", _program),
    "package": ("package:NAME", _package),
    "fifo": ("fifo", _fifo),
    "namespaces": ("namespaces", _namespaces),
    "cpus": ("cpus:N", _cpus),
    "gib": ("gib:N", _gib),
    "frequency": (f"frequency:{'|'.join(_FREQUENCIES)}", _frequency),
}
