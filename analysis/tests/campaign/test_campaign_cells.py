# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From a campaign to cells: combinations, order, changes, digests; and which are chosen."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest
from campaign_files import CAMPAIGN, SCENARIO, written
from hypothesis import given
from hypothesis import strategies as st
from strata_command import strata

from strata.campaign.cells import Cell, Variant, expand, in_order, on_machines
from strata.campaign.directory import make_directory
from strata.campaign.load import load_campaign
from strata.campaign.planning import choose
from strata.campaign.remaining_time import Forecast
from strata.campaign.setting_texts import as_setting
from strata.errors import CampaignError
from strata.scenario.load import load_scenario


def cells_of(directory: Path, variant: Variant, text: str = CAMPAIGN) -> list[Cell]:
    return expand(load_campaign(str(written(directory, text))), variant)


def test_every_combination_is_a_cell_of_every_repetition(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, Variant(1))
    groups = [f"plain/{count}+{way}" for count in (5, 6) for way in ("usual", "slow", "absent")]
    assert Counter(cell.group for cell in cells) == dict.fromkeys(groups, 2)
    assert [cell.order for cell in cells] == list(range(12))
    assert [cell.repetition for cell in cells] == [1] * 6 + [2] * 6
    assert {cell.id for cell in cells} == {f"{group}/r{r}" for group in groups for r in (1, 2)}
    skipped = {cell.group: cell.skipped for cell in cells if cell.skipped}
    assert skipped == {"plain/6+slow": "six are never slow"}


def test_a_cell_says_how_it_is_run(tmp_path: Path) -> None:
    cells = {cell.group: cell for cell in cells_of(tmp_path, Variant(1))}
    slow = cells["plain/5+slow"]
    assert slow.scenario == str(tmp_path / "ticks.yaml")
    assert slow.changes == {"seconds": "0.1", "count": "5", "load.workers": "1"}
    # Twenty of ten a second; the others take what the scenario says.
    assert (slow.duration, slow.expected_s) == ("2s", 2.0)
    assert (cells["plain/5+usual"].duration, cells["plain/5+usual"].expected_s) == (None, 0.5)
    assert (slow.warm_up, slow.needs) == (1, [])
    assert cells["plain/5+absent"].needs == ["program:no_such_program_at_all"]
    assert Cell.from_json(slow.as_json()) == slow


def test_the_quick_variant_is_what_its_part_says(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, Variant(1, quick=True))
    names = [f"plain/{count}+{way}/r1" for count in (5, 6) for way in ("usual", "absent")]
    assert sorted(cell.id for cell in cells) == sorted(names)
    assert {(cell.duration, cell.warm_up) for cell in cells} == {("3", 0)}
    only = CAMPAIGN.replace("way: [usual, absent]}}", "way: [usual, slow]}, only: [{count: 5}]}")
    cells = cells_of(tmp_path, Variant(1, quick=True), only)
    assert sorted(cell.group for cell in cells) == ["plain/5+slow", "plain/5+usual"]


def test_there_may_be_no_quick_variant(tmp_path: Path) -> None:
    text = CAMPAIGN.partition("quick:")[0]
    with pytest.raises(CampaignError, match=r"has no `quick`\. Leave --quick out"):
        cells_of(tmp_path, Variant(1, quick=True), text)


def test_the_seed_decides_the_order_alone(tmp_path: Path) -> None:
    one, again, other = (cells_of(tmp_path, Variant(seed)) for seed in (7, 7, 8))
    assert one == again
    assert [cell.id for cell in one] != [cell.id for cell in other]
    assert {cell.id for cell in one} == {cell.id for cell in other}


def test_further_repetitions_change_nothing_of_those_before(tmp_path: Path) -> None:
    two, five = (cells_of(tmp_path, Variant(7, repetitions=count)) for count in (2, 5))
    assert five[: len(two)] == two


@given(st.integers(0, 2**31), st.lists(st.integers(1, 3), min_size=1, max_size=8))
def test_an_order_loses_no_cell_and_is_blocked_by_repetition(
    seed: int, repetitions: list[int]
) -> None:
    cells = [
        Cell("s", {"f": str(number)}, one, 0, "x", {}, None, 0, None, None, 1.0, [], "d")
        for number, count in enumerate(repetitions)
        for one in range(1, count + 1)
    ]
    random.Random(seed).shuffle(cells)
    ordered = in_order(cells, seed)
    assert sorted(cell.id for cell in ordered) == sorted(cell.id for cell in cells)
    assert [cell.order for cell in ordered] == list(range(len(cells)))
    blocks = [cell.repetition for cell in ordered]
    assert blocks == sorted(blocks)
    # Whatever the order of the file's studies and levels.
    assert ordered == in_order(sorted(cells, key=lambda cell: cell.id), seed)


def test_a_digest_is_of_what_runs(tmp_path: Path) -> None:
    before = {cell.group: cell.digest for cell in cells_of(tmp_path, Variant(1))}
    assert len(set(before.values())) == 4  # `absent` and `usual` differ in a need only.
    text = CAMPAIGN.replace("warm_up: 1", "warm_up: 2").replace("text: as it is", "text: so")
    assert before == {cell.group: cell.digest for cell in cells_of(tmp_path, Variant(2), text)}
    text = CAMPAIGN.replace("load.workers: 1", "load.workers: 2")
    after = {cell.group: cell.digest for cell in cells_of(tmp_path, Variant(1), text)}
    changed = {group for group in before if before[group] != after[group]}
    assert changed == {"plain/5+slow", "plain/6+slow"}


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("rate", 50.0, "50.0"),
        ("loans", True, "true"),
        ("mode", "off", "off"),
        ("rmw.profile", "fastdds_udp", "fastdds_udp"),
        ("processes.tick.environment.A", "off", '"off"'),
        ("processes.tick.environment.A", "1", '"1"'),
        ("processes.a.priority", {"policy": "fifo", "priority": 98}, None),
    ],
)
def test_what_is_set_is_written_as_the_command_line_takes_it(
    key: str, value: object, text: str | None
) -> None:
    made = as_setting(key, value)
    assert made == text or (text is None and made == '{"policy": "fifo", "priority": 98}')


