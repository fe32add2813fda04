# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of a results directory: stored rows, and statistics made of them by the usual stages.

What stages make from the model of a trace is stored; the others are those of any analysis.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np

from strata.analysis import MessageCounts, Process, TraceSummary
from strata.layers.links import KINDS, Links
from strata.layers.readiness import Readiness
from strata.pipeline.messages import Wanted, count_losses
from strata.pipeline.results import STAGES, MadeResults
from strata.pipeline.stages import FINDINGS, Made, Stage, stage
from strata.pipeline.stored_labels import Labels
from strata.pipeline.stored_rows import StoredRows
from strata.pipeline.stored_sums import (
    Hops,
    driver_sources_rows,
    executor_tables,
    find_hops,
    hop_tables_of,
    lifecycle_states_rows,
    losses_rows,
)
from strata.printable import path_text
from strata.read.losses import Loss
from strata.read.results import ResultsDirectory
from strata.schema import tables
from strata.schema.quality import Finding, Findings
from strata.schema.rows import NONE, Flags, Ints, Rows, numbered
from strata.schema.stored import (
    HOP_CAUSES,
    HOP_COUNTS,
    MESSAGE_FACTS,
    PROCESS_EVENTS,
    SOURCE_TIMES,
    STORED,
    THREAD_TIMES,
    WINDOWS,
)
from strata.stats.findings import quality_rows
from strata.stats.hops import hop_tables

_NOT_STORED = (
    tables.LINK_PROPOSALS,
    tables.EVENT_USES,
    tables.THREAD_CPU,
    tables.LAYER_CPU_WAITS,
)
"""Tables that have no rows: they are of a whole trace, or of samples that are not taken."""


def _plain(name: str) -> Stage:
    return stage(name, lambda stored: stored.rows(name), "stored")


def _labelled(stored: StoredRows, labels: Labels) -> Rows:
    return labels.of_rows(stored.rows("messages"))


def _hops(messages: Rows, counts: Rows, labels: Labels) -> Hops:
    return find_hops(messages, labels.of_rows(counts))


def _messages(messages: Rows, hops: Hops) -> Rows:
    return messages.with_columns({"hop_id": hops.of_message}) if len(messages) else messages


def _facts(stored: StoredRows, messages: Rows) -> tuple[Readiness, Flags, tuple[Ints, Ints]]:
    """What chains need to know of messages beyond their table: one row a message."""
    facts = stored.rows(MESSAGE_FACTS.name)
    apart = messages.words("confidence").are("unsynchronised")
    ready = Readiness(facts["hop_ready_ns"], facts["by_publisher"], apart)
    # All is recorded on one machine.
    clock = np.zeros(len(messages), np.int64)
    return ready, facts["headless"], (clock, clock)


def _links(links: Rows) -> Links:
    kind = links.words("kind")
    number = np.array([*(KINDS.index(word) for word in kind.words), NONE], np.int64)
    return Links(
        links["child_id"],
        links["parent_id"],
        number[kind.codes],
        links["callback_ns"],
        links["suspended_ns"],
        links["stored_ns"],
        links["hold_ns"],
        links["critical"],
    )


def _hop_tables(
    messages: Rows, hops: Hops, counts: Rows, causes: Rows, labels: Labels
) -> tuple[Rows, Rows, Rows, Findings]:
    columns, losses = hop_tables_of(hops, labels.of_rows(counts), labels.of_rows(causes))
    of_hops, layers = hop_tables(messages, columns)
    return of_hops, layers, losses, count_losses(of_hops, losses)


def _calls(stored: StoredRows, labels: Labels) -> Rows:
    calls = labels.of_rows(stored.rows("service_calls"))
    number = numbered(calls.words("service"), calls.words("client_node"))
    return calls.with_columns({"service_id": number})


def _goals(stored: StoredRows, labels: Labels) -> Rows:
    goals = labels.of_rows(stored.rows("action_goals"))
    number = numbered(goals.words("action"), goals.words("client_node"))
    return goals.with_columns({"action_id": number})


def _sources(stored: StoredRows, times: Rows, frames: Rows, losses: Rows) -> Rows:
    of = stored.numbers_of("driver_sources", times["source_id"])
    return driver_sources_rows(stored.rows("driver_sources"), times, of, frames, losses)


def _counts(messages: Rows, publications: Rows, takes: Rows, windows: Rows) -> MessageCounts:
    matched = np.zeros(len(takes), bool)
    matched[messages["take_id"]] = True
    received = np.zeros(len(publications), bool)
    received[messages["publication_id"]] = True
    own = ~takes["duplicate"]
    return MessageCounts(
        len(publications),
        int(own.sum()),
        len(messages),
        int((~received).sum()),
        int((own & ~matched).sum()),
        int(windows["ambiguous"].sum()),
    )


def _trace(
    directory: ResultsDirectory, nodes: Rows, processes: Rows, events: Rows, losses: Rows
) -> TraceSummary:
    contents = directory.contents
    discarded = sum(row["count"] for row in losses.records() if row["code"] == "discarded_events")
    return TraceSummary(
        path=path_text(directory.path),
        events=int(events["events"].sum()),
        discarded_events=discarded,
        begin_ns=contents.begin_ns or 0,
        end_ns=contents.end_ns or 0,
        processes=_processes(nodes, processes, events),
        machine=contents.machine,
        opened=directory.path,
    )


