# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The model of a trace from the engine's rows, where the engine knows all that the trace holds.

What it has no machines for yet is asked for first (`lacks`): then the model is built of event
tables (strata.model.build).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from strata.engine._model import Engine
from strata.model.build import Model
from strata.model.callback_groups import find_callback_groups
from strata.model.columns import NONE, Ints
from strata.model.dds.middleware import Middleware
from strata.model.dds.reads import Notified, Reads
from strata.model.dds.writes import Writes
from strata.model.driver.driver import find_driver
from strata.model.driver.publications import Surroundings
from strata.model.entities import Callbacks, Entities, build_entities
from strata.model.executions import Executions, Waits
from strata.model.executor_clocks import read_clocks
from strata.model.executors import group_threads
from strata.model.hosts import number_clocks
from strata.model.matching import Matches
from strata.model.naming import callback_places, subscription_places
from strata.model.ring_buffers import find_ring_buffers, pair_passages
from strata.model.scheduling import Occupancy, Scheduling
from strata.model.service_calls import find_service_traffic
from strata.model.thread_cpu import find_cpu_samples, no_samples
from strata.model.thread_states import Intervals
from strata.model.thread_steps import ThreadSteps
from strata.model.timeline import Timeline
from strata.model.traffic import Publications, Takes
from strata.model.windows import NO_LOSSES
from strata.onepass.facts import EngineFacts
from strata.onepass.kept import KeptEvents
from strata.onepass.tables import EngineTables
from strata.read import Trace
from strata.read.thread_cpu import ThreadCpu
from strata.schema.events import CATALOGUE
from strata.schema.quality import Ledger
from strata.schema.rows import Coded

_NO_PLACE, _SUBSCRIPTION, _CALLBACK, _EVENT, _PROCESS = range(5)
"""PlaceKind of native/model/ledger.hpp."""


@dataclass(frozen=True)
class Numbers:
    """How rows of the model are numbered: the engine's row of each, and the other way round.

    Executions are in order of thread and time, publications and takes in order of time; `NONE` for
    publishes that are no publications of the application.
    """

    execution_order: Ints
    execution_number: Ints
    publish_order: Ints
    publication_number: Ints
    take_order: Ints
    take_number: Ints


def _inverse(order: Ints, count: int) -> Ints:
    """Rows by the engine's; one more for null."""
    out = np.full(count + 1, NONE, np.int64)
    out[order] = np.arange(len(order))
    return out


def number_rows(tables: EngineTables) -> Numbers:
    """Return the order of the model's rows."""
    executions = np.lexsort(
        (tables.ints("executions", "start_at"), tables.ints("executions", "thread"))
    )
    publishes = _in_time(tables, "publishes")
    publishes = publishes[tables.rows["publishes"]["of_application"][publishes] == 1]
    takes = _in_time(tables, "takes")
    return Numbers(
        executions,
        _inverse(executions, tables.size("executions")),
        publishes,
        _inverse(publishes, tables.size("publishes")),
        takes,
        _inverse(takes, tables.size("takes")),
    )


def _in_time(tables: EngineTables, table: str) -> Ints:
    """Of one instant by thread, and then as they came."""
    columns = (tables.ints(table, name) for name in ("at", "thread", "ns"))
    return np.lexsort(tuple(columns)).astype(np.int64)


def model_of_rows(
    tables: EngineTables,
    ledger: Ledger,
    clocks: dict[str, str],
    cpu: tuple[ThreadCpu, int] | None,
) -> Model:
    """Return the model of an engine that is finished; what it found is counted in `ledger`."""
    numbers = number_rows(tables)
    kept = KeptEvents(tables)
    made: list[Model] = []
    facts = EngineFacts(tables, numbers, lambda: made[0])
    timeline = Timeline(kept)
    entities = build_entities(kept)
    callback_of = _callbacks(tables, entities.callbacks)
    executions = _executions(tables, numbers, callback_of)
    waits = _waits(tables)
    host_clocks = number_clocks(kept.processes, clocks)
    publications, takes = _publications(tables, numbers), _takes(tables, numbers)
    _count(tables, entities, callback_of, ledger)
    # What is there of drivers, services and ring buffers are entities; the engine counted findings.
    unsaid = Ledger()
    executors = group_threads(kept.processes, executions, _told(tables, kept), entities.callbacks)
    groups = find_callback_groups(executions, executors, entities.callbacks)
    around = Surroundings(kept, timeline, entities, executions, publications, NO_LOSSES)
    made.append(
        Model(
            kept,
            timeline,
            entities,
            executions,
            waits,
            executors,
            groups,
            read_clocks(executions, waits, executors, groups),
            publications,
            takes,
            _middleware(tables, numbers),
            find_driver(around, unsaid),
            _matches(tables, numbers),
            pair_passages(kept, find_ring_buffers(kept, entities), unsaid),
            _scheduling(tables, kept),
            find_service_traffic(
                kept, timeline, entities, executions, unsaid, host_clocks, NO_LOSSES
            ),
            NO_LOSSES,
            host_clocks,
            find_cpu_samples(*cpu, kept.processes) if cpu else no_samples(),
            known=facts,
            thread_steps=ThreadSteps(*[np.empty(0, np.int64)] * 3),
        )
    )
    return made[0]


