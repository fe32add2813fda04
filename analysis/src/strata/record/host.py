# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Facts of this machine that a recording's numbers depend on."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata import __version__
from strata.masking import mask_environment
from strata.record.lttng import Lttng

_CPU0 = Path("/sys/devices/system/cpu/cpu0")
_CLOCK_TRIES = 50
_VARIABLES = (
    "ROS_",
    "RMW_",
    "FASTDDS_",
    "FASTRTPS_",
    "CYCLONEDDS_",
    "ZENOH_",
    "LTTNG_",
    "RCUTILS_",
)


@dataclass(frozen=True)
class ClockOffset:
    """CLOCK_REALTIME (and CLOCK_TAI) less CLOCK_MONOTONIC at one moment, in ns.

    `error_ns` bounds the error of `realtime_ns`: half the time that the reading took.
    """

    monotonic_ns: int
    realtime_ns: int
    tai_ns: int
    error_ns: int

    def as_json(self) -> dict[str, int]:
        """Give the manifest's form."""
        return {
            "at_monotonic_ns": self.monotonic_ns,
            "realtime_minus_monotonic_ns": self.realtime_ns,
            "tai_minus_monotonic_ns": self.tai_ns,
            "error_ns": self.error_ns,
        }


def clock_offset() -> ClockOffset:
    """Measure the clocks against each other; the tightest of several readings counts."""
    return min((_read_clocks() for _ in range(_CLOCK_TRIES)), key=lambda reading: reading.error_ns)


def _read_clocks() -> ClockOffset:
    before = time.monotonic_ns()
    real = time.clock_gettime_ns(time.CLOCK_REALTIME)
    tai = time.clock_gettime_ns(time.CLOCK_TAI)
    after = time.monotonic_ns()
    middle = (before + after) // 2
    return ClockOffset(middle, real - middle, tai - middle, (after - before + 1) // 2)


def describe_host() -> dict[str, Any]:
    """Describe the machine, for the manifest; null where it is not known."""
    return {
        "name": platform.node(),
        "boot_id": boot_id(),
        "distribution": _distribution(),
        "kernel": platform.release(),
        "machine": platform.machine(),
        "cpu_model": _cpu_model(),
        "cpu_count": os.cpu_count(),
        "cpu_usable": len(os.sched_getaffinity(0)),
        "cpu_governor": _line(_CPU0 / "cpufreq" / "scaling_governor"),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "clock_source": _line(
            Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        ),
    }


def boot_id() -> str | None:
    """Give the id of this boot, which is also that of its CLOCK_MONOTONIC."""
    return _line(Path("/proc/sys/kernel/random/boot_id"))


def describe_versions(lttng: Lttng) -> dict[str, str | None]:
    """Give the versions of what records; null for what is not installed or not known."""
    return {
        "strata": __version__,
        "python": platform.python_version(),
        "lttng_tools": lttng.version(),
        "lttng_ust": lttng_ust_version(),
    }


def lttng_ust_version() -> str | None:
    """Give the version of the distribution's LTTng-UST; null when it is not known."""
    queries = (
        ["pkg-config", "--modversion", "lttng-ust"],
        ["dpkg-query", "--show", "--showformat=${Version}", "liblttng-ust1"],
        ["dpkg-query", "--show", "--showformat=${Version}", "liblttng-ust1t64"],
    )
    return next((answer for query in queries if (answer := _ask(query))), None)


def steers(name: str) -> bool:
    """Return whether a variable steers ROS 2, its middleware or LTTng, or what programs load."""
    return name.startswith(_VARIABLES) or name in ("LD_PRELOAD", "PYTHONPATH", "LD_LIBRARY_PATH")


def relevant_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Pick the variables that steer ROS 2, its middleware or LTTng; secrets are masked."""
    return mask_environment(
        {name: environment[name] for name in sorted(environment) if steers(name)}
    )


def possible_cpus() -> int:
    """Count the CPUs for which LTTng allocates buffers: all possible ones, not those on-line."""
    ranges = _line(Path("/sys/devices/system/cpu/possible"))
    if not ranges:
        return os.cpu_count() or 1
    bounds = [part.partition("-") for part in ranges.split(",")]
    return sum(int(last or first) - int(first) + 1 for first, _, last in bounds)


def _distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return None
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, None)


def _line(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except OSError:
        return None


def _ask(query: list[str]) -> str | None:
    if shutil.which(query[0]) is None:
        return None
    try:
        done = subprocess.run(query, capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None if done.returncode == 0 else None
