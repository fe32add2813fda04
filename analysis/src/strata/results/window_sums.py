# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a window adds to what is summed up: deliveries, work of threads, events, reads, losses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from strata.layers.deliveries import Deliveries, Names, find_deliveries
from strata.model.build import Model
from strata.model.entities import UNKNOWN, take
from strata.model.executor_frames import executor_threads_rows
from strata.model.naming import label_parts, node_labels
from strata.pipeline.stages import Made
from strata.read import Trace
from strata.read.decoder import Selection
from strata.read.processes import Threads, count_processes, count_threads
from strata.results.numbering import Maps
from strata.results.window_rows import Span
from strata.schema import tables
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.fates import LOST, NEVER_TOOK, NUMBER, PROCESS_ENDED, RECEIVED, WENT_SILENT
from strata.schema.rows import NONE, Coded, Flags, Ints, Rows
from strata.schema.stored import (
    HOP_CAUSES,
    HOP_COUNTS,
    PROCESS_EVENTS,
    SOURCE_TIMES,
    THREAD_TIMES,
)
from strata.stats.hops import delivery_tables
from strata.stats.partition import partition

_READ = {"driver:packet_received", "driver:buffer_pulled"}


def delivery_rows(made: Made, model: Model, span: Span, heard: set[Names]) -> tuple[Rows, Rows]:
    """Return `hop_counts` and `hop_causes` of what was published in a window.

    `heard` are the hops over which something was received before; those of the window are added.
    """
    found = find_deliveries(model, made["transfers"], made["endpoint_names"])
    own = span.has(found.published_ns)
    first = np.array([hop not in heard for hop in found.hops], bool)
    sent = _Sent.of_window(model, span)
    of_window = replace(
        found,
        hop=found.hop[own],
        publication=found.publication[own],
        fate=_fates(found, own, first),
        published_ns=found.published_ns[own],
        since_ns=found.since_ns[own],
        before_first=_before_first(found, first, sent),
    )
    counts, causes = delivery_tables(of_window)
    running = _Running.of_window(made)
    records = list(Rows(HOP_COUNTS, counts).records())
    causes_of = list(_named(causes, found.hops).records())
    for hop in sorted(heard - set(found.hops)):
        # In a window alone such a reader cannot be told from one that was not found yet.
        if running.has_instead(hop[2]):
            heard.discard(hop)
            continue
        times = sent.times_ns(hop)
        if len(times) and hop[0] not in INTERNAL_TOPICS:
            names = dict(zip(HOP_COUNTS.key, hop, strict=True))
            none = dict.fromkeys(("received", "in_flight", "unknown", "before_first"), 0)
            records.append({**names, **none, "published": len(times), "lost": len(times)})
            cause = WENT_SILENT if running.has(hop[2]) else PROCESS_ENDED
            lost = {"outcome": LOST, "cause": cause, "count": len(times)}
            bounds = {"begin_ns": int(times.min()), "end_ns": int(times.max())}
            causes_of.append({**names, **lost, **bounds})
    received = of_window.hop[of_window.fate == NUMBER[RECEIVED]]
    heard.update(found.hops[at] for at in np.unique(received).tolist())
    return Rows.of_records(HOP_COUNTS, records), Rows.of_records(HOP_CAUSES, causes_of)


@dataclass(frozen=True)
class _Running:
    """The processes that emitted events in a window, and the nodes in them."""

    processes: frozenset[int]
    nodes: frozenset[str]

    @classmethod
    def of_window(cls, made: Made) -> _Running:
        processes, nodes = made["processes"], made["nodes"]
        running = frozenset(processes["vpid"][processes["begin_ns"] > 0].tolist())
        places = zip(nodes.texts("name"), nodes["vpid"].tolist(), strict=True)
        return cls(running, frozenset(name for name, vpid in places if vpid in running))

    def has(self, label: str) -> bool:
        """Return whether the process of a node runs; what is not known does."""
        parts = label_parts(label)
        return parts is None or parts[1] in self.processes

    def has_instead(self, label: str) -> bool:
        """Return whether a node's process has ended, and another one has the node again."""
        parts = label_parts(label)
        return parts is not None and not self.has(label) and parts[0] in self.nodes