def _callbacks(tables: EngineTables, callbacks: Callbacks) -> Ints:
    """The model's row of each of the engine's callbacks; one more for null."""
    known = {
        key: row
        for row, key in enumerate(
            zip(
                callbacks.process.tolist(),
                callbacks.address.tolist(),
                callbacks.begin_ns.tolist(),
                range(len(callbacks.address)),
                strict=True,
            )
        )
    }
    order = sorted(known)
    own = list(
        zip(
            tables.ints("callbacks", "process").tolist(),
            tables.ints("callbacks", "address").tolist(),
            tables.ints("callbacks", "begin_ns").tolist(),
            range(tables.size("callbacks")),
            strict=True,
        )
    )
    out = np.full(len(own) + 1, NONE, np.int64)
    for mine, theirs in zip(sorted(own), order, strict=True):
        out[mine[3]] = known[theirs]
    return out


def _executions(tables: EngineTables, numbers: Numbers, callback_of: Ints) -> Executions:
    order, number = numbers.execution_order, numbers.execution_number

    def column(name: str) -> Ints:
        return tables.ints("executions", name)[order]

    intra = column("is_intra_process")
    return Executions(
        start=_positions(column("thread"), column("start_at")),
        until=_positions(column("thread"), column("until_at")),
        start_ns=column("start_ns"),
        end_ns=column("end_ns"),
        until_ns=column("until_ns"),
        thread=column("thread"),
        callback=callback_of[column("callback")],
        intra_process=np.where(intra == 2, NONE, intra),
        depth=column("depth"),
        first=number[column("first")],
        last=number[column("last")],
        previous=number[column("previous")],
        resumed=column("is_resumed") == 1,
        finished_ns=column("finished_ns"),
        paused_ns=column("paused_ns"),
    )


_PLACES = 1 << 40
"""More than any trace has events."""


def _positions(thread: Ints, at: Ints) -> Ints:
    """Positions of events in one order by thread and time; `at` are their places among all."""
    return np.asarray(thread * _PLACES + at, np.int64)


def _waits(tables: EngineTables) -> Waits:
    found = tables.engine.waits()
    thread = tables.thread_number[found["thread"].astype(np.int64)]
    return Waits(found["start_ns"].astype(np.int64), found["end_ns"].astype(np.int64), thread)


def _told(tables: EngineTables, kept: KeptEvents) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which threads have events of an executor, or waits."""
    told = np.zeros(len(kept.processes.thread_process), bool)
    thread = tables.ints("executor_threads", "thread")
    told[thread[tables.rows["executor_threads"]["has_executor"] == 1]] = True
    told[np.unique(_waits(tables).thread)] = True
    return told


def _publications(tables: EngineTables, numbers: Numbers) -> Publications:
    def column(name: str) -> Ints:
        return tables.ints("publishes", name)[numbers.publish_order]

    return Publications(
        position=_positions(column("thread"), column("at")),
        publisher=column("publisher"),
        rmw_handle=column("rmw_handle"),
        thread=column("thread"),
        client_ns=column("client_ns"),
        rmw_publish_ns=column("ns"),
        source_timestamp=column("stamp"),
        execution=numbers.execution_number[column("execution")],
    )


def _takes(tables: EngineTables, numbers: Numbers) -> Takes:
    def column(name: str) -> Ints:
        return tables.ints("takes", name)[numbers.take_order]

    count = len(numbers.take_order)
    return Takes(
        position=_positions(column("thread"), column("at")),
        subscription=column("subscription"),
        rmw_handle=column("rmw_handle"),
        thread=column("thread"),
        picked_ns=column("picked_ns"),
        rmw_take_ns=column("ns"),
        dequeue_ns=np.full(count, NONE, np.int64),
        source_timestamp=column("stamp"),
        execution=numbers.execution_number[column("execution")],
        duplicate=np.zeros(count, bool),
        loaned=column("loaned") == 1,
    )


def _matches(tables: EngineTables, numbers: Numbers) -> Matches:
    take = numbers.take_number[tables.ints("matches", "take")]
    publication = numbers.publication_number[tables.ints("matches", "publish")]
    order = np.argsort(take, kind="stable")
    counts = dict.fromkeys(("ambiguous_matches", "unmatched_takes", "out_of_order_matches"), 0)
    for code, _, _, count, _, _ in tables.engine.findings:
        if code in counts:
            counts[code] += count
    return Matches(
        publication[order],
        take[order],
        tables.ints("matches", "method")[order],
        np.full(len(take), NONE, np.int64),
        counts["ambiguous_matches"],
        counts["unmatched_takes"] + counts["out_of_order_matches"],
        doubtful=(
            numbers.take_number[tables.ints("doubtful_takes", "take")],
            numbers.publication_number[tables.ints("doubtful_takes", "publish")],
        ),
    )


class _Samples:
    """Samples by the engine's numbers, as strata.model.dds.samples.Samples gives them."""

    def __init__(self, tables: EngineTables) -> None:
        sequence = tables.ints("samples", "sequence")
        self.sequence: Ints = np.append(np.where(sequence == 0, NONE, sequence), NONE)
        self._writer = np.append(tables.ints("samples", "writer"), NONE)
        self._guids = tuple(run.hex() for run in tables.engine.bytes)

    def writer(self, sample: Ints) -> Ints:
        """Return a number of each sample's writer; `NONE` for `NONE`."""
        return self._writer[sample]

    def writer_gids(self, sample: Ints) -> Coded:
        """Return the writers' GUIDs as 32 hexadecimal digits; null for `NONE`."""
        return Coded(self._writer[sample], self._guids)

    def sequences(self, sample: Ints) -> Ints:
        """Return sequence numbers; `NONE` for `NONE`, and where none is known."""
        return self.sequence[sample]


