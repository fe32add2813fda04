# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The directory of a campaign: what is kept, moved aside, refused; verdicts; who holds it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from campaign_files import CAMPAIGN, written

from strata.campaign.cell_verdict import unmet, verdict
from strata.campaign.cells import Cell, Variant, expand
from strata.campaign.directory import (
    CampaignDirectory,
    CellState,
    Lock,
    check_campaign_directory,
    make_directory,
    open_directory,
)
from strata.campaign.load import load_campaign
from strata.campaign.middleware_variables import own_middleware, set_aside
from strata.campaign.planning import Asked, plan_campaign
from strata.errors import CampaignError, OutputError
from strata.record.ros import Ros


def planned(tmp_path: Path, text: str = CAMPAIGN, **asked: Any) -> CampaignDirectory:
    """Plan the campaign for a machine without ROS 2: its cells are shell scripts."""
    loaded = load_campaign(str(written(tmp_path, text)))
    ros = Ros("sourced", "unknown", tmp_path, ())
    asked.setdefault("seed", 4)
    return plan_campaign(loaded, tmp_path / "campaign", Asked(**asked), ros, os.environ)


def made(tmp_path: Path, **asked: Any) -> CampaignDirectory:
    directory = planned(tmp_path, **asked)
    directory.path.mkdir()
    directory.with_environment({"at_utc": "2026-01-01T00:00:00Z"}).write()
    return directory


def state_of(cell: Cell, **changes: Any) -> CellState:
    usual: dict[str, Any] = {
        "id": cell.id,
        "status": "finished",
        "reason": None,
        "begun_utc": "2026-01-01T00:00:00Z",
        "duration_s": 1.5,
        "order": cell.order,
        "load_average": [0.1, 0.2, 0.3],
        "busy_percent": 1.0,
        "frequency_khz": None,
        "busy": False,
        "command": ["strata", "run"],
        "measured": "5 messages",
    }
    return CellState(**{**usual, **changes})


def test_a_directory_is_read_as_it_was_written(tmp_path: Path) -> None:
    directory = made(tmp_path)
    read = open_directory(directory.path)
    assert read.cells == directory.cells
    assert read.variant == Variant(4)
    assert read.name == "small"
    assert read.loaded.campaign == directory.loaded.campaign
    cell = read.cells[0]
    assert read.state(cell) is None
    read.write_state(cell, state_of(cell))
    assert read.state(cell) == state_of(cell)
    assert read.finished(cell)
    assert not read.finished(read.cells[1])


def test_skips_are_told_with_their_reasons(tmp_path: Path) -> None:
    skipped = {cell.group: cell.skipped for cell in planned(tmp_path).cells if cell.skipped}
    missing = "the program no_such_program_at_all is not installed"
    assert skipped == {
        "plain/6+slow": "six are never slow",
        "plain/5+absent": missing,
        "plain/6+absent": missing,
    }


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("processes.tick.cpus: [4095]", "CPU 4095 is not usable here"),
        ("rmw.profile: cyclonedds_default", "has a librmw_cyclonedds_cpp.so"),
        ("rmw.profile: no_such", "Cannot read profile no_such: no such file"),
        ("processes.tick.command: [nothing_like_it]", "there is no program nothing_like_it"),
    ],
)
def test_what_a_scenario_refuses_here_is_skipped(tmp_path: Path, change: str, says: str) -> None:
    text = CAMPAIGN.replace("load.workers: 1", change)
    skipped = {cell.group: cell.skipped for cell in planned(tmp_path, text).cells}
    assert says in str(skipped["plain/5+slow"])
    assert skipped["plain/5+usual"] is None


EXPORTED = {
    "RMW_IMPLEMENTATION": "rmw_no_such_cpp",
    "RMW_FASTRTPS_USE_QOS_FROM_XML": "1",
    "FASTRTPS_DEFAULT_PROFILES_FILE": "/nowhere.xml",
    "FASTDDS_BUILTIN_TRANSPORTS": "UDPv4",
    "CYCLONEDDS_URI": "file:///nowhere.xml",
    "ZENOH_SESSION_CONFIG_URI": "/nowhere.json5",
}


def test_an_exported_middleware_skips_no_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "librmw_fastrtps_cpp.so").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    text = CAMPAIGN.replace("load.workers: 1", "rmw.profile: fastdds_udp")
    alone = {cell.group: cell.skipped for cell in planned(tmp_path, text).cells}
    for name, value in EXPORTED.items():
        monkeypatch.setenv(name, value)
    exported = {cell.group: cell.skipped for cell in planned(tmp_path, text).cells}
    assert exported == alone
    assert exported["plain/5+slow"] is None


def test_cells_inherit_all_but_what_chooses_a_middleware() -> None:
    kept = {"PATH": "/bin", "ROS_DOMAIN_ID": "7", "RMW_SWIFTDDS_CONFIG": "/licensed.json"}
    assert own_middleware({**kept, **EXPORTED}) == kept
    assert set_aside({**kept, **EXPORTED}) == sorted(EXPORTED)


