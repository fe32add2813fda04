# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The first screen of the page, and what its scripts select messages by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from strata.schema.events import INTERNAL_TOPICS
from strata.schema.layer import Owner
from strata.schema.layers import BY_NAME, CALLBACK, HOLD, IN_NODE
from strata.show.html import theme
from strata.show.html.analysis.graph import GraphView, graph_views
from strata.show.html.analysis.messages import EXPLORED_CHAINS, ChainDocument, chain_messages
from strata.show.html.analysis.timelines import (
    chosen_messages,
    embedded_timelines,
    timeline_key,
)
from strata.show.html.embedding import inside_script
from strata.show.html.figures.latency import LatencyFigure, latency_over_time
from strata.show.html.theme import MICRO
from strata.show.words.chain_choice import chosen_chains, focus_chain
from strata.show.words.headline import nodes_of_executor
from strata.show.words.naming import Names
from strata.units import format_ns, format_share

if TYPE_CHECKING:
    from strata.analysis import Analysis

_SYSTEM_CAUSES = 5


@dataclass(frozen=True)
class CauseButton:
    """A cause that selects messages; `selects` is what it selects in the page's address.

    `percent` is the length of its bar, of the largest.
    """

    selects: str
    layer: str
    where: str
    share: str
    each: str
    percent: float
    stands_out: bool


@dataclass(frozen=True)
class Explorer:
    """The first screen: figures are null where no message was followed through a chain."""

    views: list[GraphView]
    causes: list[CauseButton]
    chains: list[ChainDocument]
    latency: LatencyFigure | None
    document: Markup


def explorer_of(analysis: Analysis) -> Explorer:
    """Return the first screen, and the messages that it selects."""
    explored, names = _explored(analysis), Names(analysis)
    chosen = chosen_messages(analysis, explored)
    timelines = embedded_timelines(analysis, chosen)
    followed = {
        one.chain_instance_id
        for own in chosen.values()
        for one in own
        if timeline_key(one) in timelines["of"]
    }
    chains = chain_messages(analysis, explored, followed)
    causes = list(analysis.rows("system_causes").records())[:_SYSTEM_CAUSES]
    document = {
        "trace": analysis.trace.path,
        "begin_ns": str(analysis.trace.begin_ns),
        "chains": chains,
        "system": [_matched(analysis, names, cause) for cause in causes],
        "fills": {name: theme.paint(name).fill for name in _layers(chains)},
        "hops": _hops(analysis),
        "in_node": [layer.name for layer in IN_NODE],
        "timelines": timelines,
    }
    return Explorer(
        graph_views(analysis),
        _buttons(names, causes),
        chains,
        latency_over_time(chains[0]) if chains else None,
        inside_script(document),
    )


def _explored(analysis: Analysis) -> list[int]:
    """Return the chains with messages, the one that shows best where the time goes first."""
    chains = analysis.rows("chains")
    count = dict(zip(chains["chain_id"].tolist(), chains["count"].tolist(), strict=True))
    ordered = [focus_chain(analysis), *chosen_chains(analysis), *count]
    with_messages = [chain for chain in ordered if chain is not None and count[chain]]
    return list(dict.fromkeys(with_messages))[:EXPLORED_CHAINS]


def _layers(chains: Sequence[ChainDocument]) -> list[str]:
    return sorted({layer for chain in chains for layer in chain["layers"]}, key=theme.order)


def _hops(analysis: Analysis) -> dict[str, dict[str, str]]:
    """Return the topic and the nodes of each hop of the application."""
    return {
        str(row["hop_id"]): {
            "topic": row["topic"],
            "from": row["publisher_node"],
            "to": row["subscription_node"],
        }
        for row in analysis.rows("hops").records()
        if row["topic"] not in INTERNAL_TOPICS
    }


def _matched(analysis: Analysis, names: Names, cause: Mapping[str, Any]) -> dict[str, Any]:
    """Return which time of messages a cause of the whole system is: layers and hops."""
    hops = list(analysis.rows("hops").records())
    owners = {name: layer.owner for name, layer in BY_NAME.items()}
    if cause["kind"] == "executor":
        nodes = set(cause["where"].split(", "))
        own = [row["hop_id"] for row in hops if row["subscription_node"] in nodes]
        layers = [name for name, owner in owners.items() if owner in _WAITS]
    elif cause["kind"] == "topic":
        own = [row["hop_id"] for row in hops if row["topic"] == cause["where"]]
        layers = [name for name, owner in owners.items() if owner in _OF_TOPIC]
    elif cause["kind"] == "hop":
        own, layers = [cause["hop_id"]], [cause["layer"]]
        if cause["layer"] == CALLBACK.name:
            # Of a message that a chain follows further, the time until it publishes.
            layers.append(HOLD.name)
    else:
        own, layers = [], []
    return {
        "label": f"{cause['layer'] or cause['kind']}: {_where(names, cause)}",
        "hops": own,
        "layers": layers,
    }


_WAITS = (Owner.EXECUTOR, Owner.UNDIVIDED)
_OF_TOPIC = (Owner.TOPIC, Owner.UNDIVIDED)


def _buttons(names: Names, causes: Sequence[Mapping[str, Any]]) -> list[CauseButton]:
    most = max((cause["share"] or 0.0 for cause in causes), default=1.0) or 1.0
    return [
        CauseButton(
            selects=f"system:{number}",
            layer=cause["layer"] or cause["kind"],
            where=_where(names, cause),
            share="" if cause["share"] is None else format_share(cause["share"]),
            each=format_ns(cause["mean_ns"], micro=MICRO),
            percent=round(100 * (cause["share"] or 0.0) / most, 1),
            stands_out=bool(cause["stands_out"]),
        )
        for number, cause in enumerate(causes)
    ]


def _where(names: Names, cause: Mapping[str, Any]) -> str:
    """Say where a cause is: an executor by its nodes, or by how many they are."""
    if cause["kind"] != "executor":
        return names.text(str(cause["where"]))
    return f"executor of {nodes_of_executor(names, str(cause['where'] or ''))}"
