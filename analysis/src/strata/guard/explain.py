# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Why a fault happened, from the snapshot of it alone, in a sentence.

A slow message is compared with the others of its chain or hop in the snapshot: the cause is the
layer that took most longer than it usually does (than its median there). Where half of the messages
are as slow, the fault is the usual case, and the cause is its largest layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.analysis import Analysis
from strata.comparison.amounts import subject_text
from strata.comparison.runs import CHAIN, HOP, Subject
from strata.guard.silence import explain_silence
from strata.schema.fates import FATES, LOST
from strata.schema.layers import BY_NAME
from strata.stats.path import CriticalPath, Step, critical_path
from strata.units import format_count, format_ns, format_share

_NAMED_BEHIND = 2
_WORTH_NAMING = 0.1
_TEXT_OF = {fate.cause: fate.text for fate in FATES}


@dataclass(frozen=True)
class Cause:
    """Why a fault happened; `layer` and `where` are empty where no layer of a message is to blame.

    `duration_ns` is what the layer took, `usual_ns` what it does usually; null where unknown.
    """

    text: str
    layer: str = ""
    where: str = ""
    duration_ns: int | None = None
    usual_ns: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Give what incident.json says of it."""
        return dict(vars(self))


def explain(analysis: Analysis, fault: Mapping[str, Any]) -> Cause | None:
    """Return the cause of a fault of incident.json; null when the snapshot does not show it."""
    kind, at_ns = str(fault["kind"]), int(fault["at_ns"])
    if kind == "loss":
        return _of_loss(analysis, fault)
    if kind in ("period", "timer"):
        return _silent(analysis, kind, str(fault["subject"]), at_ns)
    if kind == "executor":
        return _of_executor(analysis, str(fault["subject"]))
    return None if kind == "event" else _of_message(analysis, kind, at_ns)


def _silent(analysis: Analysis, kind: str, subject: str, at_ns: int) -> Cause | None:
    text = explain_silence(analysis, kind, subject, at_ns)
    return None if text is None else Cause(text)


# --- a slow message ------------------------------------------------------------------------------


def _of_message(analysis: Analysis, kind: str, at_ns: int) -> Cause | None:
    """Explain the slowest chain that ended at a time, or the message whose callback did."""
    instances = analysis.rows("chain_instances")
    rows = np.flatnonzero((instances["end_ns"] == at_ns) & (kind == CHAIN))
    if len(rows):
        row = rows[np.argmax(instances["latency_ns"][rows])]
        path = critical_path(analysis, int(instances["message_id"][row]))
        usual, typical_ns = _usual_of_chain(analysis, int(instances["chain_id"][row]))
        return _of_path(path, usual, typical_ns)
    messages = analysis.rows("messages")
    ended = np.flatnonzero(
        (messages["callback_end_ns"] == at_ns) | (messages["callback_start_ns"] == at_ns)
    )
    if not len(ended):
        return None
    message = int(ended[0])
    path = critical_path(analysis, message)
    own = tuple(step for step in path.steps if step.message_id == message)
    latency_ns = sum(step.duration_ns for step in own)
    usual, typical_ns = _usual_of_hop(analysis, int(messages["hop_id"][message]))
    last = own[0].hop if own else 0
    usual = {(last, layer): ns for (_, layer), ns in usual.items()}
    return _of_path(CriticalPath(path.begin_ns, latency_ns, own), usual, typical_ns)


_Usual = dict[tuple[int, str], float]
"""Median duration of a layer in ns, by the position of its hop and its name."""


def _usual_of_chain(analysis: Analysis, chain_id: int) -> tuple[_Usual, float]:
    segments = analysis.chain_segments
    own = segments[segments["chain_id"] == chain_id]
    medians = own.groupby(["hop", "layer"], observed=True)["duration_ns"].median().reset_index()
    instances = analysis.rows("chain_instances")
    latency_ns = instances["latency_ns"][instances["chain_id"] == chain_id]
    usual = {
        (int(row["hop"]), str(row["layer"])): float(row["duration_ns"])
        for row in medians.to_dict("records")
    }
    return usual, float(np.median(latency_ns))


def _usual_of_hop(analysis: Analysis, hop_id: int) -> tuple[_Usual, float]:
    messages = analysis.messages
    own = messages[messages["hop_id"] == hop_id]
    usual = {
        (0, name): float(own[layer.column].dropna().median())
        for name, layer in BY_NAME.items()
        if layer.column in own and own[layer.column].notna().any()
    }
    return usual, float(own["latency_ns"].dropna().median())


def _of_path(path: CriticalPath, usual: _Usual, typical_ns: float) -> Cause | None:
    if not path.steps:
        return None
    often = typical_ns * 2 >= path.latency_ns

    def excess(step: Step) -> float:
        return step.duration_ns - (0.0 if often else usual.get((step.hop, step.layer), 0.0))

    worst = max(path.steps, key=excess)
    usual_ns = int(usual.get((worst.hop, worst.layer), 0.0))
    text = f"{format_ns(worst.duration_ns)} of it is {worst.layer}"
    text += f" of {worst.where}" if worst.where else ""
    text += f" (usually {format_ns(usual_ns)})" if not often else ", as in most of its messages"
    text += _behind(worst)
    return Cause(f"{text}.", worst.layer, worst.where, worst.duration_ns, usual_ns)


def _behind(step: Step) -> str:
    named = [
        f"{work} ({format_ns(ns)})"
        for work, ns in step.behind[:_NAMED_BEHIND]
        if ns >= _WORTH_NAMING * step.duration_ns
    ]
    return f", behind {' and '.join(named)}" if named else ""


# --- losses and executors ------------------------------------------------------------------------


def _of_loss(analysis: Analysis, fault: Mapping[str, Any]) -> Cause | None:
    """Say what became of the messages of the hop that the fault names."""
    hops, losses = analysis.hops, analysis.hop_losses
    lost = losses[losses["outcome"] == LOST].merge(hops, on="hop_id", suffixes=("", "_of_hop"))
    named = [row for row in lost.to_dict("records") if str(fault["subject"]) == _hop_name(row)]
    if not named:
        return None
    worst = max(named, key=lambda row: int(row["count"]))
    text = (
        f"{format_count(int(worst['count']), 'message', 'messages')} of {worst['topic']} from "
        f"{worst['publisher_node']} to {worst['subscription_node']}: "
        f"{_TEXT_OF[str(worst['cause'])]}"
    )
    work = _fullest_work(analysis, str(worst["subscription_node"]))
    return Cause(f"{text}.{work}", str(worst["cause"]), str(worst["topic"]))


def _hop_name(row: Mapping[Any, Any]) -> str:
    """Return what strata.guard.losses calls a hop."""
    where = f"{row['publisher_node']} -> {row['subscription_node']}"
    return f"{HOP} {subject_text(Subject(HOP, str(row['topic']), where))}"


def _of_executor(analysis: Analysis, subject: str) -> Cause | None:
    executors = analysis.executors
    for node in _by_length(name for nodes in executors["nodes"] for name in nodes.split(", ")):
        if node and node in subject:
            text = _fullest_work(analysis, node)
            return Cause(text.strip(), "executor", node) if text else None
    return None


def _fullest_work(analysis: Analysis, node: str) -> str:
    """Say what the executor of a node ran for longest; empty where that is not known."""
    executors, load = analysis.executors, analysis.executor_load
    own = [
        number
        for number, nodes in zip(executors["executor_id"], executors["nodes"], strict=True)
        if node in nodes.split(", ")
    ]
    work = load[load["executor_id"].isin(own)].sort_values("duration_ns", ascending=False)
    if not len(work):
        return ""
    first = work.iloc[0]
    share = float(first["share"])
    if share < _WORTH_NAMING:
        return ""
    work_for = f"{first['work']} for {first['trigger']} of {first['node']}"
    if int(first["unfinished"]):
        return f" The executor of {node} has not returned from the {work_for}."
    mean = format_ns(int(first["duration_ns"]) // max(int(first["count"]), 1))
    return (
        f" The executor of {node} was busy for {format_share(share)} of the time with the "
        f"{work_for} ({mean} each)."
    )


def _by_length(names: Any) -> Sequence[str]:
    return sorted(set(names), key=len, reverse=True)
