# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of many cells that are read together are those that each would read by itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from measured_campaign import RELAY, make_campaign
from pandas.testing import assert_frame_equal

from strata.schema.tables.measured import MEASURED_HOPS, MEASURED_TABLES
from strata.study.cell_tables import CellTables
from strata.study.hop_selection import HopSelection
from strata.study.table_cache import KeptTables

HOPS = "hops"


def written(directory: Path, names: list[str], received: int) -> Path:
    """Write the table of hops of a cell: one row a name, what may be null is null."""
    columns = {}
    for column in MEASURED_HOPS.columns:
        nothing = {"bool": False, "int64": received, "string": ""}.get(column.pandas_dtype)
        columns[column.name] = pd.Series([nothing] * len(names), dtype=column.pandas_dtype)
    columns["hop"] = pd.Series(names, dtype="string")
    (directory / "measured").mkdir(parents=True)
    pd.DataFrame(columns).to_parquet(directory / "measured" / f"{HOPS}.parquet", index=False)
    return directory


@pytest.fixture
def cells(tmp_path: Path) -> list[Path]:
    """Directories of three cells, one of them without a row."""
    rows = (["/a", "/b"], [], ["/c"])
    return [written(tmp_path / str(at), own, at + 1) for at, own in enumerate(rows)]


def test_every_measured_table_is_the_same_kept_or_not(
    sample: Callable[[str], Path], tmp_path: Path
) -> None:
    session = sample("cell_relay")
    sessions = {"qos/reliable+volatile": session, "chains/100.0+single": session}
    results = make_campaign(tmp_path, RELAY, sessions)
    ran = [one for study in results.studies.values() for one in study.finished]
    assert len([results.measured(one) for one in ran]) > 1
    for one in ran:
        kept = results.measured(one)
        alone = CellTables(kept.directory, kept.wanted, kept.counts)
        for table in MEASURED_TABLES:
            name = table.name.removeprefix("measured_")
            assert_frame_equal(kept.read(name), alone.read(name), check_exact=True)
            some = table.names[1::2]
            assert_frame_equal(kept.read(name, some), alone.read(name, some), check_exact=True)


@pytest.mark.parametrize(
    ("bound", "largest_file"), [(1 << 20, 1 << 20), (0, 1 << 20), (1 << 20, 0)]
)
def test_tables_beyond_a_bound_are_read_by_themselves(
    cells: list[Path], bound: int, largest_file: int
) -> None:
    kept = KeptTables(bound, largest_file)
    measured = [CellTables(one, HopSelection(), {}).keep_in(kept) for one in cells]
    assert [one.read(HOPS)["hop"].tolist() for one in measured] == [["/a", "/b"], [], ["/c"]]
    found = [kept.frame(one / "measured", HOPS, MEASURED_HOPS, ["hop"]) for one in cells]
    # A table without rows takes nothing of any bound of bytes.
    assert [one is not None for one in found][::2] == [bool(bound and largest_file)] * 2


def test_a_cell_that_comes_later_is_read_then(cells: list[Path]) -> None:
    kept = KeptTables()
    first, _, last = (CellTables(one, HopSelection(), {}) for one in cells)
    first = first.keep_in(kept)
    assert first.read(HOPS)["received"].tolist() == [1, 1]
    assert last.keep_in(kept).read(HOPS)["received"].tolist() == [3]


def test_a_reader_that_changes_its_rows_changes_no_others(cells: list[Path]) -> None:
    measured = CellTables(cells[0], HopSelection(), {}).keep_in(KeptTables())
    rows = measured.read(HOPS)
    rows["received"] = 7
    rows.loc[0, "lost"] = 9
    assert measured.read(HOPS)["received"].tolist() == [1, 1]
    assert measured.read(HOPS)["lost"].tolist() == [1, 1]
