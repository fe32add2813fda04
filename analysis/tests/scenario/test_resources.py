# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What processes use, against processes that use what is known."""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from pathlib import Path

import pytest
from scenario_files import Ran, run, shell, written

from strata.errors import ScenarioError
from strata.scenario.load import load_scenario

MB = 1_000_000
# Half a second of CPU time, by its own clock, with 100 MB that are written to; then it is idle.
CONSUMER = """
import time
memory = bytearray(b"x") * 100_000_000
while time.process_time() < 0.5: pass
for _ in range(20): time.sleep(0.02)
"""


def consumer(directory: Path) -> str:
    """Write the program that uses what is known; give its command."""
    path = directory / "consumer.py"
    path.write_text(CONSUMER)
    return f"{sys.executable} {path}"


def rows(ran: Ran) -> dict[str, list[dict[str, int]]]:
    """Read the rows of a run, by process."""
    found = defaultdict(list)
    with (ran.directory / "resources.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            found[row.pop("process")].append({name: int(text) for name, text in row.items()})
    return found


def test_what_a_process_used_is_told_at_its_end_and_meanwhile(tmp_path: Path) -> None:
    text = "resources: {every_s: 0.1}\nduration: {messages: 1}\nprocesses:\n"
    # The first has a child that does it, and waits for that.
    text += shell("parent", f"{consumer(tmp_path)}; exit 0", "ends: true")
    text += shell("idle", "exec sleep 60")
    ran = run(tmp_path, text)
    assert ran.status == 0, ran.errors
    used = {name: process["usage"] for name, process in ran.processes.items()}
    parent, idle = used["parent"], used["idle"]
    assert 0.5e9 <= parent["cpu_user_ns"] + parent["cpu_system_ns"] < 5e9
    assert 100 * MB < parent["rss_max_bytes"] < 200 * MB
    assert parent["voluntary_switches"] >= 20
    assert parent["minor_faults"] > 100 * MB / 65536
    assert idle["cpu_user_ns"] + idle["cpu_system_ns"] < 0.4e9
    assert idle["rss_max_bytes"] < 60 * MB
    sampled = rows(ran)
    assert set(sampled) == {"machine", "parent", "idle"}
    assert ran.outcome["resources"]["samples"] == len(sampled["machine"])
    for of_one in sampled.values():
        for column in ("t_ns", "cpu_user_ns", "cpu_system_ns"):
            values = [row[column] for row in of_one]
            assert values == sorted(values)
    assert 100 * MB < max(row["rss_bytes"] for row in sampled["parent"]) < 250 * MB
    spent = [row["cpu_user_ns"] + row["cpu_system_ns"] for row in sampled["parent"]]
    assert max(spent) >= 0.3e9
    assert max(row["threads"] for row in sampled["parent"]) == 2
    last = sampled["machine"][-1]
    assert last["cpu_user_ns"] >= sampled["parent"][-1]["cpu_user_ns"]
    assert last["rss_bytes"] > 100 * MB
    assert last["t_ns"] < 60e9


def test_samples_are_taken_at_equal_times(tmp_path: Path) -> None:
    text = "resources: {every_s: 0.2}\nduration: {seconds: 1.5}\nprocesses:\n"
    ran = run(tmp_path, text + shell("a", "exec sleep 60"))
    assert ran.status == 0, ran.errors
    times = [row["t_ns"] / 1e9 for row in rows(ran)["machine"]]
    # A busy machine leaves some out; none is taken twice, but for the one at the end.
    assert 3 <= len(times) <= times[-1] / 0.2 + 2


def test_nothing_is_written_down_that_is_not_asked_for(tmp_path: Path) -> None:
    text = "resources: {every_s: 0}\nduration: {messages: 1}\nprocesses:\n"
    ran = run(tmp_path, text + shell("a", "true", "ends: true"))
    assert ran.status == 0, ran.errors
    assert not (ran.directory / "resources.csv").exists()
    assert ran.outcome["resources"] is None
    assert ran.processes["a"]["usage"]["rss_max_bytes"] > 0


def test_the_load_has_rows_of_its_own(tmp_path: Path) -> None:
    text = "load: {cpu_percent: 30, workers: 1, generator: own}\nresources: {every_s: 0.2}\n"
    text += "duration: {seconds: 1}\nprocesses:\n" + shell("a", "exec sleep 60")
    ran = run(tmp_path, text)
    assert ran.status == 0, ran.errors
    load = rows(ran)["load"][-1]
    # The worker is a child of the process that starts it.
    assert load["threads"] == 2
    assert load["cpu_user_ns"] + load["cpu_system_ns"] > 0


@pytest.mark.parametrize("every", ["0.01", "-1", "often"])
def test_a_time_between_samples_is_bounded(tmp_path: Path, every: str) -> None:
    text = f"resources: {{every_s: {every}}}\nduration: {{messages: 1}}\nprocesses:\n"
    path = written(tmp_path, text + shell("a", "true", "ends: true"))
    with pytest.raises(ScenarioError, match=rf"{path}:3: key 'resources"):
        load_scenario(str(path))


def test_a_process_of_the_machines_name_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "duration: {messages: 1}\nprocesses:\n" + shell("machine", "true"))
    with pytest.raises(ScenarioError, match="two are called process 'machine'"):
        load_scenario(str(path))


def test_a_mapping_is_set_at_once_and_changed_after(tmp_path: Path) -> None:
    text = "duration: {messages: 1}\nprocesses:\n" + shell("a", "true", "ends: true")
    place = "processes.a.priority"
    wanted = {"policy": "fifo", "priority": 98, "lock_memory": True}
    changes = {place: json.dumps(wanted), f"{place}.priority": "50"}
    loaded = load_scenario(str(written(tmp_path, text)), changes)
    assert loaded.scenario.processes[0].priority.model_dump() == wanted | {"priority": 50}
    with pytest.raises(ScenarioError, match=r"key 'processes\.a\.priority\.hurry': unknown key"):
        load_scenario(str(written(tmp_path, text)), {place: "{hurry: 1}"})
