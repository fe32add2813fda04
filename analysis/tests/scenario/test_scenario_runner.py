# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The runner: order, ends, failures, signals, load; with shell scripts in place of nodes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from lttng_world import alive, wait_until
from scenario_files import run, shell, written

from strata.errors import ScenarioError
from strata.scenario.domain import domain_held
from strata.scenario.load import load_scenario
from strata.scenario.plan import plan_run
from strata.scenario.running import prepare

FOREVER = "trap 'echo ended; exit 0' INT; echo begun; while :; do sleep 0.05; done"
ENDING = "duration: {messages: 1}\nprocesses:\n"


def test_the_end_of_those_that_end_ends_the_others(tmp_path: Path) -> None:
    text = ENDING + shell("a", FOREVER) + shell("b", "sleep 0.5; echo done", "ends: true")
    ran = run(tmp_path, text + "expected: [{process: b, says: done}]\n")
    assert (ran.status, ran.unmet) == (0, []), ran.errors
    assert ran.processes["a"] | {"exit_status": 0, "ended_by": "runner"} == ran.processes["a"]
    assert ran.processes["b"] | {"exit_status": 0, "ended_by": "itself"} == ran.processes["b"]
    assert (ran.directory / "logs/a.log").read_text() == "begun\nended\n"
    assert "[b] done\n" in ran.errors


def test_seconds_are_for_processes_that_do_not_end_by_themselves(tmp_path: Path) -> None:
    text = "duration: {seconds: 0.2}\nprocesses:\n"
    text += shell("a", FOREVER) + shell("b", "sleep 1; echo done", "ends: true")
    ran = run(tmp_path, text + "expected: [{process: b, says: done}]\n")
    assert (ran.status, ran.unmet) == (0, []), ran.errors
    assert ran.processes["b"]["ended_by"] == "itself"


def test_processes_end_in_their_order(tmp_path: Path) -> None:
    order = tmp_path / "order"
    script = f"trap 'echo %s >> {order}; exit 0' INT; while :; do sleep 0.05; done"
    parts = [shell(name, script % name) for name in "abc"]
    ran = run(tmp_path, "duration: {seconds: 0.5}\nprocesses:\n" + "".join(parts))
    assert ran.status == 0, ran.errors
    assert order.read_text().split() == ["a", "b", "c"]


def test_a_process_that_fails_ends_the_run_and_is_named(tmp_path: Path) -> None:
    text = ENDING + shell("a", FOREVER, "ends: true") + shell("b", "sleep 0.2; exit 3")
    ran = run(tmp_path, text)
    assert ran.status == 1
    assert "scenario: b did not end cleanly: exit status 3" in ran.errors
    assert ran.outcome["problems"] == ["b did not end cleanly: exit status 3"]
    assert ran.processes["a"]["ended_by"] == "runner"


def test_a_process_that_ignores_signals_is_killed(tmp_path: Path) -> None:
    deaf = "trap '' INT TERM; echo deaf; while :; do sleep 0.05; done"
    text = ENDING + shell("a", deaf, "ready: {says: deaf}") + shell("b", "true", "ends: true")
    ran = run(tmp_path, text)
    assert ran.status == 1
    assert ran.processes["a"]["signal"] == "SIGKILL"