@dataclass(frozen=True)
class _Sent:
    """When messages were published in a window, by topic and node."""

    by_name: Mapping[tuple[str, str], Ints]

    @classmethod
    def of_window(cls, model: Model, span: Span) -> _Sent:
        publications, publishers = model.publications, model.entities.publishers
        nodes = take(node_labels(model.entities.nodes, model.processes), publishers.node, UNKNOWN)
        names = list(zip(publishers.topic, nodes, strict=True))
        sent_ns = publications.handed_ns
        own = np.flatnonzero(span.has(sent_ns) & (publications.publisher != NONE))
        times: dict[tuple[str, str], list[Ints]] = {}
        for publisher, rows in partition(publications.publisher[own]):
            times.setdefault(names[publisher], []).append(sent_ns[own[rows]])
        return cls({name: np.concatenate(parts) for name, parts in times.items()})

    def times_ns(self, hop: Names) -> Ints:
        """Return when messages were published that a hop is about."""
        return self.by_name.get(hop[:2], np.empty(0, np.int64))


def _before_first(found: Deliveries, first: Flags, sent: _Sent) -> Ints:
    """Return of each hop what was published in the window before its first message was taken.

    In windows after the first one it is known that the two had found each other.
    """
    received = found.fate == NUMBER[RECEIVED]
    first_ns = np.full(len(found.hops), np.iinfo(np.int64).max)
    np.minimum.at(first_ns, found.hop[received], found.published_ns[received])
    return np.array(
        [
            min(int(before), int((sent.times_ns(hop) < ns).sum())) if is_first and before else 0
            for hop, is_first, before, ns in zip(
                found.hops, first, found.before_first, first_ns, strict=True
            )
        ],
        np.int64,
    )


def _fates(found: Deliveries, own: Flags, first: Flags) -> Ints:
    """Return the fates; a reader that took something in an earlier window went silent."""
    fate = found.fate[own].copy()
    fate[(fate == NUMBER[NEVER_TOOK]) & ~first[found.hop[own]]] = NUMBER[WENT_SILENT]
    return fate


def _named(losses: Rows, hops: Sequence[Names]) -> Rows:
    columns = {
        name: Coded.of(one[at] for one in hops).take(losses["hop_id"])
        for at, name in enumerate(HOP_COUNTS.key)
    }
    rest = {
        name: losses.words(name) if name in ("outcome", "cause") else losses[name]
        for name in ("outcome", "cause", "count", "begin_ns", "end_ns", "since_ns")
    }
    return Rows(HOP_CAUSES, {**columns, **rest})


def thread_rows(made: Made, model: Model, span: Span) -> Rows:
    """Return `thread_times`: what threads of executors did in a window."""
    rows = executor_threads_rows(model, (span.since_ns, span.until_ns))
    executors = made["executors"]
    # By a name that is the same in other windows, too.
    least = np.full(len(executors), np.iinfo(np.int64).max)
    np.minimum.at(least, rows["executor_id"], rows["vtid"])
    kind = executors.words("kind").take(rows["executor_id"])
    columns = {
        name: rows.words(name) if name == "host" else rows[name]
        for name in THREAD_TIMES.names
        if name not in ("executor", "kind")
    }
    own = {"executor": least[rows["executor_id"]], "kind": kind}
    # What was before the window is none of it.
    idle = rows["traffic_end_ns"] <= rows["traffic_begin_ns"]
    traffic = [name for name in THREAD_TIMES.names if name.startswith("traffic_")]
    columns |= {name: np.where(idle, NONE, rows[name]) for name in traffic}
    some = rows["end_ns"] > rows["begin_ns"]
    return Rows(THREAD_TIMES, {**columns, **own}).take(some)