class _Wire:
    """What findings say of the wire; the way of each message is EngineFacts.ways."""

    def __init__(self, refused: int) -> None:
        self.refused = refused


def _middleware(tables: EngineTables, numbers: Numbers) -> Middleware:
    published, taken = len(numbers.publish_order), len(numbers.take_order)

    def write(name: str) -> Ints:
        if not tables.size("writes"):
            return np.full(published, NONE, np.int64)
        return tables.ints("writes", name)[numbers.publish_order]

    def read(name: str) -> Ints:
        if not tables.size("reads"):
            return np.full(taken, NONE, np.int64)
        return tables.ints("reads", name)[numbers.take_order]

    found: dict[str, int] = {}
    for code, _, _, count, _, _ in tables.engine.findings:
        found[code] = found.get(code, 0) + count
    writes = Writes(
        write("serialize_begin_ns"),
        write("serialize_end_ns"),
        write("size_bytes"),
        write("sample"),
        write("end_ns"),
        write("lent") == 1,
    )
    reads = Reads(
        read("begin_ns"),
        read("deserialize_begin_ns"),
        read("deserialize_end_ns"),
        read("sample"),
        np.zeros((taken, 2), np.uint64),
        read("made_ns"),
    )
    notified = Notified(
        read("notified_ns"),
        read("notified_thread"),
        read("added_ns"),
        read("unnumbered") == 1,
        found.get("inferred_notifications", 0),
    )
    return Middleware(
        _Samples(tables),  # type: ignore[arg-type]
        writes,
        reads,
        notified,
        _Wire(found.get("refused_sends", 0)),  # type: ignore[arg-type]
        found.get("incomplete_samples", 0),
    )


def _scheduling(tables: EngineTables, kept: KeptEvents) -> Scheduling:
    if not (tables.rows["cpus"]["switches"] > 1).any():
        empty = np.empty(0, np.int64)
        return Scheduling(Intervals(*[empty] * 5), Occupancy(*[empty] * 5), np.empty(0, object))
    hosts = {host: number for number, host in enumerate(dict.fromkeys(kept.processes.host))}
    scheduler = tables.ints("cpus", "scheduler")
    of_host = tables.text("schedulers", "host")[scheduler]
    number = [hosts.setdefault(str(host), len(hosts)) for host in of_host]
    cpu_of = np.append(
        np.asarray(number, np.int64) * (1 << 20) + tables.ints("cpus", "number"), NONE
    )
    states = {
        name: tables.ints("thread_states", name)
        for name in ("thread", "start_ns", "end_ns", "state", "cpu")
    }
    order = np.lexsort((states["start_ns"], states["thread"]))
    cpu = cpu_of[tables.ints("cpu_occupancy", "cpu")]
    start_ns = tables.ints("cpu_occupancy", "start_ns")
    by_cpu = np.lexsort((start_ns, cpu))
    tid = tables.ints("cpu_occupancy", "tid")
    name = tables.ints("cpu_occupancy", "name")
    names = tables.coded(np.where(tid > 0, name, NONE))
    codes = np.where(names.codes == NONE, len(names.words), names.codes)
    return Scheduling(
        Intervals(
            states["thread"][order],
            states["start_ns"][order],
            states["end_ns"][order],
            states["state"][order],
            cpu_of[states["cpu"]][order],
        ),
        Occupancy(
            cpu[by_cpu],
            start_ns[by_cpu],
            tables.ints("cpu_occupancy", "end_ns")[by_cpu],
            tid[by_cpu],
            codes[by_cpu],
        ),
        np.asarray([*names.words, ""], dtype=object),
        bool(tables.rows["schedulers"]["wakes"].sum()),
    )


