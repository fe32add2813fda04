# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What stands out of each chain's latency, or is largest where nothing does, in plain words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strata.analysis import Bottleneck
from strata.schema.layers import DRIVER_QUEUE, STORED, SUSPENDED, WAKE_UP
from strata.schema.rows import Rows
from strata.stats.backlog import Backlog
from strata.stats.chain_facts import ChainFacts, EarlyMessages
from strata.stats.places import base_place, is_behind
from strata.stats.stands_out import (
    BACKLOG,
    LOSS,
    MIN_OUTLIERS,
    MIN_SHARE,
    Standing,
    allowance,
    what_stands_out,
)
from strata.symbols import shorten_place, words_before
from strata.units import format_count, format_ns

if TYPE_CHECKING:
    import pandas as pd

Row = Mapping[Any, Any]

_SPREAD = 0.1
"""Share of a layer beyond its largest cause from which on the sentence tells the whole."""
_SPLIT = 0.02
"""And of one place beyond its largest part: what held its thread up is split off."""
_WORTH_SAYING = 0.1
"""Share of a cause from which on the sentence says that there was no CPU for it."""
_ALL = 0.95
_READER = re.compile(r" to (\S+)")
_NAMED = 0.05
"""Share from which on a further callback that was waited for is named, and how many are."""
_MOST_NAMED = 3


_ORDINALS = ("first", "second", "third", "fourth")


def find_bottlenecks(
    chains: Rows,
    blame: Rows,
    modes: Rows,
    facts: Mapping[int, ChainFacts],
    python_nodes: Collection[str] = (),
) -> tuple[Bottleneck, ...]:
    """Return one bottleneck a chain, in the order of `chains`.

    `facts` are those of each chain by its id, `python_nodes` the nodes of rclpy
    (strata.stats.callbacks.python_nodes).
    """
    rows = list(chains.records())
    same = _several(row["name"] for row in rows)
    of_modes, of_blame = (_by_chain(table.records()) for table in (modes, blame))
    return tuple(
        _bottleneck(
            chain,
            _Said(
                of_blame[chain["chain_id"]],
                of_modes.get(chain["chain_id"], []),
                facts[chain["chain_id"]],
                frozenset(python_nodes),
                chain["hop_count"],
            ),
            f"{chain['nodes']}: " if chain["name"] in same else "",
        )
        for chain in rows
        if chain["chain_id"] in of_blame
    )


def shared_names(chains: pd.DataFrame) -> set[str]:
    """Return the names that several chains have: branches over the same topics to other nodes."""
    return _several(chains["name"])


def _several(names: Iterable[str]) -> set[str]:
    return {name for name, count in Counter(names).items() if count > 1}


def mode_sentences(modes: pd.DataFrame) -> dict[int, str]:
    """Return a sentence on its modes for each chain in the table `modes`."""
    return {chain_id: describe_modes(rows) for chain_id, rows in modes_by_chain(modes).items()}


def modes_by_chain(modes: pd.DataFrame) -> dict[int, list[Row]]:
    """Return the rows of the table `modes` of each chain that has several."""
    of_chains = modes[modes["chain_id"].notna()]
    return _by_chain(of_chains.to_dict("records"))


def _by_chain(rows: Iterable[Row]) -> dict[int, list[Row]]:
    """Return the rows of each chain; those of hops are of none."""
    by_chain: dict[int, list[Row]] = {}
    for row in rows:
        if row["chain_id"] is not None:
            by_chain.setdefault(row["chain_id"], []).append(row)
    return by_chain


def describe_modes(modes: Sequence[Mapping[Any, Any]]) -> str:
    """Say in a sentence which modes there are, and what makes each slower than the one before.

    `modes` are the rows of one chain or hop in the table `modes`; of a hop, no cause is named.
    """
    words = [f"{format_ns(mode['p50_ns'])} ({mode['share']:.0%})" for mode in modes]
    text = f"{len(modes)} modes: {', '.join(words[:-1])} and {words[-1]}"
    for at, mode in enumerate(modes):
        if isinstance(mode.get("layer"), str):
            which = "slow" if len(modes) == 2 else _ORDINALS[at]
            text += f"; the {which} one is +{format_ns(mode['slower_ns'])}, {_most(mode)}"
    return f"{text}."


def _most(mode: Mapping[Any, Any]) -> str:
    """What makes a mode slower. A share is more than all where something else is faster there."""
    what = cause(mode["layer"], mode["where"])
    text = f"{_part(mode['cause_share'])} of it {what}"
    if mode["layer_share"] - mode["cause_share"] >= _SPREAD:
        place = base_place(mode["where"])
        whole = (
            f"{mode['layer']} of all hops together"
            if mode["layer_places"] > 1
            else f"{cause(mode['layer'], place)} altogether"
        )
        text += f" ({whole}: {_part(mode['layer_share'])})"
    return text


def _part(share: float) -> str:
    return "all" if share >= 0.995 else f"{share:.0%}"


