# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios as files: those that ship, settings, repetitions, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from lttng_world import ROOT
from scenario_files import ENDS, shell, written

from strata.errors import ScenarioError
from strata.scenario.load import load_scenario
from strata.scenario.plan import parameter_file, ros_arguments

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


def test_own_keys_win_over_merged_ones(tmp_path: Path) -> None:
    text = ENDS.replace("ends: true", "ends: true\n    environment: &all {A: x, B: x}")
    line = "  - {name: b, command: [sh], environment: {<<: *all, B: y}}\n"
    _, process = load_scenario(str(written(tmp_path, text + line))).scenario.processes
    assert process.environment == {"A": "x", "B": "y"}


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