def count_ambiguous(model: Model, span: Span) -> int:
    """Return how many takes of a window may be of several publications."""
    taken = np.unique(model.matches.doubtful[0])
    return int(span.has(model.takes.taken_ns[taken]).sum())


@dataclass(frozen=True)
class Counted:
    """The events of a chunk by process (`process_events`), and when the first and last were.

    `begin_ns` is null where there is none.
    """

    processes: Rows
    begin_ns: int | None
    end_ns: int

    @property
    def events(self) -> int:
        """How many there are."""
        return int(self.processes["events"].sum())


def count_events(chunk: Trace) -> Counted:
    """Count the events of a trace chunk. Raises TraceError."""
    threads: Threads = Counter()
    begin_ns: int | None = None
    end_ns = 0
    wanted = frozenset({"timestamp", "host", "vpid", "vtid", "procname", "process_name"})
    for part in chunk.chunks(Selection(columns=wanted)):
        for batches in part.values():
            for batch in batches:
                threads.update(count_threads(pa.Table.from_batches([batch])))
                times = batch.column("timestamp").to_numpy()
                first_ns = int(times[0])
                begin_ns = first_ns if begin_ns is None else min(begin_ns, first_ns)
                end_ns = max(end_ns, int(times[-1]))
    counted = count_processes(threads)
    rows = Rows.of_records(PROCESS_EVENTS, [vars(one) for one in counted])
    return Counted(rows, begin_ns, end_ns)


def source_rows(made: Made, model: Model, trace: Trace, span: Span, maps: Maps) -> Rows:
    """Return `source_times`: what drivers read in a window."""
    sources = made["driver_sources"]
    if not len(sources):
        return Rows.none(SOURCE_TIMES)
    reads = {name: model.rows.ints("driver_reads", name) for name in ("source", "ns", "arrival_ns")}
    own = span.has(reads["ns"])
    source = reads["source"][own]
    queue_ns = np.where(reads["arrival_ns"] != NONE, reads["ns"] - reads["arrival_ns"], NONE)[own]
    longest = np.full(len(sources), NONE, np.int64)
    np.maximum.at(longest, source, queue_ns)
    return Rows(
        SOURCE_TIMES,
        {
            "source_id": maps["driver_sources"][sources["source_id"]],
            "reads": np.bincount(source, minlength=len(sources)),
            "bytes": _bytes(sources, trace, span),
            "queue_max_ns": longest,
        },
    )


def _bytes(sources: Rows, trace: Trace, span: Span) -> Ints:
    """Return how many bytes were read from each source."""
    columns = {"host", "vpid", "source", "bytes"}
    found: dict[tuple[str, int, int], int] = {}
    end_ns = None if span.until_ns == np.iinfo(np.int64).max else span.until_ns + 1
    events = trace.tables(_READ, columns=columns, begin_ns=span.since_ns + 1, end_ns=end_ns)
    for table in events.values():
        sums = table.group_by(["host", "vpid", "source"]).aggregate([("bytes", "sum")])
        for row in sums.to_pylist():
            key = (row["host"], row["vpid"], row["source"])
            found[key] = found.get(key, 0) + int(row["bytes_sum"])
    keys = zip(
        sources.texts("host"), sources["vpid"].tolist(), sources["source"].tolist(), strict=True
    )
    return np.array([found.get(key, 0) for key in keys], np.int64)


def loss_rows(trace: Trace, after_ns: int | None, staged: str, own: str) -> Rows:
    """Return the table `losses` of what was lost after an instant; null: of all.

    Places in the directory `staged` are named as those in `own`, where its chunks are from.
    """
    rows = []
    for row in trace.loss_rows():
        known_ns = row["end_ns"] if row["end_ns"] is not None else row["begin_ns"]
        if after_ns is not None and (known_ns is None or known_ns <= after_ns):
            continue
        if after_ns is not None and row["code"] in ("packets_before_trace", "dropped_packets"):
            continue
        rows.append({**row, "place": str(row["where"]).replace(staged, own)})
    return Rows.of_records(tables.LOSSES, rows)
