# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The files of campaigns: what is refused, where, and why."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from campaign_files import CAMPAIGN, written

from strata.campaign.cells import Variant, expand, load_cell
from strata.campaign.load import load_campaign, shipped_campaigns
from strata.campaign.machine_requirements import Needs
from strata.campaign.model import level_names
from strata.errors import CampaignError
from strata.record.profiles import load_profile


@pytest.mark.parametrize("path", shipped_campaigns(), ids=lambda path: str(path.stem))
def test_a_shipped_campaign_can_be_used(path: Path) -> None:
    loaded = load_campaign(str(path))
    for name in loaded.campaign.original.published if loaded.campaign.original else []:
        assert (path.parent / "published" / name).is_file()
    whole, quick = (expand(loaded, Variant(1, quick)) for quick in (False, True))
    assert whole
    assert quick
    # Here a missing one would be skipped, as what is not installed.
    for name in {cell.changes["rmw.profile"] for cell in whole if "rmw.profile" in cell.changes}:
        load_profile(name)
    # What is excluded exists, and a lost message ends no cell.
    said = {one.because for study in loaded.campaign.studies.values() for one in study.exclusions}
    assert said == {cell.skipped for cell in whole if cell.skipped}
    assert all(
        node.parameters.get("losses", "refuse") == "count"
        for cell in whole
        for process in load_cell(cell).scenario.processes
        for node in process.nodes
        if node.name.startswith("sink")
    )
    # Half an hour is the bound of each quick variant.
    assert sum((cell.expected_s or 0) + 7.0 for cell in quick) < 1800


def test_the_five_originals_and_two_for_real_sensors_ship() -> None:
    loaded = [load_campaign(str(path)) for path in shipped_campaigns()]
    originals = [one.name for one in loaded if one.campaign.original]
    assert originals == ["camera", "ouster", "relay", "sizes", "statistics"]
    assert [one.name for one in loaded if not one.campaign.original] == [
        "camera_real",
        "lidar_real",
    ]


@pytest.mark.parametrize(
    ("name", "package"), [("lidar_real", "ouster_ros"), ("camera_real", "gscam")]
)
def test_cells_of_a_real_sensor_are_skipped_without_its_driver(name: str, package: str) -> None:
    cells = expand(load_campaign(name), Variant(1, quick=False))
    assert cells and all(cell.needs == [f"package:{package}"] for cell in cells)
    nowhere = Needs({"AMENT_PREFIX_PATH": "/nonexistent"})
    assert nowhere.unmet(cells[0].needs[0]) == f"the package {package} is not installed"
    # What the drivers' launch files are given differs from cell to cell, and the rate with it.
    assert len({cell.nominal_hz for cell in cells}) == (2 if name == "lidar_real" else 1)


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("question: Does it tick?", "question: 5", 1, "key 'question': '5': input should be"),
        ("repetitions: 2", "repetitions: 0", 7, "studies.plain.repetitions': '0': input should be"),
        ("warm_up: 1", "warm: 1", 8, "key 'studies.plain.warm': unknown key"),
        ("scenario: ticks", "scenario: tocks", 5, "Cannot read scenario tocks: no such file"),
        ("seconds: 0.1", "second: 0.1", 6, "Cannot set 'second' of"),
        ("load.workers: 1", "load.worker: 1", 14, "key 'load.worker': unknown key"),
        (
            "duration: 2s",
            "duration: soon",
            14,
            "for 'soon': that is not a number of messages above",
        ),
        ("set: count, ", "", 10, "write `set` with a list of values, or levels by name"),
        ("levels: [5, 6]", "levels: [5, 5]", 10, "level '5' appears twice"),
        ("levels: [5, 6]", "levels: [5, six/6]", 10, "unit Hz needs values that are numbers"),
        ("usual:", "r1:", 13, "'r1' cannot name a level: repetitions have such names"),
        ("usual:", "a/b:", 13, "key 'studies.plain.factors.way.levels"),
        ("program:no", "programme:no", 15, "'programme:no_such_program_at_all' is no need"),
        ("{count: 6, way", "{count: 7, way", 17, "factor 'count' has no level '7' (it has 5, 6)"),
        ("{count: 6, way", "{size: 7, way", 17, "there is no factor 'size' (the study has count"),
        ("of: latency", "of: lateness", 19, "'lateness' is no measure (there are latency,"),
        (" of: latency,", "", 19, "a figure of kind summary needs `of`"),
        ("kind: summary", "kind: pairs", 19, "a figure of kind pairs needs `over`, a factor"),
        ("kind: summary", "kind: boundaries", 19, "kind boundaries needs `over`, a factor"),
        (
            "kind: summary",
            "kind: boundaries, over: count, by: way, panels: count",
            19,
            "'count' is what the data rate grows along",
        ),
        ("kind: summary", "kind: anova, factors: [way]", 19, "needs `factors`, two or three"),
        ("warm_up: 1", "warm_up: 5", 5, "all of it (5 messages) is warm-up, which is 5 messages"),
        (
            "duration: 2s}",
            "duration: 1}",
            14,
            "all of it (1 message) is warm-up, which is 1 message",
        ),
        ("kind: summary", "kind: spread", 19, "a figure of kind spread needs `over`, a factor"),
        (
            "kind: summary",
            "kind: spread_interaction, over: way",
            19,
            "kind spread_interaction needs `by`, a factor",
        ),
        ("kind: summary", "kind: segmented, over: way", 19, "'way' is no factor of numbers"),
        ("kind: summary", "kind: curve, x: way, fit: segmented", 19, "'way' is no factor of nu"),
        ("kind: summary", "kind: curve, fit: segmented", 19, "kind curve with `x`, a factor of"),
        ("kind: summary", "kind: summary, consecutive: true", 19, "has no pairs of levels"),
        ("rows: [count, way]", "rows: process", 19, "values of latency have no process"),
        ("rows: [count, way]", "rows: layer", 19, "values of latency have no layer"),
        ("summary, of: latency, rows: [count, way]", "loss, rows: hop", 19, "which have no hop"),
        ("rows: [count, way]", "rows: [count, weg]", 19, "there is no factor 'weg'"),
        ("kind: summary", "kind: sum", 19, "key 'studies.plain.figures.0.kind': 'sum'"),
        ("way: [usual, absent]", "way: [unusual]", 21, "factor 'way' has no level 'unusual'"),
        ("  plain: {dur", "  plane: {dur", 21, "there is no study 'plane'"),
        ("set: {load.workers: 1}", "set: {count: 1}", 11, "'count' and 'way' both set 'count'"),
        ("    warm_up: 1\n", "    warm_up: 1\n    warm_up: 1\n", 9, "key 'warm_up' occurs twice"),
        ("    warm_up: 1", "    nominal_hz: rate", 8, "'rate' is no setting of scenario ticks"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, line: int, says: str
) -> None:
    assert old in CAMPAIGN
    path = written(tmp_path, CAMPAIGN.replace(old, new, 1))
    with pytest.raises(CampaignError) as caught:
        expand(load_campaign(str(path)), Variant(1))
    assert f"Cannot use campaign {path}:{line}: " in str(caught.value)
    assert says in str(caught.value)


