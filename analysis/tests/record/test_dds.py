# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The DDS side of a recording: what is preloaded when, and what is said."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_dds import build

from strata.errors import SessionError
from strata.record import guard
from strata.record.config import load_config
from strata.record.dds import Hooks, find_hooks, in_use, plan_dds, preflight
from strata.record.default_config import Choice, default_config
from strata.record.driver import LIBRARY
from strata.record.preload import asks_for
from strata.record.ros import SOURCED, Ros
from strata.schema.events import DDS_PROVIDER

_HOOKS = "lib/dds_tracepoints/libdds_tracepoints.so"
_TABLE = "share/dds_tracepoints/hooks.def"


@pytest.mark.parametrize(
    ("pattern", "asked"),
    [
        ("dds:write_begin", True),
        ("dds:*", True),
        ("*", True),
        ("d*", True),
        ("*_begin", True),
        ("*:write_begin", True),
        ("*s:*", True),
        ("ros2:*", False),
        ("r*", False),
        ("ros2:*dds*", False),
        ("dds_other:*", False),
        ("dds", False),
    ],
)
def test_which_events_ask_for_the_hooks(pattern: str, asked: bool) -> None:
    assert asks_for(["ros2:rcl_init", pattern], DDS_PROVIDER) is asked


def test_shipped_configurations() -> None:
    assert asks_for(load_config("full").ust, DDS_PROVIDER)
    assert not asks_for(load_config("ros2").ust, DDS_PROVIDER)
    assert not asks_for(load_config("light").ust, DDS_PROVIDER)


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a checkout whose workspace is built for Jazzy."""
    root = tmp_path / "project"
    (root / "trace_configs").mkdir(parents=True)
    monkeypatch.setenv("STRATA_ROOT", str(root))
    space = root / "tracing_ws" / "install" / "jazzy"
    for name in (_HOOKS, _TABLE):
        (space / name).parent.mkdir(parents=True)
        (space / name).touch()
    return space


@pytest.fixture
def ros(tmp_path: Path, space: Path) -> Ros:
    prefix = tmp_path / "ros"
    (prefix / "lib").mkdir(parents=True)
    return Ros(kind=SOURCED, distro="jazzy", prefix=prefix, spaces=(space,))


def test_hooks_come_first_and_the_users_own_stay(space: Path) -> None:
    hooks = Hooks(space / _HOOKS, (Path("/ours.so"),))
    environment = hooks.preload({"LD_PRELOAD": "/theirs.so", "HOME": "/home/me"})
    assert environment == {
        "LD_PRELOAD": f"{space / _HOOKS}:/ours.so:/theirs.so",
        "ASAN_OPTIONS": "verify_asan_link_order=0",
        "HOME": "/home/me",
    }
    assert Hooks(space / _HOOKS, ()).preload({})["LD_PRELOAD"] == str(space / _HOOKS)


def test_without_ros_any_distributions_hooks_will_do(space: Path) -> None:
    hooks = find_hooks(None)
    assert hooks is not None
    assert hooks.library == space / _HOOKS
    assert hooks.guard == ()
    ours = space / guard.LIBRARY
    ours.parent.mkdir()
    ours.touch()
    hooks = find_hooks(None)
    assert hooks is not None
    assert hooks.guard == (ours,)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (None, "verify_asan_link_order=0"),
        ("", "verify_asan_link_order=0"),
        ("detect_leaks=0", "detect_leaks=0:verify_asan_link_order=0"),
        ("verify_asan_link_order=1:abort_on_error=1",) * 2,
    ],
)
def test_sanitizers_are_told_of_the_order_once(stated: str | None, expected: str) -> None:
    environment = {} if stated is None else {"ASAN_OPTIONS": stated}
    for _ in range(2):
        guard.preload(environment, [Path("/ours.so")])
    assert environment == {"LD_PRELOAD": "/ours.so", "ASAN_OPTIONS": expected}


def test_hooks_that_are_not_built_are_a_refusal(ros: Ros, space: Path) -> None:
    (space / _HOOKS).unlink()
    with pytest.raises(SessionError) as caught:
        plan_dds(ros, {})
    assert str(caught.value) == (
        "Cannot record DDS events of ROS 2 jazzy: their hooks are not built (no "
        "lib/dds_tracepoints/libdds_tracepoints.so below tracing_ws/install/jazzy). Run "
        "`make setup`, or record with a configuration without dds events, such as ros2."
    )
    plan = plan_dds(None, {})
    assert plan.hooks is None
    assert plan.remarks == ("no DDS events: their hooks are not built (`make setup`)",)


_TABLE_TEXT = """
FUNCTION(write, fastdds, rmw, "write_begin", "Writer::write")
HOOK(write, 3_2, "libfastdds.so", "_ZN4tiny6Writer5writeEi")
FUNCTION(add, fastdds, self, "reader_notify", "Writer::add")
HOOK(add, 3_2, "libfastdds.so", "_ZN4tiny6Writer3addEi")
"""


def test_what_does_not_bind_is_said_in_a_line(ros: Ros, space: Path) -> None:
    (space / _TABLE).write_text(_TABLE_TEXT)
    tiny = build(ros.prefix / "lib", "-Wl,-Bsymbolic-functions")
    plan = plan_dds(ros, {})
    assert [p.library for p in plan.preflights] == [tiny.library]
    assert plan.remarks == (
        "1 of 2 DDS hooks do not bind in libfastdds.so.3.2 (Writer::add); layers that merge: "
        "serialize + dds write + transport + dds receive + wake-up + take (see "
        "`strata doctor --dds`)",
    )
    assert plan.as_json()["preflight"][0]["does_not_bind"] == {
        "add": "missing: bound within the library (for example -Bsymbolic-functions)"
    }


def test_only_the_middleware_in_use_is_spoken_of(ros: Ros, space: Path) -> None:
    (space / _TABLE).write_text(_TABLE_TEXT)
    build(ros.prefix / "lib", "-Wl,-Bsymbolic-functions")
    other = plan_dds(ros, {"RMW_IMPLEMENTATION": "rmw_cyclonedds_cpp"})
    assert all(found.vendor == "cyclonedds" for found in other.preflights)
    unknown = plan_dds(ros, {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"})
    assert unknown.preflights == ()
    assert unknown.remarks == ("no DDS events: rmw_zenoh_cpp has no hooks",)


def test_an_unreadable_table_stops_no_recording(ros: Ros) -> None:
    plan = plan_dds(ros, {})
    assert plan.hooks is not None
    assert "Cannot read the table of DDS hooks" in plan.remarks[0]


def test_the_default_configuration_is_full_where_hooks_bind(ros: Ros, space: Path) -> None:
    (space / _TABLE).write_text(_TABLE_TEXT)
    build(ros.prefix / "lib", "-Wl,-Bsymbolic-functions")
    chosen = default_config(ros, {})
    assert chosen == Choice("ros2", "driver_tracepoints is not built (`make setup`)")
    (space / LIBRARY).parent.mkdir()
    (space / LIBRARY).touch()
    assert default_config(ros, {}) == Choice("full", "1 of 2 DDS hooks bind in libfastdds.so.3.2")
    unknown = default_config(ros, {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"})
    assert unknown.config == "ros2"
    assert "no DDS library was found of rmw_zenoh_cpp" in unknown.reason
    (space / _HOOKS).unlink()
    assert default_config(ros, {}) == Choice("ros2", "the DDS hooks are not built (`make setup`)")
    assert default_config(None, {}).config == "ros2"


def test_hooks_that_all_fail_are_no_reason_for_full(ros: Ros, space: Path) -> None:
    (space / _TABLE).write_text(_TABLE_TEXT.replace("_ZN4tiny6Writer5writeEi", "_ZN4none5writeEi"))
    build(ros.prefix / "lib", "-Wl,-Bsymbolic-functions")
    (space / LIBRARY).parent.mkdir()
    (space / LIBRARY).touch()
    assert default_config(ros, {}) == Choice("ros2", "0 of 2 DDS hooks bind in libfastdds.so.3.2")


def test_libraries_in_use_are_those_that_the_middleware_is_linked_to(ros: Ros, space: Path) -> None:
    (space / _TABLE).write_text(_TABLE_TEXT)
    build(ros.prefix / "lib", "-Wl,-Bsymbolic-functions")
    found = preflight(ros, {})
    used, others = in_use(found, ros, {})
    assert [one.soname for one in used] == ["libfastdds.so.3.2"]
    assert {one.vendor for one in others} <= {"cyclonedds"}
    used, others = in_use(found, ros, {"RMW_IMPLEMENTATION": "rmw_zenoh_cpp"})
    assert used == ()
    assert others == tuple(found)