_COUNTED_BY_LAYERS = frozenset({"inferred_notifications", "refused_sends", "incomplete_samples"})


def _count(tables: EngineTables, entities: Entities, callback_of: Ints, ledger: Ledger) -> None:
    """Count what the engine found, with its places in words."""
    subscriptions = np.arange(len(entities.subscriptions))
    takers = [*subscription_places(entities, subscriptions), ""]
    every = np.arange(len(entities.callbacks.address))
    callbacks = [*callback_places(entities.callbacks, every), ""]
    for code, kind, row, count, first_ns, last_ns in tables.engine.findings:
        if code in _COUNTED_BY_LAYERS:
            continue
        place = ""
        if kind == _SUBSCRIPTION:
            place = takers[row]
        elif kind == _CALLBACK:
            place = callbacks[callback_of[row]]
        span_ns = (first_ns, last_ns) if first_ns <= last_ns else None
        ledger.add(code, count, place=place, span_ns=span_ns)


def lacks(tables: EngineTables) -> str | None:
    """Say what a trace holds that the engine has no machine for; None where it has all."""
    counts = tables.engine.counts
    if not any(name.startswith("ros2:") for name in counts):
        return "any event of ros2"
    for name in counts:
        if name == "" or name in _WITHOUT_MACHINE or name.startswith("driver:"):
            return name or "an event of no known provider"
    inits = tables.engine.inits()
    contexts = inits.get("ros2:rcl_init")
    if contexts is not None and len(np.unique(contexts["process"])) < len(contexts["process"]):
        return "several contexts in a process"
    if (tables.rows["processes"]["pid_ns"] != NONE).any():
        spaces = tables.rows["processes"]
        keys = set(zip(spaces["host"].tolist(), spaces["vpid"].tolist(), strict=True))
        if len(keys) < len(spaces["vpid"]):
            return "several namespaces of process ids"
    if tables.size("samples") and (
        inits.get("ros2:rcl_client_init") is not None or _has_service_traffic(tables)
    ):
        return "calls of services that only the middleware's events show"
    stamps = tables.rows["publishes"]["stamp"]
    if (stamps[tables.rows["publishes"]["of_application"] == 1] <= 0).any():
        return "publications without a stamp"
    return None


_WITHOUT_MACHINE = frozenset(
    {
        "ros2:rmw_take_request",
        "ros2:rmw_send_response",
        "ros2:rmw_send_request",
        "ros2:rmw_take_response",
        "ros2:rclcpp_intra_publish",
        "ros2:rclcpp_ring_buffer_enqueue",
        "ros2:rclcpp_ring_buffer_dequeue",
        "ros2:rclcpp_ring_buffer_clear",
        "ros2:rclcpp_construct_ring_buffer",
    }
)


def _has_service_traffic(tables: EngineTables) -> bool:
    """Tell whether any sample is of a writer of a service."""
    kept = tables.engine.inits().get("dds:create_writer")
    if kept is None:
        return False
    runs, used = tables.engine.bytes, set(tables.rows["samples"]["writer"].tolist())
    used_writers = {runs[number] for number in used if number != NONE}
    for topic, prefix, entity in zip(
        tables.words(kept["topic_name"]),
        kept["gid_prefix"].tolist(),
        kept["gid_entity"].tolist(),
        strict=True,
    ):
        of_service = str(topic).startswith(("rq/", "rr/"))
        if (
            of_service
            and NONE not in (prefix, entity)
            and runs[prefix] + runs[entity] in used_writers
        ):
            return True
    return False


def read_plain(
    trace: Trace,
    ledger: Ledger,
    cpu: tuple[ThreadCpu, int] | None,
    progress: Callable[[int], None] | None,
) -> Model | None:
    """Read a trace event by event, and return its model; None where tables are needed for that.

    Nothing is counted in `ledger` then. Raises OSError.
    """
    lossless = not trace.loss_rows() and trace.dropped is None
    if not lossless or not trace.declared_events <= CATALOGUE.keys():
        return None
    if len(set(trace.clocks.values())) < len(trace.clocks):
        return None
    engine = Engine()
    _, misfits, damage, misplaced, out_of_order = engine.read(trace.decoder.traces, progress)
    if misfits or damage or misplaced or out_of_order:
        return None
    engine.finish()
    tables = EngineTables(engine)
    if lacks(tables) is not None:
        return None
    return model_of_rows(tables, ledger, trace.clocks, cpu)
