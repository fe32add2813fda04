# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios as files: those that ship, settings, repetitions, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from lttng_world import ROOT
from scenario_files import shell, written

from strata.errors import ScenarioError
from strata.record.config import load_config
from strata.record.profiles import load_profile
from strata.scenario.load import load_scenario, scenario_file, shipped_scenarios
from strata.scenario.plan import parameter_file, ros_arguments

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


SEVERAL = """\
question: How long does it sleep?
workload: relay
duration: {seconds: 1}
settings:
  time: {default: 1, text: seconds}
scenarios:
  naps_short: {settings: {time: 2}}
  naps_long: {question: "Does it wake up?", settings: {time: 9}}
processes:
  - {name: sleeper, command: [sh, -c, "sleep ${time}"]}
"""


def test_a_users_file_may_hold_several_scenarios(tmp_path: Path) -> None:
    file = tmp_path / "naps.yaml"
    file.write_text(SEVERAL)
    short, long = (load_scenario(f"{tmp_path}/naps_{name}.yaml") for name in ("short", "long"))
    assert [one.name for one in (short, long)] == ["naps_short", "naps_long"]
    assert short.file == long.file == file
    assert (short.scenario.settings["time"], long.scenario.settings["time"]) == (2, 9)
    assert short.scenario.question == "How long does it sleep?"
    assert long.scenario.question == "Does it wake up?"
    (tmp_path / "later.yaml").write_text("extends: naps_long\nquestion: And then?\n")
    extending = load_scenario(str(tmp_path / "later.yaml"))
    assert (extending.name, extending.scenario.settings["time"]) == ("later", 9)
    assert set(extending.read) == {str(file), str(tmp_path / "later.yaml")}
    with pytest.raises(
        ScenarioError, match=r"several scenarios\. Use one of naps_short, naps_long"
    ):
        load_scenario(str(file))
    with pytest.raises(
        ScenarioError, match=r"Cannot read scenario .*naps_other\.yaml: no such file"
    ):
        load_scenario(f"{tmp_path}/naps_other.yaml")


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("naps_short", "short", "naps.yaml:7: scenario 'short' does not begin with the file's"),
        ("{settings: {time: 2}}", "2", "naps.yaml:7: scenario 'naps_short' is no mapping"),
        ("time: 2", "hours: 2", "setting 'hours' has no default and text"),
    ],
)
def test_what_a_file_of_several_cannot_hold_is_refused(
    tmp_path: Path, before: str, after: str, says: str
) -> None:
    (tmp_path / "naps.yaml").write_text(SEVERAL.replace(before, after, 1))
    with pytest.raises(ScenarioError, match=says):
        load_scenario(f"{tmp_path}/naps_{'long' if after in ('short', '2') else 'short'}.yaml")


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


def test_a_place_in_the_file_can_be_set() -> None:
    changes = {
        "processes.relay_1.cpus": "[0]",
        "processes.sink.nodes.sink.parameters.work_ms": "2.5",
        "load.cpu_percent": "50",
        "rmw.profile": "fastdds_udp",
        "session": "light",
        "duration.messages": "40",
    }
    scenario = load_scenario("relay_chain", changes).scenario
    by_name = {process.name: process for process in scenario.processes}
    assert by_name["relay_1"].cpus == [0]
    assert by_name["relay_0"].cpus == []
    assert by_name["sink"].nodes[0].parameters["work_ms"] == 2.5
    assert (scenario.load.cpu_percent, scenario.rmw.profile) == (50, "fastdds_udp")
    assert scenario.session == "light"
    assert by_name["source"].nodes[0].parameters["messages"] == 40


def test_a_part_that_placeholders_stand_for_can_be_set() -> None:
    scenario = load_scenario("lidar_1024x10", {"warm_up": "3"}, "7").scenario
    nodes = {node.name: node for process in scenario.processes for node in process.nodes}
    perf = nodes["perf_node"].parameters
    assert (perf["warm_up"], perf["n_samples"]) == (3, 7)


def test_a_placeholder_may_be_a_neighbour_of_a_whole_number(tmp_path: Path) -> None:
    text = ENDS + "    arguments: ['n${messages+2}', 'n${messages-1}']\n"
    (process,) = load_scenario(str(written(tmp_path, text)), {}, "5").scenario.processes
    assert process.arguments == ["n7", "n4"]


def test_a_placeholder_may_choose_between_two_texts(tmp_path: Path) -> None:
    text = "settings: {loud: {default: false, text: T}}\n" + ENDS
    path = str(written(tmp_path, text + "    arguments: ['${loud?a b:0}', 'x${loud?:y}']\n"))
    (process,) = load_scenario(path).scenario.processes
    assert process.arguments == ["0", "xy"]
    (process,) = load_scenario(path, {"loud": "true"}).scenario.processes
    assert process.arguments == ["a b", "x"]


