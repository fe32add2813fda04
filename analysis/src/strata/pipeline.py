# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`analyze`: from a path to an `Analysis`. The stages of Strata, in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
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
from strata.layers.service_calls import cut_calls
from strata.layers.service_frames import (
    client_objects_frame,
    service_calls_frame,
    service_objects_frame,
)
from strata.layers.timer_fires import TimerFires, find_timer_fires
from strata.layers.timer_frames import timer_fires_frame
from strata.layers.transfers import cut_layers
from strata.model import entity_frames, frames
from strata.model.build import Model, build_model
from strata.model.event_uses import UNEXPLAINED
from strata.model.executor_frames import executor_threads_frame, executors_frame
from strata.model.intra_process import Windows
from strata.model.lifecycle import StateMachines, States, find_states
from strata.model.links import find_links
from strata.model.processes import ProcessFacts, describe_processes
from strata.printable import path_text
from strata.read import Trace, open_trace
from strata.read.manifest import describe_machine, read_manifest
from strata.read.processes import Threads, count_processes, count_threads
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS, PROVIDER
from strata.schema.kernel_events import KERNEL_NAMES
from strata.schema.layers import BY_NAME, WITHOUT_WAITS
from strata.schema.links import MessageLink
from strata.schema.quality import EVENT_LOSSES, Ledger
from strata.stats.blame import blame_table, find_causes
from strata.stats.bottleneck import find_bottlenecks
from strata.stats.callbacks import callback_table, describe
from strata.stats.chains import chain_tables, place_of_layer
from strata.stats.hops import hop_tables
from strata.stats.lifecycle import lifecycle_table
from strata.stats.mode_tables import mode_tables
from strata.stats.scheduling import scheduling_table, thread_causes
from strata.stats.services import service_tables
from strata.stats.timers import timer_table


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
    model = build_model(events, ledger, _loss_windows(trace))
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
    of_threads = thread_causes(scheduling, preemptions)
    blame = blame_table(
        of_chains.instances,
        of_chains.segments,
        where,
        blockers,
        described,
        messages,
        of_threads,
    )
    of_modes = mode_tables(
        of_chains.chains,
        of_chains.instances,
        of_chains.segments,
        hops,
        messages,
        lambda segments: find_causes(segments, where, blockers, described, messages, of_threads),
    )
    unsplit = messages[[layer.column for layer in WITHOUT_WAITS]].notna().any(axis=1)
    ledger.add("messages_without_executor_events", int(unsplit.sum()))
    own_hops = hops[~hops["topic"].isin(INTERNAL_TOPICS)]
    ledger.add("lost_messages", int(own_hops["lost"].sum()))
    calls = service_calls_frame(model, cut_calls(model, ledger))
    services, service_layers = service_tables(calls)
    _count_processes_without_init(model, ledger)
    uses = frames.event_uses_frame(model)
    ledger.add("unexplained_events", int(uses.loc[uses["use"] == UNEXPLAINED, "count"].sum()))
    facts = describe_processes(model.events, ledger)
    fires = find_timer_fires(model, ledger)
    lifecycle = find_states(model.events, model.entities.nodes, ledger)
    ledger.merge(trace.ledger)
    matches = model.matches
    analysis = Analysis(
        trace=_summary(trace, events, model, facts),
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
        hops=of_modes.hops,
        hop_layers=hop_layers,
        chains=of_modes.chains,
        chain_instances=of_chains.instances,
        chain_segments=of_chains.segments,
        chain_layers=of_chains.layers,
        blame=blame,
        modes=of_modes.modes,
        callbacks=callback_table(objects, instances),
        service_objects=service_objects_frame(model),
        client_objects=client_objects_frame(model),
        service_calls=calls,
        services=services,
        service_layers=service_layers,
        quality=tables.QUALITY.frame(pd.DataFrame(ledger.rows(), columns=tables.QUALITY.names)),
        losses=_losses(trace),
        event_uses=uses,
        layer_scheduling=scheduling,
        preemptions=preemptions,
        chain_scheduling=scheduling_table(
            of_chains.segments, of_chains.layers, scheduling, preemptions
        ),
        bottlenecks=find_bottlenecks(of_chains.chains, blame, of_modes.modes),
    )
    return _with_entities(analysis, model, facts, fires, lifecycle)


