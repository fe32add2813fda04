# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios that ship: each is whole, and its settings reach every node."""

from __future__ import annotations

from pathlib import Path

import pytest

from strata.record.config import load_config
from strata.record.profiles import load_profile
from strata.scenario.load import load_scenario, scenario_file, shipped_scenarios
from strata.scenario.plan import parameter_file

SHIPPED = shipped_scenarios()


NAMES = {path.stem for path in SHIPPED}


def test_the_known_workloads_ship() -> None:
    assert {"relay_chain", "relay_chain_udp", "relay_chain_large", "relay_blocked"} <= NAMES
    assert {"lidar_512x10", "lidar_1024x10", "lidar_2048x10", "lidar_2048x10_polled"} <= NAMES


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_scenario_is_whole(path: Path) -> None:
    loaded = load_scenario(path.stem)
    assert loaded.name == path.stem
    assert loaded.file == scenario_file(path)
    scenario = loaded.scenario
    assert loaded.file.read_text().startswith(f"# {loaded.file.stem}: ")
    assert load_config(scenario.session)
    assert scenario.rmw.profile is None or load_profile(scenario.rmw.profile)
    for process in scenario.processes:
        # What is not a scenario's own placeholder would reach a node as it is.
        text = parameter_file(process, {"results": "R", "root": "/"})
        assert "${" not in text
        assert "${" not in " ".join(process.arguments).replace("${results}", "")


def test_camera_scenarios_share_a_file_and_keep_their_names() -> None:
    cameras = [
        path for path in SHIPPED if path.stem.startswith("camera_") and path.stem != "camera_real"
    ]
    assert len(cameras) == 17
    assert {scenario_file(path) for path in cameras} == {cameras[0].with_name("camera.yaml")}
    assert "camera" not in NAMES
    loaded = load_scenario("camera_1440p45", {"fps": "50"})
    settings = {one.name: one.default for one in loaded.settings}
    assert (settings["width"], settings["height"], settings["fps"]) == (2560, 1440, 45)
    assert loaded.scenario.settings["fps"] == 50
    assert loaded.scenario.description.startswith("2560x1440 at 50 images/s; ")


def test_settings_reach_every_node() -> None:
    changes = {"relays": "2", "rate": "50", "depth": "7"}
    scenario = load_scenario("relay_chain", changes, "30").scenario
    nodes = {node.name: node for process in scenario.processes for node in process.nodes}
    assert list(nodes) == ["source", "relay_0", "relay_1", "sink"]
    assert {node.qos.depth for node in nodes.values()} == {7}
    source, sink = nodes["source"].parameters, nodes["sink"].parameters
    assert (source["rate"], source["messages"], source["peers"]) == (50.0, 30, 3)
    assert (sink["input"], sink["messages"]) == ("/chain_2", 30)
    assert nodes["relay_1"].parameters["output"] == "/chain_2"
    assert scenario.duration.expected_s == pytest.approx(0.6)
    assert scenario.expected[0].says == "received 30 of 30 messages"


def test_a_chain_may_be_without_relays() -> None:
    scenario = load_scenario("relay_chain", {"relays": "0"}).scenario
    assert [process.name for process in scenario.processes] == ["source", "sink"]


def test_cameras_and_subscribers_are_processes_of_their_own() -> None:
    def names(cameras: int, subscribers: int) -> list[str]:
        settings = {"cameras": f"{cameras}", "subscribers": f"{subscribers}"}
        return [one.name for one in load_scenario("camera_720p30", settings).scenario.processes]

    assert names(1, 1) == ["subscriber", "camera"]
    assert names(1, 3) == ["subscriber", "subscriber_1", "subscriber_2", "camera"]
    assert names(2, 1) == ["subscriber", "subscriber_0_of_camera_1", "camera", "camera_1"]
    settings = {"cameras": "3", "subscribers": "2"}
    scenario = load_scenario("camera_720p30", settings).scenario
    nodes = {process.name: process.nodes[0] for process in scenario.processes}
    assert len(nodes) == 9
    first, last = nodes["camera"], nodes["camera_2"]
    assert first.remappings == {}
    assert first.parameters["peers"] == last.parameters["peers"] == 2
    assert last.remappings["camera/image_raw"] == "/camera_2/image_raw"
    assert nodes["subscriber_1_of_camera_2"].remappings == last.remappings
    files = [node.parameters["summary"] for name, node in nodes.items() if "subscriber" in name]
    assert len(set(files)) == 6
    expected = {f"${{results}}/{one.file}" for one in scenario.expected}
    assert expected == set(files)


