# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The causes of a system in plain words: a sentence each, and one for the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.schema.layers import CALLBACK, SUSPENDED
from strata.schema.rows import NONE, Flags, Rows
from strata.units import format_ns, format_share
from strata.verdict.causes import FULL, STANDS_OUT_SHARE
from strata.verdict.executor_load import busy_shares
from strata.verdict.threads import ThreadNumbers

Row = Mapping[Any, Any]

_NAMED_NODES = 2
_NAMED_THREADS = 4
_NAMED_WORK = 3
_LEAST = 0.01
"""What has less of an executor is not named and not counted."""
_MUCH_OUTSIDE = 0.1
_MUCH_CPU = 0.1
_NAMED_CAUSES = 3
_SOURCES = {"samples": "samples of the kernel's counters", "kernel events": "kernel events"}
_WHOLE = 0.9
"""Of an executor's time: what its traffic has to be for it to be all of it."""


@dataclass(frozen=True)
class Executors:
    """The tables `executors`, `executor_threads`, `executor_load` and `thread_cpu`."""

    executors: Rows
    threads: Rows
    load: Rows
    thread_cpu: Rows


def cause_sentences(causes: Sequence[Row], executors: Executors) -> list[str]:
    """Return a sentence for each row of the table `system_causes`."""
    words = _Words(executors)
    return [words.of(cause) for cause in causes]


def system_sentence(causes: Sequence[Row]) -> str:
    """Return what stands out over the whole system, or that nothing does; empty without messages.

    `causes` are the rows of the table `system_causes` with their sentences.
    """
    if not causes:
        return ""
    standing = [str(cause["text"]) for cause in causes if cause["stands_out"]]
    if standing:
        return " ".join(standing[:_NAMED_CAUSES])
    largest = max(causes, key=lambda cause: float(cause["share"]))
    return (
        "Nothing stands out: no executor is full, and nothing has "
        f"{format_share(STANDS_OUT_SHARE)} or more of the time of all messages and takes longer "
        "than a healthy system may need. The largest part is "
        f"{_part(largest)}: {format_ns(largest['mean_ns'])} each, "
        f"{format_share(largest['share'])} of the time."
    )


def _part(cause: Row) -> str:
    """Say a cause in a few words."""
    if cause["kind"] == "executor":
        return f"the wait for the executor of {_of_nodes(str(cause['where']))}"
    if cause["kind"] == "topic":
        return f"the path over {cause['where']} (most of it {cause['layer']})"
    if cause["layer"] == CALLBACK.name:
        return f"the callback for {cause['where']}"
    if cause["layer"] == SUSPENDED.name:
        return f"the time for which the suspended callback for {cause['where']} awaits something"
    return f"{cause['layer']} of {cause['where']}"


def _of_nodes(names: str) -> str:
    """Name the nodes of an executor, or say how many they are."""
    nodes = names.split(", ") if names else []
    if len(nodes) > _NAMED_NODES:
        return f"{len(nodes)} nodes"
    return " and ".join(nodes) or "nodes that are not known"


