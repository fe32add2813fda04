# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where the kind of machine is known, only allowed reasons skip a test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import allowed_skips
import pytest
from allowed_skips import is_allowed

HERE = Path(__file__).parent
TESTS = """
import pytest

def test_of_a_package_that_is_gone():
    pytest.skip("dds_tracepoints is not built")

@pytest.mark.skipif(True, reason="rclpy of Jazzy has no EventsExecutor")
def test_of_another_distribution():
    pass

@pytest.mark.xfail(strict=True)
def test_that_is_known_to_fail():
    assert False

def test_that_runs():
    pass
"""


def outcomes(place: Path, text: str, *options: str) -> tuple[int, str]:
    (place / "test_skips.py").write_text(text)
    environment = os.environ | {"PYTHONPATH": str(HERE)}
    environment.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "allowed_skips", *options, "test_skips.py"],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_a_skip_for_another_reason_fails(tmp_path: Path, workers: tuple[str, ...]) -> None:
    status, out = outcomes(tmp_path, TESTS, "--machine", "wheels", *workers)
    assert status == 1
    assert "1 failed, 1 passed, 1 skipped, 1 xfailed" in out
    assert "Cannot skip test_skips.py::test_of_a_package_that_is_gone" in out
    assert "dds_tracepoints is not built" in out


def test_without_a_kind_every_skip_is_a_skip(tmp_path: Path) -> None:
    status, out = outcomes(tmp_path, TESTS)
    assert status == 0
    assert "1 passed, 2 skipped, 1 xfailed" in out


def test_a_file_that_is_skipped_as_a_whole_fails(tmp_path: Path) -> None:
    text = "import pytest\npytest.importorskip('no_such_module_of_ours')\n"
    status, out = outcomes(tmp_path, text, "--machine", "wheels")
    assert status != 0
    assert "Cannot skip test_skips.py" in out


@pytest.mark.parametrize(
    "reason",
    [
        "dds_tracepoints is not built",
        "driver_tracepoints is not built",
        "no Chromium is installed",
        "no LTTng",
        "no Fast DDS with its schema is installed",
        "Cyclone DDS is not installed",
        "GStreamer is not installed (libgstreamer-plugins-base1.0-dev)",
        "clang++ with libFuzzer is not installed (clang, libclang-rt-14-dev)",
        "could not import 'barectf'",
        "the workspace is not built for kilted: make setup-kilted",
        "relay_chain was built with rclcpp",
        "not allowed here: there is no program tc (package iproute2)",
    ],
)
def test_what_is_installed_on_a_machine_of_wheels_is_no_reason(reason: str) -> None:
    assert not is_allowed(reason, "wheels")


@pytest.mark.parametrize(
    ("reason", "asked"),
    [
        ("drops root's rights", "is_no_root"),
        ("not allowed here: SCHED_FIFO 5 is refused: Operation not permitted", "no_priorities"),
        ("not allowed here: Cannot make a link: Operation not permitted", "no_links"),
        ("no tracefs here: perf records context switches alone", "no_tracefs"),
        ("lttng-modules are here, perf is not used", "has_lttng_modules"),
        ("root's session daemon runs, and no mount namespace can be made beside it", "no_mounts"),
    ],
)
@pytest.mark.parametrize("machine", ["wheels", "ros"])
def test_a_reason_is_allowed_only_where_it_is_so(machine: str, reason: str, asked: str) -> None:
    real: Callable[[], bool] = getattr(allowed_skips, asked)
    assert is_allowed(reason, machine) == real()
    own = [item for item in allowed_skips.ALLOWED[machine] if item.is_so is real]
    assert len(own) == 1


def test_capabilities_decide_where_root_alone_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = ("perf does not record here: no", "not allowed here: locking memory is limited")
    for lacking in (True, False):
        monkeypatch.setattr(allowed_skips, "lacks", lambda *_, it=lacking: it)
        assert [is_allowed(reason, "wheels") for reason in reasons] == [lacking, lacking]


def test_a_command_that_is_not_installed_excuses_nothing() -> None:
    assert not allowed_skips.fails("no-such-command-of-ours")
    assert allowed_skips.fails("false")
    assert not allowed_skips.fails("true")
