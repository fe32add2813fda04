# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a setting implies, as the mode of a lidar its rate: it follows, and cannot contradict."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenario_files import shell, written

from strata.errors import ScenarioError
from strata.scenario.load import load_scenario


@pytest.mark.parametrize("name", ["lidar_real", "lidar_1024x10"])
@pytest.mark.parametrize(("mode", "scans"), [("1024x10", 100), ("512x20", 200)])
def test_the_mode_of_a_lidar_implies_its_rate(name: str, mode: str, scans: int) -> None:
    loaded = load_scenario(name, {"mode": mode}, "10s")
    assert loaded.scenario.duration.expected_s == pytest.approx(10)
    assert loaded.scenario.settings["scan_rate"] == scans / 10
    nodes = {node.name: node for one in loaded.scenario.processes for node in one.nodes}
    assert nodes["perf_node"].parameters["n_samples"] == scans


def test_a_mode_of_an_extending_file_implies_its_rate() -> None:
    assert load_scenario("lidar_512x10").scenario.settings["scan_rate"] == 10.0
    assert load_scenario("lidar_real", {"mode": "4096x5"}).scenario.settings["scan_rate"] == 5.0


def test_what_follows_from_a_setting_cannot_be_set() -> None:
    with pytest.raises(ScenarioError, match=r"'scan_rate' of .*it follows from 'mode'. Set that"):
        load_scenario("lidar_real", {"scan_rate": "20"})


@pytest.mark.parametrize(
    ("setting", "fact"),
    [
        ("choices: [a, b], implies: [1]", "what 'way' implies is no mapping"),
        ("choices: [a, b], implies: {rate: {a: 1}}", "implies no 'rate' for some of its choices"),
        ("implies: {rate: {a: 1}}", "implies no 'rate' for some of its choices, or has no choices"),
        ("choices: [a], implies: {rate: {a: [1]}}", "a 'rate' that 'way' implies is not a single"),
        ("choices: [a], implies: {way: {a: 1}}", "implies 'way', which has a value already"),
        ("choices: [b], implies: {rate: {b: 1}}", "default of 'way', a, is none of its choices"),
    ],
)
def test_what_cannot_be_implied_is_refused_with_its_line(
    tmp_path: Path, setting: str, fact: str
) -> None:
    text = f"settings:\n  way: {{default: a, text: a way, {setting}}}\n"
    text += "duration: {seconds: 1}\nprocesses:\n" + shell("one", "true")
    with pytest.raises(ScenarioError, match=rf":4: .*{fact}"):
        load_scenario(str(written(tmp_path, text)))