def test_a_placeholder_may_ask_for_one_of_some_words(tmp_path: Path) -> None:
    text = "settings: {way: {default: fast, text: T}, n: {default: 2, text: T}}\n" + ENDS
    path = str(written(tmp_path, text + "    arguments: ['-${way=fast|slow}', '-${n=2}']\n"))
    (process,) = load_scenario(path).scenario.processes
    assert process.arguments == ["-true", "-true"]
    (process,) = load_scenario(path, {"way": "other", "n": "3"}).scenario.processes
    assert process.arguments == ["-false", "-false"]


def test_an_element_may_be_repeated_by_several_numbers(tmp_path: Path) -> None:
    line = "  - {repeat: {a: '${messages}', b: 2}, name: 'n${a}_${b+1}', command: [sh]}\n"
    scenario = load_scenario(str(written(tmp_path, ENDS + line)), {}, "2").scenario
    names = [process.name for process in scenario.processes]
    assert names == ["a", "n0_1", "n0_2", "n1_1", "n1_2"]
    line = line.replace("b: 2", "b: 0")
    assert len(load_scenario(str(written(tmp_path, ENDS + line))).scenario.processes) == 1


def test_own_keys_win_over_merged_ones(tmp_path: Path) -> None:
    text = ENDS.replace("ends: true", "ends: true\n    environment: &all {A: x, B: x}")
    line = "  - {name: b, command: [sh], environment: {<<: *all, B: y}}\n"
    _, process = load_scenario(str(written(tmp_path, text + line))).scenario.processes
    assert process.environment == {"A": "x", "B": "y"}


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


@pytest.mark.parametrize(
    ("duration", "messages"),
    [
        (None, 500),
        ("40", 40),
        ("3s", 300),
        ("0.5s", 50),
        ("2min", 12_000),
        ("4h", 1_440_000),
        ("0.5 h", 180_000),
    ],
)
def test_a_duration_is_a_number_or_a_time(duration: str | None, messages: int) -> None:
    assert load_scenario("relay_chain", {}, duration).scenario.duration.messages == messages


def test_a_scenario_extends_another() -> None:
    large, udp = load_scenario("relay_chain_large"), load_scenario("relay_chain_udp")
    assert large.scenario.rmw.profile == udp.scenario.rmw.profile == "fastdds_udp"
    assert large.scenario.settings["payload"] == 300_000
    assert large.scenario.settings["depth"] == udp.scenario.settings["depth"]
    assert large.scenario.question != udp.scenario.question
    assert [Path(path).stem for path in large.read] == [
        "relay_chain_large",
        "relay_chain_udp",
        "relay_chain",
    ]
    texts = {setting.name: setting.text for setting in large.settings}
    assert texts["payload"] == "bytes of ballast in a message"


def test_parameters_are_written_as_ros_reads_them() -> None:
    scenario = load_scenario("relay_one_process", {"relays": "1"}).scenario
    (process,) = scenario.processes
    document = yaml.safe_load(parameter_file(process, {"results": "/r"}))
    assert list(document) == ["/source", "/relay_0", "/sink"]
    own = document["/sink"]["ros__parameters"]
    assert (own["log"], own["executor"], own["reliability"]) == ("/r", "single", "reliable")
    assert ros_arguments(process, Path("/f.yaml")) == [
        *["source", "relay_0", "sink"],
        *["--ros-args", "--params-file", "/f.yaml"],
    ]


def test_one_node_takes_its_name_from_the_scenario() -> None:
    process = load_scenario("relay_chain").scenario.processes[1]
    words = ["--ros-args", "-r", "__node:=relay_0", "--params-file", "/f.yaml"]
    assert ros_arguments(process, Path("/f.yaml")) == words


