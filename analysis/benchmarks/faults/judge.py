# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What may be expected of an answer: a cause of a chain, a loss, a call, nothing at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from case import MESSAGES, NS_PER_S, Answer, Document, Judgement, Truth
from magnitude import Count, Magnitude

TYPICAL, SLOWEST = "typical", "slowest"
MODE = "mode"
"""The cause that makes the slowest mode slower than the one before, and by how much."""
ANY = "any"
"""The cause may be that of the typical messages, the slowest, or the slowest mode."""
_KEYS = {
    TYPICAL: ("layer", "where", "typical_ns"),
    SLOWEST: ("tail_layer", "tail_where", "tail_ns"),
    MODE: ("mode_layer", "mode_where", "mode_ns"),
}


@dataclass(frozen=True)
class Mean:
    """A magnitude that is the mean, over all messages, of some layers together at a place."""

    layers: tuple[str, ...]
    place: tuple[str, ...]

    def measured(self, answer: Answer, name: str) -> float | None:
        """Return it for the chain of that name, ns; None where there is no such layer."""
        chain = first(answer.document["chains"], name=name) or {"segments": []}
        means = [
            part["mean"]
            for part in chain["segments"]
            if part["layer"] in self.layers and all(word in part["where"] for word in self.place)
        ]
        return sum(means) if means else None


@dataclass(frozen=True)
class Cause:
    """The cause that is named for a chain: its layer, words of its place, its size.

    `group` is of the messages: the typical or the slowest. The size is that of the group, unless
    `mean` says of which layers it is. `reason` is one by which it has to stand out.
    """

    chain: str
    layers: tuple[str, ...]
    place: tuple[str, ...]
    magnitude: Magnitude | None = None
    group: str = TYPICAL
    mean: Mean | None = None
    reason: str = ""

    def _slow_mode(self, answer: Answer) -> Document:
        """Return what makes the slowest mode of the chain slower, as a row of bottlenecks."""
        chain = first(answer.document["chains"], name=self.chain) or {"modes": []}
        slowest = chain["modes"][-1] if len(chain["modes"]) > 1 else {}
        names = ("layer", "where", "slower_ns")
        return dict(zip(_KEYS[MODE], (slowest.get(name) for name in names), strict=True))

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Hold the chain's bottleneck against the planted cause."""
        found = [row for row in answer.document["bottlenecks"] if row["chain"] == self.chain]
        planted = self.magnitude(truth) if self.magnitude else None
        if self.group == ANY:
            tried = [replace(self, group=group) for group in (TYPICAL, MODE, SLOWEST)]
            judged = [one.judge(answer, truth) for one in tried]
            return min(judged, key=lambda one: ("right", "partly", "wrong").index(one.verdict))
        if not found:
            return Judgement(
                f"no chain {self.chain}: {chains(answer)}", False, False, None, planted
            )
        row = found[0] | (self._slow_mode(answer) if self.group == MODE else {})
        layer, where, ns = (row[key] for key in _KEYS[self.group])
        if self.mean is not None:
            ns = self.mean.measured(answer, self.chain)
        named = row["stands_out"] and (not self.reason or self.reason in row["reasons"])
        return Judgement(
            row["text"],
            named and layer in self.layers,
            named and all(word in (where or "") for word in self.place),
            ns,
            planted,
        )


@dataclass(frozen=True)
class Healthy:
    """Nothing stands out, in no chain; `alike` chains are in one group, of as many messages."""

    chain: str
    alike: int = 1

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Look for anything that was blamed."""
        del truth
        found = answer.document["bottlenecks"]
        there = any(row["chain"] == self.chain for row in found)
        system = answer.document.get("system", {"stands_out": False})
        quiet = not (system["stands_out"] or any(row["stands_out"] for row in found))
        losses = [row["text"] for row in answer.document["quality"] if row["severity"] != "info"]
        said = " | ".join([row["text"] for row in found] + losses) or chains(answer)
        right = there and quiet and not losses and self._grouped(answer)
        return Judgement(said, right, right)

    def _grouped(self, answer: Answer) -> bool:
        if self.alike == 1:
            return True
        groups = answer.document["chain_groups"]
        return len(groups) == 1 and len(groups[0]["chains"]) == self.alike


@dataclass(frozen=True)
class StartUp:
    """Messages from before the last node was ready: how many; nothing else stands out."""

    chain: str
    node: str
    count: Count

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Hold the group's number and its last node against what was planted."""
        planted = self.count(truth)
        if not planted:
            raise ValueError("no message was early: the fault was not planted")
        row = first(answer.document["bottlenecks"], chain=self.chain)
        chain = first(answer.document["chains"], name=self.chain)
        if row is None or chain is None:
            said = f"no chain {self.chain}: {chains(answer)}"
            return Judgement(said, False, False, None, planted, MESSAGES)
        group = chain["start_up"]
        told = group["count"] > 0 and row["start_up_count"] == group["count"]
        return Judgement(
            f"start-up until {group['node']} was ready. {row['text']}",
            told and not row["stands_out"],
            told and group["node"] == self.node,
            group["count"],
            planted,
            MESSAGES,
        )


@dataclass(frozen=True)
class Grows:
    """A backlog: by how much the latency grows; the cause is that of the queue that grows."""

    cause: Cause
    growth: Magnitude

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Judge the cause, and the growth in place of its size."""
        found = self.cause.judge(answer, truth)
        row = first(answer.document["bottlenecks"], chain=self.cause.chain) or {}
        return replace(
            found,
            measured=row.get("growth_ns_per_s"),
            planted=self.growth(truth),
            unit=NS_PER_S,
        )


def chains(answer: Answer) -> str:
    """List the chains that were found instead."""
    return "; ".join(str(chain["name"]) for chain in answer.document["chains"]) or "none"


def first(rows: Iterable[dict[str, Any]], **wanted: Any) -> dict[str, Any] | None:
    """Return the first of the rows that has all these values."""
    for row in rows:
        if all(row.get(key) == value for key, value in wanted.items()):
            return row
    return None


@dataclass(frozen=True)
class Said:
    """A cause that is named, and words of which one is somewhere in the text."""

    cause: Cause
    words: tuple[str, ...]

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Judge the cause; without the words its place is not right."""
        found = self.cause.judge(answer, truth)
        system = answer.document.get("system", {"causes": []})["causes"]
        texts = [
            row["text"]
            for row in answer.document["bottlenecks"]
            if row["chain"] == self.cause.chain
        ]
        texts += [row["text"] for row in system if row["stands_out"] and row["kind"] == "cpu"]
        if any(word in text for word in self.words for text in texts):
            return found
        return replace(found, place=False, said=f"{found.said} (nothing of: {self.words})")
