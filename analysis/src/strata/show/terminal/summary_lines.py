# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What one line each says of executors, drivers, services, losses and the like in a summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from strata.analysis import Analysis
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.fates import LOST
from strata.show.terminal.scheduling import worth_telling
from strata.show.words.most import most_first
from strata.show.words.naming import Names, lines_of
from strata.units import as_float, format_count, format_ns, format_share
from strata.verdict.causes import FULL
from strata.verdict.executor_load import busy_shares

Row = Mapping[Any, Any]

_MOST_EXECUTORS = 3
_MOST_SOURCES = 2
_MOST_CALLBACKS = 4
_MOST_TIMERS = 3
_NAMED_THREADS = 3
_MUCH_LATE = 0.01


def executor_lines(analysis: Analysis, names: Names, width: int) -> list[str]:
    """Return the busiest executors: how busy, whether full, threads and nodes."""
    threads = analysis.rows("executor_threads")
    busy = busy_shares(threads).of("busy")
    rows = [
        (_known(busy.get(row["executor_id"])), row) for row in analysis.rows("executors").records()
    ]
    rows.sort(key=lambda pair: -(pair[0] if pair[0] is not None else -1.0))
    out = []
    for share, row in rows[:_MOST_EXECUTORS]:
        own = threads["vtid"][threads["executor_id"] == row["executor_id"]].tolist()
        which = ", ".join(map(str, own)) if len(own) <= _NAMED_THREADS else f"{len(own)} threads"
        state = "FULL" if share is not None and share >= FULL else "ok"
        how = (
            f"busy {format_share(share):>7}  {state:<4}" if share is not None else "busy not known"
        )
        head = f"{how}  {'thread' if len(own) == 1 else 'threads'} {which}: "
        if len(own) > _NAMED_THREADS:
            head = f"{how}  {which}: "
        out.append(head + _nodes(row["nodes"], names, width - len(head)))
    if len(rows) > len(out):
        out.append(f"and {len(rows) - len(out)} more (--executors)")
    return out


def _nodes(joined: str, names: Names, width: int) -> str:
    """Name as many nodes as there is room for, and count the rest."""
    nodes = [names.node(name) for name in joined.split(", ")] if joined else []
    if not nodes:
        return "nodes are not known"
    for count in range(len(nodes), 0, -1):
        rest = f" and {len(nodes) - count} more" if count < len(nodes) else ""
        text = ", ".join(nodes[:count]) + rest
        if len(text) <= width:
            return text
    return format_count(len(nodes), "node", "nodes")


def _known(share: float | None) -> float | None:
    return None if share is None else as_float(share)


def driver_lines(analysis: Analysis, names: Names, width: int) -> list[str]:
    """Return how long sensor data waited for their driver, and what was lost."""
    out = []
    rows = most_first(analysis.rows("driver_sources"), "reads")
    for row in rows[:_MOST_SOURCES]:
        nodes = ", ".join(map(names.node, (row["nodes"] or "").split(", ")))
        head = f"{row['place']}{f' of {nodes}' if nodes else ''}: "
        queue = f"queue p50 {format_ns(row['queue_p50_ns'])}, p99 {format_ns(row['queue_p99_ns'])}"
        lost = [
            f"{row[column]:,} {text}"
            for column, text in (
                ("dropped", "dropped (queue full)"),
                ("missing", "never came"),
                ("unpublished", "frame(s) not published"),
            )
            if row[column]
        ]
        whole = head + "; ".join([queue, *([", ".join(lost)] if lost else [])])
        if len(whole) <= width or not lost:
            out.append(whole)
        else:
            out += [f"{head}{queue};", f"  {', '.join(lost)}"]
    if len(rows) > _MOST_SOURCES:
        out.append(f"and {len(rows) - _MOST_SOURCES} more sources (--drivers)")
    return out


def thread_lines(analysis: Analysis, chain_id: int | None, names: Names) -> list[str]:
    """Return the layer of a chain whose threads were held up the longest (kernel events)."""
    rows = analysis.rows("chain_scheduling")
    chains = analysis.rows("chains")
    own = rows.take(rows["chain_id"] == (-1 if chain_id is None else chain_id))
    if not len(own):
        return []
    mean = float(chains["latency_mean_ns"][chains["chain_id"] == chain_id][0])
    own = own.take(worth_telling(own, mean))
    if not len(own):
        return []
    row = own.record(int(np.argmax(own["preempted_mean_ns"] + own["blocked_mean_ns"])))
    by = row["preempted_by"]
    who = f" by {by}" if isinstance(by, str) and row["preempted_mean_ns"] > 0 else ""
    return [
        f"{names.cause(row['layer'], row['where'])} (means): running "
        f"{format_ns(row['running_mean_ns'])},",
        f"  preempted {format_ns(row['preempted_mean_ns'])}{who}, blocked "
        f"{format_ns(row['blocked_mean_ns'])} (--layers)",
    ]