class _Words:
    """Sentences on causes, from what executors did."""

    def __init__(self, executors: Executors) -> None:
        self._executors = executors
        rows = executors.executors
        self._nodes = dict(zip(rows["executor_id"].tolist(), rows.texts("nodes"), strict=True))
        self._busy = busy_shares(executors.threads)

    def of(self, cause: Row) -> str:
        """Say one cause."""
        if cause["kind"] == "executor":
            return self._executor(cause)
        if cause["kind"] == "cpu":
            return (
                f"Process {cause['where']} is short of CPU: in {format_share(cause['busy'])} of "
                "the time in which its threads were runnable they had none, "
                f"{format_ns(cause['mean_ns'])} for each message that they sent or took (by "
                f"{_SOURCES[cause['source']]})."
            )
        part = _part(cause)
        return (
            f"{part[0].upper()}{part[1:]} takes {format_share(cause['share'])} of the time of all "
            f"messages: {format_ns(cause['mean_ns'])} each."
        )

    def _executor(self, cause: Row) -> str:
        number = int(cause["executor_id"])
        busy, share = cause["busy"], format_share(cause["share"])
        each = format_ns(cause["mean_ns"])
        load = self._executors.load
        own = list(load.take(load["executor_id"] == number).records())
        cpu = self._without_cpu(number)
        if busy is not None and busy >= FULL:
            executing = format_share(self._busy.of("executing")[number])
            what = _fill([(row, row["traffic_share"]) for row in own])
            return (
                f"The {self._name(number)} is full{self._meanwhile(number)}: it runs callbacks for "
                f"{executing} of its time and waits for work for "
                f"{format_share(self._busy.of('waiting')[number])}. Messages wait {each} each for "
                f"it, {share} of the time of all messages. It is filled by {what}.{cpu}"
            )
        how = "" if busy is None else f", which is busy for {format_share(busy)} of its time"
        outside = self._busy.of("outside").get(number, 0.0)
        if outside >= _MUCH_OUTSIDE:
            how += (
                f" and left by its program, between two calls of spin_some or spin_all, for "
                f"{format_share(outside)}"
            )
        text = f"Messages wait {each} each for the {self._name(number)}{how}: {share} of the "
        waited_ns = sum(row["waited_ns"] for row in own)
        if not waited_ns:
            return f"{text}time of all messages.{cpu}"
        behind = _fill([(row, row["waited_ns"] / waited_ns) for row in own])
        return f"{text}time of all messages, behind {behind}.{cpu}"

    def _name(self, number: int) -> str:
        threads = self._executors.threads
        own = threads["vtid"][self._threads(number)].tolist()
        which = f"thread {own[0]}" if len(own) == 1 else f"threads {', '.join(map(str, own))}"
        if len(own) > _NAMED_THREADS:
            which = f"{len(own)} threads"
        return f"executor of {_of_nodes(str(self._nodes[number]))} ({which})"

    def _threads(self, number: int) -> Flags:
        return np.asarray(self._executors.threads["executor_id"] == number, bool)

    def _meanwhile(self, number: int) -> str:
        """Say when an executor is full, where that is a part of its time."""
        traffic_ns = self._busy.of("traffic_ns")[number]
        if traffic_ns >= _WHOLE * self._busy.of("span_ns")[number]:
            return ""
        each = format_ns(traffic_ns / self._busy.of("threads")[number])
        return f" in the {each} from its first message to its last"

    def _without_cpu(self, number: int) -> str:
        """Say for how long the threads of an executor waited for a CPU, where it is much."""
        cpu, threads = self._executors.thread_cpu, self._executors.threads
        own = ThreadNumbers(threads.take(self._threads(number))).of(cpu) != NONE
        waited = cpu["traffic_cpu_wait_ns"][own & cpu.there("traffic_cpu_wait_ns")].sum()
        share = int(waited) / max(self._busy.of("traffic_ns")[number], 1.0)
        if share < _MUCH_CPU:
            return ""
        return f" For {format_share(share)} of their time its threads waited for a CPU."


def _fill(load: Sequence[tuple[Row, float]]) -> str:
    """Name what has most of an executor, and count the rest: "a 12 %, b 6 % and 17 others"."""
    ordered = sorted(load, key=lambda item: -item[1])
    rows = [(row, share) for row, share in ordered if share >= _LEAST]
    named = [f"{work_words(row)} ({format_share(share)})" for row, share in rows]
    if not named:
        return "much that is small"
    if len(rows) <= _NAMED_WORK + 1:
        return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    rest = [share for _, share in rows[_NAMED_WORK:]]
    each = f"of {format_share(min(rest))} to {format_share(max(rest))} each"
    return f"{', '.join(named[:_NAMED_WORK])} and {len(rest)} others {each}"


def work_words(row: Row) -> str:
    """Say what ran: "the callback for /t in /n", "the timer of /n (100 ms)"."""
    node = str(row["node"]) if isinstance(row["node"], str) else "an unknown node"
    takes = "takes for " if row["work"] == "take" else ""
    if not isinstance(row["trigger"], str):
        return f"{takes}a callback of {node}"
    trigger = row["trigger"]
    if trigger.startswith("/"):
        return f"{takes}{trigger} in {node}"
    return f"{takes}the {trigger} timer of {node}"