def test_remains_are_moved_and_never_deleted(tmp_path: Path) -> None:
    directory = made(tmp_path)
    cell = directory.cells[0]
    assert directory.move_aside(cell) is None
    moved = []
    for number in range(3):
        place = directory.cell_directory(cell)
        place.mkdir(parents=True)
        (place / "trace").write_text(str(number))
        moved.append(directory.move_aside(cell))
        assert not place.exists()
    assert [path and (path / "trace").read_text() for path in moved] == ["0", "1", "2"]


def test_a_half_written_state_is_none(tmp_path: Path) -> None:
    directory = made(tmp_path)
    cell = directory.cells[0]
    directory.cell_directory(cell).mkdir(parents=True)
    for text in ("", "{", '{"id": 1}', "[]"):
        (directory.cell_directory(cell) / "cell.json").write_text(text)
        assert directory.state(cell) is None


def test_finished_cells_have_to_stay_what_they_are(tmp_path: Path) -> None:
    directory = made(tmp_path)
    cell = next(one for one in directory.cells if one.group == "plain/5+slow")
    directory.write_state(cell, state_of(cell))
    same = CAMPAIGN.replace("seconds: 0.1", "seconds: 0.10").replace(
        "levels: [5, 6]", "levels: [5]"
    )
    same = same.replace("count: 6", "count: 5").replace("way: slow", "way: usual")
    again = planned(tmp_path, same)
    assert again.document["made_utc"] == directory.document["made_utc"]
    assert len(again.document["environments"]) == 1
    for old, new in (
        ("seconds: 0.1", "seconds: 0.2"),
        ("load.workers: 1", "load.workers: 2"),
        ("slow: {", "slower: {"),
    ):
        with pytest.raises(CampaignError) as caught:
            planned(tmp_path, same.replace(old, new))
        assert f"1 of 1 finished cells would now run differently ({cell.id})" in str(caught.value)
    # One that failed is run again, whatever it would be.
    directory.write_state(cell, state_of(cell, status="failed", reason="so"))
    planned(tmp_path, CAMPAIGN.replace("seconds: 0.1", "seconds: 0.2"))


def test_a_duration_is_for_the_chosen_cells_and_stays(tmp_path: Path) -> None:
    only = ["plain/5+slow"]
    directory = made(tmp_path, duration="1h", only=only)
    cells = {cell.group: cell for cell in directory.cells}
    slow, usual = cells["plain/5+slow"], cells["plain/5+usual"]
    assert (slow.duration, slow.expected_s) == ("1h", 3600.0)
    assert slow.limit_s > 3600.0
    assert usual.duration is None
    plain = {cell.group: cell for cell in expand(directory.loaded, Variant(4))}
    assert slow.digest != plain["plain/5+slow"].digest
    assert usual.digest == plain["plain/5+usual"].digest
    directory.write_state(slow, state_of(slow))
    # A start without it, and one that states it again, go on with the same cells.
    for asked in ({}, {"duration": "1h", "only": only}):
        again = planned(tmp_path, **asked)
        assert [cell.digest for cell in again.cells] == [cell.digest for cell in directory.cells]
        assert again.finished(slow)
    with pytest.raises(CampaignError) as caught:
        planned(tmp_path, duration="2h")
    assert "with --duration 2h: 1 of 1 finished cells ran for another" in str(caught.value)
    # Others may have another.
    others = planned(tmp_path, duration="2min", only=["plain/6"])
    durations = {cell.group: cell.duration for cell in others.cells}
    assert durations["plain/5+slow"] == "1h"
    assert durations["plain/6+usual"] == "2min"
    assert durations["plain/5+usual"] is None


def test_a_duration_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match=r"Cannot use --duration 3x: .* not a number of"):
        planned(tmp_path, duration="3x")


def test_a_duration_that_is_all_warm_up_is_refused(tmp_path: Path) -> None:
    text = CAMPAIGN.replace("warm_up: 1", "warm_up: 3")
    for duration in ("3", "0.3s"):
        with pytest.raises(CampaignError) as caught:
            planned(tmp_path, text, duration=duration)
        assert str(caught.value) == (
            f"Cannot use --duration {duration}: all of it (3 messages) is warm-up, which is 3 "
            "messages. Give a longer one."
        )
    # One that runs more is measured, whatever the others have.
    planned(tmp_path, text, duration="4")


def test_a_changed_file_is_kept_beside_its_former(tmp_path: Path) -> None:
    directory = made(tmp_path)
    planned(tmp_path, CAMPAIGN.replace("seconds: 0.1", "seconds: 0.2")).write()
    assert "seconds: 0.2" in (directory.path / "campaign.yaml").read_text()
    (former,) = directory.path.glob("campaign.until_*.yaml")
    assert former.read_text() == CAMPAIGN


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"seed": 5}, "it was started with seed 4"),
        ({"quick": True}, "it was started with the whole variant, not the quick one"),
    ],
)
def test_what_contradicts_the_beginning_is_refused(
    tmp_path: Path, asked: dict[str, Any], says: str
) -> None:
    made(tmp_path)
    with pytest.raises(CampaignError, match=says):
        planned(tmp_path, **asked)
    assert planned(tmp_path, seed=None).variant.seed == 4
    assert planned(tmp_path, repetitions=3).cells[:12] == planned(tmp_path).cells
    other = written(tmp_path, name="other")
    ros = Ros("sourced", "unknown", tmp_path, ())
    with pytest.raises(CampaignError, match="it was started with campaign small, not other"):
        plan_campaign(load_campaign(str(other)), tmp_path / "campaign", Asked(), ros, os.environ)


