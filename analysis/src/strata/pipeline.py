# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`analyze`: from a path to an `Analysis`. The stages of Strata, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from strata.analysis import Analysis, MessageCounts, Process, TraceSummary
from strata.errors import TraceError
from strata.layers.blockers import find_blockers
from strata.layers.chains import Chain, Ways, find_chains, find_chains_of, find_ways
from strata.layers.frames import blockers_frame, endpoint_names, links_frame, messages_frame
from strata.layers.links import link_messages
from strata.layers.scheduling import layer_times
from strata.layers.scheduling_frames import layer_scheduling_frame, preemptions_frame
from strata.layers.transfers import cut_layers
from strata.model import frames
from strata.model.build import Model, build_model
from strata.model.event_uses import UNEXPLAINED
from strata.model.executor_frames import executor_threads_frame, executors_frame
from strata.model.links import find_links
from strata.printable import path_text
from strata.read import Trace, open_trace
from strata.read.manifest import describe_machine, read_manifest
from strata.read.processes import Threads, count_processes, count_threads
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS, PROVIDER
from strata.schema.kernel_events import KERNEL_NAMES
from strata.schema.layers import BY_NAME, WITHOUT_WAITS
from strata.schema.links import MessageLink
from strata.schema.quality import Ledger
from strata.stats.blame import blame_table
from strata.stats.bottleneck import find_bottlenecks
from strata.stats.callbacks import callback_table, describe
from strata.stats.chains import chain_tables, place_of_layer
from strata.stats.hops import hop_tables
from strata.stats.scheduling import scheduling_table, thread_causes


