# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of the page's tables: frames to plain values, with names shortened for people.

Every shortened name keeps its full text beside it, for the tooltip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strata.schema.confidence import ESTIMATED
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.rows import NONE
from strata.show.html import theme
from strata.show.html.names import Name
from strata.show.html.theme import MICRO
from strata.show.terminal.layer_rows import place_text
from strata.show.words.cpu_use import cpu_text
from strata.show.words.lost import loss_sentences
from strata.show.words.quantiles import Of, Quantiles
from strata.show.words.unsynchronised import marked
from strata.symbols import shorten, shorten_place
from strata.units import as_float, format_ns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from strata.analysis import Analysis

LATENCIES = ("p50", "p90", "p99")
"""The usual quantiles of chains, hops and their layers."""
DURATIONS = ("p50", "p99")
"""The usual quantiles of callbacks, and of chains in one row each."""

_SMALL = 0.01
"""A cause below this share of both the typical and the slowest messages is folded away."""


@dataclass(frozen=True)
class Cause:
    """A row of the blame table; durations in ns, null where a group holds no such time."""

    layer: str
    unsynchronised: int
    slug: str
    where: Name
    share_p50: float | None
    share_p99: float | None
    typical_ns: float | None
    tail_ns: float | None


@dataclass(frozen=True)
class LayerRow:
    """A row of a chain's table of layers."""

    hop: int
    layer: str
    unsynchronised: int
    slug: str
    where: Name
    share: float | None
    statistics: dict[str, float | None]


@dataclass(frozen=True)
class Part:
    """A layer's share of a hop, for the small stacked bar."""

    slug: str
    percent: float
    title: str


@dataclass(frozen=True)
class HopRow:
    """A row of the table of hops; `losses` says what was lost and why, a sentence a cause."""

    topic: str
    publisher: str
    subscriber: str
    count: int
    lost: int
    losses: list[str]
    latency: dict[str, float | None]
    parts: tuple[Part, ...]
    unsynchronised: int


@dataclass(frozen=True)
class CallbackRow:
    """A row of the table of callbacks; `trigger` is empty when its owner is unknown."""

    node: str
    symbol: Name
    trigger: str
    count: int
    duration: dict[str, float | None]
    period_p50_ns: float | None
    cpu: Name


@dataclass(frozen=True)
class Split:
    """Rows shown first, and rows that come after them or are folded away."""

    first: list[Any]
    rest: list[Any]


@dataclass(frozen=True)
class Blame:
    """Causes; `widest` is the largest share in the table, which the longest bar stands for."""

    causes: Split
    widest: float


def blame_of(blame: pd.DataFrame, chain_id: int) -> Blame:
    """Return the blame of one chain; causes of less than 1 % of both groups are the rest."""
    rows = [
        Cause(
            layer=row["layer"],
            slug=theme.paint(row["layer"]).slug,
            where=Name(shorten_place(row["where"]), row["where"]),
            unsynchronised=int(row["unsynchronised"]),
            share_p50=as_float(row["share_p50"]),
            share_p99=as_float(row["share_p99"]),
            typical_ns=as_float(row["typical_ns"]),
            tail_ns=as_float(row["tail_ns"]),
        )
        for row in records(blame[blame["chain_id"] == chain_id])
    ]
    largest = [max(row.share_p50 or 0.0, row.share_p99 or 0.0) for row in rows]
    return Blame(split(rows, [share >= _SMALL for share in largest]), max(largest, default=0.0))


def layer_rows(chain_layers: pd.DataFrame, chain_id: int, quantiles: Quantiles) -> list[LayerRow]:
    """Return every layer of every hop of one chain, in its order."""
    of_chain = chain_layers[chain_layers["chain_id"] == chain_id].sort_values("position")
    return [
        LayerRow(
            hop=int(row["hop"]),
            layer=row["layer"],
            slug=theme.paint(row["layer"]).slug,
            where=Name(place_text(row["where"], row["places"]), row["where"]),
            unsynchronised=int(row["unsynchronised"]),
            share=as_float(row["share"]),
            statistics=quantiles_of(
                quantiles,
                ("chain", chain_id),
                LATENCIES,
                row,
                hop=int(row["hop"]),
                layer=row["layer"],
            ),
        )
        for row in records(of_chain)
    ]


