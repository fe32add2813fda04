# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What may be said of a hop's losses, of an executor, a service, an action, and of a node."""

from __future__ import annotations

from dataclasses import dataclass, replace

from case import MESSAGES, SHARE, Answer, Judgement, Truth
from judge import chains, first
from magnitude import Count, Magnitude


@dataclass(frozen=True)
class Lost:
    """Messages of a hop that are lost for a cause: its magnitude is their number."""

    topic: str
    publisher: str
    subscription: str
    causes: tuple[str, ...]
    count: Count

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Hold the hop's losses against those that were planted."""
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
            said = f"no hop of {self.topic}"
            return Judgement(said, False, False, None, planted, MESSAGES)
        losses = [row for row in hop.get("losses", []) if row["outcome"] == "lost"]
        told = ", ".join(f"{row['count']} {row['cause']}" for row in losses) or "nothing lost"
        lost = sum(int(row["count"]) for row in losses)
        own = sum(int(row["count"]) for row in losses if row["cause"] in self.causes)
        cause = lost > 0 and own >= (1 - SHARE) * lost
        named = any(
            row["code"] == "lost_messages" and self.topic in f"{row['text']} {row.get('places')}"
            for row in answer.document["quality"]
        )
        found = Judgement(told, cause, named, lost, planted, MESSAGES)
        # With another number, it is not these messages that are named.
        return replace(found, place=named and found.magnitude)


@dataclass(frozen=True)
class System:
    """The first cause of the whole system: its kind, words of its place, of what fills it.

    `magnitude` is how long each message waits for it, on average; `share` bounds its load.
    """

    kind: str
    place: tuple[str, ...]
    filled_by: str
    share: tuple[float, float]
    magnitude: Magnitude

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Hold the first of the system's causes against the planted one."""
        planted = self.magnitude(truth)
        system = answer.document.get("system")
        if not system or not system["causes"]:
            return Judgement("no cause of the whole system", False, False, None, planted)
        cause = system["causes"][0]
        low, high = self.share
        busy = cause.get("busy")
        return Judgement(
            f"{system['text']} (busy: {busy})",
            system["stands_out"] and busy is not None and low <= busy <= high,
            cause["kind"] == self.kind
            and all(word in cause["where"] for word in self.place)
            and self.filled_by in cause["text"],
            cause["mean_ns"],
            planted,
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
class Goals:
    """The phase that most of the time of an action's goals is spent in; its median."""

    action: str
    client: str
    server: str
    phase: str
    magnitude: Magnitude

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Hold the action's largest phase against the planted one; every goal has to be there."""
        planted = self.magnitude(truth)
        found = first(
            answer.document.get("actions", []),
            action=self.action,
            client_node=self.client,
            server_node=self.server,
        )
        if found is None or not found["phases"]:
            return Judgement(f"no goals of {self.action}", False, False, None, planted)
        largest = max(found["phases"], key=lambda row: float(row["share"]))
        said = f"{self.action}: {largest['phase']}, {largest['share']:.0%}"
        ended = len(truth.rows(self.client[1:], "goal", self.action))
        complete = found["goals"] == found["accepted"] == found["complete"] == ended
        return Judgement(said, largest["phase"] == self.phase, complete, largest["p50"], planted)


@dataclass(frozen=True)
class Skipped:
    """Periods that a timer of a node skipped because its executor was busy: how many."""

    node: str
    period_ms: int
    count: Count

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Hold the timer's skipped periods against the planted ones."""
        planted = self.count(truth)
        if not planted:
            raise ValueError("no period was skipped: the fault was not planted")
        period_ns = self.period_ms * 1_000_000
        timer = first(answer.document.get("timers", []), node=self.node, period_ns=period_ns)
        if timer is None:
            return Judgement("no such timer", False, False, None, planted, MESSAGES)
        causes = {name: timer[name] for name in ("overruns", "undecided", "pauses", "irregular")}
        said = f"{timer['skipped']} periods skipped by fires of these causes: {causes}"
        late = sum(causes.values())
        busy = timer["overruns"] > 0 and timer["overruns"] >= (1 - SHARE) * late
        return Judgement(said, busy, True, timer["skipped"], planted, MESSAGES)


@dataclass(frozen=True)
class Proposed:
    """A node at which chains end is named, with the links that would carry them on.

    The magnitude is the number of the output's publications that the links explain: all but the
    first, as each was made of new messages.
    """

    node: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    published: Count

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Look for the proposals, and for the command that makes a file of them."""
        planted = self.published(truth) - 1
        found = [
            row
            for row in answer.document.get("link_proposals", [])
            if row["node"] == self.node and row["probable"]
        ]
        inputs = {row["input"] for row in found}
        outputs = {row["output"] for row in found}
        text = " ".join(answer.text.split())
        said = f"{sorted(inputs)} -> {sorted(outputs)}; other chains: {chains(answer)}"
        return Judgement(
            said,
            inputs == set(self.inputs) and outputs == set(self.outputs),
            "strata links" in text and f" at {self.node}: " in text,
            min((row["new"] for row in found), default=None),
            planted,
            MESSAGES,
        )
