# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace holds, as text for a terminal of 80 columns or more, and as JSON."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from strata.read.contents import Contents, CtfDescription
from strata.schema.quality import Ledger
from strata.units import format_instant, format_ns

_SEVERITY_STYLE = {"loss": "bold red", "warning": "yellow", "info": "dim"}
_MAX_ROWS = 20


def print_contents(
    contents: Contents, ledger: Ledger, console: Console, *, everything: bool
) -> None:
    """Print the head, the CTF traces, processes, events and what was lost.

    Without `everything`, long lists end after 20 rows and say how many there are.
    """
    console.print(_head(contents))
    console.print(_traces(contents, everything=everything))
    console.print(_processes(contents, everything=everything))
    console.print(_events(contents, everything=everything))
    _print_losses(ledger, console)


def _head(contents: Contents) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    grid.add_row("trace", Text(str(contents.path), overflow="fold"))
    grid.add_row("events", f"{contents.event_count:,} of {len(contents.events)} types")
    if contents.begin_ns is not None and contents.end_ns is not None:
        span = format_ns(contents.end_ns - contents.begin_ns)
        grid.add_row("time", f"{format_instant(contents.begin_ns)}, {span}")
    grid.add_row("hosts", ", ".join(contents.hosts))
    return grid


def _table(title: str, *columns: tuple[str, bool]) -> Table:
    """Make a table; the second of each column tells whether it holds numbers."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, title_style="bold")
    for name, number in columns:
        table.add_column(name, justify="right" if number else "left", overflow="fold")
    return table


def _traces(contents: Contents, *, everything: bool) -> Table:
    table = _table(
        "\nCTF traces",
        ("directory", False),
        ("tracer", False),
        ("CTF", False),
        ("buffers", False),
        ("streams", True),
        ("packets", True),
        ("size", True),
    )
    shown = contents.traces if everything else contents.traces[:_MAX_ROWS]
    for item in shown:
        table.add_row(
            _below(item, contents),
            f"{item.domain} {item.tracer}".strip(),
            item.ctf,
            _buffers(item),
            f"{item.streams:,}",
            f"{item.packets:,}",
            _format_bytes(item.bytes),
        )
    _add_rest(table, len(contents.traces) - len(shown))
    return table


def _below(item: CtfDescription, contents: Contents) -> str:
    below = item.directory.relative_to(contents.path)
    return str(below) if str(below) != "." else item.directory.name


def _buffers(item: CtfDescription) -> str:
    scheme = f"per-{item.buffering.upper()}" if item.buffering else ""
    size = f"up to {_format_bytes(item.largest_packet)}" if item.largest_packet else ""
    return ", ".join(filter(None, [scheme, size]))


def _processes(contents: Contents, *, everything: bool) -> Table:
    several = len(contents.hosts) > 1
    columns = [("process", False), ("pid", True), ("events", True)]
    table = _table("\nProcesses", *([("host", False)] if several else []), *columns)
    shown = contents.processes if everything else contents.processes[:_MAX_ROWS]
    for item in shown:
        pid = "not recorded" if item.vpid is None else str(item.vpid)
        row = [item.name or "(unnamed)", pid, f"{item.events:,}"]
        table.add_row(*([item.host] if several else []), *row)
    _add_rest(table, len(contents.processes) - len(shown))
    return table


def _events(contents: Contents, *, everything: bool) -> Table:
    table = _table("\nEvents", ("event", False), ("count", True), ("share", True))
    shown = list(contents.events.items())[: None if everything else _MAX_ROWS]
    for name, count in shown:
        table.add_row(name, f"{count:,}", f"{count / contents.event_count:.1%}")
    _add_rest(table, len(contents.events) - len(shown))
    return table


def _add_rest(table: Table, count: int) -> None:
    if count > 0:
        table.add_row(Text(f"... and {count:,} more (--all)", style="dim"))


def _print_losses(ledger: Ledger, console: Console) -> None:
    rows = ledger.rows()
    if not rows:
        console.print("\nNothing was lost.")
        return
    console.print(Text("\nLoss and remarks", style="bold"))
    for row in rows:
        console.print(
            Text(f"{row['severity']}: {row['text']}", _SEVERITY_STYLE[str(row["severity"])])
        )


def _format_bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def contents_document(contents: Contents, ledger: Ledger) -> dict[str, Any]:
    """Return the contents as JSON values; `docs/reading.md` describes them."""
    return {
        "schema": 1,
        "path": str(contents.path),
        "events": contents.event_count,
        "begin_ns": contents.begin_ns,
        "end_ns": contents.end_ns,
        "hosts": list(contents.hosts),
        "traces": [
            {
                "directory": str(item.directory),
                "host": item.host,
                "domain": item.domain,
                "tracer": item.tracer,
                "ctf": item.ctf,
                "buffering": item.buffering,
                "streams": item.streams,
                "packets": item.packets,
                "bytes": item.bytes,
                "largest_packet_bytes": item.largest_packet,
            }
            for item in contents.traces
        ],
        "processes": [
            {"host": item.host, "vpid": item.vpid, "name": item.name, "events": item.events}
            for item in contents.processes
        ],
        "event_counts": contents.events,
        "quality": ledger.rows(),
    }