def hop_rows(analysis: Analysis, quantiles: Quantiles) -> Split:
    """Return all hops; those of internal topics are the rest."""
    layers, lost = analysis.hop_layers, analysis.hop_losses
    parts = {int(str(hop)): layer_parts(rows) for hop, rows in layers.groupby("hop_id")}
    losses = {int(str(hop)): records(rows) for hop, rows in lost.groupby("hop_id")}
    rows = [
        HopRow(
            topic=row["topic"],
            publisher=row["publisher_node"],
            subscriber=row["subscription_node"],
            count=int(row["count"]),
            lost=int(row["lost"]),
            losses=loss_sentences(
                losses.get(int(row["hop_id"]), []), row["published"], analysis.trace.begin_ns
            ),
            latency=quantiles_of(
                quantiles, ("hop", int(row["hop_id"])), LATENCIES, row, "latency_"
            ),
            parts=parts.get(int(row["hop_id"]), ()),
            unsynchronised=int(row["unsynchronised"]),
        )
        for row in records(analysis.hops)
    ]
    return split(rows, [row.topic not in INTERNAL_TOPICS for row in rows])


def callback_rows(callbacks: pd.DataFrame, quantiles: Quantiles) -> Split:
    """Return all callbacks, those that ran longest in all first; internal ones are the rest."""
    total = (callbacks["duration_mean_ns"] * callbacks["duration_count"]).fillna(0)
    ordered = callbacks.iloc[(-total.to_numpy()).argsort(kind="stable")]
    rows = [
        CallbackRow(
            node=row["node"],
            symbol=Name(shorten(row["symbol"]), row["symbol"]),
            trigger=row["trigger"] if isinstance(row["trigger"], str) else "",
            count=int(row["count"]),
            duration=quantiles_of(
                quantiles, ("callback", int(row["callback_id"])), DURATIONS, row, "duration_"
            ),
            period_p50_ns=as_float(row["period_p50_ns"]),
            cpu=cpu_name(row),
        )
        for row in records(ordered)
    ]
    return split(rows, [row.trigger not in INTERNAL_TOPICS for row in rows])


def layer_parts(rows: pd.DataFrame) -> tuple[Part, ...]:
    """Return rows with `layer` and `share` as parts of a stacked bar."""
    return tuple(
        Part(
            slug=theme.paint(row["layer"]).slug,
            percent=round(100 * (as_float(row["share"]) or 0.0), 3),
            title=marked(
                f"{row['layer']} {100 * (as_float(row['share']) or 0.0):.1f} %",
                row.get("unsynchronised", 0),
            ),
        )
        for row in records(rows)
    )


def quantiles_of(
    quantiles: Quantiles,
    of: Of,
    usual: tuple[str, ...],
    row: Mapping[str, Any],
    prefix: str = "",
    *,
    hop: int = NONE,
    layer: str | None = None,
) -> dict[str, float | None]:
    """Return the quantiles that the user chose, else the `usual` ones, and the maximum; in order.

    `row` has the usual ones and the maximum in the columns `<prefix>p50_ns` and so on.
    """
    values = quantiles.values(of, usual, row, prefix, hop=hop, layer=layer)
    found = dict(zip(quantiles.names(usual), map(as_float, values), strict=True))
    return found | {"max": as_float(row[f"{prefix}max_ns"])}


def cpu_name(row: Mapping[str, Any]) -> Name:
    """Return the CPU use of a row, with its bounds and of how much time it is as full text."""
    text = cpu_text(row)
    if row["cpu_confidence"] is None:
        return Name(text, text)
    used, least, most, known = (
        format_ns(row[f"cpu_{name}ns"], micro=MICRO) for name in ("", "least_", "most_", "known_")
    )
    bounds = f", {least} to {most}" if row["cpu_confidence"] == ESTIMATED else ""
    return Name(text, f"{row['cpu_confidence']}: {used} of {known}{bounds}")


def statistics(row: dict[str, Any], prefix: str) -> dict[str, float | None]:
    """Return the quantiles that the page shows, of the columns `<prefix>p50_ns` and so on."""
    return {name: as_float(row[f"{prefix}{name}_ns"]) for name in ("p50", "p90", "p99", "max")}


def split(rows: list[Any], is_first: Iterable[bool]) -> Split:
    """Part rows by a flag each; both parts keep the order."""
    flags = list(is_first)
    return Split(
        [row for row, first in zip(rows, flags, strict=True) if first],
        [row for row, first in zip(rows, flags, strict=True) if not first],
    )


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return each row by the names of its columns; null is None."""
    import pandas as pd

    return [
        {str(key): None if pd.isna(value) else value for key, value in row.items()}
        for row in frame.to_dict("records")
    ]
