# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace holds, as text for a terminal of 80 columns or more, and as JSON."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from strata.printable import path_text, printable
from strata.read.contents import Contents, CtfDescription
from strata.read.losses import Loss
from strata.schema.quality import SAID_FIRST, worst_first
from strata.show.terminal.breaking import broken
from strata.show.terminal.findings import finding_line, first_lines
from strata.units import format_count, format_instant, format_ns, format_share

_MAX_ROWS = 20
_LABEL_WIDTH = 9


def print_contents(contents: Contents, console: Console, *, everything: bool) -> None:
    """Print the head, the CTF traces, processes, events and what was lost.

    Without `everything`, long lists end after 20 rows and say how many there are.
    """
    for line in first_lines(contents.findings.rows()):
        console.print(line)
    console.print(_head(contents, console.width))
    _print_traces(contents, console, everything=everything)
    if contents.processes:
        console.print(_processes(contents, everything=everything))
    console.print(_events(contents, everything=everything))
    _print_losses(contents, console, everything=everything)


def _head(contents: Contents, width: int) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True, min_width=_LABEL_WIDTH - 2)
    grid.add_column()
    path = broken(printable(path_text(contents.path)), width - _LABEL_WIDTH)
    grid.add_row("trace", Text(path))
    grid.add_row(
        "events",
        f"{contents.event_count:,} of {format_count(len(contents.events), 'type', 'types')}",
    )
    if not contents.has_clock:
        grid.add_row("time", "no clock: the events have an order and no time")
    elif contents.begin_ns is not None and contents.end_ns is not None:
        span = format_ns(contents.end_ns - contents.begin_ns)
        grid.add_row("time", f"{format_instant(contents.begin_ns)}, {span}")
    grid.add_row(
        "host" if len(contents.hosts) == 1 else "hosts", Text(printable(", ".join(contents.hosts)))
    )
    if contents.buffers is not None:
        size = _format_bytes(contents.buffers.bytes)
        grid.add_row("buffers", f"{contents.buffers.count} x {size} a channel and CPU")
    return grid


