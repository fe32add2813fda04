# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from strata.read._ctf import Traces

class Engine:
    def __init__(
        self,
        *,
        losses: Sequence[tuple[int, int]] = (),
        clocks: Sequence[tuple[str, str]] = (),
        namespaces: Sequence[tuple[str, int, str]] = (),
        restarts: Sequence[tuple[str, int, int]] = (),
        left_out: Sequence[int] = (),
        bounds: tuple[int, int] | None = None,
    ) -> None:
        """Take the clock of each host that has not its own, and what process ids stand for.

        `namespaces`: host, number, and the name that its events get in place of the host's.
        `restarts`: host, process id, since when it is another process. Of the process ids in
        `left_out` events are counted only. `bounds`: first and last instant at which all processes
        were recorded; of events before, only those count that introduce entities.
        """

    def announce(self, batches: list[tuple[str, pa.RecordBatch]]) -> None:
        """Give what was there before the trace, as another session recorded it.

        Batches of init events, before all that is fed or read.
        """

    def feed(
        self,
        batches: list[tuple[str, pa.RecordBatch]],
        *,
        origins: Sequence[tuple[str, int]] = (),
        latest_by: int = 0,
        looks_back: bool = False,
    ) -> None:
        """Feed events, each batch in order of time.

        `origins`: when the clock of a host began to count, in ns since the epoch: by it the steps
        of operations have their times; else all are at their operation's end. `latest_by`: how late
        a step, or an announcement of what was there before the trace, comes at most, in ns.
        `looks_back`: some event, perhaps of a later call, changes what comes before it.
        """

    @property
    def too_late_by(self) -> int:
        """How late a step came at most, of all that was fed, if that was too late; else 0."""

    def read(
        self,
        traces: Traces,
        progress: Callable[[int], None] | None = None,
        *,
        latest_by: int = 0,
        begin_ns: int = ...,
        last_ns: int = ...,
    ) -> tuple[int, list[tuple[int, int, int, bool, str]], list[tuple[int, int, int]], int, int]:
        """Feed the events of indexed traces between two times, both included.

        `progress` gets each chunk's number.

        Values that are of another kind than declared are null. Returns how many; damage, misplaced
        events and how many came out of order, as Reader of strata.read._ctf has them; and how late
        an event, or a step of an operation, came at most, in ns. From one on that comes later than
        `latest_by`, events are counted but not fed. Raises OSError.
        """

    def identities(self) -> tuple[list[tuple[str, int]], list[tuple[str, int, int]]]:
        """Return what process ids stand for, once the last event was fed.

        Those namespaces (host, number) that share an id with one of a lower number, and the
        restarts. Where these are not what the engine was given, its rows are of no use.
        """

    def finish(self) -> None: ...
    def rows(
        self,
    ) -> dict[str, dict[str, npt.NDArray[np.signedinteger] | npt.NDArray[np.uint8]]]: ...
    def transmissions(self) -> dict[str, dict[str, npt.NDArray[np.int64]]]: ...
    def waits(self, order: npt.NDArray[np.int64]) -> ThreadIntervals:
        """Return the waits for work of threads, given by their numbers; raises ValueError."""

    def executor_intervals(self, kind: int, order: npt.NDArray[np.int64]) -> ThreadIntervals:
        """Return what threads did beside callbacks and waits: an ExecutorInterval.

        Kinds are those of native/model/executor_threads.hpp; threads are given by their numbers.
        Raises ValueError.
        """

    def notifications(self) -> dict[str, npt.NDArray[np.int64]]: ...
    @property
    def span(self) -> tuple[int, int]: ...
    @property
    def joined_ns(self) -> int:
        """When the last process said what it had made before the trace; -1: none did."""

    def ways(
        self, messages: Sequence[npt.NDArray[np.int64]]
    ) -> dict[str, npt.NDArray[np.int64]]: ...
    @property
    def texts(self) -> list[str]: ...
    @property
    def bytes(self) -> list[bytes]: ...
    @property
    def findings(self) -> list[tuple[str, int, int, int, int, int]]: ...
    @property
    def event_uses(self) -> list[tuple[str, bool, str, int]]: ...
    def inits(self) -> dict[str, dict[str, npt.NDArray[np.int64]]]:
        """Events that introduce entities: columns by name of the event.

        Those of its fields, and timestamp, process, thread, present (a bit for each field).
        """

    @property
    def lists(self) -> list[npt.NDArray[np.int64]]: ...
    @property
    def events(self) -> int:
        """How many events there were, without those that were left out."""

    @property
    def counts(self) -> dict[str, int]:
        """Events by name, also of those that are not declared."""

_Ints = npt.NDArray[np.int64]
_Columns = Sequence[_Ints]