def analyze(
    path: str | Path,
    *,
    links: Sequence[MessageLink] = (),
    chain: Sequence[str] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Analysis:
    """Analyze the trace at or below `path`.

    `links` declares what nodes publish from stored messages (strata.read.links.read_links reads
    them from a file). `chain` names the topics of one chain, in order: only the ways over these are
    reported as chains, instead of all that are found. `progress` is that of
    strata.read.open_trace. Raises TraceError when there is no trace, it cannot be read, it holds no
    ros2 event, or no message went the way of `chain`.
    """
    trace = open_trace(path, progress=progress)
    events = trace.tables()
    _require_ros2(trace, events)
    ledger = Ledger()
    model = build_model(events, ledger)
    return _results(trace, events, model, links, chain, ledger)


def _require_ros2(trace: Trace, events: dict[str, pa.Table]) -> None:
    if any(name.startswith(f"{PROVIDER}:") for name in events):
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


def _results(
    trace: Trace,
    events: dict[str, pa.Table],
    model: Model,
    declared: Sequence[MessageLink],
    wanted: Sequence[str] | None,
    ledger: Ledger,
) -> Analysis:
    transfers = cut_layers(model, ledger)
    names = endpoint_names(model, transfers)
    node_links = find_links(model.events, model.entities, declared, ledger)
    links = link_messages(model, transfers, node_links)
    messages = messages_frame(model, transfers, names, links)
    blockers = blockers_frame(find_blockers(model, transfers))
    objects = frames.callback_objects_frame(model)
    instances = frames.callback_instances_frame(model)
    hops, hop_layers = hop_tables(messages, frames.publications_frame(model))
    described = pd.Series(
        {row["callback_id"]: describe(row) for row in objects.to_dict("records")}, dtype=object
    )
    where = pd.DataFrame(
        {name: place_of_layer(layer, messages, described) for name, layer in BY_NAME.items()}
    )
    reportable = set(hops.loc[~hops["topic"].isin(INTERNAL_TOPICS), "hop_id"].astype(int))
    hop = names["hop_id"].to_numpy(np.int64)
    ways = find_ways(np.where(np.isin(hop, list(reportable)), hop, -1), links, ledger)
    if wanted:
        chains = _chains_of(trace, ways, hops["topic"].tolist(), wanted)
    else:
        chains = find_chains(ways, reportable, ledger)
    link_rows = links_frame(links)
    of_chains = chain_tables(chains, messages, link_rows, where)
    times, taken = layer_times(model, transfers, links)
    scheduling, preemptions = layer_scheduling_frame(model, times), preemptions_frame(taken)
    blame = blame_table(
        of_chains.instances,
        of_chains.segments,
        where,
        blockers,
        described,
        messages,
        thread_causes(scheduling, preemptions),
    )
    unsplit = messages[[layer.column for layer in WITHOUT_WAITS]].notna().any(axis=1)
    ledger.add("messages_without_executor_events", int(unsplit.sum()))
    own_hops = hops[~hops["topic"].isin(INTERNAL_TOPICS)]
    ledger.add("lost_messages", int(own_hops["lost"].sum()))
    _count_processes_without_init(model, ledger)
    uses = frames.event_uses_frame(model)
    ledger.add("unexplained_events", int(uses.loc[uses["use"] == UNEXPLAINED, "count"].sum()))
    ledger.merge(trace.ledger)
    matches = model.matches
    return Analysis(
        trace=_summary(trace, events, model),
        counts=MessageCounts(
            len(model.publications),
            int((~model.takes.duplicate).sum()),
            len(transfers),
            matches.untaken_publication_count,
            matches.unmatched_take_count,
            matches.ambiguous_count,
        ),
        nodes=frames.nodes_frame(model),
        publishers=frames.publishers_frame(model),
        subscriptions=frames.subscriptions_frame(model),
        callback_objects=objects,
        callback_instances=instances,
        publications=frames.publications_frame(model),
        takes=frames.takes_frame(model),
        messages=messages,
        links=link_rows,
        executor_blockers=blockers,
        executors=executors_frame(model),
        executor_threads=executor_threads_frame(model),
        hops=hops,
        hop_layers=hop_layers,
        chains=of_chains.chains,
        chain_instances=of_chains.instances,
        chain_segments=of_chains.segments,
        chain_layers=of_chains.layers,
        blame=blame,
        callbacks=callback_table(objects, instances),
        quality=tables.QUALITY.frame(pd.DataFrame(ledger.rows(), columns=tables.QUALITY.names)),
        losses=_losses(trace),
        event_uses=uses,
        bottlenecks=find_bottlenecks(of_chains.chains, blame),
        layer_scheduling=scheduling,
        preemptions=preemptions,
        chain_scheduling=scheduling_table(
            of_chains.segments, of_chains.layers, scheduling, preemptions
        ),
    )


def _chains_of(
    trace: Trace, ways: Ways, topic_of_hop: list[str], topics: Sequence[str]
) -> list[Chain]:
    unknown = [topic for topic in topics if topic not in topic_of_hop]
    if unknown:
        known = ", ".join(dict.fromkeys(t for t in topic_of_hop if t not in INTERNAL_TOPICS))
        raise TraceError(
            f"Cannot follow {' -> '.join(topics)} in {trace.path}: no message of {unknown[0]} was "
            f"matched. Topics with messages: {known or 'none'}."
        )
    found = find_chains_of(ways, topic_of_hop, topics)
    if not found:
        raise TraceError(
            f"Cannot follow {' -> '.join(topics)} in {trace.path}: no message went that way "
            "through callbacks. If a node on the way stores messages (a timer, fan-in), declare it "
            "with --links (docs/method.md)."
        )
    return found


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


def _summary(trace: Trace, events: dict[str, pa.Table], model: Model) -> TraceSummary:
    times = [table["timestamp"] for table in events.values() if len(table)]
    discarded = trace.ledger.counts.get("discarded_events", 0)
    manifest = read_manifest(trace.path)
    return TraceSummary(
        path=path_text(trace.path),
        events=sum(len(table) for table in events.values()),
        discarded_events=discarded,
        begin_ns=min(column[0].as_py() for column in times),
        end_ns=max(column[-1].as_py() for column in times),
        processes=_processes(events, model),
        machine=describe_machine(manifest) if manifest else "",
    )


def _processes(events: dict[str, pa.Table], model: Model) -> tuple[Process, ...]:
    threads: Threads = Counter()
    for name, table in events.items():
        # The kernel's events are of every process of the machine.
        if name not in KERNEL_NAMES:
            threads.update(count_threads(table))
    nodes = frames.nodes_frame(model)
    out = []
    for found in count_processes(threads):
        if found.vpid is None:
            continue
        own = nodes[(nodes["host"] == found.host) & (nodes["vpid"] == found.vpid)]
        names = tuple(dict.fromkeys(own["name"].astype(str)))
        out.append(Process(found.host, found.vpid, found.name, names, found.events))
    return tuple(sorted(out, key=lambda process: (process.host, process.vpid)))
