# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is told of the machine, held against what its own tools say; and what levels need of it."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from strata.campaign.machine_description import changes, describe_environment
from strata.campaign.machine_load import look
from strata.campaign.machine_requirements import Needs, unknown_need
from strata.record.lttng import Lttng
from strata.record.ros import caller_environment, find_ros

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    caller = caller_environment(os.environ) | {"STRATA_ROS_PREFIX": str(ROOT / ".venv")}
    ros = find_ros(caller)
    return describe_environment(ros, Lttng(caller), ros.environment(caller))


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_machine_is_told_as_its_tools_tell_it(described: dict[str, Any]) -> None:
    words = described["uname"].split()
    assert words[:3] == output("uname", "-snr").split()
    assert described["kernel_command_line"] == Path("/proc/cmdline").read_text().strip()
    assert [one["cpu"] for one in described["cpus"]] == sorted(os.sched_getaffinity(0))
    assert described["shared_memory"]["size_bytes"] == int(
        output("df", "--output=size", "-B1", "/dev/shm").split()[-1]
    )
    names = [one["name"] for one in described["interfaces"]]
    assert "lo" in names
    rmem = Path("/proc/sys/net/core/rmem_max").read_text().strip()
    assert described["sysctl"]["net.core.rmem_max"] == rmem
    locked = output("bash", "-c", "ulimit -l")
    told = described["limits"]["memlock_bytes"]["soft"]
    assert locked == ("unlimited" if told == "unlimited" else str(told // 1024))
    assert described["clock"]["synchronised"] in (True, False)
    assert described["versions"]["python"] == ".".join(map(str, sys.version_info[:3]))


def test_the_versions_of_all_packages_are_told(described: dict[str, Any]) -> None:
    assert {"rcl", "rclpy", "rmw_fastrtps_cpp", "relay_chain"} <= set(described["packages"])
    assert all(described["packages"].values())
    assert "rmw_fastrtps_cpp" in described["middlewares"]


def test_what_changed_of_a_machine_is_a_finding(described: dict[str, Any]) -> None:
    later = copy.deepcopy(described)
    later["load_average"], later["at_utc"] = [99.0, 1.0, 1.0], "later"
    later["shared_memory"]["free_bytes"] -= 1
    assert changes(described, later) == []
    before = later["sysctl"]["net.core.rmem_max"]
    later["sysctl"]["net.core.rmem_max"] = "1"
    later["cpus"][0]["governor"] = "powersave"
    del later["packages"]["rcl"]
    found = {one["key"]: (one["before"], one["after"]) for one in changes(described, later)}
    assert found == {
        "cpus.0.governor": (described["cpus"][0]["governor"], "powersave"),
        "packages.rcl": (described["packages"]["rcl"], None),
        "sysctl.net.core.rmem_max": (before, "1"),
    }


def test_a_busy_machine_is_marked() -> None:
    burning = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in os.sched_getaffinity(0)
    ]
    try:
        moment = look(0.5, lambda: True)
    finally:
        for one in burning:
            one.kill()
            one.wait()
    assert moment.busy
    assert moment.busy_percent is not None
    assert 50 < moment.busy_percent <= 100


def test_watching_ends_when_it_is_told() -> None:
    begun = time.monotonic()
    look(60.0, lambda: False)
    assert time.monotonic() - begun < 30.0


@pytest.mark.parametrize(
    ("need", "says"),
    [
        ("cpp:relay_chain", None),
        ("rmw:rmw_fastrtps_cpp", None),
        ("program:sh", None),
        ("program:rmw_zenohd", None),
        ("package:relay_chain", None),
        ("cpus:1", None),
        ("gib:0.001", None),
        (
            "cpp:other",
            "the C++ executables of other are not built, because rclcpp is not installed",
        ),
        ("rmw:rmw_zenoh_cpp", "rmw_zenoh_cpp is not installed"),
        ("program:none_such", "the program none_such is not installed"),
        ("package:other", "the package other is not installed"),
        ("cpus:100000", "CPUs are usable, and 100000 needed"),
        ("gib:1000000", "GiB of memory are free, and 1000000 needed"),
    ],
)
def test_a_need_is_met_or_told(tmp_path: Path, need: str, says: str | None) -> None:
    for name in (
        "lib/librmw_fastrtps_cpp.so",
        "lib/relay_chain/source_cpp",
        "lib/rmw_zenoh_cpp/rmw_zenohd",
        "share/relay_chain/package.xml",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o755)
    environment = {"AMENT_PREFIX_PATH": str(tmp_path), "PATH": os.environ["PATH"]}
    told = Needs(environment).unmet(need)
    assert told is None if says is None else says in str(told)


@pytest.mark.parametrize(
    ("governors", "low", "fixed", "scaled"),
    [
        (["performance"], "800000", None, "is fixed, first of CPU"),
        (["schedutil"], "800000", "is scaled, first of CPU", None),
        (["powersave"], "3000000", None, "is fixed, first of CPU"),
        (["performance", "schedutil"], "800000", "is scaled", "is fixed"),
        ([], "", "the kernel shows no frequency scaling", "the kernel shows no frequency scaling"),
    ],
)
def test_the_frequency_of_all_usable_cpus_has_to_be_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    governors: list[str],
    low: str,
    fixed: str | None,
    scaled: str | None,
) -> None:
    """The files of sysfs as the kernel writes them: no machine of tests has to have them."""
    usable = sorted(os.sched_getaffinity(0))
    if len(governors) > len(usable):
        usable = [0, 1]
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    for at, cpu in enumerate(usable if governors else []):
        place = tmp_path / f"cpu{cpu}/cpufreq"
        place.mkdir(parents=True)
        (place / "scaling_governor").write_text(f"{governors[at % len(governors)]}\n")
        (place / "scaling_min_freq").write_text(f"{low}\n")
        (place / "scaling_max_freq").write_text("3000000\n")
    monkeypatch.setattr("strata.campaign.machine_requirements.CPUS", tmp_path)
    for wanted, says in (("fixed", fixed), ("scaled", scaled)):
        told = Needs({}).unmet(f"frequency:{wanted}")
        assert told is None if says is None else says in str(told)


KNOWN = ["cpp:x", "rmw:x", "fifo", "namespaces", "cpus:2", "gib:1.5", "frequency:fixed"]


@pytest.mark.parametrize("need", KNOWN)
def test_needs_that_are_known(need: str) -> None:
    assert unknown_need(need) is None


@pytest.mark.parametrize(
    "need", ["", "cpp", "cpp:", "fifo:1", "gpu:1", "cpus:many", "gib:-1", "frequency:2"]
)
def test_needs_that_are_not(need: str) -> None:
    assert "is no need" in str(unknown_need(need))