class ThreadIntervals:
    """Intervals of threads; times are in ns since the epoch. Columns have one number a thread."""

    def count(self) -> _Ints: ...
    def total(self) -> _Ints:
        """Return the sum of all, in ns."""

    def first(self) -> _Ints:
        """Return when the first began; -1 for none."""

    def last(self) -> _Ints:
        """Return when the last ended; -1 for none."""

    def total_within(self, begin_ns: _Ints, end_ns: _Ints) -> _Ints:
        """Return the ns between two instants of each thread, the second not before the first."""

    def columns(self) -> tuple[_Ints, _Ints, _Ints]:
        """Return thread, begin and end of each interval, by thread."""

    def clock(self, lane_of: _Ints) -> Clock:
        """Return the intervals of each lane's threads; `lane_of` has the lane of each thread."""

    def outside(self, thread: _Ints, start_ns: _Ints, end_ns: _Ints) -> ThreadIntervals:
        """Leave out those that begin inside of other intervals of their threads.

        Of others that overlap, the last that began until then counts.
        """

class Clock:
    """How long something had been going on by given instants, by lane.

    Lanes (executors, threads, callback groups) have intervals; those of a lane that overlap are
    one. Columns that are asked together have one length (else ValueError).
    """

    def __init__(self, lane: _Ints, start_ns: _Ints, end_ns: _Ints) -> None: ...
    @property
    def lane(self) -> _Ints:
        """The lane of each interval, by lane and time; as the next two."""

    @property
    def start_ns(self) -> _Ints: ...
    @property
    def end_ns(self) -> _Ints: ...
    def known(self, lane: _Ints) -> npt.NDArray[np.bool_]:
        """Tell for each lane whether it has any interval."""

    def within(self, lane: _Ints, begin_ns: _Ints, end_ns: _Ints) -> _Ints:
        """Return ns of a lane's intervals between two instants."""

    def last_end(self, lane: _Ints, at_ns: _Ints) -> _Ints:
        """Return when the last interval up to an instant ended; -1 where none did."""

class Overlap:
    """How long two clocks went at once.

    `inner_of`: the lane of `inner` that each lane of `outer` goes with, by its number; -1 for none.
    """

    def __init__(self, outer: Clock, inner: Clock, inner_of: _Ints) -> None: ...
    def within(self, outer: _Ints, inner: _Ints, begin_ns: _Ints, end_ns: _Ints) -> _Ints:
        """Return ns in which both went, between two instants."""

# Columns are int64, all of a table of one length (else ValueError). Stretches: message, layer,
# thread, begin, end, lane, idle. States: thread, begin, end, state, CPU. Occupancy: CPU, begin,
# end, tid, name. Windows: thread, begin, end, ns on a CPU, ns of waits. Waits: lane, begin, end.
# Callbacks and waits of threads: thread, begin, end. `lane_of`: the lane of each thread.

def cut_layers(route: _Ints, instants: Sequence[_Ints]) -> list[_Ints | None]:
    """The durations of each layer; None: no message has it."""

def cut_stretches(
    layers: Sequence[tuple[int, int, _Ints, _Ints, _Ints, _Ints]], lane: _Ints, group: _Ints
) -> tuple[_Ints, _Ints, _Ints, _Ints, _Ints, _Ints, _Ints]: ...
def layer_times(
    stretches: _Columns, states: _Columns, waits: _Columns, lane_of: _Ints
) -> tuple[_Ints, _Ints, _Ints, _Ints]: ...
def preemptions(
    stretches: _Columns,
    states: _Columns,
    occupancy: _Columns,
    waits: _Columns,
    callbacks: _Columns,
    lane_of: _Ints,
) -> tuple[_Ints, _Ints, _Ints, _Ints, _Ints]: ...
def cpu_waits(
    stretches: _Columns,
    windows: _Columns,
    waits: _Columns,
    callbacks: _Columns,
    thread_waits: _Columns,
    lane_of: _Ints,
) -> tuple[_Ints, _Ints, _Ints, _Ints, _Ints, _Ints]: ...

# Messages: thread, lane, group, begin and end of the wait. Work: thread, start, until, callback,
# since when it was taken. Runs: group, start, until, callback. Waits are by lane of an executor,
# `running` is a clock of the runs. Returns message, callback, whether it is a take, ns.

def find_blockers(
    messages: _Columns,
    work: _Columns,
    runs: _Columns,
    waits: Clock,
    running: Clock,
    both: Overlap,
) -> tuple[_Ints, _Ints, _Ints, _Ints]: ...

# Samples: thread, begin of the sample, how much later it was read, ns on a CPU, ns of waits,
# slices. Windows that are added up have the slices, too. Sums: thread, begin, end, ns on a CPU, ns
# of waits, slices, longest wait, ns on a CPU and of waits in traffic, which `first_ns` and
# `last_ns` bound by thread.