def _with_entities(
    analysis: Analysis,
    model: Model,
    facts: ProcessFacts,
    fires: TimerFires,
    lifecycle: tuple[StateMachines, States],
) -> Analysis:
    """Add the tables of processes, timers and lifecycles to those that they are told by."""
    timers, timer_fires = entity_frames.timers_frame(model), timer_fires_frame(fires)
    states = entity_frames.lifecycle_states_frame(*lifecycle)
    nodes, trace = analysis.nodes, analysis.trace
    return replace(
        analysis,
        processes=entity_frames.processes_frame(model, facts),
        contexts=entity_frames.contexts_frame(model),
        subscription_objects=entity_frames.subscription_objects_frame(model),
        timers=timers,
        timer_fires=timer_fires,
        timer_statistics=timer_table(
            timers, timer_fires, nodes, analysis.callback_objects, analysis.callback_instances
        ),
        lifecycle_nodes=entity_frames.lifecycle_nodes_frame(model, lifecycle[0]),
        lifecycle_states=states,
        lifecycle_statistics=lifecycle_table(states, nodes, trace.begin_ns, trace.end_ns),
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


def _loss_windows(trace: Trace) -> Windows:
    """When events of the trace were lost; a bound that is not known is far away."""
    rows = [row for row in trace.loss_rows() if row["code"] in EVENT_LOSSES]
    begin = [0 if row["begin_ns"] is None else row["begin_ns"] for row in rows]
    far = np.iinfo(np.int64).max
    end = [far if row["end_ns"] is None else row["end_ns"] for row in rows]
    return np.asarray(begin, np.int64), np.asarray(end, np.int64)


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


def _summary(
    trace: Trace, events: dict[str, pa.Table], model: Model, facts: ProcessFacts
) -> TraceSummary:
    times = [table["timestamp"] for table in events.values() if len(table)]
    discarded = trace.ledger.counts.get("discarded_events", 0)
    manifest = read_manifest(trace.path)
    return TraceSummary(
        path=path_text(trace.path),
        events=sum(len(table) for table in events.values()),
        discarded_events=discarded,
        begin_ns=min(column[0].as_py() for column in times),
        end_ns=max(column[-1].as_py() for column in times),
        processes=_processes(events, model, facts),
        machine=describe_machine(manifest) if manifest else "",
    )


def _processes(
    events: dict[str, pa.Table], model: Model, facts: ProcessFacts
) -> tuple[Process, ...]:
    """Every process that emitted any event; also those of other providers alone."""
    threads: Threads = Counter()
    for name, table in events.items():
        # The kernel's events are of every process of the machine.
        if name not in KERNEL_NAMES:
            threads.update(count_threads(table))
    nodes, known = model.entities.nodes, model.events.processes
    places = list(zip(known.host, known.vpid.tolist(), strict=True))
    out = []
    for found in count_processes(threads):
        if found.vpid is None:
            continue
        numbers = [n for n, place in enumerate(places) if place == (found.host, found.vpid)]
        if not numbers:
            out.append(Process(found.host, found.vpid, found.name, (), found.events))
        for number in numbers:
            several = len(numbers) > 1
            out.append(
                Process(
                    found.host,
                    found.vpid,
                    str(facts.procname[number] or "") if several else found.name,
                    tuple(dict.fromkeys(nodes.name[nodes.process == number])),
                    int(facts.events[number]) if several else found.events,
                    facts.distro[number],
                    facts.version[number],
                )
            )
    return tuple(sorted(out, key=lambda process: (process.host, process.vpid)))
