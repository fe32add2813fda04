# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata scenarios`, and what `strata run` refuses before anything runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from strata_command import strata as strata_command

from strata.scenario.load import shipped_scenarios


def test_every_scenario_is_listed() -> None:
    done = strata_command("scenarios", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["schema"] == 1
    names = [scenario["name"] for scenario in document["scenarios"]]
    assert names == [path.stem for path in shipped_scenarios()]
    table = strata_command("scenarios").stdout
    assert max(map(len, table.splitlines())) <= 80
    assert "Does the driver keep up with 1280 " in table
    assert all(any(line.startswith(f"{name} ") for line in table.splitlines()) for name in names)


def test_one_scenario_is_shown_with_its_settings() -> None:
    shown = strata_command("scenarios", "relay_chain").stdout
    assert "relays" in shown
    assert "relays between source and sink" in shown
    assert "  output: /chain_0" in shown
    document = json.loads(strata_command("scenarios", "relay_chain", "--format", "json").stdout)
    settings = {setting["name"]: setting for setting in document["settings"]}
    assert settings["relays"] | {"default": 3} == settings["relays"]
    assert settings["durability"]["choices"] == ["volatile", "transient_local"]


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (["nothing"], 1, "strata: Cannot read scenario nothing: no such file, and no"),
        (["relay_chain", "--set", "rate"], 2, "'rate' has not the form KEY=VALUE"),
        (["relay_chain", "--set", "rate=x"], 1, "strata: Cannot set 'rate' of "),
        (["relay_chain", "--no-trace", "--kernel"], 2, "--no-trace excludes --kernel and --config"),
        (["relay_chain", "--set", "processes.sink.cpus=[4095]"], 1, "CPU 4095 is not usable here"),
    ],
)
def test_what_cannot_run_is_refused(
    tmp_path: Path, arguments: list[str], status: int, says: str
) -> None:
    target = tmp_path / "session"
    done = strata_command("run", *arguments, "-o", str(target))
    assert done.returncode == status
    assert done.stdout == ""
    assert says in done.stderr
    assert not target.exists()