def test_the_next_starts_when_the_one_before_is_ready(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    slow = f"sleep 0.5; touch {mark}; echo listening; exec sleep 60"
    text = ENDING + shell("server", slow, "ready: {says: listening}")
    text += shell("client", f"test -e {mark}", "ends: true")
    ran = run(tmp_path, text)
    assert ran.status == 0, ran.errors


def test_one_that_is_never_ready_fails_the_run(tmp_path: Path) -> None:
    text = ENDING + shell("a", FOREVER, "ready: {says: never, within_s: 0.3}")
    ran = run(tmp_path, text + shell("b", "true", "ends: true"))
    assert ran.status == 1
    assert ran.outcome["problems"] == ["a did not say 'never' within 0.3 s"]
    assert list(ran.processes) == ["a"]


# Without an end of line it is heard with the end of the output only.
@pytest.mark.parametrize("says", ["printf", "echo"])
def test_one_that_fails_is_not_ready_whatever_it_said(tmp_path: Path, says: str) -> None:
    last_words = f"{says} 'cannot listen on tcp'; exit 2"
    text = ENDING + shell("a", last_words, "ready: {says: tcp}")
    ran = run(tmp_path, text + shell("b", "true", "ends: true"))
    assert ran.status == 1
    assert list(ran.processes) == ["a"]
    assert ran.outcome["problems"] == [
        "a did not say 'tcp' before it ended",
        "a did not end cleanly: exit status 2",
    ]


def test_a_run_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    text = "duration: {messages: 1, limit_s: 0.3}\nprocesses:\n" + shell("a", FOREVER, "ends: true")
    ran = run(tmp_path, text)
    assert ran.status == 1
    assert ran.outcome["problems"] == ["a did not end within 0.3 s"]


def test_descendants_are_told_from_others_and_none_outlives_the_run(tmp_path: Path) -> None:
    # The shell dies by our signal, and tells nobody. The other has a session of its own, and ends.
    text = "resources: {every_s: 0}\n" + ENDING + shell("a", "sleep 300 & echo $!; wait")
    text += shell("b", "setsid sleep 1 & echo $!; wait", "ends: true")
    with subprocess.Popen(["sleep", "300"]) as other:
        ran = run(tmp_path, text)
        other.kill()
    assert ran.status == 0, ran.errors
    others = ran.outcome["others"]
    assert {os.getpid(), other.pid} <= set(others)
    for name in "ab":
        below = int((ran.directory / f"logs/{name}.log").read_text())
        assert not {below, ran.processes[name]["pid"]} & set(others)
        assert not alive(below)


def test_a_signal_ends_the_run_in_order_and_leaves_nothing(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    path = written(tmp_path, ENDING + shell("a", f"echo $$ > {pid_file}; {FOREVER}", "ends: true"))
    loaded = load_scenario(str(path))
    plan = plan_run(loaded, tmp_path / "run", os.environ)
    prepare(loaded, plan)
    command = [sys.executable, "-m", "strata.scenario.runner", tmp_path / "run/plan.json"]
    runner = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    log = tmp_path / "run/logs/a.log"
    wait_until(lambda: log.exists() and "begun" in log.read_text(), "the process")
    runner.send_signal(signal.SIGTERM)
    _, errors = runner.communicate(timeout=60)
    assert runner.returncode == 128 + signal.SIGTERM, errors
    assert json.loads((tmp_path / "run/outcome.json").read_text())["interrupted_by"] == "SIGTERM"
    assert not alive(int(pid_file.read_text()))


def test_processes_end_with_a_runner_that_is_killed(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    # Longer than its end is waited for.
    script = f"echo $$ > {pid_file}; exec sleep 300"
    loaded = load_scenario(str(written(tmp_path, ENDING + shell("a", script, "ends: true"))))
    prepare(loaded, plan_run(loaded, tmp_path / "run", os.environ))
    command = [sys.executable, "-m", "strata.scenario.runner", tmp_path / "run/plan.json"]
    runner = subprocess.Popen(command)
    wait_until(lambda: pid_file.exists() and pid_file.read_text().strip(), "the process")
    runner.kill()
    runner.wait()
    wait_until(lambda: not alive(int(pid_file.read_text())), "its end")


def test_what_was_expected_and_did_not_come_is_told(tmp_path: Path) -> None:
    text = ENDING + shell("a", "echo 5 of 6; touch ${results}/there", "ends: true")
    checks = "expected:\n  - {process: a, says: 6 of 6}\n  - {file: there}\n  - {file: not}\n"
    ran = run(tmp_path, text + checks)
    assert ran.status == 0, ran.errors
    assert ran.unmet == ["a says '6 of 6'", "there is a file not"]


def test_a_process_has_its_own_environment_beside_what_is_preloaded(tmp_path: Path) -> None:
    script = 'echo "$COLOUR:$LD_PRELOAD"'
    more = "environment: {COLOUR: red, LD_PRELOAD: /own.so}"
    ran = run(tmp_path, ENDING + shell("a", script, more, "ends: true"), {"LD_PRELOAD": "/ours.so"})
    assert ran.status == 0, ran.errors
    assert "red:/own.so:/ours.so\n" in (ran.directory / "logs/a.log").read_text()


def test_a_variable_without_a_value_stays_what_it_is(tmp_path: Path) -> None:
    script = 'echo "${COLOUR-none}:${SHAPE-none}"'
    more = "environment: {COLOUR: '', SHAPE: ''}"
    text = ENDING + shell("a", script, more, "ends: true")
    ran = run(tmp_path, text, {"SHAPE": "round"})
    assert ran.status == 0, ran.errors
    assert "none:round\n" in (ran.directory / "logs/a.log").read_text()


def test_the_load_is_measured_and_ends_with_the_run(tmp_path: Path) -> None:
    text = (
        "duration: {seconds: 2}\n"
        "load: {cpu_percent: 20, workers: 2, memory_mib: 16, generator: own}\nprocesses:\n"
    )
    ran = run(tmp_path, text + shell("a", FOREVER))
    assert ran.status == 0, ran.errors
    load = ran.outcome["load"]
    assert (load["workers"], load["ended_early"]) == (2, False)
    # What others leave of the machine; a worker that did nothing, or all the time, is out of it,
    # and so is what the writer of memory takes beside them.
    assert 2 < load["achieved_cpu_percent"] < 30


def test_workers_of_policy_idle_leave_the_cpu_to_every_other_thread(tmp_path: Path) -> None:
    policies = tmp_path / "policies"
    script = f"sleep 0.5; ps -e -o cls,args > {policies}"
    text = (
        "duration: {seconds: 2}\n"
        "load: {cpu_percent: 100, workers: 1, policy: idle, generator: own}\nprocesses:\n"
    ) + shell("a", script, "ends: true")
    ran = run(tmp_path, text)
    assert ran.status == 0, ran.errors
    lines = [line for line in policies.read_text().splitlines() if "strata.scenario.busy" in line]
    assert lines
    assert {line.split()[0] for line in lines} == {"IDL"}


def test_what_is_not_installed_is_refused_before_anything_starts(tmp_path: Path) -> None:
    process = "  - {name: a, package: none, executable: such, ends: true}\n"
    loaded = load_scenario(str(written(tmp_path, ENDING + process)))
    with pytest.raises(ScenarioError, match=r"no prefix on AMENT_PREFIX_PATH has lib/none/such"):
        plan_run(loaded, tmp_path, {"AMENT_PREFIX_PATH": "/nowhere"})
    absent = "  - {name: a, command: [no_such_program], ends: true}\n"
    loaded = load_scenario(str(written(tmp_path, ENDING + absent, "two")))
    with pytest.raises(ScenarioError, match="there is no program no_such_program"):
        plan_run(loaded, tmp_path, os.environ)


def test_a_middleware_that_is_not_installed_is_refused(tmp_path: Path) -> None:
    loaded = load_scenario("relay_chain")
    there = {"AMENT_PREFIX_PATH": str(tmp_path), "RMW_IMPLEMENTATION": "rmw_zenoh_cpp"}
    with pytest.raises(ScenarioError, match=r"has a librmw_zenoh_cpp\.so\. Install rmw_zenoh_cpp"):
        plan_run(loaded, tmp_path, there)


def test_two_runs_in_one_domain_are_refused() -> None:
    one = {"ROS_DOMAIN_ID": f"test-{os.getpid()}"}
    refused = pytest.raises(
        ScenarioError, match="another one is running on this machine in ROS domain"
    )
    with domain_held("a", one), refused, domain_held("b", one):
        pass
    with domain_held("b", one), domain_held("c", {"ROS_DOMAIN_ID": f"other-{os.getpid()}"}):
        pass


@pytest.mark.parametrize(
    ("variant", "cpp_there", "taken"),
    [
        ("auto", True, "sink_cpp"),
        ("auto", False, "sink"),
        ("wheels", True, "sink"),
        ("cpp", True, "sink_cpp"),
    ],
)
def test_the_executable_in_cpp_is_taken_where_it_is(
    tmp_path: Path, variant: str, cpp_there: bool, taken: str
) -> None:
    names = [
        "source",
        "relay",
        "sink",
        *(["source_cpp", "relay_cpp", "sink_cpp"] if cpp_there else []),
    ]
    for name in names:
        path = tmp_path / "lib/relay_chain" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o755)
    loaded = load_scenario("relay_chain", {"variant": variant})
    plan = plan_run(loaded, tmp_path / "run", {"AMENT_PREFIX_PATH": str(tmp_path)})
    assert plan.processes[-1].program == f"relay_chain/{taken}"


@pytest.mark.parametrize(
    ("changes", "there", "taken"),
    [
        ({}, "gscam cpp", "gscam/gscam_node"),
        ({}, "cpp", "camera_pipeline/camera_source_cpp"),
        ({}, "", "camera_pipeline/camera_source"),
        ({"source": "strata"}, "gscam cpp", "camera_pipeline/camera_source_cpp"),
        ({"source": "strata"}, "gscam", "camera_pipeline/camera_source"),
        ({"source": "gscam"}, "gscam cpp", "gscam/gscam_node"),
        # gscam publishes volatile alone.
        (
            {"publisher_durability": "transient_local"},
            "gscam cpp",
            "camera_pipeline/camera_source_cpp",
        ),
        ({"variant": "wheels"}, "gscam cpp", "camera_pipeline/camera_source"),
        ({"variant": "cpp"}, "cpp", "camera_pipeline/camera_source_cpp"),
    ],
)
def test_the_camera_is_the_first_that_is_there_and_can_do_it(
    tmp_path: Path, changes: dict[str, str], there: str, taken: str
) -> None:
    names = {
        "gscam": ["gscam/gscam_node"],
        "cpp": ["camera_pipeline/camera_source_cpp", "camera_pipeline/image_subscriber_cpp"],
    }
    plain = ["camera_pipeline/camera_source", "camera_pipeline/image_subscriber"]
    for name in [*plain, *(one for word in there.split() for one in names[word])]:
        path = tmp_path / "lib" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o755)
    loaded = load_scenario("camera_720p30", {"rmw.profile": "null", **changes})
    plan = plan_run(loaded, tmp_path / "run", {"AMENT_PREFIX_PATH": str(tmp_path)})
    assert plan.processes[-1].program == taken


def test_a_camera_that_is_asked_for_and_not_there_is_told(tmp_path: Path) -> None:
    for name in ("camera_source", "image_subscriber"):
        path = tmp_path / "lib/camera_pipeline" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o755)
    loaded = load_scenario("camera_720p30", {"rmw.profile": "null", "source": "gscam"})
    with pytest.raises(ScenarioError, match=r"has lib/gscam/gscam_node\. Install gscam, or choose"):
        plan_run(loaded, tmp_path / "run", {"AMENT_PREFIX_PATH": str(tmp_path)})
