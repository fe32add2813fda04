# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A trace opened for queries: what a query names is made when it names it, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from strata.api import Analysis, analyze
from strata.errors import QueryError
from strata.lazy import pandas as pd
from strata.nearest import did_you_mean
from strata.read import open_trace
from strata.schema.arrow import arrow_table
from strata.schema.links import MessageLink
from strata.schema.tables import TABLES
from strata.schema.views import VIEWS

if TYPE_CHECKING:
    from strata.read import Trace

EVENTS = "events"
_TABLES = {table.name: table for table in TABLES}
_VIEWS = {view.name: view for view in VIEWS}
# Nothing of the machine but the tables: no file, no extension, no variable of the caller's.
_CLOSED = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}


class Opened:
    """A trace whose declared tables, views and raw events can be queried; made by `open`."""

    def __init__(
        self,
        path: Path,
        links: Sequence[MessageLink],
        progress: Callable[[int], None] | None,
        *,
        all_processes: bool,
    ) -> None:
        self.path = path
        self._links = tuple(links)
        self._progress = progress
        self._all_processes = all_processes
        self._made: dict[str, pa.Table] = {}

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the declared tables and of the views over them."""
        return (*_TABLES, *_VIEWS)

    @cached_property
    def analysis(self) -> Analysis:
        """The analysis of the trace, made at first use. Raises TraceError."""
        return analyze(
            self.path,
            links=self._links,
            progress=self._progress,
            all_processes=self._all_processes,
        )

    @cached_property
    def _trace(self) -> Trace:
        return open_trace(self.path, progress=self._progress)

    def table_of(self, name: str) -> pa.Table:
        """Return a declared table as Arrow columns; null is null, integers are exact."""
        if name not in self._made:
            self._made[name] = arrow_table(self.analysis.rows(name))
        return self._made[name]

    def sql(self, query: str) -> pd.DataFrame:
        """Return the rows of a query as a frame; integers stay integers where some are null.

        The query is one SELECT (or what DuckDB reads as one: WITH, FROM, DESCRIBE, VALUES) over
        the declared tables, the views, and the raw events (events."ros2:callback_start", or
        events.ros2_callback_start). Raises QueryError, and TraceError.
        """
        return _frame(self.arrow(query))

    def arrow(self, query: str) -> pa.Table:
        """Return the rows of a query, as `sql`, as an Arrow table."""
        with duckdb.connect(":memory:", config=dict(_CLOSED)) as connection:
            try:
                self._provide(connection, query)
                connection.execute("SET lock_configuration = true").fetchall()
                found = connection.sql(query).to_arrow_table()
            except duckdb.Error as error:
                raise QueryError(f"Cannot run the query: {_reason(error)} {_NEXT}") from error
        return _exact(found)

    def _provide(self, connection: duckdb.DuckDBPyConnection, query: str) -> None:
        statements = connection.extract_statements(query)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise QueryError(
                f"Cannot run the query: it has {len(statements)} statements or is not a SELECT, "
                f"and only a single SELECT is run. {_NEXT}"
            )
        named = set(_named(connection, query))
        own = {name for schema, name in named if schema in ("", "main")}
        views = [view for view in VIEWS if view.name in own]
        wanted = own | {table for view in views for table in view.tables}
        for name in _TABLES:
            if name in wanted:
                connection.register(name, self.table_of(name))
        for view in views:
            connection.execute(f'CREATE VIEW "{view.name}" AS {view.query}').fetchall()
        asked = {name for schema, name in named if schema == EVENTS}
        if asked:
            self._provide_events(connection, asked)

    def _provide_events(self, connection: duckdb.DuckDBPyConnection, asked: set[str]) -> None:
        connection.execute(f"CREATE SCHEMA {EVENTS}").fetchall()
        for number, event in enumerate(sorted(self._trace.declared_events)):
            names = {event, event.replace(":", "_")}
            wanted = [name for name in sorted(names) if name.lower() in asked]
            if not wanted:
                continue
            raw = f"event {number}"
            found = self._trace.tables(events=[event]).get(event)
            if found is None:
                raise QueryError(
                    f"Cannot run the query: the trace {self.path} holds 0 events {event}. "
                    "`strata info` lists the events."
                )
            connection.register(raw, found)
            for name in wanted:
                quoted = name.replace('"', '""')
                connection.execute(
                    f'CREATE VIEW {EVENTS}."{quoted}" AS SELECT * FROM "{raw}"'
                ).fetchall()


_ABSENT = re.compile(r"Catalog Error: Table with name (\w+) does not exist")
_NEXT = "`strata sql TRACE --tables` lists the tables; docs/sql.md has examples."


def open(  # noqa: A001
    path: str | Path,
    *,
    links: Sequence[MessageLink] = (),
    all_processes: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Opened:
    """Return the trace at or below `path` for queries; it is read when a query needs it.

    The arguments are those of strata.analyze.
    """
    return Opened(Path(path), links, progress, all_processes=all_processes)


def _named(connection: duckdb.DuckDBPyConnection, query: str) -> Iterator[tuple[str, str]]:
    """Yield schema and name, in lower case, of each table that a query names."""
    # All rows: a result that is not at its end would keep the connection.
    ((text,),) = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [query]).fetchall()
    # Not by recursion: a query may be nested deeper than Python's stack.
    waiting: list[Any] = [json.loads(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if node.get("type") == "BASE_TABLE":
                # Identifiers of SQL are the same in either case.
                yield node["schema_name"].lower(), node["table_name"].lower()
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node


def _reason(error: duckdb.Error) -> str:
    """Return DuckDB's reason as a sentence, without the picture of the query."""
    text = str(error).split("\n\n")[0]
    absent = _ABSENT.search(text)
    if absent is not None:
        # What DuckDB takes for similar are tables of its own.
        name = absent[1]
        return f"there is no table {name}.{did_you_mean(name, (*_TABLES, *_VIEWS))}"
    return " ".join(text.split()).rstrip(".!") + "."


def _exact(table: pa.Table) -> pa.Table:
    """Return sums of integers, which DuckDB widens to 128 bits, as int64 where they fit."""
    for place, found in enumerate(table.schema):
        if pa.types.is_decimal(found.type) and found.type.scale == 0:
            try:
                column = table.column(place).cast(pa.int64())
            except pa.ArrowInvalid:
                continue
            table = table.set_column(place, found.name, column)
    return table


def _frame(table: pa.Table) -> pd.DataFrame:
    nullable = {
        pa.int8(): pd.Int8Dtype(),
        pa.int16(): pd.Int16Dtype(),
        pa.int32(): pd.Int32Dtype(),
        pa.int64(): pd.Int64Dtype(),
        pa.uint8(): pd.UInt8Dtype(),
        pa.uint16(): pd.UInt16Dtype(),
        pa.uint32(): pd.UInt32Dtype(),
        pa.uint64(): pd.UInt64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    frame: pd.DataFrame = table.to_pandas(types_mapper=nullable.get)
    return frame
