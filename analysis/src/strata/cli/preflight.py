# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of `strata doctor --dds`: which DDS hooks bind, and which layers they separate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from strata.record.doctor import DdsExamined
from strata.record.preflight.binding import BINDS, MISSING, PARTLY, UNUSED, Binding
from strata.record.preflight.preflight import Preflight

_STYLE = {BINDS: "green", PARTLY: "yellow", MISSING: "bold red", UNUSED: "dim"}


def print_examined(console: Console, examined: DdsExamined, *, everything: bool) -> None:
    """Print, of each library in use, the hooks that do not bind and which layers are separate.

    With `everything` the hooks that bind are printed, too.
    """
    if not examined.used:
        console.print(
            Text(
                f"\nDDS hooks: no library was found of the middleware in use ({examined.rmw}) that "
                "hooks are known for; name one with --library"
            )
        )
    for found in examined.used:
        callers = ", ".join(path.name for path in found.callers) or "none found"
        console.print(Text(f"\nDDS hooks in {found.soname}", style="bold"))
        console.print(Text(f"file: {found.library}\nused by: {callers}"), soft_wrap=False)
        shown = found.bindings if everything else found.faults
        if shown:
            console.print(_table(found, shown))
        for line in _verdict(found, everything=everything):
            console.print(Text(line))
    if examined.others:
        names = ", ".join(str(found.library) for found in examined.others)
        console.print(
            Text(f"not used by {examined.rmw}: {names} (examine with --library)", style="dim")
        )


def _table(found: Preflight, bindings: Sequence[Binding]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("hook", no_wrap=True)
    table.add_column("function", overflow="fold")
    table.add_column("references", justify="right", no_wrap=True)
    for binding in bindings:
        function = Text(binding.what)
        if binding.why and binding.status != UNUSED:
            function.append(f"\n{binding.why}", style="italic")
        merged = found.merged_without(binding)
        if binding.events_lost:
            effect = f"lost: {', '.join(binding.events_lost)}"
            function.append(f"\n{effect}; merges {', '.join(merged)}" if merged else f"\n{effect}")
        status = Text(binding.status, style=_STYLE[binding.status])
        table.add_row(status, function, _references(binding))
    return table


def _references(binding: Binding) -> str:
    if binding.looked_up is None or binding.bypassing is None:
        return "-"
    total = binding.looked_up + binding.bypassing
    return f"{binding.looked_up} of {total}" if binding.bypassing else str(total)


def _verdict(found: Preflight, *, everything: bool) -> Iterator[str]:
    used = [binding for binding in found.bindings if binding.status != UNUSED]
    bound = sum(binding.status == BINDS for binding in used)
    more = "" if everything else " (--all lists them)"
    yield f"{bound} of {len(used)} hooks bind{more}."
    yield from _layers(found.layers, "")
    yield from _layers(found.layers_over_iceoryx, " over iceoryx (shared memory)")
    for parting in found.partings:
        if parting.parted and parting.gaps:
            gaps = ", ".join(parting.gaps)
            yield f"shown as one for messages that go by {gaps}: {parting.before} + {parting.after}"
    if found.note:
        yield found.note


def _layers(layers: Sequence[str], way: str) -> Iterator[str]:
    if not layers:
        return
    apart = [layer for layer in layers if " + " not in layer]
    merged = [layer for layer in layers if " + " in layer]
    yield f"layers shown separately{way}: {', '.join(apart) or 'none'}"
    if merged:
        yield f"layers shown as one{way}: {', '.join(merged)}"
