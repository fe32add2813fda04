# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A pytest plugin: where the kind of machine is known, a skip for no allowed reason is a failure.

`make test` names the kind by `--machine`. Without it (pytest by hand) every skip is a skip. So a
build that drops a package, or a set-up that installs less, does not leave the tests green.
"""

from __future__ import annotations

import re
from collections.abc import Generator

import pytest

_EVERYWHERE = {
    r"lttng-modules are here, perf is not used": "the kernel's events come from lttng-modules",
    r"perf does not record here": "a virtual machine or container may forbid perf",
    r"no tracefs here": "containers have none",
    r"this kernel leaves out switches of every CPU": "a fault of some kernels",
    r"no network namespace can be made here|no right to make a network namespace": "a container",
    r"not allowed here: ": "scheduling, namespaces and limits need rights that a container lacks",
    r"this machine has no id": "/etc/machine-id is missing in some images",
    r"no file system can be mounted here|mounts a small file system": "needs root",
    r"drops root's rights": "needs root",
    r"root's session daemon runs, and no mount namespace": "a container",
    r"rclpy of Jazzy has no ": "what only Kilted has is tested with Kilted",
}
ALLOWED = {
    # ROS 2 from wheels, all of Debian's packages of apt.sh: CI, and a developer's machine.
    "wheels": _EVERYWHERE
    | {r"was built without rclcpp: only its Python nodes": "there is no wheel of rclcpp"},
    # An installed ROS 2, whose distribution is the only one.
    "ros": _EVERYWHERE
    | {
        r"relay_chain was built with rclcpp": "its Python part is tested with the wheels",
        r"the workspace is not built for": "one distribution is installed",
    },
}
"""Of each kind of machine, the reasons for which a test may be skipped, and why that is right."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--machine`."""
    parser.addoption(
        "--machine", choices=sorted(ALLOWED), help="fail on skips that this kind does not allow"
    )


def _judged(report: pytest.TestReport | pytest.CollectReport, machine: str | None) -> None:
    if machine is None or report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if not any(re.search(allowed, reason) for allowed in ALLOWED[machine]):
        report.outcome = "failed"
        report.longrepr = (
            f"Cannot skip {report.nodeid} on a machine of the kind {machine!r}: {reason}. "
            "Install what is missing (make setup), or allow the reason in "
            "analysis/tests/allowed_skips.py."
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