@pytest.mark.parametrize("name", ["messages", "messages_one_process", "throughput", "ping_pong"])
@pytest.mark.parametrize("size", [1024, 300])
def test_the_size_of_messages_reaches_every_node(name: str, size: int) -> None:
    changes = {"size": str(size), "type": "fixed", "depth": "7", "durability": "transient_local"}
    changes |= {"subscribers": "3", "loans": "true"} if name != "ping_pong" else {}
    scenario = load_scenario(name, changes, "9").scenario
    nodes = {node.name: node for one in scenario.processes for node in one.nodes}
    sinks = {"sink_0", "sink_1", "sink_2"}
    assert set(nodes) == ({"ping", "pong"} if name == "ping_pong" else {"source", *sinks})
    assert {node.parameters["payload"] for node in nodes.values()} == {size}
    assert {node.parameters["type"] for node in nodes.values()} == {"fixed"}
    assert {(node.qos.depth, node.qos.durability) for node in nodes.values()} == {
        (7, "transient_local")
    }
    if name == "ping_pong":
        assert nodes["ping"].parameters["output"] == nodes["pong"].parameters["input"]
        assert nodes["pong"].parameters["output"] == nodes["ping"].parameters["input"]
        return
    assert nodes["source"].parameters["peers"] == nodes["source"].parameters["listeners"] == 3
    assert nodes["source"].parameters["loans"] is True
    assert {node.parameters["losses"] for node in nodes.values()} == {"count"}
    if name == "throughput":
        assert nodes["source"].parameters["seconds"] == 9.0


@pytest.mark.parametrize("name", ["messages", "throughput", "ping_pong"])
def test_those_who_send_and_receive_may_be_on_two_hosts(name: str) -> None:
    assert load_scenario(name).scenario.hosts() == []
    changes = {"network.link": "veth", "network.rate_mbit": "100"}
    scenario = load_scenario(name, changes).scenario
    hosts = {process.name: process.host for process in scenario.processes}
    assert hosts in ({"source": "a", "sink_0": "b"}, {"ping": "a", "pong": "b"})
    assert sorted(scenario.hosts()) == ["a", "b"]


@pytest.mark.parametrize(("loans", "disabled"), [("true", "0"), ("false", "1")])
def test_loans_are_on_or_off_on_both_sides(loans: str, disabled: str) -> None:
    for name in ("messages", "messages_one_process", "throughput"):
        for process in load_scenario(name, {"loans": loans}).scenario.processes:
            assert process.environment == {"ROS_DISABLE_LOANED_MESSAGES": disabled}


@pytest.mark.parametrize("fan_out", [1, 3])
def test_every_topic_of_a_chain_has_its_fan_out(fan_out: int) -> None:
    for name in ("relay_chain", "relay_one_process", "relay_work"):
        loaded = load_scenario(name, {"relays": "2", "fan_out": str(fan_out), "work_ms": "1.5"})
        nodes = {
            node.name: node.parameters
            for process in loaded.scenario.processes
            for node in process.nodes
        }
        inputs = [one["input"] for one in nodes.values() if "input" in one]
        assert {topic: inputs.count(topic) for topic in inputs} == dict.fromkeys(
            ("/chain_0", "/chain_1", "/chain_2"), fan_out
        )
        # The source waits for every other node, and each sender for its subscriptions.
        assert nodes["source"]["peers"] == len(nodes) - 1
        assert {nodes[one]["listeners"] for one in ("source", "relay_0", "relay_1")} == {fan_out}
        working = {one for one in nodes if one.startswith(("relay", "listener"))}
        assert {one for one in nodes if nodes[one].get("work_ms")} == working


def test_a_real_sensor_is_named_by_its_settings() -> None:
    scenario = load_scenario("lidar_real", {"host": "10.0.0.7", "lidar_port": "6001"}).scenario
    driver = scenario.processes[1]
    assert driver.command is not None and driver.command[:2] == ["ros2", "launch"]
    assert {"sensor_hostname:=10.0.0.7", "lidar_port:=6001"} <= set(driver.command)
    assert driver.environment == {"DRIVER_TRACEPOINTS_UDP_PORTS": "6001,7503"}
    camera = load_scenario("camera_real", {"source": "v4l2src device=/dev/video7"}).scenario
    assert camera.processes[1].command is not None
    assert camera.processes[1].command[-1].startswith("gscam_config:='v4l2src device=/dev/video7 !")