GOOD = "duration: {seconds: 1}\nprocesses:\n" + shell("a", "true")
ENDS = "duration: {messages: 1}\nprocesses:\n" + shell("a", "true", "ends: true")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (GOOD + "colour: red\n", 7, "key 'colour': unknown key"),
        (GOOD + shell("a", "true"), None, "two are called process 'a'"),
        (GOOD + shell("load", "true"), None, "two are called process 'load'"),
        (GOOD.replace("seconds: 1", "seconds: .inf"), 3, "key 'duration.seconds': 'inf'"),
        (GOOD.replace("name: a", "name: 1a"), 5, "key 'processes.1a.name': '1a': string should"),
        (GOOD.replace("seconds: 1", "seconds: 0"), 3, "key 'duration.seconds': '0': input should"),
        (GOOD.replace("seconds: 1", "minutes: 1"), 3, "key 'duration': 0 units are given"),
        (GOOD.replace("seconds", "messages"), None, "no process has `ends`"),
        (GOOD + "    package: p\n", 5, "key 'processes.a': a command has no package"),
        (GOOD + "    cpus: [0, 0]\n", 5, "key 'processes.a': cpus [0, 0] lists one twice"),
        (GOOD + "    priority: {policy: fifo}\n", 7, "policy fifo needs a priority of 1 to 99"),
        (GOOD + "    priority: {priority: 5}\n", 7, "priority 5 needs policy fifo"),
        (GOOD + "    ends: maybe\n", 7, "key 'processes.a.ends': 'maybe': input should be"),
        (GOOD + "    ends: true\n    ends: false\n", 8, "key 'ends' occurs twice"),
        (GOOD + "    arguments: ['${speed}']\n", 7, "'${speed}' is not known. Known: seconds"),
        (GOOD + "    arguments: ['${seconds?a:b}']\n", 7, "1 is neither true nor false"),
        (GOOD + "expected: [{says: x}]\n", 7, "write `process` and `says`, or `file`"),
        (GOOD + "expected: [{process: b, says: x}]\n", None, "there is no process 'b'"),
        (GOOD + "settings: {speed: 5}\n", 7, "setting 'speed' has no default and text"),
        (GOOD + "load: {cpu_percent: 101}\n", 7, "key 'load.cpu_percent': '101'"),
        (GOOD + "  - name: b\n    repeat: many\n", 7, "repeat is 'many'"),
        (GOOD + "  - {name: b, repeat: {x: many}}\n", 7, "repeat is 'many'"),
        (GOOD + "  - {name: b, repeat: {x: 100, y: 101}}\n", 7, "repeat is 10,100, above 10,000"),
        (GOOD + "extends: nothing\n", 7, "extends 'nothing': there is no"),
        (GOOD + "extends: one\n", 7, "extends 'one', which extends this one"),
        (GOOD + "load: {cpu_percent: 1\n", None, "not YAML"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int | None, says: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ScenarioError) as refused:
        load_scenario(str(path))
    where = f"{path}:{line}: " if line else str(path)
    assert str(refused.value).startswith(f"Cannot use scenario {where}")
    assert says in str(refused.value)
    assert str(refused.value).count("\n") == 0


