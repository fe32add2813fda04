# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in a few lines: what stands out, over the system and in the chain that shows it best.

The sentences of `analysis.system.text` and of each bottleneck say the same at length.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strata.analysis import Analysis, Bottleneck
from strata.schema.layers import CALLBACK
from strata.show.words.chain_choice import (
    focus_chain,
    has_late_part,
    matches,
    standing_causes,
)
from strata.show.words.naming import Names, function_name
from strata.stats.stands_out import BACKLOG, MIN_OUTLIERS, SPREAD, TYPICAL
from strata.units import format_count, format_ns, format_number, format_share, unit_for
from strata.verdict.causes import FULL
from strata.verdict.executor_load import busy_shares

Row = Mapping[Any, Any]

_MOST_CAUSES = 3
_MOST_FILLING = 3
_NAMED_NODES = 2
_NAMED_THREADS = 4
_WORTH_SAYING = 0.1
_WORTH_NAMING = 0.05
_LEAST = 0.01
"""What has less of an executor is not counted."""


@dataclass(frozen=True)
class Headline:
    """What stands out, one statement each, the most important first; `brief` is it in one line.

    Nothing stands out where `stands_out` is false: then the statements name the largest part.
    """

    stands_out: bool
    statements: tuple[str, ...]
    brief: str
    chain_id: int | None


def headline(analysis: Analysis, names: Names) -> Headline:
    """Return the answer for a system; without statements where no message was followed."""
    words = _Words(analysis, names)
    chain_id = focus_chain(analysis)
    found = next((one for one in analysis.bottlenecks if one.chain_id == chain_id), None)
    late = found is not None and has_late_part(found)
    standing = standing_causes(analysis)[:_MOST_CAUSES]
    statements: list[str] = []
    for cause in standing:
        typical = found is not None and late and _is_typical(found)
        if found and typical and cause["kind"] in ("hop", "topic") and _same(found, cause):
            statements.append(words.typical(found))
        else:
            statements += words.cause(cause)
    if found and late and _is_typical(found) and not any(_same(found, one) for one in standing):
        statements.append(words.typical(found))
    if not standing and not late:
        statements += words.largest(found)
    if found is not None:
        if BACKLOG in found.reasons and found.growth_ns_per_s is not None:
            growth = format_ns(found.growth_ns_per_s)
            statements.insert(1, f"falling behind: the latency grows by {growth} a second")
        statements += words.tail(found, after=statements[0] if statements else "")
    stands_out = bool(standing) or late
    brief = words.brief(standing[0]) if standing else (statements[0] if statements else "")
    return Headline(stands_out, tuple(statements), brief, chain_id)


def _is_typical(bottleneck: Bottleneck) -> bool:
    return bool({TYPICAL, SPREAD} & set(bottleneck.reasons))


def _same(bottleneck: Bottleneck, cause: Row) -> bool:
    return matches(bottleneck.layer, bottleneck.where, cause)


def part_of(part_ns: float, whole_ns: float) -> str:
    """Say two durations, the unit once where both have the same: "4.80 of 8.20 ms"."""
    unit = unit_for(whole_ns)
    if unit is unit_for(part_ns):
        return f"{format_number(part_ns / unit.ns)} of {format_ns(whole_ns)}"
    return f"{format_ns(part_ns)} of {format_ns(whole_ns)}"


def nodes_of_executor(names: Names, nodes: str) -> str:
    """Name the nodes of an executor, or say how many they are."""
    several = nodes.split(", ") if nodes else []
    if len(several) > _NAMED_NODES:
        return f"{len(several)} nodes"
    return " and ".join(map(names.topic, several)) or "nodes that are not known"


