# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The machine that a campaign runs on: all that its numbers may depend on; null for what it hides.

docs/campaigns.md lists the keys.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from strata.campaign.directory import utc_now
from strata.campaign.machine_requirements import available_bytes
from strata.record.host import describe_host, describe_versions, relevant_environment
from strata.record.lttng import Lttng
from strata.record.manifest import describe_ros
from strata.record.ros import Ros, ament_prefixes

_CPUS = Path("/sys/devices/system/cpu")
_SYSCTLS = (
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.core.netdev_max_backlog",
    "net.ipv4.udp_mem",
    "net.ipv4.ipfrag_high_thresh",
    "net.ipv4.ipfrag_time",
    "kernel.sched_rt_runtime_us",
)
_CLOCK_PROGRAMS = ("chronyd", "ntpd", "ntpsec", "phc2sys", "ptp4l", "systemd-timesyncd")
_COMM_LENGTH = 15
# What another machine of the campaign says of itself.
_OF_HOST = re.compile(r"^hosts\.\w+\.")
_UNSYNCHRONISED = 0x40
_NANOSECONDS = 0x2000
# What differs from one moment to the next, or says nothing of the machine.
_PASSING = (
    "at_utc",
    "load_average",
    "memory.available_bytes",
    "shared_memory.free_bytes",
    "clock.estimated_error_us",
    "clock.maximum_error_us",
    "clock.offset_ns",
    "clock.frequency_ppm",
)


def describe_environment(
    ros: Ros | None, lttng: Lttng, environment: Mapping[str, str]
) -> dict[str, Any]:
    """Describe the machine and its versions; `environment` is that of the cells' nodes."""
    return {
        "at_utc": utc_now(),
        "host": describe_host(),
        "uname": " ".join(os.uname()),
        "kernel_command_line": read_line(Path("/proc/cmdline")),
        "virtualisation": _virtualisation(),
        "cpus": [_cpu(number) for number in sorted(os.sched_getaffinity(0))],
        "turbo": _turbo(),
        "smt": read_line(_CPUS / "smt/control"),
        "isolated_cpus": read_line(_CPUS / "isolated"),
        "tickless_cpus": read_line(_CPUS / "nohz_full"),
        "idle_states": _idle_states(),
        "mitigations": _mitigations(),
        "transparent_hugepages": read_line(Path("/sys/kernel/mm/transparent_hugepage/enabled")),
        "memory": {"available_bytes": available_bytes()},
        "shared_memory": _shared_memory(),
        "load_average": load_average(),
        "sysctl": {name: _sysctl(name) for name in _SYSCTLS},
        "interfaces": _interfaces(),
        "clock": _clock(),
        "limits": {
            "rtprio": _limit(resource.RLIMIT_RTPRIO),
            "memlock_bytes": _limit(resource.RLIMIT_MEMLOCK),
            "nofile": _limit(resource.RLIMIT_NOFILE),
        },
        "versions": describe_versions(lttng),
        "ros": describe_ros(ros, environment),
        "packages": _packages(environment),
        "middlewares": _middlewares(environment),
        "variables": relevant_environment(environment),
    }


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    """List what differs between two descriptions: `key` (dotted), `before`, `after`.

    What passes from one moment to the next, such as the load average, is left out.
    """
    old, new = dict(flat_facts(before)), dict(flat_facts(after))
    return [
        {"key": key, "before": old.get(key), "after": new.get(key)}
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
        and _OF_HOST.sub("", key) not in _PASSING
        and not key.startswith("changed")
    ]


