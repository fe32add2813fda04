# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Queries over a trace: exact values, laziness, what a query may not do, the documented ones."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from strata_command import strata as command

import strata
from strata.errors import QueryError
from strata.schema.tables import TABLES
from strata.sql import Opened

Sample = Callable[[str], Path]
PAGE = Path(__file__).resolve().parents[3] / "docs" / "sql.md"
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def opened(sample: Sample) -> Opened:
    return strata.open(sample("fast_relay1p_st"))


def test_the_page_has_ten_queries() -> None:
    assert len(QUERIES) == 10


@pytest.mark.parametrize("query", QUERIES)
def test_each_query_of_the_page_gives_rows(opened: Opened, query: str) -> None:
    assert len(opened.sql(query))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_each_declared_table_has_its_columns_and_rows(opened: Opened, table) -> None:
    found = opened.arrow(f'SELECT * FROM "{table.name}"')
    frame = getattr(opened.analysis, table.name)
    assert found.column_names == table.names
    assert len(found) == len(frame)
    for name in table.names:
        assert found[name].null_count == frame[name].isna().sum(), name


def test_values_are_those_of_the_analysis(opened: Opened) -> None:
    messages = opened.analysis.messages
    found = opened.sql(QUERIES[0])
    assert found["messages"].sum() == len(messages)
    total = opened.sql("SELECT sum(latency_ns) AS s FROM messages")
    assert total["s"].dtype == "Int64"
    assert total["s"][0] == messages["latency_ns"].sum()
    first = opened.sql("SELECT publish_ns FROM messages ORDER BY message_id")
    assert first["publish_ns"].tolist() == messages.sort_values("message_id")["publish_ns"].tolist()


@pytest.mark.parametrize("name", ["fast_relay1p_st", "dds_kilted_shm", "driver_polled"])
def test_layers_of_each_message_add_up(sample: Sample, name: str) -> None:
    wrong = strata.open(sample(name)).sql(
        "SELECT count(*) AS all, count(*) FILTER (s <> latency_ns) AS wrong FROM messages JOIN "
        "(SELECT message_id, sum(duration_ns) AS s FROM message_layers GROUP BY 1) "
        "USING (message_id)"
    )
    assert wrong["all"][0] > 0
    assert wrong["wrong"][0] == 0


def test_a_query_makes_only_what_it_names(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = strata.open(sample("fast_relay1p_st"))
    asked: list[str] = []
    of = Opened.table_of
    monkeypatch.setattr(
        Opened, "table_of", lambda self, name: (asked.append(name), of(self, name))[1]
    )
    trace.sql("SELECT count(*) FROM events.ros2_callback_start")
    assert asked == [] and "analysis" not in vars(trace)
    trace.sql("SELECT h.count FROM Hops AS h")
    assert asked == ["hops"]


@pytest.mark.parametrize(
    "query",
    [
        "COPY (SELECT 1) TO '{out}'",
        "ATTACH '{out}'",
        "SELECT 1; COPY (SELECT 1) TO '{out}'",
        "SET threads = 1",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM '{file}'",
        "SELECT * FROM opened",
        "",
    ],
)
def test_a_query_reaches_no_file_and_no_variable(
    opened: Opened, tmp_path: Path, query: str
) -> None:
    file = tmp_path / "file.csv"
    file.write_text("secret\n1\n")
    with pytest.raises(QueryError, match=r"^Cannot run the query: [^\n]+$"):
        opened.sql(query.format(out=tmp_path / "out", file=file))
    assert [path.name for path in tmp_path.iterdir()] == ["file.csv"]


def test_a_bad_query_is_one_line_and_exit_2(sample: Sample) -> None:
    run = command("sql", sample("fast_relay1p_st"), "SELECT nope FROM hops")
    assert run.returncode == 2
    assert run.stdout == ""
    assert re.fullmatch(r'strata: Cannot run the query: .*"nope" not found.*\n', run.stderr)


def test_formats(sample: Sample, tmp_path: Path) -> None:
    trace, target = sample("fast_relay1p_st"), tmp_path / "out.parquet"
    query = "SELECT 9007199254740993 AS big, NULL::BIGINT AS nothing, chr(8238) || 'x' AS name"
    document = json.loads(command("sql", trace, query, "--format", "json").stdout)
    assert document["rows"] == [[9007199254740993, None, "\u202ex"]]
    assert "\u202e" not in command("sql", trace, query).stdout
    lines = command("sql", trace, query, "--format", "csv").stdout.splitlines()
    assert lines == ["big,nothing,name", "9007199254740993,,\u202ex"]
    assert command("sql", trace, query, "--format", "parquet").returncode == 2
    arguments = ("sql", trace, query, "--format", "parquet", "--output", target)
    assert str(target) in command(*arguments).stderr
    assert pq.read_table(target)["big"].to_pylist() == [9007199254740993]
    assert command(*arguments).returncode == 1
    assert command(*arguments, "--force").returncode == 0


def test_tables_are_listed(sample: Sample) -> None:
    trace = sample("fast_relay1p_st")
    listed = command("sql", trace, "--tables").stdout
    assert "hops_messages" in listed and "timer_fires" in listed
    assert "null means" in command("sql", trace, "--tables", "messages").stdout
    assert command("sql", trace, "--tables", "nope").returncode == 2