def test_a_text_and_a_mapping_arrive_as_they_were_meant(tmp_path: Path) -> None:
    (tmp_path / "ticks.yaml").write_text(SCENARIO)
    changes = {
        "processes.tick.environment": {"A": "off"},
        "processes.tick.priority": {"policy": "fifo", "priority": 98, "lock_memory": True},
    }
    texts = {key: as_setting(key, value) for key, value in changes.items()}
    process = load_scenario(str(tmp_path / "ticks.yaml"), texts).scenario.processes[0]
    assert process.environment == {"A": "off"}
    assert process.priority.model_dump() == changes["processes.tick.priority"]


@pytest.mark.parametrize(
    ("only", "chosen"),
    [
        ([], 12),
        (["plain"], 12),
        (["plain/5"], 6),
        (["plain/usual"], 4),
        (["plain/5+usual"], 2),
        (["plain/usual/5"], 2),
        (["plain/way=usual/count=6"], 2),
        (["plain/5/6"], 12),
        (["plain/5+usual/r2"], 1),
        (["plain/r1", "plain/slow"], 8),
    ],
)
def test_only_chooses_cells(tmp_path: Path, only: list[str], chosen: int) -> None:
    loaded = load_campaign(str(written(tmp_path)))
    directory = make_directory(tmp_path, loaded, Variant(1), expand(loaded, Variant(1)))
    assert len(choose(directory, only)) == chosen


@pytest.mark.parametrize(
    ("only", "says"),
    [
        ("simple", "there is no study 'simple'. Use one of plain."),
        ("plain/7", "has no level '7'. The factors are count (5, 6), way (usual, slow, absent)"),
        ("plain/way=5", "has no level 'way=5'"),
        ("plain/r3", "no cell of this campaign matches"),
    ],
)
def test_what_only_does_not_name_is_told(tmp_path: Path, only: str, says: str) -> None:
    loaded = load_campaign(str(written(tmp_path)))
    directory = make_directory(tmp_path, loaded, Variant(1), expand(loaded, Variant(1)))
    with pytest.raises(CampaignError) as caught:
        choose(directory, [only])
    assert says in str(caught.value)


def test_a_level_of_two_factors_has_to_be_told_apart(tmp_path: Path) -> None:
    text = CAMPAIGN.replace("usual", "'5'")
    loaded = load_campaign(str(written(tmp_path, text)))
    directory = make_directory(tmp_path, loaded, Variant(1), expand(loaded, Variant(1)))
    with pytest.raises(CampaignError, match=r"of several factors\. Write count=5 or way=5\."):
        choose(directory, ["plain/5"])
    assert len(choose(directory, ["plain/way=5"])) == 4


def test_the_forecast_learns_from_what_ran(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, Variant(1))
    slow = next(cell for cell in cells if cell.group == "plain/5+slow")
    usual = next(cell for cell in cells if cell.group == "plain/5+usual")
    forecast = Forecast()
    assert forecast.of(slow) - forecast.of(usual) == pytest.approx(1.5)
    for took in (3.5, 4.5, 100.5):
        forecast.note(usual, took)
    assert forecast.of(slow) == pytest.approx(6.0)
    assert forecast.all([slow, usual]) == pytest.approx(10.5)


def test_hosts_on_machines_are_other_cells() -> None:
    loaded = load_campaign("sizes")
    cells = expand(loaded, Variant(1, quick=True))
    moved = on_machines(cells, ["b"])
    assert [cell.id for cell in moved] == [cell.id for cell in cells]
    for before, after in zip(cells, moved, strict=True):
        joined = before.study.startswith("two_hosts")
        assert after.hosts == (["b"] if joined else [])
        # They need no namespaces, and what ran in these is not what runs on machines.
        assert ("namespaces" in after.needs) is False
        assert (after.digest != before.digest) is joined
    assert on_machines(cells, []) == cells
    both = on_machines(cells, ["a", "b"])
    assert all(
        one.digest != other.digest for one, other in zip(both, moved, strict=True) if other.hosts
    )
    with pytest.raises(CampaignError, match="no cell of this campaign connects a host"):
        on_machines(cells, ["c"])


def test_a_sensor_whose_driver_is_missing_is_skipped_with_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "sensors.yaml"
    file.write_text(
        "question: q\nstudies:\n  sensors:\n    question: q\n    scenario: lidar_real\n"
        "    factors:\n      driver:\n        levels:\n"
        '          needs: {needs: ["program:no_ros2", "package:no_driver"]}\n'
        "          command: {set: {processes.driver.command: no_driver --now}}\n"
    )
    done = strata("campaign", "run", file, "--list", columns=200)
    assert done.returncode == 0, done.stderr
    listed = " ".join(done.stdout.split())
    assert "program no_ros2 is not installed; the package no_driver is not installed" in listed
    assert "Cannot run process 'driver': there is no program no_driver" in listed
    assert "2 cells, 2 skipped, 0 to run" in listed