def flat_facts(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Give the facts of a description by their dotted names; lists of objects are numbered."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from flat_facts(one, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for number, one in enumerate(value):
            yield from flat_facts(one, f"{name}.{number}")
    else:
        yield name, value


def load_average() -> list[float] | None:
    """Give the load averages of 1, 5 and 15 minutes; null where the system does not tell."""
    try:
        return [round(one, 2) for one in os.getloadavg()]
    except OSError:
        return None


def read_line(path: Path) -> str | None:
    """Read a file's text; null when it cannot be read or is empty."""
    try:
        return path.read_text().strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def read_number(path: Path) -> int | None:
    """Read a whole number; null when there is none."""
    try:
        return int(read_line(path) or "")
    except ValueError:
        return None


def _virtualisation() -> dict[str, Any]:
    flags = read_line(Path("/proc/cpuinfo")) or ""
    return {
        "detected": _ask("systemd-detect-virt"),
        "hypervisor_flag": "hypervisor" in flags.split(),
        "product": read_line(Path("/sys/class/dmi/id/product_name")),
    }


def _ask(program: str) -> str | None:
    try:
        done = subprocess.run(
            [program],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    # "none" comes with exit status 1.
    return done.stdout.strip() or None


def _cpu(number: int) -> dict[str, Any]:
    frequency = _CPUS / f"cpu{number}/cpufreq"
    return {
        "cpu": number,
        "governor": read_line(frequency / "scaling_governor"),
        "driver": read_line(frequency / "scaling_driver"),
        "min_khz": read_number(frequency / "scaling_min_freq"),
        "max_khz": read_number(frequency / "scaling_max_freq"),
        "preference": read_line(frequency / "energy_performance_preference"),
    }


def _turbo() -> bool | None:
    no_turbo = read_number(_CPUS / "intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boost = read_number(_CPUS / "cpufreq/boost")
    return None if boost is None else boost == 1


def _idle_states() -> list[str] | None:
    """List the idle states of the first CPU that are allowed; they cost time at low rates."""
    states = sorted((_CPUS / "cpu0/cpuidle").glob("state*"))
    names = [read_line(one / "name") for one in states if read_number(one / "disable") == 0]
    return [name for name in names if name] if states else None


def _mitigations() -> dict[str, str | None] | None:
    files = sorted((_CPUS / "vulnerabilities").glob("*"))
    return {file.name: read_line(file) for file in files} or None


def _shared_memory() -> dict[str, int] | None:
    try:
        told = os.statvfs("/dev/shm")
    except OSError:
        return None
    return {
        "size_bytes": told.f_blocks * told.f_frsize,
        "free_bytes": told.f_bavail * told.f_frsize,
    }


def _sysctl(name: str) -> str | None:
    text = read_line(Path("/proc/sys") / name.replace(".", "/"))
    return " ".join(text.split()) if text else None


def _interfaces() -> list[dict[str, Any]]:
    out = []
    for path in sorted(Path("/sys/class/net").glob("*")):
        speed = read_number(path / "speed")
        out.append(
            {
                "name": path.name,
                "mtu": read_number(path / "mtu"),
                "speed_mbit": speed if speed and speed > 0 else None,
                "state": read_line(path / "operstate"),
            }
        )
    return out


class _Timex(ctypes.Structure):
    """struct timex of the kernel, whose head is read; the rest is reserved."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("room", ctypes.c_long * 40),
    )


def _clock() -> dict[str, Any]:
    told = _Timex()
    # With no mode it changes nothing and needs no right.
    state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(told))
    known = state >= 0
    unit = 1 if told.status & _NANOSECONDS else 1000
    return {
        "synchronised": not told.status & _UNSYNCHRONISED if known else None,
        "status": told.status if known else None,
        "offset_ns": told.offset * unit if known else None,
        "estimated_error_us": told.esterror if known else None,
        "maximum_error_us": told.maxerror if known else None,
        "frequency_ppm": round(told.freq / 65536, 3) if known else None,
        "programs": _running(_CLOCK_PROGRAMS),
        "ptp_devices": {
            path.name: read_line(path / "clock_name")
            for path in sorted(Path("/sys/class/ptp").glob("ptp*"))
        },
    }


def _running(programs: tuple[str, ...]) -> list[str]:
    """Tell which programs run, as far as this process sees them."""
    names = {read_line(path) for path in Path("/proc").glob("[0-9]*/comm")}
    return [program for program in programs if program[:_COMM_LENGTH] in names]


def _limit(which: int) -> dict[str, int | str]:
    def told(value: int) -> int | str:
        return "unlimited" if value == resource.RLIM_INFINITY else value

    soft, hard = resource.getrlimit(which)
    return {"soft": told(soft), "hard": told(hard)}


def _packages(environment: Mapping[str, str]) -> dict[str, str]:
    """Give the version of every ROS package on AMENT_PREFIX_PATH, by name; the first one counts."""
    found: dict[str, str] = {}
    for prefix in ament_prefixes(environment):
        for path in sorted((prefix / "share").glob("*/package.xml")):
            try:
                version = ElementTree.parse(path).getroot().findtext("version")
            except (OSError, ElementTree.ParseError):
                continue
            found.setdefault(path.parent.name, (version or "").strip())
    return dict(sorted(found.items()))


def _middlewares(environment: Mapping[str, str]) -> list[str]:
    """List the implementations of rmw that are installed."""
    found = set()
    for prefix in ament_prefixes(environment):
        for pattern in ("lib/librmw_*.so", "lib/*/librmw_*.so"):
            found |= {path.stem.removeprefix("lib") for path in prefix.glob(pattern)}
    plain = {"rmw_dds_common", "rmw_fastrtps_shared_cpp", "rmw_implementation"}
    return sorted(name for name in found - plain if "__" not in name)
