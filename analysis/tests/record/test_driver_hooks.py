# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver side of a recording: what is preloaded when, and what is said."""

from __future__ import annotations

import json
import socket
from collections import Counter
from pathlib import Path

import pyarrow.compute as pc
import pytest
from lttng_world import World, manifest

from strata.errors import SessionError
from strata.read import open_trace
from strata.record.config import load_config
from strata.record.driver import LIBRARY, Driver, plan_driver
from strata.record.preload import asks_for, built_library
from strata.record.ros import SOURCED, Ros
from strata.schema.events import DRIVER_PROVIDER


@pytest.mark.parametrize(
    ("pattern", "asked"),
    [
        ("driver:packet_received", True),
        ("driver:*", True),
        ("*", True),
        ("d*", True),
        ("*:copy_done", True),
        ("dds:*", False),
        ("ros2:*driver*", False),
        ("drivers:*", False),
        ("driver", False),
    ],
)
def test_which_events_ask_for_the_hooks(pattern: str, asked: bool) -> None:
    assert asks_for(["ros2:rcl_init", pattern], DRIVER_PROVIDER) is asked


def test_shipped_configurations() -> None:
    assert asks_for(load_config("full").ust, DRIVER_PROVIDER)
    assert load_config("full").driver_ports == (7502, 7503)
    assert not asks_for(load_config("ros2").ust, DRIVER_PROVIDER)
    assert not asks_for(load_config("light").ust, DRIVER_PROVIDER)


def test_the_hooks_come_behind_what_is_preloaded(tmp_path: Path) -> None:
    library = tmp_path / LIBRARY
    plan = Driver(library, (Path("/lib/guard.so"),), (7502, 9))
    environment = plan.preload({"LD_PRELOAD": "/dds.so:/lib/guard.so", "HOME": "/home/me"})
    assert environment == {
        "ASAN_OPTIONS": "verify_asan_link_order=0",
        "LD_PRELOAD": f"/dds.so:/lib/guard.so:{library}",
        "LD_LIBRARY_PATH": str(tmp_path / "lib"),
        "DRIVER_TRACEPOINTS_UDP_PORTS": "7502,9",
        "HOME": "/home/me",
    }
    assert Driver(None, (), (7502,)).preload({"A": "b"}) == {"A": "b"}


def test_a_package_that_is_not_built_is_a_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trace_configs").mkdir()
    monkeypatch.setenv("STRATA_ROOT", str(tmp_path))
    ros = Ros(kind=SOURCED, distro="jazzy", prefix=tmp_path, spaces=(tmp_path,))
    with pytest.raises(SessionError) as caught:
        plan_driver(ros, (7502,))
    assert str(caught.value) == (
        "Cannot record driver events with ROS 2 jazzy: driver_tracepoints is not built (no "
        "lib/driver_tracepoints/libdriver_hooks.so below tracing_ws/install/jazzy). Run "
        "`make setup`, or record with a configuration without driver events, such as ros2."
    )
    plan = plan_driver(None, (7502,))
    assert plan.library is None
    assert plan.remarks == ("no driver events: driver_tracepoints is not built (`make setup`)",)
    assert plan.as_json() == {"hooks": None, "guard": [], "ports": [7502]}


_READER = """
import socket, sys
reader = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
reader.bind(("127.0.0.1", int(sys.argv[1])))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for size in range(1, 21):
    sender.sendto(bytes(size), reader.getsockname())
for size in range(1, 21):
    assert len(reader.recv(100)) == size
"""


@pytest.mark.live
def test_the_sockets_of_the_configurations_ports_are_recorded(world: World, tmp_path: Path) -> None:
    if built_library(LIBRARY, None) is None:
        pytest.skip("driver_tracepoints is not built")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = tmp_path / "mine.yaml"
    config.write_text(json.dumps({"events": {"ust": ["driver:*"]}, "driver_ports": [port]}))
    program = tmp_path / "reader.py"
    program.write_text(_READER)
    target = tmp_path / "rec"
    done = world.strata("record", "-c", config, "-o", target, "--", "python3", program, str(port))

    assert done.returncode == 0, done.stderr
    content = manifest(target)
    assert content["config"]["driver_ports"] == [port]
    assert content["driver"]["ports"] == [port]
    assert content["driver"]["hooks"] in content["environment"]["LD_PRELOAD"].split(":")
    tables = open_trace(target).tables()
    assert Counter({name: len(table) for name, table in tables.items()}) == {
        "driver:source_init": 1,
        "driver:packet_received": 20,
    }
    (source,) = tables["driver:source_init"].to_pylist()
    assert (source["kind"], source["name"]) == ("udp", "")
    assert source["address"] == f"127.0.0.1:{port}"
    packets = tables["driver:packet_received"]
    assert packets["bytes"].to_pylist() == list(range(1, 21))
    assert packets["sequence"].to_pylist() == list(range(20))
    assert pc.unique(packets["source"]).to_pylist() == [source["source"]]
