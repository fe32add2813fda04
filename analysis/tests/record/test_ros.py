# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which ROS 2 is found, and the environment that its programs get."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from strata.errors import SessionError
from strata.record import dds
from strata.record import ros as ros_module
from strata.record.lttng import tool_environment
from strata.record.ros import SOURCED, SYSTEM, WHEELS, caller_environment, find_ros

_BASE = {"PATH": "/usr/bin", "HOME": "/home/me"}


def _touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """Make a virtual environment that looks as if it held the Jazzy wheels."""
    prefix = tmp_path / "venv"
    _touch(prefix / "lib" / "librcl.so")
    site = prefix / "lib" / "python3.11" / "site-packages"
    for name in ("ros_jazzy_rclpy-7.1.6.dist-info", "ros_rclpy-7.1.6.dist-info", "ros_rcl.libs"):
        (site / name).mkdir(parents=True)
    package = prefix / "share" / "rcl" / "package.xml"
    _touch(package).write_text("<package><name>rcl</name><version>9.2.8</version></package>")
    return prefix


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a checkout whose workspace is built for Jazzy."""
    root = tmp_path / "project"
    (root / "trace_configs").mkdir(parents=True)
    monkeypatch.setenv("STRATA_ROOT", str(root))
    space = root / "tracing_ws" / "install" / "jazzy"
    _touch(space / "lib" / "tracetools_provider" / "libtracetools.so")
    _touch(space / "lib" / "tracetools_provider" / "libnoust.so")
    _touch(space / "lib" / "ust_guard" / "libust_guard.so")
    _touch(space / "lib" / "rclpy_tracepoints" / "sitecustomize.py")
    (space / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    return space


def test_wheels_get_the_provider_and_both_prefixes(wheels: Path, space: Path) -> None:
    base = _BASE | {
        "STRATA_ROS_PREFIX": str(wheels),
        "LD_PRELOAD": "/theirs.so",
        "LD_LIBRARY_PATH": "/their/lib",
        "PYTHONPATH": "/their/python",
    }
    ros = find_ros(base)
    assert (ros.kind, ros.distro, ros.prefix, ros.spaces) == (WHEELS, "jazzy", wheels, (space,))

    environment = ros.environment(base)
    provider = space / "lib" / "tracetools_provider"
    site = "lib/python3.11/site-packages"
    assert environment["LD_PRELOAD"] == (
        f"{provider}/libtracetools.so:{provider}/libnoust.so:"
        f"{space}/lib/ust_guard/libust_guard.so:/theirs.so"
    )
    assert environment["LD_LIBRARY_PATH"] == (
        f"{space}/lib:{wheels}/lib:{wheels}/{site}/ros_rcl.libs:/their/lib"
    )
    assert environment["AMENT_PREFIX_PATH"] == f"{space}:{wheels}"
    assert environment["PYTHONPATH"] == (
        f"{space}/lib/rclpy_tracepoints:{space}/{site}:{wheels}/{site}:/their/python"
    )
    assert environment["PATH"] == f"{wheels}/bin:/usr/bin"
    assert environment["ROS_DISTRO"] == "jazzy"
    assert environment["_ROS_WHEELS_BOOTSTRAP_COMPLETE"] == "1"
    assert environment["HOME"] == "/home/me"


def test_wheels_without_the_provider_are_refused(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRATA_ROOT", str(tmp_path))
    base = _BASE | {"STRATA_ROS_PREFIX": str(wheels)}
    with pytest.raises(SessionError) as caught:
        find_ros(base).environment(base)
    assert str(caught.value) == (
        f"Cannot trace ROS 2 jazzy in {wheels}: the event provider of its wheels is not built (no "
        "lib/tracetools_provider/libtracetools.so below tracing_ws/install/jazzy). "
        "Run `make setup`."
    )


def test_wheels_in_our_own_environment_are_found_last(
    wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(wheels))
    monkeypatch.setattr(ros_module, "SYSTEM_ROOT", tmp_path / "opt")
    assert find_ros(_BASE).kind == WHEELS
    _touch(tmp_path / "opt" / "jazzy" / "lib" / "librcl.so")
    _touch(tmp_path / "opt" / "jazzy" / "setup.bash")
    assert (find_ros(_BASE).kind, find_ros(_BASE).distro) == (SYSTEM, "jazzy")


def test_a_system_installation_is_sourced_and_gets_the_guard_alone(
    space: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ros_module, "SYSTEM_ROOT", tmp_path / "opt")
    prefix = tmp_path / "opt" / "jazzy"
    _touch(prefix / "lib" / "librcl.so")
    (prefix / "setup.bash").write_text(
        f"echo noise\nexport AMENT_PREFIX_PATH={prefix} LD_LIBRARY_PATH={prefix}/lib\n"
        "export ROS_DISTRO=jazzy MULTI=$'a\\nb'\n"
    )
    environment = find_ros(_BASE).environment(_BASE)
    assert environment["LD_PRELOAD"] == f"{space}/lib/ust_guard/libust_guard.so"
    assert environment["AMENT_PREFIX_PATH"] == f"{space}:{prefix}"
    assert environment["LD_LIBRARY_PATH"] == f"{space}/lib:{prefix}/lib"
    assert environment["PYTHONPATH"].startswith(f"{space}/lib/rclpy_tracepoints:")
    assert environment["ROS_DISTRO"] == "jazzy"
    assert environment["MULTI"] == "a\nb"
    assert environment["PATH"] == "/usr/bin"


def test_a_sourced_environment_stays_as_it_is(space: Path, tmp_path: Path) -> None:
    prefix = tmp_path / "ros" / "jazzy"
    _touch(prefix / "lib" / "librcl.so")
    base = _BASE | {"AMENT_PREFIX_PATH": f"/overlay:{prefix}", "ROS_DISTRO": "jazzy"}
    ros = find_ros(base)
    environment = ros.environment(base)
    assert (ros.kind, ros.distro, ros.prefix) == (SOURCED, "jazzy", prefix)
    assert environment["AMENT_PREFIX_PATH"] == f"{space}:/overlay:{prefix}"
    assert environment["LD_PRELOAD"] == f"{space}/lib/ust_guard/libust_guard.so"


@pytest.mark.parametrize("layout", ["isolated", "merged"])
def test_a_sourced_workspace_serves_where_no_checkout_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    monkeypatch.setenv("STRATA_ROOT", str(tmp_path))
    prefix, install = tmp_path / "ros" / "jazzy", tmp_path / "ws" / "install"
    _touch(prefix / "lib" / "librcl.so")
    spaces = {
        name: install / name if layout == "isolated" else install
        for name in ("ust_guard", "rclpy_tracepoints", "dds_tracepoints")
    }
    for name, space in spaces.items():
        _touch(space / "share" / name / "package.sh")
    _touch(spaces["ust_guard"] / "lib/ust_guard/libust_guard.so")
    _touch(spaces["rclpy_tracepoints"] / "lib/rclpy_tracepoints/sitecustomize.py")
    _touch(spaces["dds_tracepoints"] / dds.LIBRARY)
    base = _BASE | {"AMENT_PREFIX_PATH": str(prefix), "COLCON_PREFIX_PATH": str(install)}
    ros = find_ros(base)
    assert set(ros.spaces) == set(spaces.values())
    environment = ros.environment(base)
    guard = spaces["ust_guard"] / "lib/ust_guard/libust_guard.so"
    assert environment["LD_PRELOAD"] == str(guard)
    assert str(spaces["rclpy_tracepoints"] / "lib/rclpy_tracepoints") in environment["PYTHONPATH"]
    hooks = dds.find_hooks(ros)
    assert hooks is not None
    assert hooks.library == spaces["dds_tracepoints"] / dds.LIBRARY
    assert hooks.guard == (guard,)


def test_exported_wheels_still_get_the_provider(wheels: Path, space: Path) -> None:
    ros = find_ros(_BASE | {"AMENT_PREFIX_PATH": str(wheels)})
    assert (ros.kind, ros.distro) == (WHEELS, "jazzy")
    assert str(space) in ros.environment(_BASE)["LD_PRELOAD"]


def test_several_systems_must_be_chosen_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ros_module, "SYSTEM_ROOT", tmp_path)
    for distro in ("humble", "jazzy"):
        _touch(tmp_path / distro / "lib" / "librcl.so")
        _touch(tmp_path / distro / "setup.bash")
    with pytest.raises(SessionError, match="Cannot choose a ROS 2: 2 are installed"):
        find_ros(_BASE)


def test_no_ros_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ros_module, "SYSTEM_ROOT", tmp_path / "opt")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(SessionError, match=f"no wheels in {tmp_path}. Run `make setup`"):
        find_ros(_BASE)


def test_a_wrong_prefix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match=r"it has no lib/librcl\.so"):
        find_ros(_BASE | {"STRATA_ROS_PREFIX": str(tmp_path)})


def test_package_versions_come_from_the_prefix(wheels: Path) -> None:
    ros = find_ros(_BASE | {"STRATA_ROS_PREFIX": str(wheels)})
    assert ros.package_versions("rcl", "rmw") == {"rcl": "9.2.8", "rmw": None}


def test_the_wheels_start_up_code_is_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/venv")
    polluted = _BASE | {
        "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
        "LD_LIBRARY_PATH": "/venv/lib:/mine:/venv/lib/python3.11/site-packages/ros_rcl.libs",
    }
    assert caller_environment(polluted) == _BASE | {"LD_LIBRARY_PATH": "/mine"}
    assert caller_environment(_BASE | {"LD_LIBRARY_PATH": "/venv/lib"})["LD_LIBRARY_PATH"]


def test_tools_get_none_of_the_ros_libraries() -> None:
    prefix = Path("/venv")
    environment = tool_environment(
        _BASE
        | {
            "LD_PRELOAD": "/venv/lib/x.so /keep.so:/elsewhere/libtracetools.so",
            "LD_LIBRARY_PATH": "/venv/lib:/keep:/venvy",
        },
        [prefix],
    )
    assert environment["LD_PRELOAD"] == "/keep.so"
    assert environment["LD_LIBRARY_PATH"] == "/keep:/venvy"
    assert "LD_PRELOAD" not in tool_environment({"LD_PRELOAD": "/venv/a.so"}, [prefix])
