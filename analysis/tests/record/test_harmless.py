# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of many kinds end and print in a recording what they do without; see `make harmless`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from lttng_world import ROOT, World, manifest

sys.path.insert(0, str(ROOT / "analysis/benchmarks/harmless"))

from program_kinds import KINDS, Kind
from program_runs import (
    CONFIGS,
    Ended,
    build,
    events_by_mark,
    line_for_all,
    results_in,
    runs_here,
)
from program_table import differences, rows_wanted

HERE_TOO = [kind for kind in KINDS if not kind.slow and runs_here(kind)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("harmless")
    # Another user's process is among the programs.
    for directory in (place, *place.parents[:2]):
        directory.chmod(0o755)
    build(HERE_TOO, place)
    return place


@pytest.fixture(scope="module")
def plain(place: Path) -> dict[str, Ended]:
    results = place / "plain.json"
    subprocess.run(line_for_all(HERE_TOO, place, results), check=True, timeout=120)
    return results_in(results)


@pytest.mark.parametrize("config", CONFIGS)
def test_programs_are_the_same_when_recorded(
    world: World, place: Path, plain: dict[str, Ended], config: str, tmp_path: Path
) -> None:
    results, target = place / f"{config}.json", tmp_path / "rec"
    line = line_for_all(HERE_TOO, place, results)
    done = world.strata("record", "-c", config, "-o", target, "--", *line)

    hung = [name for name, ended in results_in(results).items() if ended.status is None]
    assert (done.returncode, hung) == (0, []), done.stderr
    assert manifest(target)["problems"] == []
    events = events_by_mark(target / "trace")
    changed = differences(HERE_TOO, config, plain, results_in(results), events)
    assert list(changed) == []


def test_the_programs_do_what_they_are_about(plain: dict[str, Ended]) -> None:
    """One that ended at once would be the same everywhere."""
    assert plain["own_status"] == Ended(42, "")
    assert plain["ended_by_signal"].status == -11
    assert plain["close_and_reuse"].out == "first 3, written 8, size 64\n"
    assert plain["fork_of_many_threads"].out == "40\n"
    assert plain["daemonize"].out == "0 6 alive\n"
    assert plain["read_only_control"].out == "6 packet flags 0 control 0\n" * 2
    failed = {name for name, ended in plain.items() if ended.status not in (0, *_OWN_STATUS)}
    assert failed == {"ended_by_signal", "asan_finds"}


# Of programs that end with another than 0 by themselves.
_OWN_STATUS = (3, 4, 5, 42)


def test_the_docs_have_a_row_for_each() -> None:
    page = (ROOT / "docs/recording.md").read_text()
    table = page.partition("<!-- made by `make harmless` -->")[2].partition("<!-- end -->")[0]
    rows = [line.split(" | ") for line in table.strip().splitlines()[2:]]
    assert {row[0].removeprefix("| ") for row in rows} == rows_wanted()
    by_name = {kind.about: kind for kind in KINDS}
    for about, *cells in rows:
        assert_row(by_name[about.removeprefix("| ")], cells)


def assert_row(kind: Kind, cells: list[str]) -> None:
    """A row that says of a recording what the program's declaration does not is out of date."""
    plain, *recorded, output, traced, untraced = (cell.removesuffix(" |") for cell in cells)
    assert untraced.rstrip("| ") == kind.untraced
    if kind.emits is None:
        assert traced == "-"
        assert output in ({kind.differs} if kind.differs else {"same", "not compared"})
    else:
        assert (output, traced) == ("same", kind.differs or "same")
    assert set(recorded) == {plain}
