# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata sql`: a query over the tables of a trace."""

from __future__ import annotations

import datetime
import decimal
import math
import os
from pathlib import Path
from typing import IO, Any

import click

from strata.cli.chain import links_option
from strata.cli.output import (
    check_output,
    format_option,
    output_options,
    write_csv,
    write_json,
    write_output,
)
from strata.cli.progress import decoding_progress
from strata.cli.selection import processes_option
from strata.documents import DocumentError, decode, read_bytes
from strata.errors import OutputError, QueryError
from strata.lazy import pyarrow as pa
from strata.nearest import did_you_mean
from strata.printable import printable
from strata.schema.tables import TABLES
from strata.schema.version import VERSION
from strata.schema.views import VIEWS

_LIST = "*"
_MAX_QUERY = 1 << 20


@click.command("sql")
@click.argument("trace", type=click.Path(path_type=Path))
@click.argument("query", required=False)
@click.option(
    "--file",
    "query_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read the query from this file.",
)
@click.option(
    "--tables",
    "table",
    is_flag=False,
    flag_value=_LIST,
    help="List the tables and views; with a name, its columns.",
)
@format_option(
    ["table", "csv", "json", "parquet"], "csv, json and parquet (with --output) for machines"
)
@output_options
@links_option
@processes_option
def command(
    trace: Path,
    query: str | None,
    query_file: Path | None,
    table: str | None,
    form: str,
    output: Path | None,
    links_path: Path | None,
    *,
    all_processes: bool,
    force: bool,
) -> None:
    """Answer QUERY, one SELECT in SQL, from the tables of TRACE (docs/sql.md).

    QUERY may use the declared tables, views of them and the raw events; it reads no other file.
    """
    from strata.read.links import read_links
    from strata.sql import open as open_for_queries

    if table is not None:
        if query is not None or query_file is not None:
            raise click.UsageError("--tables runs no query")
        write_output(None, lambda file: _describe(table, file))
        return
    if form == "parquet" and output is None:
        raise click.UsageError("--format parquet needs --output FILE")
    text = _query(query, query_file)
    check_output(output, force=force)
    links = read_links(links_path) if links_path else ()
    with decoding_progress() as progress:
        opened = open_for_queries(
            trace, links=links, all_processes=all_processes, progress=progress
        )
        found = opened.arrow(text)
    if form == "parquet":
        assert output is not None
        _write_parquet(found, output)
    else:
        write_output(output, lambda file: _write(found, form, file))


def _query(query: str | None, path: Path | None) -> str:
    if (query is None) == (path is None):
        raise click.UsageError("give the query, or --file with it")
    if path is None:
        return query or ""
    try:
        return decode(read_bytes(path, _MAX_QUERY))
    except OSError as error:
        raise QueryError(
            f"Cannot read the query {path}: {os.strerror(error.errno or 0)}. Check the path."
        ) from error
    except DocumentError as error:
        raise QueryError(f"Cannot read the query {path}: {error}. Check the file.") from error


def _describe(name: str, file: IO[str]) -> None:
    from strata.cli.console import make_console, plain_table

    console = make_console(file)
    if name == _LIST:
        rows = plain_table("name", "what it holds")
        described = [(t.name, t.doc) for t in TABLES] + [(v.name, v.doc) for v in VIEWS]
        for known, doc in described:
            rows.add_row(known, doc.split(". ")[0].rstrip("."))
        rows.add_row('events."PROVIDER:NAME"', "raw events, also as events.PROVIDER_NAME")
        console.print(rows)
        return
    for view in VIEWS:
        if view.name == name:
            console.print(f"{view.name}: {view.doc}")
            console.print(f"reads {', '.join(view.tables)}: {view.query}")
            return
    for declared in TABLES:
        if declared.name == name:
            console.print(f"{declared.name}: {declared.doc}")
            rows = plain_table("column", "type", "unit", "null means", "meaning")
            for column in declared.columns:
                rows.add_row(column.name, column.dtype, column.unit, column.null, column.doc)
            console.print(rows)
            return
    raise QueryError(
        f"Cannot describe table {name!r}: it is none of the {len(TABLES) + len(VIEWS)} tables and "
        f"views.{did_you_mean(name, [one.name for one in TABLES] + [one.name for one in VIEWS])} "
        "`strata sql TRACE --tables` lists them."
    )


def _write(found: pa.Table, form: str, file: IO[str]) -> None:
    if form == "json":
        write_json(_document(found), file)
    elif form == "csv":
        columns = (column.to_pylist() for column in found.columns)
        write_csv(found.column_names, zip(*columns, strict=True), file)
    else:
        _print(found, file)


def _print(found: pa.Table, file: IO[str]) -> None:
    columns = [
        [printable("" if value is None else str(value)) for value in column.to_pylist()]
        for column in found.columns
    ]
    names = [printable(name) for name in found.column_names]
    widths = [max(map(len, (name, *values))) for name, values in zip(names, columns, strict=True)]
    right = [pa.types.is_integer(t) or pa.types.is_floating(t) for t in found.schema.types]
    for row in (names, *zip(*columns, strict=True)):
        cells = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ]
        click.echo("  ".join(cells).rstrip(), file=file)


def _document(found: pa.Table) -> dict[str, Any]:
    return {
        "schema": VERSION,
        "columns": found.column_names,
        "rows": [
            [_value(value) for value in row]
            for row in zip(*(column.to_pylist() for column in found.columns), strict=True)
        ],
    }


def _value(value: Any) -> Any:
    """Return a value as JSON has it: no NaN, no infinity; what it does not know is text."""
    match value:
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
        case decimal.Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case datetime.date() | datetime.time() | datetime.timedelta():
            return str(value)
        case list() | tuple():
            return [_value(item) for item in value]
        case dict():
            return {str(key): _value(item) for key, item in value.items()}
    return str(value)


def _write_parquet(found: pa.Table, output: Path) -> None:
    import pyarrow.parquet as pq

    try:
        if output.is_symlink():
            # What it leads to is not what was named.
            output.unlink()
        with output.open("wb") as file:
            pq.write_table(found, file, compression="zstd")
    except OSError as error:
        raise OutputError(
            f"Cannot write {output}: {error.strerror or error}. Choose another place."
        ) from error
    except pa.ArrowException as error:
        raise OutputError(
            f"Cannot write {output}: {str(error).rstrip('.')}. Choose other columns."
        ) from error
    click.echo(f"Wrote {printable(str(output))}", err=True)
