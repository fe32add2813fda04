# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers as rows of a table for a terminal: place, durations, share, and a bar of the share."""

from __future__ import annotations

from collections.abc import Sequence

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from strata.printable import printable
from strata.show.terminal.breaking import Named
from strata.symbols import shorten_place
from strata.units import format_count, format_ns, format_share

_BAR_WIDTH = 10


_NARROW_LAYER, _LAYER = 18, 24


def layer_table(durations: Sequence[str], *, narrow: bool = False, header: bool = True) -> Table:
    """Return an empty table of layers; `durations` heads the columns of these.

    Its columns have fixed widths but for the place, so that tables below each other are aligned.
    `narrow` leaves more of a terminal of 80 columns to the place.
    """
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True, show_header=header)
    # The names of merged layers are long; what they are of has to be read too.
    table.add_column("layer", overflow="fold", width=_NARROW_LAYER if narrow else _LAYER)
    table.add_column("where", overflow="fold", ratio=1)
    for name in (*durations, "share"):
        table.add_column(name, justify="right", no_wrap=True, min_width=7)
    table.add_column("", no_wrap=True, width=_BAR_WIDTH // 2 if narrow else _BAR_WIDTH)
    return table


def hop_line(hop: int, way: str) -> Text:
    """Return the line that the layers of a hop follow; `way` is where it leads."""
    text = Text(f" hop {hop}  ", style="bold", overflow="fold")
    text.append(printable(way), style="default not bold")
    return text


def add_rest(table: Table, count: int, share: float, durations: int) -> None:
    """Add the row of layers that are not shown by themselves; `share` is all of theirs."""
    text = Text(format_count(count, "small layer", "small layers") + " (--all)", style="dim")
    table.add_row("", text, *[""] * durations, format_share(share))


def add_hop(table: Table, hop: int, way: str) -> None:
    """Add the row that the layers of a hop follow; `way` is where it leads."""
    table.add_row(Text(f"hop {hop}", style="bold"), Named(way))


def place_text(where: str, places: int) -> str:
    """Name a layer's most frequent place, shortened, and say how many others there are."""
    others = f" and {format_count(places - 1, 'other place', 'other places')}" if places > 1 else ""
    return f"{shorten_place(where)}{others}"


def add_layer(
    table: Table,
    layer: str,
    where: str,
    durations_ns: Sequence[float | None],
    share: float,
    *,
    places: int = 1,
) -> None:
    """Add a row; `share` is a fraction of 1, `where` one of `places`."""
    table.add_row(
        Padding(layer, (0, 0, 0, 2)),
        Named(place_text(where, places)),
        *map(format_ns, durations_ns),
        format_share(share),
        "█" * round(share * (table.columns[-1].width or _BAR_WIDTH)),
    )