@pytest.mark.parametrize(
    ("changes", "duration", "says"),
    [
        ({"speed": "5"}, None, "Cannot set 'speed' of"),
        ({"relays": "many"}, None, "'many' is not a whole number. Its default is 3."),
        ({"rate": "fast"}, None, "'fast' is not a number"),
        ({"reliability": "x"}, None, "'x' is not allowed. Use reliable or best_effort."),
        ({"processes.nobody.cpus": "[0]"}, None, "there is no 'nobody'"),
        ({"load.cpu_percent": "[1"}, None, "'[1' is not valid YAML"),
        ({"threads": "2"}, None, "2 threads need kind multi, not single"),
        ({}, "0", "'0': that is not a number of messages above 0"),
        ({}, "4d", "Write --duration 100 for 100 messages, or 10s, 5min, 4h for a time."),
        ({}, "ten", "'ten': that is not a number of messages above 0"),
        ({}, "1.5", "'1.5': that is not a number of messages above 0"),
    ],
)
def test_changes_that_cannot_be_meant_are_refused(
    changes: dict[str, str], duration: str | None, says: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        load_scenario("relay_chain", changes, duration)
    assert says in str(refused.value)


def test_a_time_needs_a_rate(tmp_path: Path) -> None:
    path = written(tmp_path, ENDS)
    with pytest.raises(ScenarioError, match="without a rate per second"):
        load_scenario(str(path), {}, "10s")


def test_sums_and_products_of_whole_numbers_are_worked_out(tmp_path: Path) -> None:
    text = """settings:
  a: {default: 3, text: a}
  b: {default: 2, text: b}
  rate: {default: 1.5, text: r}
duration: {seconds: 1}
processes:
  - name: one
    command: ['n${(a+1)*b}', 'n${a*b - 1}', 'n${a+b}', 'n${b}']
"""
    file = written(tmp_path, text)
    scenario = load_scenario(str(file)).scenario
    assert scenario.processes[0].command == ["n8", "n5", "n5", "n2"]
    shell = written(tmp_path, text.replace("${b}", "${COLOUR-none} ${COUNT:-1}"))
    (own,) = load_scenario(str(shell)).scenario.processes
    assert own.command[-1] == "n${COLOUR-none} ${COUNT:-1}"
    for wrong, fact in (
        ("${a*rate}", "1.5 is not a whole number"),
        ("${a*none}", "'${none}' is not known"),
        ("${a**b}", "is no sum or product"),
        ("${(a+}", "is no sum or product"),
        ("${a(b)}", "is no sum or product"),
        # A name with a typing error, beside a number or a parenthesis, is no shell's own.
        ("${aa+1}", "'${aa+1}' has no name that is known"),
        ("${2*(aa-k)}", "'${2*(aa-k)}' has no name that is known"),
    ):
        changed = written(tmp_path, text.replace("${b}", wrong))
        with pytest.raises(ScenarioError, match=re.escape(fact)):
            load_scenario(str(changed))


def test_an_element_is_repeated_for_each_combination_of_counters(tmp_path: Path) -> None:
    text = """settings: {a: {default: 2, text: a}, b: {default: 3, text: b}}
duration: {seconds: 1}
processes:
  - name: first
    command: ['true']
  - repeat: {i: "${a}", k: "${b-1}"}
    name: node_${i}_${k}
    command: ['n${i+k}']
"""
    names = [one.name for one in load_scenario(str(written(tmp_path, text))).scenario.processes]
    assert names == ["first", "node_0_0", "node_0_1", "node_1_0", "node_1_1"]
    none = written(tmp_path, text.replace("default: 3", "default: 1"))
    assert len(load_scenario(str(none)).scenario.processes) == 1
    negative = written(tmp_path, text.replace("default: 3", "default: 0"))
    with pytest.raises(ScenarioError, match="repeat is '-1'"):
        load_scenario(str(negative))
    many = written(
        tmp_path, text.replace("default: 2", "default: 5000").replace("default: 3", "default: 5000")
    )
    with pytest.raises(ScenarioError, match="repeat is 24,995,000, above 10,000"):
        load_scenario(str(many))


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


def test_an_unknown_name_is_told_with_the_known_ones() -> None:
    with pytest.raises(ScenarioError, match=r"Cannot read scenario relay: .*relay_chain"):
        load_scenario("relay")


def test_the_docs_explain_every_key() -> None:
    page = (ROOT / "docs/scenarios.md").read_text()
    from strata.scenario import model

    parts = (model.Scenario, model.Process, model.Node, model.Duration, model.Load)
    for part in (*parts, model.Network, model.Resources):
        missing = [key for key in part.model_fields if f"`{key}`" not in page]
        assert not missing, (part.__name__, missing)


def test_a_command_may_be_text_that_is_split_as_by_a_shell(tmp_path: Path) -> None:
    text = (
        "question: q\nworkload: lidar\nduration: {seconds: 1}\n"
        "settings:\n  driver: {default: ros2 launch a b.py, text: the driver}\n"
        "  ip: {default: 1.2.3.4, text: its address}\n"
        "processes:\n- name: driver\n  command: ${driver} host:=${ip} 'one word'\n"
    )
    file = tmp_path / "driver.yaml"
    file.write_text(text)

    def words(**changes: str) -> list[str] | None:
        return load_scenario(str(file), changes).scenario.processes[0].command

    assert words() == ["ros2", "launch", "a", "b.py", "host:=1.2.3.4", "one word"]
    assert words(driver="my_driver", ip="lidar")[:2] == ["my_driver", "host:=lidar"]
    assert words(**{"processes.driver.command": "a -b 'c d'"}) == ["a", "-b", "c d"]
    with pytest.raises(ScenarioError, match="cannot be split into words: No closing quotation"):
        words(**{"processes.driver.command": "a 'b"})
    with pytest.raises(ScenarioError, match="command"):
        words(**{"processes.driver.command": " "})


def test_a_real_sensor_is_named_by_its_settings() -> None:
    scenario = load_scenario("lidar_real", {"host": "10.0.0.7", "lidar_port": "6001"}).scenario
    driver = scenario.processes[1]
    assert driver.command is not None and driver.command[:2] == ["ros2", "launch"]
    assert {"sensor_hostname:=10.0.0.7", "lidar_port:=6001"} <= set(driver.command)
    assert driver.environment == {"DRIVER_TRACEPOINTS_UDP_PORTS": "6001,7503"}
    camera = load_scenario("camera_real", {"source": "v4l2src device=/dev/video7"}).scenario
    assert camera.processes[1].command is not None
    assert camera.processes[1].command[-1].startswith("gscam_config:='v4l2src device=/dev/video7 !")