def _processes(nodes: Rows, processes: Rows, events: Rows) -> tuple[Process, ...]:
    count: dict[tuple[str, int], int] = {}
    called: dict[tuple[str, int], str] = {}
    for row in events.records():
        if row["vpid"] is not None:
            place = (row["host"], row["vpid"])
            count[place] = count.get(place, 0) + row["events"]
            called[place] = row["name"] or called.get(place, "")
    of_nodes: dict[tuple[str, int], dict[str, None]] = {}
    for row in nodes.records():
        of_nodes.setdefault((row["host"], row["vpid"]), {})[row["name"]] = None
    known = {(row["host"], row["vpid"]): row for row in processes.records()}
    return tuple(
        Process(
            *place,
            called[place],
            tuple(of_nodes.get(place, ())),
            number,
            known[place]["distro"] if place in known else None,
            known[place]["tracetools_version"] if place in known else None,
        )
        for place, number in sorted(count.items())
    )


def _quality(
    directory: ResultsDirectory,
    of_stages: Findings,
    losses: Rows,
    trace: TraceSummary,
    windows: Rows,
) -> Rows:
    contents = directory.contents
    chunks = {row["chunk"] for row in windows.records() if row["chunk"] and not row["unread"]}
    found = [Finding("results_by_chunk", len(chunks))]
    if not contents.complete:
        until_ns = contents.until_ns or trace.begin_ns
        until = datetime.fromtimestamp(until_ns // 1_000_000_000, UTC)
        found.append(Finding("results_incomplete", 1, (f"{until:%Y-%m-%d %H:%M:%S} UTC",)))
    for row in losses.records():
        names = ("code", "count", "place", "begin_ns", "end_ns")
        found.append(Loss(*(row[name] for name in names)).finding)
    return quality_rows(of_stages + Findings(*found), trace.begin_ns)


_OWN = (
    *(
        _plain(one.name)
        for one in STORED
        if one.name
        not in (
            "messages",
            "lifecycle_states",
            "driver_sources",
            "service_calls",
            "action_goals",
            MESSAGE_FACTS.name,
        )
    ),
    *(
        stage(table.name, lambda stored, table=table: stored.sums(table), "stored")
        for table in (HOP_COUNTS, HOP_CAUSES, PROCESS_EVENTS, THREAD_TIMES, SOURCE_TIMES, WINDOWS)
    ),
    *(stage(table.name, lambda table=table: Rows.none(table)) for table in _NOT_STORED),
    stage("labels", Labels, "nodes"),
    stage("labelled", _labelled, "stored", "labels"),
    stage("found_hops", _hops, "labelled", "hop_counts", "labels"),
    stage("messages", _messages, "labelled", "found_hops"),
    stage(("readiness", "headless", "message_clocks"), _facts, "stored", "messages"),
    stage("message_links", _links, "links"),
    stage(
        ("plain_hops", "hop_layers", "hop_losses", FINDINGS),
        _hop_tables,
        "messages",
        "found_hops",
        "hop_counts",
        "hop_causes",
        "labels",
    ),
    stage(
        "lifecycle_states",
        lambda stored: lifecycle_states_rows(stored.rows("lifecycle_states")),
        "stored",
    ),
    stage("service_calls", _calls, "stored", "labels"),
    stage("action_goals", _goals, "stored", "labels"),
    stage("driver_sources", _sources, "stored", "source_times", "driver_frames", "driver_losses"),
    stage(
        ("executors", "executor_threads"),
        executor_tables,
        "thread_times",
        "callback_instances",
        "callback_objects",
    ),
    stage("callback_cpu", dict),
    stage("losses", lambda stored: losses_rows(stored.sums(tables.LOSSES)), "stored"),
    stage("counts", _counts, "messages", "publications", "takes", "windows"),
    stage("trace", _trace, "directory", "nodes", "processes", "process_events", "losses"),
    stage("quality", _quality, "directory", FINDINGS, "losses", "trace", "windows"),
)


def _with_others(own: tuple[Stage, ...], given: set[str]) -> tuple[Stage, ...]:
    """Return the stages, and of those of any analysis what can be made with them."""
    known = given.union(*(one.gives for one in own))
    stages = list(own)
    waiting = [one for one in STAGES if not known.intersection(one.gives) - {FINDINGS}]
    while True:
        ready = [one for one in waiting if set(one.needs) <= known | {FINDINGS}]
        if not ready:
            return tuple(stages)
        stages += ready
        known.update(*(one.gives for one in ready))
        waiting = [one for one in waiting if one not in ready]


STORED_STAGES = _with_others(_OWN, {"stored", "directory", "wanted"})
"""What makes results, from what is stored."""


class StoredResults(MadeResults):
    """The results in a directory."""

    def __init__(
        self,
        directory: ResultsDirectory,
        wanted: Wanted,
        on_part: Callable[[str], None] | None = None,
    ) -> None:
        """Take the directory; `on_part` is called with what is made, when it is made."""
        given: dict[str, Any] = (
            {} if wanted.quantiles else {"quantiles": Rows.none(tables.QUANTILES)}
        )
        super().__init__(
            Made(
                STORED_STAGES,
                on_part=on_part,
                stored=StoredRows(directory),
                directory=directory,
                wanted=wanted,
                **given,
            )
        )