def _table(title: str, *columns: tuple[str, bool]) -> Table:
    """Make a table; the second of each column tells whether it holds numbers."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, title_style="bold")
    for name, number in columns:
        table.add_column(
            name,
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
            min_width=len(name),
        )
    return table


def _print_traces(contents: Contents, console: Console, *, everything: bool) -> None:
    console.print(Text("\nCTF traces", style="bold"))
    shown = contents.traces if everything else contents.traces[:_MAX_ROWS]
    for item in shown:
        below = item.directory.relative_to(contents.path)
        name = path_text(below if below.parts else item.directory.resolve().name)
        console.print(Text(broken(printable(name), console.width)))
        console.print(_indented(printable(", ".join(_facts(item))), console))
    _print_rest(len(contents.traces) - len(shown), console)


def _facts(item: CtfDescription) -> list[str]:
    short = item.tracer.removeprefix("lttng-")
    tracer = short if item.domain and short.startswith(item.domain) else item.tracer
    if item.domain and tracer == item.tracer:
        tracer = f"{item.domain} {tracer}"
    largest = f" of up to {_format_bytes(item.largest_packet)}" if item.largest_packet else ""
    facts = [
        tracer.strip(),
        f"CTF {item.ctf}",
        "" if item.clock else "no clock",
        f"per-{item.buffering.upper()} buffers" if item.buffering else "",
        format_count(item.streams, "stream", "streams"),
        format_count(item.packets, "packet", "packets") + largest,
        _format_bytes(item.bytes),
    ]
    return [fact for fact in facts if fact]


def _processes(contents: Contents, *, everything: bool) -> Table:
    several = len(contents.hosts) > 1
    columns = [("process", False), ("pid", True), ("events", True)]
    table = _table("\nProcesses", *([("host", False)] if several else []), *columns)
    shown = contents.processes if everything else contents.processes[:_MAX_ROWS]
    for item in shown:
        pid = "not recorded" if item.vpid is None else str(item.vpid)
        host = [Text(printable(item.host))] if several else []
        name = Text(printable(item.name) or "(unnamed)")
        table.add_row(*host, name, pid, f"{item.events:,}")
    _add_rest(table, len(contents.processes) - len(shown))
    return table


def _events(contents: Contents, *, everything: bool) -> Table:
    table = _table("\nEvents", ("event", False), ("count", True), ("share", True))
    shown = list(contents.events.items())[: None if everything else _MAX_ROWS]
    for name, count in shown:
        share = format_share(count / contents.event_count)
        table.add_row(Text(printable(name)), f"{count:,}", share)
    _add_rest(table, len(contents.events) - len(shown))
    return table


def _rest(count: int) -> Text:
    return Text(f"... and {count:,} more (--all)", style="dim")


def _add_rest(table: Table, count: int) -> None:
    if count > 0:
        table.add_row(_rest(count))


def _print_rest(count: int, console: Console) -> None:
    if count > 0:
        console.print(_rest(count))


def _print_losses(contents: Contents, console: Console, *, everything: bool) -> None:
    rows = contents.findings.rows()
    if not rows:
        console.print("\nNothing was lost.")
        return
    found = [loss for loss in _summed(contents.losses) if loss.code not in SAID_FIRST]
    if not found:
        console.print("\nOf what the recording holds nothing was lost.")
        return
    console.print(Text("\nLoss and remarks", style="bold"))
    for row in rows:
        if row["code"] not in SAID_FIRST:
            console.print(finding_line(row))
    console.print(Text("\nWhere and when (since the first event)", style="bold"))
    shown = found if everything else found[:_MAX_ROWS]
    # A path begins a place, or stands in the reason behind one.
    root = re.compile(rf"(?:^|(?<= )){re.escape(path_text(contents.path))}/")
    for loss in shown:
        window = _window(loss, contents.begin_ns)
        console.print(Text(f"{loss.code}: {loss.count:,}{window}"))
        place = root.sub("", loss.where) or "(the whole trace)"
        console.print(_indented(printable(place), console))
    _print_rest(len(found) - len(shown), console)


def _summed(losses: tuple[Loss, ...]) -> list[Loss]:
    """Add the losses of one code and place up, over all their time; those of most weight first."""
    found: dict[tuple[str, str], list[Loss]] = {}
    for loss in losses:
        found.setdefault((loss.code, loss.where), []).append(loss)
    summed = [
        Loss(
            code,
            sum(loss.count for loss in parts),
            where,
            min((loss.begin_ns for loss in parts if loss.begin_ns is not None), default=None),
            max((loss.end_ns for loss in parts if loss.end_ns is not None), default=None),
        )
        for (code, where), parts in found.items()
    ]
    return sorted(summed, key=lambda loss: (*worst_first(loss.code), -loss.count))


def _window(loss: Loss, begin_ns: int | None) -> str:
    if begin_ns is None:
        return ""
    since = f" from {format_ns(loss.begin_ns - begin_ns)}" if loss.begin_ns is not None else ""
    until = f" until {format_ns(loss.end_ns - begin_ns)}" if loss.end_ns is not None else ""
    return f",{since}{until}" if since or until else ""


def _indented(text: str, console: Console) -> Text:
    return Text("  " + broken(text, console.width - 2).replace("\n", "\n  "))


def _format_bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 10 else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def contents_document(contents: Contents) -> dict[str, Any]:
    """Return the contents as JSON values; `docs/reading.md` describes them."""
    return {
        "schema": 1,
        "path": path_text(contents.path),
        "events": contents.event_count,
        "begin_ns": contents.begin_ns,
        "end_ns": contents.end_ns,
        "hosts": list(contents.hosts),
        "buffers": None if contents.buffers is None else asdict(contents.buffers),
        "traces": [
            {
                "directory": path_text(item.directory),
                "host": item.host,
                "domain": item.domain,
                "tracer": item.tracer,
                "ctf": item.ctf,
                "clock": item.clock,
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
        "quality": contents.findings.rows(),
        "losses": [asdict(loss) for loss in contents.losses],
    }
