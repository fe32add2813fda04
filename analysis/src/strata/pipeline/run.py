# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The way of a trace through the stages: read, model, layers, statistics."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from strata.analysis import Analysis, MessageCounts
from strata.errors import TraceError
from strata.model.build import Model, build_model
from strata.model.columns import NONE
from strata.model.event_uses import UNEXPLAINED
from strata.model.frames import event_uses_frame
from strata.model.processes import describe_processes
from strata.model.windows import Windows
from strata.pipeline.entities import entity_tables
from strata.pipeline.messages import Wanted, message_results
from strata.pipeline.summary import summarize_trace
from strata.read import Trace, open_trace
from strata.read.manifest import other_processes, read_manifest
from strata.read.namespaces import tell_namespaces_apart
from strata.read.processes import leave_out
from strata.read.thread_cpu import ThreadCpu, read_thread_cpu
from strata.schema import tables
from strata.schema.events import PROVIDER
from strata.schema.links import MessageLink
from strata.schema.quality import EVENT_LOSSES, Ledger
from strata.schema.rows import Rows
from strata.stats.findings import quality_frame
from strata.verdict.system import JUDGED, judge_system


def analyze(
    path: str | Path,
    *,
    links: Sequence[MessageLink] = (),
    chain: Sequence[str] | None = None,
    progress: Callable[[int], None] | None = None,
    without: Collection[int] = (),
    all_processes: bool = False,
) -> Analysis:
    """Analyze the trace at or below `path`.

    `links` declares what nodes publish from stored messages (strata.read.links.read_links reads
    them from a file). `chain` names the topics of one chain, in order: only the ways over these are
    reported as chains, instead of all that are found. `progress` is that of
    strata.read.open_trace. The processes of the ids in `without` are left out, and counted. So are
    those that the recorded command did not start, as far as the session's manifest says, unless
    `all_processes`, or the command started none that emits ros2 events. Raises TraceError when
    there is no trace, it cannot be read, it holds no ros2 event, or no message went the way of
    `chain`.
    """
    trace = open_trace(path, progress=progress)
    events = tell_namespaces_apart(trace.tables())
    ledger = Ledger()
    if without:
        events, others = leave_out(events, without)
        ledger.add("foreign_processes", len(others))
    if not all_processes:
        events = _started_by_command(trace, events, ledger)
    _require_ros2(trace, events)
    model = build_model(
        events,
        ledger,
        _loss_windows(trace),
        _thread_cpu(trace),
        trace.clocks,
        NONE if trace.dropped is None or trace.dropped.end_ns is None else trace.dropped.end_ns,
    )
    return analyze_model(trace, events, model, Wanted(tuple(links), chain), ledger)


def _started_by_command(
    trace: Trace, events: dict[str, pa.Table], ledger: Ledger
) -> dict[str, pa.Table]:
    """Leave out what the command did not start: a session records every process of the user."""
    others = other_processes(read_manifest(trace.path))
    if not others:
        return events
    own, left = leave_out(events, others)
    told = [str(process) for process in left]
    if not _has_ros2(own) and _has_ros2(events):
        # Recorded beside what ran already, as with `strata record -- sleep 60`.
        ledger.add("only_other_processes", len(left), *told)
        return events
    ledger.add("processes_left_out", len(left), *told)
    return own


def _has_ros2(events: Iterable[str]) -> bool:
    return any(name.startswith(f"{PROVIDER}:") for name in events)


def analyze_model(
    trace: Trace, events: dict[str, pa.Table], model: Model, wanted: Wanted, ledger: Ledger
) -> Analysis:
    """Return the results of a model; `events` and `ledger` are those that it was built with."""
    facts = describe_processes(model.events, ledger)
    summary = summarize_trace(trace, events, model, facts)
    messages = message_results(model, wanted, ledger)
    objects = messages.tables["callback_objects"]
    entities = entity_tables(model, facts, summary, objects, ledger)
    _count_processes_without_init(model, ledger)
    uses = event_uses_frame(model)
    for row in uses[uses["use"] == UNEXPLAINED].to_dict("records"):
        ledger.add("unexplained_events", row["count"], place=row["event"])
    ledger.merge(trace.ledger)
    every = {**messages.tables, **entities}
    system, verdicts = judge_system(
        {table.name: Rows.of_frame(table, every[table.name]) for table in JUDGED}
    )
    return Analysis(
        trace=summary,
        counts=_counts(model, ledger),
        bottlenecks=messages.bottlenecks,
        quality=quality_frame(ledger, summary.begin_ns),
        losses=_losses(trace),
        event_uses=uses,
        **messages.tables,
        system=system,
        **entities,
        **{name: rows.table.frame(rows.frame()) for name, rows in verdicts.items()},
    )


def _counts(model: Model, ledger: Ledger) -> MessageCounts:
    matches = model.matches
    return MessageCounts(
        len(model.publications),
        int((~model.takes.duplicate).sum()),
        len(matches.take),
        ledger.counts.get("untaken_publications", 0),
        matches.unmatched_take_count,
        matches.ambiguous_count,
    )


def _require_ros2(trace: Trace, events: dict[str, pa.Table]) -> None:
    if _has_ros2(events):
        return
    total = sum(len(table) for table in events.values())
    if not total:
        raise TraceError(
            f"Cannot analyze {trace.path}: the trace holds no event. Check that the session was "
            "started before the nodes and that they load the tracepoints (strata doctor)."
        )
    names = ", ".join(sorted({name.split(":")[0] for name in events})[:5])
    raise TraceError(
        f"Cannot analyze {trace.path}: none of its {total} events is a {PROVIDER}:* event, they "
        f"are of {names}. Record with the events ros2:* (strata record, ros2 trace)."
    )


def _loss_windows(trace: Trace) -> Windows:
    """When events of the trace were lost; a bound that is not known is far away."""
    rows = [row for row in trace.loss_rows() if row["code"] in EVENT_LOSSES]
    begin = [0 if row["begin_ns"] is None else row["begin_ns"] for row in rows]
    far = np.iinfo(np.int64).max
    end = [far if row["end_ns"] is None else row["end_ns"] for row in rows]
    return np.asarray(begin, np.int64), np.asarray(end, np.int64)


def _thread_cpu(trace: Trace) -> tuple[ThreadCpu, int] | None:
    """Samples of threads beside the trace, and what its clock adds to theirs; null without any."""
    found = read_thread_cpu(trace.path)
    offsets = list(trace.clock_offsets_ns.values())
    return (found, offsets[0]) if found is not None and offsets else None


def _losses(trace: Trace) -> pd.DataFrame:
    columns = ["code", "count", "where", "begin_ns", "end_ns"]
    # Not by way of floats, which have no nanoseconds since the epoch.
    found = pd.DataFrame(trace.loss_rows(), columns=columns, dtype=object)
    return tables.LOSSES.frame(found.rename(columns={"where": "place"}))


def _count_processes_without_init(model: Model, ledger: Ledger) -> None:
    """Processes that publish or take through handles which no init event introduced."""
    processes = model.events.processes
    nameless = np.concatenate(
        [
            model.publications.thread[model.publications.publisher == -1],
            model.takes.thread[model.takes.subscription == -1],
        ]
    )
    ledger.add("no_init_events", len(np.unique(processes.thread_process[nameless])))
