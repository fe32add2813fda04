# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: where the kind of machine is known, a skip for no allowed reason is a failure.

`make test` names the kind by `--machine`. Without it (pytest by hand) every skip is a skip. So a
build that drops a package, or a set-up that installs less, does not leave the tests green.

A reason is allowed only on a machine that lacks what the test needs: that is asked of the machine
here, not of the test, which may be wrong about it. What `make setup` and apt.sh install is lacking
on no machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Generator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

SYS_ADMIN, IPC_LOCK, SYS_NICE, PERFMON = 21, 14, 23, 38
_TRACEFS = ("/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events")
_LINK = (
    "ip link add name va type veth peer name vb && "
    "tc qdisc add dev va root handle 1: tbf rate 1gbit burst 128kb latency 50ms"
)


def is_no_root() -> bool:
    """Tell whether this is a plain user."""
    return os.geteuid() != 0


def lacks(*capabilities: int) -> bool:
    """Tell whether this process has none of some capabilities (linux/capability.h)."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"^CapEff:\s*(\w+)", status, re.MULTILINE)
    return found is None or not any(int(found[1], 16) >> one & 1 for one in capabilities)


@cache
def fails(*command: str) -> bool:
    """Tell whether the machine refuses a command; one that is not installed is no refusal."""
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode != 0
    except FileNotFoundError:
        return False


def no_mounts() -> bool:
    """Tell whether no mount namespace can be made."""
    return fails("unshare", "--mount", "true")


def no_processes() -> bool:
    """Tell whether no pid namespace with its /proc can be made."""
    return fails("unshare", "--mount", "--pid", "--fork", "--mount-proc", "true")


def no_networks() -> bool:
    """Tell whether no network namespace can be made, of one's own user namespace if need be."""
    return fails("unshare", *([] if os.geteuid() == 0 else ["-r"]), "--net", "true")


def no_links() -> bool:
    """Tell whether no link between two network namespaces with a rate can be made."""
    own = [] if os.geteuid() == 0 else ["-r"]
    return no_networks() or fails("unshare", *own, "--net", "sh", "-c", _LINK)


def no_priorities() -> bool:
    """Tell whether no thread may be scheduled in real time."""
    return fails("chrt", "-f", "5", "true")


def no_tracefs() -> bool:
    """Tell whether the kernel's tracepoints cannot be looked up."""
    return not any(os.access(place, os.R_OK | os.X_OK) for place in _TRACEFS)


def has_lttng_modules() -> bool:
    """Tell whether the kernel has the modules of LTTng."""
    return Path("/proc/lttng").exists() or any(Path("/sys/module").glob("lttng_*"))


def is_virtual() -> bool:
    """Tell whether this is a virtual machine."""
    return "hypervisor" in Path("/proc/cpuinfo").read_text()


def always() -> bool:
    """Tell that every machine of the kind is such a one."""
    return True


@dataclass(frozen=True)
class Allowance:
    """A reason for which a test may be skipped, why, and whether it is so on this machine."""

    reason: str
    why: str
    is_so: Callable[[], bool]


_ANYWHERE = (
    Allowance(
        r"lttng-modules are here, perf is not used",
        "the kernel's events come from lttng-modules",
        has_lttng_modules,
    ),
    Allowance(
        r"perf does not record here",
        "a user or a container may not",
        lambda: lacks(SYS_ADMIN, PERFMON),
    ),
    Allowance(r"no tracefs here", "containers have none", no_tracefs),
    Allowance(
        r"this kernel leaves out switches of every CPU",
        "a fault of kernels of some virtual machines",
        is_virtual,
    ),
    Allowance(
        r"no network namespace can be made here|no right to make a network namespace",
        "a container, or a user",
        lambda: no_networks() or fails("unshare", "--net", "true"),
    ),
    Allowance(r"not allowed here: SCHED_FIFO", "needs rights", no_priorities),
    Allowance(r"not allowed here: locking memory", "needs rights", lambda: lacks(IPC_LOCK)),
    Allowance(r"not allowed here: refused:", "users may not make namespaces everywhere", always),
    Allowance(
        r"not allowed here: (?!there is no program|SCHED_FIFO|locking memory|refused:)",
        "a link of two network namespaces needs rights and modules of the kernel",
        no_links,
    ),
    Allowance(
        r"this machine has no id",
        "/etc/machine-id is missing in some images",
        lambda: not Path("/etc/machine-id").is_file(),
    ),
    Allowance(
        r"no file system can be mounted here|mounts a small file system",
        "needs root",
        lambda: lacks(SYS_ADMIN) or no_mounts(),
    ),
    Allowance(r"no mount and pid namespaces can be made here", "needs root", no_processes),
    Allowance(r"drops root's rights|only root may do it", "needs root", is_no_root),
    Allowance(
        r"root's session daemon runs, and no mount namespace", "needs a namespace", no_mounts
    ),
    Allowance(
        r"there is no program sshd",
        "make setup does not install a server that would run on the machine",
        lambda: shutil.which("sshd", path=f"/usr/sbin:{os.environ['PATH']}") is None,
    ),
    Allowance(r"rclpy of Jazzy has no ", "what only Kilted has is tested with Kilted", always),
)
ALLOWED = {
    # ROS 2 from wheels, all of Debian's packages of apt.sh: CI, and a developer's machine.
    "wheels": (
        *_ANYWHERE,
        Allowance(r"ros2 launch is not installed", "there is no wheel of ros2launch", always),
        Allowance(r"gscam is not installed", "there is no wheel of gscam", always),
        Allowance(
            r"was built without rclcpp: only its Python nodes",
            "there is no wheel of rclcpp",
            always,
        ),
    ),
    # An installed ROS 2, whose distribution is the only one.
    "ros": (
        *_ANYWHERE,
        Allowance(
            r"gscam is not installed",
            "make setup does not install a camera's driver",
            lambda: not list(Path("/opt/ros").glob("*/lib/gscam/gscam_node")),
        ),
        Allowance(
            r"relay_chain was built with rclcpp", "its Python part is tested with wheels", always
        ),
        Allowance(r"the workspace is not built for", "one distribution is installed", always),
    ),
}
"""Of each kind of machine, the reasons for which a test may be skipped."""


def is_allowed(reason: str, machine: str) -> bool:
    """Tell whether a test may be skipped for a reason on this machine, of that kind."""
    own = [item for item in ALLOWED[machine] if re.search(item.reason, reason)]
    return any(item.is_so() for item in own)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--machine`."""
    parser.addoption(
        "--machine", choices=sorted(ALLOWED), help="fail on skips that this kind does not allow"
    )


def _judged(report: pytest.TestReport | pytest.CollectReport, machine: str | None) -> None:
    if machine is None or report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not is_allowed(reason, machine):
        report.outcome = "failed"
        report.longrepr = (
            f"Cannot skip {report.nodeid} on a machine of the kind {machine!r}: {reason}. "
            "This machine should have what the test needs: install it (make setup), or mend the "
            "test. What machines may lack is in analysis/tests/allowed_skips.py."
        )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Judge a test that was skipped."""
    report = yield
    _judged(report, item.config.getoption("machine"))
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Judge a file that was skipped as a whole."""
    report = yield
    _judged(report, collector.config.getoption("machine"))
    return report