def test_a_campaign_of_imports_alone_may_be_begun_in_any_way(tmp_path: Path) -> None:
    loaded = load_campaign(str(written(tmp_path)))
    make_directory(tmp_path / "campaign", loaded, Variant(0), []).write()
    begun = planned(tmp_path, quick=True, seed=5, repetitions=2)
    assert begun.variant == Variant(5, quick=True, repetitions=2)
    assert len(begun.cells) == 8


def test_other_directories_are_refused(tmp_path: Path) -> None:
    assert not check_campaign_directory(tmp_path / "new")
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="it is a file"):
        check_campaign_directory(tmp_path / "file")
    with pytest.raises(OutputError, match=r"holds no campaign, and is not empty \(file; 1 in all"):
        check_campaign_directory(tmp_path)
    with pytest.raises(CampaignError, match="Give the directory of a campaign"):
        open_directory(tmp_path)
    (tmp_path / "place").mkdir()
    directory = made(tmp_path / "place")
    plan = directory.path / "campaign.json"
    plan.write_text(plan.read_text().replace('"schema": 1', '"schema": 99'))
    with pytest.raises(CampaignError, match="has schema 99, and this version of Strata reads 1"):
        open_directory(directory.path)
    plan.write_text("{")
    with pytest.raises(CampaignError, match="is no plan of a campaign"):
        open_directory(directory.path)


def test_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="Not a directory"):
        Lock(tmp_path / "file" / "campaign")


def test_a_directory_is_held_until_the_last_holder_ends(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "campaign")
    assert lock.take(0.0)
    assert lock.owner() == os.getpid()
    child = subprocess.Popen(["sleep", "60"], pass_fds=(lock.descriptor,))
    other = Lock(tmp_path / "campaign")
    assert not other.take(0.0)
    lock.close()
    # A killed campaign: its owner is gone, a process of its cell still holds the directory.
    take = (
        "import sys; from pathlib import Path; from strata.campaign.directory import Lock;"
        "lock = Lock(Path(sys.argv[1])); print(lock.take(0.3), lock.owner())"
    )
    (tmp_path / "campaign/campaign.lock").write_text("1 1")
    held = subprocess.run(
        [sys.executable, "-c", take, tmp_path / "campaign"], capture_output=True, text=True
    )
    assert held.stdout.split() == ["False", "None"], held.stderr
    child.kill()
    child.wait()
    assert other.take(0.0)
    other.close()


def session(directory: Path, manifest: dict[str, Any], *, said: str = "") -> Path:
    directory.mkdir()
    (directory / "manifest.json").write_text(json.dumps(manifest))
    (directory / "run.log").write_text(said)
    return directory


@pytest.mark.parametrize(
    ("status", "manifest", "reason"),
    [
        (None, {}, "it did not end within 10 s"),
        (-9, {}, "its recorder was ended by SIGKILL"),
        (0, {"command": {"interrupted_by": "SIGINT"}}, "it was interrupted by SIGINT"),
        (0, {}, "no event was recorded"),
        (1, {}, "Cannot run: so."),
        (
            1,
            {
                "scenario": {
                    "outcome": {"problems": ["a did not end cleanly: exit status 3"]},
                    "checks": [{"text": "a says 'b'", "met": False}],
                }
            },
            "a did not end cleanly: exit status 3; expected, but not met: a says 'b'",
        ),
    ],
)
def test_a_cell_is_judged_by_what_it_left(
    tmp_path: Path, status: int | None, manifest: dict[str, Any], reason: str
) -> None:
    said = "strata: recording into x\n[a] strata: no\nstrata: Cannot run: so.\n"
    place = session(tmp_path / "cell", manifest, said=said)
    assert verdict(place, status, 10.0) == reason


def test_what_is_expected_and_did_not_come_fails_no_cell(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    checks = [{"text": "x", "met": True}, {"text": "y", "met": False}]
    place = session(tmp_path / "cell", {"scenario": {"checks": checks}})
    assert verdict(place, 3, 10.0) == "no event was recorded; expected, but not met: y"
    (place / "trace").symlink_to(sample("cell_relay") / "trace")
    assert verdict(place, 3, 10.0) is None
    assert unmet(place) == ["y"]
    told = state_of(made(tmp_path).cells[0], measured="5 messages", unmet=["y"])
    assert told.line == "5 messages; expected, but not met: y"


def test_a_cell_that_left_nothing_is_judged_all_the_same(tmp_path: Path) -> None:
    assert verdict(tmp_path, 1, 10.0) == "exit status 1"
