# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What may be expected of an answer: a cause of a chain, a loss, a call, nothing at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from case import SHARE, Answer, Document, Judgement, Truth

Magnitude = Callable[[Truth], float]
Count = Callable[[Truth], int]
TYPICAL, SLOWEST = "typical", "slowest"
MODE = "mode"
"""The cause that makes the slowest mode slower than the one before, and by how much."""
ANY = "any"
"""The cause may be that of the typical messages, the slowest, or the slowest mode."""
EVERY = "every"
"""The cause is that of the typical messages, its magnitude the mean over all of them."""
_KEYS = {
    TYPICAL: ("layer", "where", "typical_ns"),
    SLOWEST: ("tail_layer", "tail_where", "tail_ns"),
    EVERY: ("layer", "where", "typical_ns"),
    MODE: ("mode_layer", "mode_where", "mode_ns"),
}


def median_of(node: str, what: str, topic: str | None = None) -> Magnitude:
    """Plant the median of what a node itself measured."""

    def magnitude(truth: Truth) -> float:
        return float(np.median(truth.durations(node, what, topic)))

    return magnitude


def mean_of(node: str, what: str, topic: str | None = None) -> Magnitude:
    """Plant the mean of what a node itself measured."""

    def magnitude(truth: Truth) -> float:
        return float(np.mean(truth.durations(node, what, topic)))

    return magnitude


def slowest_of(node: str, what: str, share: float) -> Magnitude:
    """Plant the median of the longest `share` of what a node itself measured."""

    def magnitude(truth: Truth) -> float:
        found = np.sort(truth.durations(node, what))
        return float(np.median(found[-max(int(len(found) * share), 1) :]))

    return magnitude


def constant(milliseconds: float) -> Magnitude:
    """Plant a magnitude that is known beforehand."""
    return lambda _: milliseconds * 1e6


@dataclass(frozen=True)
class Cause:
    """The cause that is named for a chain: its layer, words of its place, its size.

    `group` is of the messages: the typical or the slowest. Of `EVERY` message, `parts` are the
    layers that add up to the magnitude. `reason` is one by which it has to stand out.
    """

    chain: str
    layers: tuple[str, ...]
    place: tuple[str, ...]
    magnitude: Magnitude | None = None
    group: str = TYPICAL
    parts: tuple[str, ...] = ()
    reason: str = ""

    def _slow_mode(self, answer: Answer) -> Document:
        """Return what makes the slowest mode of the chain slower, as a row of bottlenecks."""
        chain = first(answer.document["chains"], name=self.chain) or {"modes": []}
        slowest = chain["modes"][-1] if len(chain["modes"]) > 1 else {}
        names = ("layer", "where", "slower_ns")
        return dict(zip(_KEYS[MODE], (slowest.get(name) for name in names), strict=True))

    def _mean(self, answer: Answer) -> float | None:
        """Return the mean of the layer at the place over all messages of the chain, ns."""
        chain = first(answer.document["chains"], name=self.chain) or {"segments": []}
        means = [
            part["mean"]
            for part in chain["segments"]
            if part["layer"] in (self.parts or self.layers)
            and all(word in part["where"] for word in self.place)
        ]
        return sum(means) if means else None

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
        if self.group == EVERY:
            ns = self._mean(answer)
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
    """Nothing stands out, in no chain."""

    chain: str

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Look for anything that was blamed."""
        del truth
        found = answer.document["bottlenecks"]
        there = any(row["chain"] == self.chain for row in found)
        system = answer.document.get("system", {"stands_out": False})
        quiet = not (system["stands_out"] or any(row["stands_out"] for row in found))
        losses = [row["text"] for row in answer.document["quality"] if row["severity"] != "info"]
        said = " | ".join([row["text"] for row in found] + losses) or chains(answer)
        right = there and quiet and not losses
        return Judgement(said, right, right)


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


@dataclass(frozen=True)
class Lost:
    """Messages of a hop that are lost for a cause: its magnitude is their number."""

    topic: str
    publisher: str
    subscription: str
    causes: tuple[str, ...]
    count: Count

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Hold the hop's losses against those that were planted; a number is right to 5 %."""
        hop = first(
            answer.document["hops"],
            topic=self.topic,
            publisher_node=self.publisher,
            subscription_node=self.subscription,
        )
        planted = self.count(truth)
        if not planted:
            raise ValueError("nothing was lost: the fault was not planted")
        if hop is None:
            return Judgement(f"no hop of {self.topic}", False, False)
        losses = [row for row in hop.get("losses", []) if row["outcome"] == "lost"]
        told = ", ".join(f"{row['count']} {row['cause']}" for row in losses) or "nothing lost"
        lost = sum(int(row["count"]) for row in losses)
        right = abs(lost - planted) <= SHARE * planted
        own = sum(int(row["count"]) for row in losses if row["cause"] in self.causes)
        cause = lost > 0 and own >= (1 - SHARE) * lost
        named = any(
            row["code"] == "lost_messages" and self.topic in f"{row['text']} {row.get('places')}"
            for row in answer.document["quality"]
        )
        return Judgement(f"{told}; planted: {planted}", cause, right and named)


@dataclass(frozen=True)
class System:
    """The first cause of the whole system: its kind, words of its place, of what fills it."""

    kind: str
    place: tuple[str, ...]
    filled_by: str
    share: tuple[float, float]

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Hold the first of the system's causes against the planted; `share` bounds its load."""
        del truth
        system = answer.document.get("system")
        if not system or not system["causes"]:
            return Judgement("no cause of the whole system", False, False)
        cause = system["causes"][0]
        low, high = self.share
        busy = cause.get("busy")
        return Judgement(
            f"{system['text']} (busy: {busy})",
            system["stands_out"] and busy is not None and low <= busy <= high,
            cause["kind"] == self.kind
            and all(word in cause["where"] for word in self.place)
            and self.filled_by in cause["text"],
        )


@dataclass(frozen=True)
class Call:
    """The layer that most of the time of a service's calls is spent in; its median."""

    service: str
    client: str
    server: str
    layer: str
    magnitude: Magnitude

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Hold the service's largest layer against the planted one."""
        service = first(
            answer.document["services"],
            service=self.service,
            client_node=self.client,
            service_node=self.server,
        )
        planted = self.magnitude(truth)
        if service is None:
            return Judgement(f"no service {self.service}", False, False, None, planted)
        if not service["layers"]:
            return Judgement(f"no layers of {self.service}", False, True, None, planted)
        largest = max(service["layers"], key=lambda row: float(row["share"]))
        said = f"{self.service}: {largest['layer']}, {largest['share']:.0%}"
        complete = service["count"] == len(truth.rows(self.client[1:], "call", self.service))
        return Judgement(said, largest["layer"] == self.layer, complete, largest["p50"], planted)


@dataclass(frozen=True)
class Proposed:
    """A node at which chains end is named, with the links that would carry them on."""

    node: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Look for the proposals, and for the command that makes a file of them."""
        del truth
        found = [
            row
            for row in answer.document.get("link_proposals", [])
            if row["node"] == self.node and row["probable"]
        ]
        inputs = {row["input"] for row in found}
        outputs = {row["output"] for row in found}
        text = " ".join(answer.text.split())
        said = f"{sorted(inputs)} -> {sorted(outputs)}; other chains: {chains(answer)}"
        right = inputs == set(self.inputs) and outputs == set(self.outputs)
        return Judgement(said, right, "strata links" in text and f" at {self.node}: " in text)