_Sums = tuple[_Ints, _Ints, _Ints, _Ints, _Ints, _Ints, _Ints, _Ints, _Ints]

def sample_windows(
    samples: _Columns, sampled_ns: _Ints
) -> tuple[_Ints, _Ints, _Ints, _Ints, _Ints, _Ints]: ...
def sum_windows(windows: _Columns, first_ns: _Ints, last_ns: _Ints) -> _Sums: ...
def sum_states(states: _Columns, first_ns: _Ints, last_ns: _Ints) -> _Sums: ...

_Flags = npt.NDArray[np.bool_]

# Of publications: execution, publisher, process, begin, for how long the execution had been
# suspended. Of executions: subscription, process, start, end of all pieces, for how long it was
# suspended; `is_resumed`. Of messages: publication, execution, start of the callback. Declared: the
# number of the kind, rows of subscriptions and of publishers.

def link_messages(
    published: _Columns,
    callbacks: _Columns,
    is_resumed: _Flags,
    messages: _Columns,
    declared: Sequence[tuple[int, _Ints, _Ints]],
) -> tuple[_Ints, _Ints, _Ints, _Ints, _Ints, _Ints, _Ints, _Flags]: ...

# Returns message, previous row, link, way; which are ends, capped, headless; of each way the one
# before and its last hop; and how many links were not followed. Empty flags: of all the default.

def follow_ways(
    hop: _Ints, is_headless: _Flags, child: _Ints, parent: _Ints, is_allowed: _Flags
) -> tuple[_Ints, _Ints, _Ints, _Ints, _Flags, _Flags, _Flags, _Ints, _Ints, int]: ...

# Ways: message, previous, link. Returns messages and links, `length` of each a row of `ends`,
# by the last message.

def collect_instances(ways: _Columns, ends: _Ints, length: int) -> tuple[_Ints, _Ints]: ...

# Columns of messages. Returns writer, reader and hop of each pair, by writer and reader.

def match_pairs(writer: _Ints, reader: _Ints, hop: _Ints) -> tuple[_Ints, _Ints, _Ints]: ...

# Publications: writer, when it was handed over, rmw_publish. Returns by writer when it handed over
# one first, and one through rmw_publish; the far future for never.

def first_handed(publications: _Columns, writers: int) -> tuple[_Ints, _Ints]: ...

# Publications: writer, when it was handed over, rmw_publish, stamp, sample. Messages: publication,
# reader, hop, when it was taken, latency. Readers: entity, process, begin, end, last event of the
# process, end of all traffic; whether the process was told of any sample. Pairs: writer, reader,
# hop; whether messages may stay within the process, whether it has two clocks. Evidence:
# publication and entity of a reader that overwrote it, publication and reader of takes that may be
# of it, reader and time of takes without a publication, sample and process that was told of it.
# Returns hop, publication, number of the fate, when it was published, since when the reader was
# silent; and by hop what was published before the reader took first.

def find_deliveries(
    publications: _Columns,
    messages: _Columns,
    readers: tuple[_Columns, _Flags],
    pairs: tuple[_Columns, _Flags, _Flags],
    hops: int,
    evidence: Sequence[_Columns],
    losses: Sequence[tuple[int, int]],
) -> tuple[_Ints, _Ints, npt.NDArray[np.uint8], _Ints, _Ints, _Ints]: ...

# Returns the distinct values, ascending, the first row of each, and the number of each row's value.

def find_distinct(column: _Ints) -> tuple[_Ints, _Ints, _Ints]: ...
def use_blocks() -> object:
    """Let large arrays that this context makes lie in blocks; returns what made them before."""

def use_handler(handler: object) -> None: ...
def set_memory(size: int, directory: str) -> None: ...
def memory_usage() -> tuple[int, int, int, int]:
    """Bytes of blocks in memory, in the file, and in memory for blocks to come; an errno or 0."""

# For each of `wanted` of the group `of`: how many entries come before it. Entries are in order of
# group and value.
def places_of(
    groups: _Ints, values: _Ints, of: _Ints, wanted: _Ints, after_equal: bool
) -> _Ints: ...

# The sum of each of `count` groups, modulo 2^64; rows of no group are left out.
def sums_by(group: _Ints, values: _Ints, count: int) -> _Ints: ...

# Whole numbers of 64, 32 or 8 bits; null for the row -1, IndexError for others that are not there.
def take_into(
    found: _Ints, values: npt.NDArray[np.integer], rows: npt.NDArray[np.integer]
) -> None: ...

# Lowers (raises) each of `bounds` to the least (greatest) value of its group.
def lower_by(group: _Ints, values: _Ints, bounds: _Ints) -> None: ...
def raise_by(group: _Ints, values: _Ints, bounds: _Ints) -> None: ...