def test_two_factors_that_choose_the_scenario_are_refused(tmp_path: Path) -> None:
    text = CAMPAIGN.replace("usual: {text", "usual: {scenario: ticks, text")
    text = text.replace("count: {set: count, unit: Hz, levels: [5, 6]}", "count: {levels: &l {}}")
    text = text.replace("&l {}", "{five: {scenario: ticks}}").replace("count: 6, ", "")
    with pytest.raises(CampaignError, match="factors 'count' and 'way' both choose the scenario"):
        load_campaign(str(written(tmp_path, text)))


def test_a_study_without_its_quick_variant_is_told(tmp_path: Path) -> None:
    study = CAMPAIGN.partition("studies:\n")[2].partition("quick:")[0]
    text = CAMPAIGN.replace("quick:", study.replace("plain:", "other:") + "quick:")
    with pytest.raises(CampaignError, match=r"study 'other' is missing; `other: \{\}` runs it"):
        load_campaign(str(written(tmp_path, text)))


def test_a_campaign_extends_another_and_its_copy_does_not(tmp_path: Path) -> None:
    written(tmp_path)
    path = tmp_path / "more.yaml"
    path.write_text("extends: small\nstudies: {plain: {repetitions: 3}}\n")
    loaded = load_campaign(str(path))
    assert loaded.campaign.studies["plain"].repetitions == 3
    assert loaded.name == "more"
    copy = tmp_path / "copy.yaml"
    copy.write_text(loaded.text())
    assert load_campaign(str(copy)).campaign == loaded.campaign
    small = load_campaign(str(tmp_path / "small.yaml"))
    assert small.text() == CAMPAIGN
    assert small.sha256 != loaded.sha256


def test_a_name_that_does_not_ship_is_told_with_those_that_do() -> None:
    with pytest.raises(CampaignError, match="Shipped: camera, camera_real, lidar_real, ouster"):
        load_campaign("nothing")


def test_levels_are_named_as_yaml_writes_them() -> None:
    assert level_names([True, 1, 1.5, "off"]) == ["true", "1", "1.5", "off"]
    assert level_names("x") == ["x"]


def test_factors_tell_their_numbers(tmp_path: Path) -> None:
    study = load_campaign(str(written(tmp_path))).campaign.studies["plain"]
    count, way = study.factors["count"], study.factors["way"]
    assert (count.numeric, count.names, count.number("6")) == (True, ["5", "6"], 6.0)
    assert (way.numeric, way.names) == (False, ["usual", "slow", "absent"])
    assert yaml.safe_load(CAMPAIGN)["studies"]["plain"]["factors"]["way"]["levels"]["usual"] == {
        "text": way.level("usual").text
    }