class _Words:
    """Statements on one analysis."""

    def __init__(self, analysis: Analysis, names: Names) -> None:
        self._analysis, self._names = analysis, names
        self._threads = analysis.rows("executor_threads")
        self._busy = busy_shares(self._threads)
        blame = analysis.rows("blame")
        self._blame = blame

    def cause(self, cause: Row) -> list[str]:
        """Say a cause over the whole system."""
        each = f"{format_ns(cause['mean_ns'])} each (mean)"
        if cause["kind"] == "cpu":
            return [
                f"process {self._names.text(cause['where'])} is short of CPU: none for "
                f"{format_share(cause['busy'])} of the time in which it could run, {each}"
            ]
        share = f"{format_share(cause['share'])} of all latency"
        if cause["kind"] != "executor":
            return [f"{self._part(cause)}: {each}, {share}"]
        number = int(cause["executor_id"])
        full = cause["busy"] is not None and cause["busy"] >= FULL
        of = self._filling(number, waited=not full)
        if full:
            waits = f"messages wait {each} for it, {share}"
            return [f"{self.brief(cause)}, {self._which(number)}", waits, f"filled by {of}"]
        behind = f", behind {of}" if of else ""
        return [f"messages wait {each} for the {self._executor(cause)}, {share}{behind}"]

    def brief(self, cause: Row) -> str:
        """Say a cause in one line, without its numbers but for how full an executor is."""
        if cause["kind"] == "cpu":
            return f"process {self._names.text(cause['where'])} is short of CPU"
        if cause["kind"] != "executor":
            return f"{self._part(cause)}: {format_share(cause['share'])} of all latency"
        busy = cause["busy"]
        if busy is not None and busy >= FULL:
            return f"{self._executor(cause)} is full: busy {format_share(busy)}"
        share = f"{format_share(cause['share'])} of all latency"
        return f"the wait for the {self._executor(cause)}: {share}"

    def _executor(self, cause: Row) -> str:
        return f"executor of {nodes_of_executor(self._names, str(cause['where'] or ''))}"

    def _which(self, number: int) -> str:
        own = self._threads["vtid"][self._threads["executor_id"] == number].tolist()
        if len(own) > _NAMED_THREADS:
            return f"{len(own)} threads"
        return f"thread{'s' if len(own) > 1 else ''} {', '.join(map(str, own))}"

    def _filling(self, number: int, *, waited: bool) -> str:
        """Name what fills an executor the most, or what messages waited behind."""
        load = self._analysis.rows("executor_load")
        rows = list(load.take(load["executor_id"] == number).records())
        whole = sum(row["waited_ns"] for row in rows)
        if waited and not whole:
            return ""
        shares = [row["waited_ns"] / whole if waited else row["traffic_share"] for row in rows]
        ranked = sorted(zip(shares, rows, strict=True), key=lambda pair: -pair[0])
        chosen = [pair for pair in ranked[:_MOST_FILLING] if pair[0] >= _WORTH_NAMING]
        named = [
            f"{self._work(row)} ({format_share(share)})" for share, row in chosen or ranked[:1]
        ]
        more = len([share for share, _ in ranked if share >= _LEAST]) - len(named)
        return ", ".join(named) + (f" and {more} more" if more > 0 else "")

    def _work(self, row: Row) -> str:
        takes = "takes for " if row["work"] == "take" else ""
        node = self._names.topic(row["node"] or "an unknown node")
        if not row["trigger"]:
            return f"{takes}a callback of {node}"
        if row["trigger"].startswith("/"):
            return f"{takes}{self._names.topic(row['trigger'])} in {node}"
        return f"{takes}the {row['trigger']} timer of {node}"

    def _part(self, cause: Row) -> str:
        where = str(cause["where"])
        if cause["kind"] == "topic":
            return f"{self._names.topic(where)} from publish to reader, most of it {cause['layer']}"
        if cause["kind"] == "executor":
            return f"the wait for the {self._executor(cause)}"
        topic, _, node = where.partition(" in ")
        if cause["layer"] == CALLBACK.name:
            return self._names.callback(f"{self._symbol(topic, node)} [{topic}] ({node})")
        return f"{cause['layer']} of {self._names.topic(topic)} in {self._names.topic(node)}"

    def _symbol(self, topic: str, node: str) -> str:
        rows = self._analysis.rows("callbacks")
        own = rows.take(rows.words("trigger").are(topic) & rows.words("node").are(node))
        found = {function_name(symbol) for symbol in own.texts("symbol")} - {None}
        return own.texts("symbol")[0] if len(found) == 1 else "0x0"

    def typical(self, found: Bottleneck) -> str:
        """Say what the typical messages of a chain spend their time on."""
        text = self._names.cause(found.layer, found.where)
        amount = part_of(found.typical_ns, self._latency(found.chain_id, "typical_ns"))
        cpu = self._without_cpu(found.typical_ns, found.cpu_wait_ns)
        return f"{text}: {amount} typically ({format_share(found.share_p50)}){cpu}"

    def tail(self, found: Bottleneck, after: str) -> list[str]:
        """Say what the slowest messages of a chain spent their time on."""
        if not found.tail_layer or not found.tail_ns:
            return []
        amount = part_of(found.tail_ns, self._latency(found.chain_id, "tail_ns"))
        what = self._names.cause(found.tail_layer, found.tail_where)
        said = "" if after.startswith(f"{what}:") else f", {what}"
        if found.tail_count < MIN_OUTLIERS and said and after:
            return []
        few = ", too few to judge" if found.tail_count < MIN_OUTLIERS else ""
        count = format_count(found.tail_count, "message", "messages")
        who = f"slowest 1 % ({count}{few})"
        if len(self._analysis.rows("chains")) > 1:
            who += f" of {self._chain(found)}"
        cpu = self._without_cpu(found.tail_ns, found.tail_cpu_wait_ns)
        return [f"{who}: {amount} ({format_share(found.share_p99)}){said}{cpu}"]

    def _chain(self, found: Bottleneck) -> str:
        return chain_ends(found.chain.split(" -> "), self._names)

    def largest(self, found: Bottleneck | None) -> list[str]:
        """Say what the largest part is, where nothing stands out."""
        causes = [row for row in self._analysis.rows("system_causes").records() if row["share"]]
        if causes:
            most = max(causes, key=lambda row: float(row["share"]))
            amount = f"{format_ns(most['mean_ns'])} each (mean), {format_share(most['share'])}"
            part = f"{self._part(most)}: {amount} of all latency"
            return [f"nothing stands out; the largest part is {part}"]
        if found is None:
            return []
        return [f"nothing stands out; the largest part is {self.typical(found)}"]

    def _latency(self, chain_id: int, column: str) -> float:
        return float(self._blame[column][self._blame["chain_id"] == chain_id].sum())

    @staticmethod
    def _without_cpu(whole_ns: float, waited_ns: float) -> str:
        if not waited_ns >= _WORTH_SAYING * whole_ns > 0:
            return ""
        return f", {format_ns(waited_ns)} of it waiting for a CPU (estimated)"


def chain_ends(topics: Sequence[str], names: Names) -> str:
    """Name a chain by its first and last topic: "/image > ... > /plan"."""
    short = [names.topic(topic) for topic in topics]
    return " > ".join(short if len(short) <= 2 else [short[0], "...", short[-1]])
