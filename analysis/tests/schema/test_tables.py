# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from strata.schema import docs
from strata.schema.quality import CATALOGUE, SAID_FIRST, Finding, Findings
from strata.schema.table import Column, Table
from strata.schema.tables import TABLES

TABLE = Table(
    "things",
    ("thing_id",),
    (Column("thing_id", "int64", "number"), Column("end_ns", "int64", "end", null="open")),
    "One row a thing.",
)


def test_a_frame_gets_the_declared_columns_in_order_and_dtype() -> None:
    frame = TABLE.frame(pd.DataFrame({"end_ns": [7, None], "thing_id": [1, 2]}))
    assert list(frame.columns) == ["thing_id", "end_ns"]
    assert [str(kind) for kind in frame.dtypes] == ["int64", "Int64"]


def test_large_instants_survive_beside_a_null() -> None:
    instant = 1_795_230_499_925_644_837
    frame = TABLE.frame(
        pd.DataFrame({"thing_id": [1, 2], "end_ns": pd.array([instant, None], dtype="Int64")})
    )
    assert frame["end_ns"].iloc[0] == instant


def test_a_flag_may_be_unknown() -> None:
    table = Table(
        "flags", (), (Column("is_sure", "bool", "sure", null="unknown"),), "One row a flag."
    )
    frame = table.frame(pd.DataFrame({"is_sure": pd.array([True, None, False], "boolean")}))
    assert frame["is_sure"].astype(object).where(frame["is_sure"].notna(), None).tolist() == [
        True,
        None,
        False,
    ]


def test_null_where_none_is_declared_is_refused() -> None:
    with pytest.raises(ValueError, match=r"things\.thing_id is null"):
        TABLE.frame(pd.DataFrame({"thing_id": [None]}))


def test_an_undeclared_column_is_refused() -> None:
    with pytest.raises(ValueError, match="declares no column other"):
        TABLE.frame(pd.DataFrame({"thing_id": [1], "other": [2]}))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_is_documented_and_keyed_by_its_columns(table: Table) -> None:
    assert table.doc.endswith(".")
    assert set(table.key) <= set(table.names)
    assert all(column.doc for column in table.columns)
    assert len(set(table.names)) == len(table.names)
    assert list(table.empty().columns) == table.names


@pytest.mark.parametrize("page", docs.pages())
def test_the_pages_of_results_and_events_are_generated(root: Path, page: str) -> None:
    assert (root / "docs" / page).read_text() == docs.pages()[page]


def test_findings_are_of_declared_codes_and_the_worst_comes_first() -> None:
    taken = Findings(Finding("empty_takes", 3), Finding("unmatched_takes", 0))
    findings = taken + Findings(Finding("discarded_events", 1200))
    assert [row["code"] for row in findings.rows()] == ["discarded_events", "empty_takes"]
    assert str(findings.rows()[0]["text"]).startswith("1,200 events were discarded")
    assert taken.counts == {"empty_takes": 3}
    with pytest.raises(KeyError):
        Finding("surprise", 1)


def test_findings_of_two_are_those_of_both_in_their_order() -> None:
    one = Findings(Finding("lost_messages", 2, ("b", "a"), "/t", (5, 7)))
    other = Findings(Finding("lost_messages", 3, ("c", "a"), "/t", (1, 6)))
    both = one + other
    assert both.counts == {"lost_messages": 5}
    assert both.details == {"lost_messages": ["b", "a", "c", "a"]}
    assert both.places == {"lost_messages": {"/t": 5}}
    assert both.spans == {"lost_messages": (1, 7)}
    assert both == Findings(*one.found, *other.found) != other + one
    assert one == Findings(Finding("lost_messages", 2, ("b", "a"), "/t", (5, 7)))


def test_findings_of_rows_have_their_places_and_times() -> None:
    places = np.array(["/b", "", "/b", "/a"], object)
    found = Findings.at("lost_messages", places, np.array([9, 3, 4, 8]))
    assert found.counts == {"lost_messages": 4}
    assert found.places == {"lost_messages": {"/a": 1, "/b": 2}}
    assert found.spans == {"lost_messages": (3, 9)}
    with pytest.raises(KeyError):
        Findings.at("surprise", places[:0], np.empty(0, np.int64))


def test_every_finding_says_how_often() -> None:
    # A recording as a whole is or is not complete.
    assert all("{count}" in item.text or code in SAID_FIRST for code, item in CATALOGUE.items())
