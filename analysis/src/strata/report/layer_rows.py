# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers as rows of a table for a terminal: place, durations, share, and a bar of the share."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from strata.printable import printable
from strata.symbols import shorten_place
from strata.units import format_count, format_ns, format_share

_BAR_WIDTH = 10


def layer_table(durations: Sequence[str]) -> Table:
    """Return an empty table of layers; `durations` heads the columns of these."""
    table = Table(box=None, padding=(0, 1), show_edge=False, expand=True)
    # The names of merged layers are long; what they are of has to be read too.
    table.add_column("layer", overflow="fold", max_width=24)
    table.add_column("where", overflow="fold", ratio=1)
    for name in (*durations, "share"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, width=_BAR_WIDTH)
    return table


def add_hop(table: Table, hop: int, way: str) -> None:
    """Add the row that the layers of a hop follow; `way` is where it leads."""
    table.add_row(Text(f"hop {hop}", style="bold"), Text(printable(way)))


def place_text(where: str, places: int) -> str:
    """Name a layer's most frequent place, shortened, and say how many others there are."""
    others = f" and {format_count(places - 1, 'other place', 'other places')}" if places > 1 else ""
    return f"{shorten_place(where)}{others}"


def add_layer(
    table: Table,
    layer: str,
    where: str,
    durations_ns: Sequence[float],
    share: float,
    *,
    places: int = 1,
) -> None:
    """Add a row; `share` is a fraction of 1, `where` one of `places`."""
    table.add_row(
        Text(f"  {layer}"),
        Text(printable(place_text(where, places))),
        *map(format_ns, durations_ns),
        format_share(share),
        "█" * round(share * _BAR_WIDTH),
    )