@dataclass(frozen=True)
class _Said:
    """What the sentences on one chain are made of."""

    causes: list[Row]
    modes: list[Row]
    facts: ChainFacts
    python_nodes: frozenset[str]
    hop_count: int

    def cause(self, row: Row) -> str:
        """Name a cause; of a wake-up in rclpy, what else is in it."""
        text = cause(row["layer"], row["where"])
        if row["unsynchronised"]:
            text += " (between hosts whose clocks are not synchronised)"
        inside = WAKE_UP.name in row["layer"] and base_place(row["where"]) in self.python_nodes
        return f"{text} (rclpy: waiting for the GIL is part of it)" if inside else text


def _bottleneck(chain: Row, said: _Said, nodes: str) -> Bottleneck:
    found = what_stands_out(said.causes, said.modes, said.hop_count, said.facts.outliers)
    typical = found.typical or max(said.causes, key=lambda row: float(row["share_p50"]))
    slowest = max(said.causes, key=lambda row: float(row["share_p99"]))
    reasons = list(found.reasons)
    reasons += [BACKLOG] if said.facts.backlog else []
    reasons += [LOSS] if said.facts.losses else []
    return Bottleneck(
        chain_id=chain["chain_id"],
        chain=chain["name"],
        nodes=tuple(chain["nodes"].split(" -> ")),
        layer=typical["layer"],
        where=typical["where"],
        share_p50=typical["share_p50"],
        typical_ns=typical["typical_ns"],
        latency_p50_ns=chain["latency_p50_ns"],
        text=nodes + " ".join(_sentences(said, found, typical, slowest)),
        tail_layer=slowest["layer"],
        tail_where=slowest["where"],
        share_p99=slowest["share_p99"],
        tail_ns=slowest["tail_ns"],
        latency_p99_ns=chain["latency_p99_ns"],
        stands_out=bool(reasons),
        reasons=tuple(reasons),
        tail_count=said.facts.tail_count,
        start_up_count=said.facts.start_up.count if said.facts.start_up else 0,
        growth_ns_per_s=said.facts.backlog.growth if said.facts.backlog else None,
        cpu_wait_ns=typical["typical_cpu_wait_ns"],
        tail_cpu_wait_ns=slowest["tail_cpu_wait_ns"],
    )


def _sentences(said: _Said, found: Standing, typical: Row, slowest: Row) -> Iterator[str]:
    """Say what stands out; where nothing does, what is largest; and the start-up last."""
    facts = said.facts
    modes = [describe_modes(said.modes)] if said.modes else []
    slow = _slowest(said, slowest, after=typical)
    far = [_outlying(said, found.outlying)] if found.outlying else []
    if facts.backlog:
        yield backlog_sentence(facts.backlog)
    if found.typical:
        yield from (f"{_typical(said, typical)}.", slow, *far, *modes)
    elif found.reasons:
        yield from (_slowest(said, slowest), *far, *modes)
        yield f"In the typical messages nothing stands out: {_largest_part(said, typical)}."
    if facts.losses:
        yield losses_sentence(facts)
    if not found.reasons:
        what = "Otherwise nothing" if facts.backlog or facts.losses else "Nothing"
        yield from (f"{what} stands out: {_largest_part(said, typical)}.", slow, *modes)
    if facts.start_up:
        yield start_up_sentence(facts.start_up)


def _typical(said: _Said, typical: Row) -> str:
    layer, place = typical["layer"], base_place(typical["where"])
    text = f"{said.cause(typical)}: {_amount(said, typical)}{_without_cpu(typical, 'typical')}"
    of_layer = [row for row in said.causes if row["layer"] == layer]
    whole = sum(row["share_p50"] for row in of_layer)
    there = sum(row["share_p50"] for row in of_layer if base_place(row["where"]) == place)
    if there - typical["share_p50"] >= _SPLIT:
        ns = sum(row["typical_ns"] for row in of_layer if base_place(row["where"]) == place)
        text += f"; {cause(layer, place)} altogether is {format_ns(ns)} ({there:.0%})"
    if whole - there >= _SPREAD:
        of_what = "of all hops together" if said.hop_count > 1 else "altogether"
        text += f"; {layer} {of_what} is {whole:.0%}{_others(said.causes, typical)}"
    return text


def _amount(said: _Said, typical: Row) -> str:
    """How much of the typical latency; of several modes, which one is typical."""
    # Means of one group of messages, of which the share is one too; not the median.
    latency_ns = sum(row["typical_ns"] for row in said.causes)
    mode = said.facts.typical_share
    of_mode = "" if mode is None else f", in the mode of {mode:.0%} of the messages"
    return (
        f"{format_ns(typical['typical_ns'])} of the typical {format_ns(latency_ns)} "
        f"({typical['share_p50']:.0%}{of_mode})"
    )


def _largest_part(said: _Said, typical: Row) -> str:
    """Name what is largest although it does not stand out, and by which rule it does not."""
    allowed = allowance(typical["layer"])
    amount = f"the largest part is {said.cause(typical)}, {_amount(said, typical)}"
    if typical["unsynchronised"]:
        return f"{amount}, of which an unknown part is the offset between the clocks"
    why = (
        f"a healthy hop may need {format_ns(allowed)} for that"
        if typical["typical_ns"] <= allowed
        else f"no part is {MIN_SHARE:.0%} of the latency"
    )
    return f"{amount}, and {why}"


