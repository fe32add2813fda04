# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a chain's layer spent its time: the place of most messages, and how many there are."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
from made_analysis import Relay, make, nothing
from table_rows import frame_of, rows_of

from strata.cli.console import make_console
from strata.layers.chains import Chain
from strata.schema import tables
from strata.schema.layers import BY_NAME
from strata.show.html.analysis.tables import layer_rows
from strata.show.terminal.layer_rows import add_layer, layer_table
from strata.show.words.quantiles import Quantiles
from strata.stats.chains import chain_tables
from strata.stats.layer_places import LayerPlaces

WAYS = ["/t over UDPv4"] + ["/t over SHM"] * 7 + ["/t over TCPv4"] * 2

USUAL = Quantiles(nothing())


def layers(places: list[str]) -> pd.DataFrame:
    """The table chain_layers of ten messages whose middleware is at `places`."""
    made = make(Relay(hops=1, messages=len(places)))
    of_all = {name: ["place"] * len(places) for name in BY_NAME}
    where = LayerPlaces.of_texts(of_all | {"middleware": places})
    rows = np.arange(len(places))[:, None]
    messages, links = rows_of(tables.MESSAGES, made.messages), rows_of(tables.LINKS, made.links)
    chain = Chain((0,), rows, rows[:, 1:])
    return frame_of(chain_tables([chain], messages, links, where).layers)


def test_the_place_is_that_of_most_messages() -> None:
    rows = layers(WAYS).set_index("layer")
    assert rows.loc["middleware", ["where", "places"]].tolist() == ["/t over SHM", 3]
    assert rows.loc["take", ["where", "places"]].tolist() == ["place", 1]


def test_of_places_that_are_equally_frequent_the_first_is_named() -> None:
    rows = layers(["/b", "/a", "/a", "/b"]).set_index("layer")
    assert rows.loc["middleware", ["where", "places"]].tolist() == ["/b", 2]


def test_reports_say_that_there_are_others() -> None:
    rows = layers(WAYS)
    (shown,) = (row for row in layer_rows(rows, 0, USUAL) if row.layer == "middleware")
    assert (shown.where.text, shown.where.full) == ("/t over SHM and 2 other places", "/t over SHM")
    table = layer_table([])
    for row in rows.to_dict("records"):
        add_layer(table, row["layer"], row["where"], [], row["share"], places=row["places"])
    file = io.StringIO()
    make_console(file).print(table)
    assert "/t over SHM and 2 other places" in file.getvalue()
    assert "place and" not in file.getvalue()
