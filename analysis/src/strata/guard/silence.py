# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Why something did not happen: a topic without publications, a timer that did not fire.

Looked for in this order: the process has no event any more; the thread that should have done it was
in a callback; the node publishes while it handles another topic, which was silent too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from strata.analysis import Analysis
from strata.model.naming import label_parts
from strata.schema.rows import NONE, Ints
from strata.stats.callbacks import descriptions
from strata.units import format_ns

_MOST = 0.5
"""Of the silence: a callback that ran for so much of it explains it."""
_DEEPEST = 8


def explain_silence(analysis: Analysis, kind: str, subject: str, at_ns: int) -> str | None:
    """Return why a topic (`kind` period) or timer was silent until, or at, a time; else null."""
    if kind == "timer":
        return _of_timer(analysis, at_ns)
    publisher = _publisher(analysis, subject)
    return None if publisher is None else _of_publisher(analysis, publisher, at_ns, 0)


def _publisher(analysis: Analysis, subject: str) -> int | None:
    """Return the newest publisher that a subject (`TOPIC (NODE)`) names."""
    publishers, nodes = analysis.publishers, analysis.nodes
    names = dict(zip(nodes["node_id"], nodes["name"], strict=True))
    found = [
        row["publisher_id"]
        for row in publishers.to_dict("records")
        if _is_named(subject, row["topic"], str(names.get(row["node_id"], "")), row["vpid"])
    ]
    return max(found, default=None)


def _is_named(subject: str, topic: str, node: str, vpid: int) -> bool:
    head, end = f"{topic} (", ")"
    if not (subject.startswith(head) and subject.endswith(end)):
        return False
    label = subject[len(head) : -len(end)]
    return label == node or label_parts(label) == (node, vpid)


def _of_publisher(analysis: Analysis, publisher: int, at_ns: int, depth: int) -> str | None:
    publications = analysis.rows("publications")
    own = np.flatnonzero(publications["publisher_id"] == publisher)
    times = publications["client_ns"][own]
    times = np.where(times == NONE, publications["rmw_publish_ns"][own], times)
    before = own[times <= at_ns]
    if not len(before):
        return None
    last = before[-1]
    silent_ns = (int(np.max(times[times <= at_ns])), _next(times, at_ns, analysis.trace.end_ns))
    host = publications.texts("host")[last]
    thread = (host, int(publications["vpid"][last]), int(publications["vtid"][last]))
    ended = _ended(analysis, thread, silent_ns)
    if ended:
        return ended
    busy = _busy_with(analysis, thread, silent_ns)
    if busy:
        return busy
    publishing = set(publications["instance_id"][own].tolist())
    callback = _callback_of(analysis, int(publications["instance_id"][last]))
    if callback is None or depth >= _DEEPEST:
        return None
    came = _called(analysis, callback, silent_ns, publishing)
    if came:
        return f"Its callback was called {came} times meanwhile, and published nothing."
    return _input_of(analysis, callback, silent_ns, depth)


def _next(times: Ints, at_ns: int, end_ns: int) -> int:
    later = times[times > at_ns]
    return int(later.min()) if len(later) else end_ns


def _ended(analysis: Analysis, thread: Any, silent_ns: tuple[int, int]) -> str | None:
    host, vpid, _ = thread
    processes = analysis.processes
    own = processes[(processes["vpid"] == vpid) & (processes["host"] == host)]
    if not len(own):
        return None
    end_ns = int(own["end_ns"].max())
    silence = silent_ns[1] - silent_ns[0]
    if end_ns - silent_ns[0] < (1 - _MOST) * silence and silent_ns[1] >= analysis.trace.end_ns:
        name = _process_name(analysis, vpid)
        return (
            f"{name} has no further event: it ended, was stopped, or hangs outside of a callback."
        )
    return None


def _process_name(analysis: Analysis, vpid: int) -> str:
    nodes = analysis.nodes
    names = sorted(nodes.loc[nodes["vpid"] == vpid, "name"].unique())
    return f"Process {vpid} ({', '.join(names[:2])})" if names else f"Process {vpid}"


def _busy_with(analysis: Analysis, thread: Any, silent_ns: tuple[int, int]) -> str | None:
    """Name the callback in which a process' executor was for most of the silence."""
    host, vpid, vtid = thread
    instances = analysis.callback_instances
    own = instances[
        (instances["vpid"] == vpid) & (instances["host"] == host) & (instances["vtid"] == vtid)
    ]
    begin = np.maximum(own["start_ns"].to_numpy(np.int64), silent_ns[0])
    end = np.minimum(own["until_ns"].to_numpy(np.int64), silent_ns[1])
    within = np.maximum(end - begin, 0)
    if not len(within) or within.max() < _MOST * (silent_ns[1] - silent_ns[0]):
        return None
    at = int(np.argmax(within))
    callback = int(own["callback_id"].iloc[at])
    described = descriptions(analysis.rows("callback_objects"))[callback]
    return f"Its thread was in the callback {described} for {format_ns(int(within[at]))}."


def _callback_of(analysis: Analysis, instance: int) -> int | None:
    """Return the callback of an execution; null for none."""
    instances = analysis.rows("callback_instances")
    rows = np.flatnonzero(instances["instance_id"] == instance)
    return int(instances["callback_id"][rows[0]]) if instance != NONE and len(rows) else None


def _called(
    analysis: Analysis, callback: int, silent_ns: tuple[int, int], publishing: set[int]
) -> int:
    """Count how often a callback began during the silence, but for the execution that ended it."""
    instances = analysis.callback_instances
    own = instances[
        (instances["callback_id"] == callback)
        & (instances["start_ns"] > silent_ns[0])
        & (instances["start_ns"] < silent_ns[1])
        & ~instances["instance_id"].isin(publishing)
    ]
    return len(own)


def _input_of(
    analysis: Analysis, callback: int, silent_ns: tuple[int, int], depth: int
) -> str | None:
    """Follow a node that publishes what it is called for to what it did not get."""
    messages = analysis.messages
    own = messages[messages["callback_id"] == callback]
    if not len(own):
        described = descriptions(analysis.rows("callback_objects"))[callback]
        return (
            f"{described} did not run, though no callback kept its thread busy: the process did "
            "not run, or its executor did not spin."
        )
    last = own.iloc[-1]
    publications = analysis.rows("publications")
    publisher = int(publications["publisher_id"][int(last["publication_id"])])
    # In the midst of the silence: at its end the input has come already.
    deeper = _of_publisher(analysis, publisher, sum(silent_ns) // 2, depth + 1)
    text = f"Nothing came on its input {last['topic']} from {last['publisher_node']} either."
    return text if deeper is None else f"{text} {deeper}"


def _of_timer(analysis: Analysis, at_ns: int) -> str | None:
    """Name what ran on the timer's thread while it was due."""
    fires = analysis.rows("timer_fires")
    rows = np.flatnonzero(fires["start_ns"] == at_ns)
    if not len(rows):
        return None
    row = int(rows[0])
    due_ns = int(fires["expected_ns"][row])
    if due_ns == NONE:
        return None
    instances = analysis.rows("callback_instances")
    at = int(np.flatnonzero(instances["instance_id"] == fires["instance_id"][row])[0])
    host = instances.texts("host")[at]
    thread = (host, int(instances["vpid"][at]), int(instances["vtid"][at]))
    busy = _busy_with(analysis, thread, (due_ns, at_ns))
    return busy or "No callback kept its thread busy: the thread itself did not run in time."