def _slowest(said: _Said, slowest: Row, after: Row | None = None) -> str:
    """Say what the slowest messages spent their time on; `after` is what was named before."""
    facts = said.facts
    same = after is not None and _key(after) == _key(slowest)
    who = "it is" if same else f"{said.cause(slowest)} is"
    few = ", too few to judge" if facts.tail_count < MIN_OUTLIERS else ""
    return (
        f"In the slowest 1 % ({format_count(facts.tail_count, 'message', 'messages')} from "
        f"{format_ns(facts.tail_from_ns)} on{few}) {who} {format_ns(slowest['tail_ns'])}, "
        f"{slowest['share_p99']:.0%}{_without_cpu(slowest, 'tail')}."
    )


def _without_cpu(row: Row, group: str) -> str:
    """Say how much of a cause its thread had no CPU for, where that is a good part of it."""
    whole = row[f"{group}_ns"]
    waited, silent = row[f"{group}_cpu_wait_ns"], row[f"{group}_silent_ns"]
    text = ""
    if waited >= _WORTH_SAYING * whole > 0:
        text += f"; {_of_it(waited, whole)} waiting for a CPU (estimated)"
    if silent >= _WORTH_SAYING * whole > 0:
        reader = _READER.search(row["where"])
        who = f"no thread of {reader[1]}" if reader else "no thread of the reader"
        text += f"; for {_of_it(silent, whole)} {who} was seen to run"
    return text


def _of_it(part: float, whole: float) -> str:
    return "all of it" if part >= _ALL * whole else f"some {format_ns(part)} of it"


def _key(row: Row) -> tuple[str, str]:
    return row["layer"], row["where"]


def _outlying(said: _Said, row: Row) -> str:
    facts = said.facts
    of_them = "all" if row["outliers"] == facts.outliers else f"{row['outliers']:,}"
    return (
        f"{facts.outliers:,} of {facts.count:,} messages took more than "
        f"{format_ns(facts.outliers_from_ns)}; in {of_them} the largest part is "
        f"{said.cause(row)}; over all of them that is {format_ns(row['outlier_ns'])} on average."
    )


def backlog_sentence(backlog: Backlog) -> str:
    """Say which node does not keep up, and by how much the latency grows."""
    growth = f"the latency grows by {format_ns(backlog.growth)} per second"
    each = f"each {format_ns(backlog.arrival_ns)}"
    if backlog.work_ns is not None and backlog.work_ns > backlog.arrival_ns:
        return (
            f"{backlog.node} falls behind: {growth}, with work of "
            f"{format_ns(backlog.work_ns)} {each}."
        )
    what = "reads one" if backlog.layer == DRIVER_QUEUE.name else "comes to one"
    return (
        f"{backlog.node} falls behind: {growth}. A message comes {each}, and it {what} each "
        f"{format_ns(backlog.service_ns)} ({backlog.layer})."
    )


def losses_sentence(facts: ChainFacts) -> str:
    """Say how many messages were lost on which hops."""
    parts = [
        f"{format_count(loss.lost, 'message', 'messages')} of {loss.topic} from "
        f"{loss.publisher_node} to {loss.subscription_node}"
        for loss in facts.losses
    ]
    return f"Lost: {', '.join(parts)}."


def start_up_sentence(early: EarlyMessages) -> str:
    """Say what is left out because a node was not ready yet."""
    left_out = "there are no others" if early.only else "excluded from this verdict"
    return (
        f"Start-up: {format_count(early.count, 'message', 'messages')}, up to "
        f"{format_ns(early.longest_ns)} ({early.share:.0%} of it {early.layer}), before "
        f"{early.node} was ready; {left_out}."
    )


def _others(causes: list[Row], typical: Row) -> str:
    """Name the next callbacks that were waited for, where one of them is the largest cause."""
    if not is_behind(typical["where"]):
        return ""
    same = [
        row
        for row in causes
        if row is not typical
        and row["layer"] == typical["layer"]
        and is_behind(row["where"])
        and row["share_p50"] >= _NAMED
    ]
    largest = sorted(same, key=lambda row: -float(row["share_p50"]))[:_MOST_NAMED]
    parts = [f"{shorten_place(row['where'])} {row['share_p50']:.0%}" for row in largest]
    return f" (also {', '.join(parts)})" if parts else ""


def cause(layer: str, where: str) -> str:
    """Join a layer and its place to words.

    "executor wait behind f (/n)", "hold preempted by x (7) in f (/n)", "dds receive: resends of
    /t", "stored: /t in /n", "transport of /t".
    """
    place = shorten_place(where)
    if words_before(place):
        return f"{layer} {place}"
    if layer == SUSPENDED.name:
        return f"{layer} in {place}"
    named = layer == STORED.name or place.startswith("resends ")
    return f"{layer}: {place}" if named else f"{layer} of {place}"