def loss_lines(analysis: Analysis, names: Names, width: int) -> list[str]:
    """Return how many messages were lost on how many hops, and where most."""
    hops = analysis.rows("hops")
    hops = hops.take(~hops.words("topic").are(*INTERNAL_TOPICS))
    lost = int(hops["lost"].sum())
    if not lost:
        return []
    of = {row["hop_id"]: row for row in hops.records()}
    losses = analysis.rows("hop_losses")
    rows = [
        row
        for row in most_first(losses.take(losses.words("outcome").are(LOST)), "count")
        if row["hop_id"] in of
    ]
    count = format_count(lost, "message", "messages")
    text = f"{count} on {format_count(int((hops['lost'] > 0).sum()), 'hop', 'hops')}"
    if not rows:
        return [f"{text} (--hops)"]
    hop = of[rows[0]["hop_id"]]
    ends = f"{names.topic(hop['topic'])} > {names.node(hop['subscription_node'])}"
    most = f"{rows[0]['count']:,} at {ends}, {rows[0]['cause']}"
    whole = f"{text}: {most}" if len(rows) == 1 else f"{text} (--hops); most: {most}"
    return lines_of(whole, width)


def service_lines(analysis: Analysis, names: Names, *, most: int) -> list[str]:
    """Return the services that were called the most, with the latency of their calls."""
    rows = most_first(analysis.rows("services"), "count")
    out = []
    for row in rows[:most]:
        ends = f"{names.node(row['client_node'])} > {names.topic(row['service'])}"
        lost = f"  {row['lost']:,} lost" if row["lost"] else ""
        out.append(f"{ends}: {_latency(row)}  n {row['count']:,}{lost}")
    if len(rows) > most:
        out.append(f"and {len(rows) - most} more (--services)")
    return out


def action_lines(analysis: Analysis, names: Names, *, most: int) -> list[str]:
    """Return the actions with the most goals, with the time until their results."""
    rows = most_first(analysis.rows("actions"), "goals")
    out = [
        f"{names.node(row['client_node'])} > {names.topic(row['action'])}: {_latency(row)}  "
        f"{format_count(row['goals'], 'goal', 'goals')}, {row['complete']:,} complete"
        for row in rows[:most]
    ]
    return out + ([f"and {len(rows) - most} more (--actions)"] if len(rows) > most else [])


def _latency(row: Row) -> str:
    return "  ".join(f"{name} {format_ns(row[f'latency_{name}_ns'])}" for name in ("p50", "max"))


def callback_lines(analysis: Analysis, names: Names) -> list[str]:
    """Return the callbacks that ran the longest in all."""
    rows = analysis.rows("callbacks")
    own = ~rows.words("trigger").are(*INTERNAL_TOPICS)
    rows = rows.take(own) if own.any() else rows
    total = np.nan_to_num(rows["duration_mean_ns"]) * rows["duration_count"]
    out = []
    for row in rows.take(np.argsort(-total, kind="stable")[:_MOST_CALLBACKS]).records():
        trigger = f" [{row['trigger']}]" if row["trigger"] else ""
        name = names.callback(f"{row['symbol']}{trigger} ({row['node']})")
        p50, most = format_ns(row["duration_p50_ns"]), format_ns(row["duration_max_ns"])
        out.append(f"{name}: p50 {p50}  max {most}  n {row['count']:,}")
    return out


def timer_lines(analysis: Analysis, names: Names, *, late_only: bool) -> list[str]:
    """Return timers, those that skipped the most periods first.

    With `late_only` only the first, and only where it skipped some.
    """
    rows = most_first(analysis.rows("timer_statistics"), "skipped")
    if late_only:
        rows = [row for row in rows if row["skipped"] > _MUCH_LATE * row["count"]]
    out = []
    for row in rows[: 1 if late_only else _MOST_TIMERS]:
        whole = row["skipped"] + row["count"]
        what = f"{row['skipped']:,} of {whole:,} periods skipped" if row["skipped"] else ""
        name = f"{format_ns(row['period_ns'])} of {names.node(row['node'])}"
        out.append(f"{name}: {what or 'late p50 ' + format_ns(row['lateness_p50_ns'])}")
    if len(rows) > len(out):
        more = "skip periods, too" if late_only else "timers"
        out.append(f"and {len(rows) - len(out)} more {more} (--timers)")
    return out
