# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples on their way: what was sent, what arrived where, what had to be sent again.

A large sample travels in fragments; a whole one counts as a single fragment of number 0. The first
time that a fragment goes to a destination is its *first transmission*; each further time is a
*resend* (RTPS: a repair). A fragment that a thread got only after a resend of it to its port was
*recovered*, unless all copies arrived: then none was lost, and the first to come was the first
transmission. TCP loses nothing: what it refuses is offered again.

Arrivals are known by receiving thread: several participants of a process each have their own.

A send call returns after the data are where the receiver finds them, at some instant within it that
no event tells; a reader may have them before it returns. A call takes `_CALL_NS` and
`_NS_PER_BYTE` at most when nothing keeps its thread from running. What it took beyond that, until
the arrival, its thread was *held up* in it: it waited for a CPU, was stopped, or paged. Between the
calls for two fragments, or destinations, of a sample it is held up as well when it sends nothing
else for longer than `_CALL_NS`: what it has not sent yet cannot arrive.

* Over SHM nothing in a call waits for the reader: all of it is the sender's.
* A socket may make a call wait until its buffer is emptied: the way's doing. It can be full only of
  what the process sent before and what had not arrived when the call began. Where that may have
  been `_FULL_BYTES`, nothing is held up.
* Between calls nothing but the sender decides when it goes on.
* TCP waits for the reader itself, and data sharing sends nothing: there nothing is held up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.engine.groups import sums
from strata.lazy import pandas as pd
from strata.model.columns import NONE, EventColumns, Ints, filled
from strata.model.dds.buffers import Buffers
from strata.model.search import GroupedSearch, pick, spread

DATA_SHARING = 65536
SHM = 16
TCP = (4, 8)
UDP = (1, 2)
_CALL_NS = 50_000
_NS_PER_BYTE = 1
_FULL_BYTES = 106_496
"""Half of Linux's usual send buffer (net.core.wmem_default): below it, a writer never waits."""
_DATAGRAM_BYTES = 768
"""What the kernel accounts for a datagram of no payload; payload it accounts up to twice."""
_PORTS = 1 << 17
"""More than there are ports: a sample and a port are one number."""


@dataclass(frozen=True)
class Wire:
    """Sends by sample (the index), and arrivals by (receiving thread or process, sample).

    `sends`: first_send_ns, first_sent_ns (end of the last first transmission; -1 if no end was
    recorded), transport, fragments. `by_thread` and `by_process`: received_ns (last fragment that
    came by a first transmission; null when none did), last_ns (last fragment of all), recovered and
    arrived (fragments), transport, port. All columns are nullable: looked up by an index with gaps,
    int64 would go through floats, which have no nanoseconds since the epoch.

    `refused` counts sends that found no room.
    """

    sends: pd.DataFrame
    by_thread: pd.DataFrame
    by_process: pd.DataFrame
    refused: int
    _sent: pd.DataFrame
    _held: pd.DataFrame

    def last_send_until(self, sample: Ints, port: Ints, until_ns: Ints) -> Ints:
        """Return the row of the last send of each sample up to an instant; `NONE` if none was.

        To the port at which it came, where one was told to go there.
        """
        sent = self._sent
        own, ns = sent["sample"].to_numpy(np.int64), sent["ns"].to_numpy(np.int64)
        to_port = GroupedSearch(own * _PORTS + sent["port"].to_numpy(np.int64) % _PORTS, ns)
        known = (sample != NONE) & (port > 0)
        there = np.where(known, sample * _PORTS + port % _PORTS, NONE)
        row = to_port.last_row(there, until_ns, after_equal=True)
        anywhere = GroupedSearch(own, ns).last_row(sample, until_ns, after_equal=True)
        return np.where(known & (row != NONE), row, np.where(sample != NONE, anywhere, NONE))

    def first_send_since(self, like: Ints, since_ns: Ints) -> Ints:
        """Return the first send at or after an instant of the sample of a send, to its place."""
        way = self._sent["way"].to_numpy(np.int64)
        ns = self._sent["ns"].to_numpy(np.int64)
        row = GroupedSearch(way, ns).first_row(pick(way, like), since_ns, after_equal=False)
        return pick(ns, np.where(like != NONE, row, NONE))

    def sent_before(self, sample: Ints, like: Ints, at_ns: Ints) -> npt.NDArray[np.bool_]:
        """Tell whether each sample may have been sent to the place of a send before an instant."""
        sent = self._sent
        place = pick(sent["place"].to_numpy(np.int64), like)
        shared = pick(sent["destination"].to_numpy(np.int64), like)
        several = sent[sent["place"] == sent["destination"]]
        alone = place != shared
        first_ns = np.where(
            alone,
            _first_of(sent, "place", sample, place),
            _first_of(sent, "destination", sample, shared),
        )
        to_several_ns = np.where(alone, _first_of(several, "destination", sample, shared), NONE)
        before = (first_ns != NONE) & (first_ns < at_ns)
        return np.asarray(before | ((to_several_ns != NONE) & (to_several_ns < at_ns)))

    def sent_ns(self, row: Ints) -> Ints:
        """Return when each send (a row, or `NONE`) began."""
        return pick(self._sent["ns"].to_numpy(np.int64), row)

    def held_up(self, sample: Ints, since_ns: Ints, until_ns: Ints) -> Ints:
        """Return for how long senders were held up in and between their send calls of each sample.

        Of first transmissions that began from `since_ns` on and before `until_ns`, the arrival at a
        reader.
        """
        calls = self._held
        search = GroupedSearch(calls["sample"].to_numpy(np.int64), calls["ns"].to_numpy(np.int64))
        first = search.position(sample, since_ns, after_equal=False)
        last = search.position(sample, until_ns, after_equal=False)
        known = (sample != NONE) & (until_ns != NONE)
        place, row = spread(first, np.where(known, last - first, 0))
        call = calls.iloc[search.order[place]] if len(place) else calls.iloc[:0]
        end_ns, arrived_ns = call["end_ns"].to_numpy(np.int64), until_ns[row]
        held_ns = np.minimum(end_ns, arrived_ns) - call["ns"].to_numpy(np.int64)
        held_ns -= call["usual_ns"].to_numpy(np.int64)
        return sums(row, np.maximum(held_ns, 0), len(sample))

    def sent_again(self) -> Ints:
        """Return the samples of which something went to one destination more than once."""
        again = self._sent.duplicated(["sample", "fragment", "destination"])
        return np.unique(self._sent.loc[again, "sample"].to_numpy(np.int64))


def find_wire(events: EventColumns, buffers: Buffers) -> Wire:
    """Return what was sent and what arrived."""
    sent, came = _fragments(buffers.sent), _fragments(buffers.received)
    refused = _is_refused(buffers.sent)
    again_later = sent["transport"].isin(TCP) & _is_refused(sent)
    sent = sent[~again_later].sort_values("ns", kind="stable").reset_index(drop=True)
    again = sent.duplicated(["sample", "fragment", "destination"])
    first = _first_arrivals(came)
    first["recovered"] = _recovered(first, sent, again)
    first["process"] = events.processes.thread_process[first["thread"].to_numpy(np.int64)]
    return Wire(
        _sends(sent, again),
        _arrivals(first, "thread"),
        _arrivals(_first_of_process(first), "process"),
        int(refused.sum()),
        _with_places(sent),
        pd.concat(
            [
                _slow_calls(sent[~again], came, events.processes.thread_process),
                _between_calls(sent, again),
            ],
            ignore_index=True,
        ),
    )


def _with_places(sent: pd.DataFrame) -> pd.DataFrame:
    """Add `place`, a destination of its own where SHM told of one reader, and `way`: with sample.

    Of several readers SHM tells the last one's port only: any may be among them.
    """
    port = sent["port"].to_numpy(np.int64)
    one = ((sent["transport"] == SHM) & (sent["destinations"] == 1)).to_numpy() & (port > 0)
    out = sent.assign(place=np.where(one, sent["destination"] + port, sent["destination"]))
    return out.assign(way=out.groupby(["sample", "place"]).ngroup().to_numpy(np.int64))


def _first_of(sent: pd.DataFrame, column: str, sample: Ints, value: Ints) -> Ints:
    """When each sample was first sent to a place or destination; `NONE` if never."""
    key = ["sample", column]
    first = sent.drop_duplicates(key)
    ns = pd.Series(
        first["ns"].to_numpy(np.int64), pd.MultiIndex.from_frame(first[key]), dtype="Int64"
    )
    return filled(ns.reindex(pd.MultiIndex.from_arrays([sample, value])))


def _slow_calls(first: pd.DataFrame, came: pd.DataFrame, process_of_thread: Ints) -> pd.DataFrame:
    """The send calls of first transmissions whose thread was held up in them, if it was long."""
    own = first["transport"].isin((SHM, *UDP)) & (first["end_ns"] != NONE)
    calls = first[own].drop_duplicates(["sample", "thread", "ns"])
    usual_ns = _CALL_NS + _NS_PER_BYTE * np.maximum(calls["bytes"], 0)
    # The others cannot have been: there are few left.
    slow = calls["end_ns"] - calls["ns"] > usual_ns
    out = calls[["sample", "thread", "ns", "end_ns", "transport"]].assign(usual_ns=usual_ns)[slow]
    waited = (out["transport"] != SHM) & (
        _queued(out, first, came, process_of_thread) > _FULL_BYTES
    )
    return out.loc[~waited, ["sample", "ns", "end_ns", "usual_ns"]].reset_index(drop=True)


def _between_calls(sent: pd.DataFrame, again: pd.Series[bool]) -> pd.DataFrame:
    """The stretches in which a thread sent nothing between two first transmissions of a sample."""
    own = sent["transport"].isin((SHM, *UDP)).to_numpy() & ~again.to_numpy()
    thread, ns, sample, end_ns = (
        sent[name].to_numpy(np.int64) for name in ("thread", "ns", "sample", "end_ns")
    )
    # Calls in their order on each thread; one may send several samples.
    order = np.lexsort((ns, thread))
    new = (np.diff(thread[order]) != 0) | (np.diff(ns[order]) != 0)
    call = np.empty(len(order), np.int64)
    call[order] = np.cumsum(np.append(0, new))[: len(order)]
    order = np.lexsort((call, sample))
    before, after = order[:-1], order[1:]
    pair = own[before] & own[after] & (sample[before] == sample[after])
    pair &= (thread[before] == thread[after]) & (call[before] + 1 == call[after])
    pair &= (end_ns[before] != NONE) & (ns[after] - end_ns[before] > _CALL_NS)
    before, after = before[pair], after[pair]
    return pd.DataFrame(
        {"sample": sample[after], "ns": end_ns[before], "end_ns": ns[after], "usual_ns": _CALL_NS}
    )


def _queued(
    calls: pd.DataFrame, first: pd.DataFrame, came: pd.DataFrame, process_of_thread: Ints
) -> pd.Series[int]:
    """What sockets of each call's process may have held when it began, as the kernel accounts it.

    Bytes that were sent before and arrived later, somewhere; what arrived nowhere is not known to
    have been there.
    """
    arrived = came[came["transport"].isin(UDP)].groupby(["sample", "fragment"])["ns"].max()
    sent = first[first["transport"].isin(UDP)].join(
        arrived.rename("came_ns"), ["sample", "fragment"]
    )
    sent = sent[sent["came_ns"].notna()]
    process = process_of_thread[sent["thread"].to_numpy(np.int64)]
    bytes_ = 2 * np.maximum(sent["bytes"].to_numpy(np.int64), 0) + _DATAGRAM_BYTES
    begun = GroupedSearch(process, sent["ns"].to_numpy(np.int64))
    ended = GroupedSearch(process, sent["came_ns"].to_numpy(np.int64))
    of_call = process_of_thread[calls["thread"].to_numpy(np.int64)]
    at_ns = calls["ns"].to_numpy(np.int64)
    queued = _bytes_until(begun, bytes_, of_call, at_ns) - _bytes_until(
        ended, bytes_, of_call, at_ns
    )
    return pd.Series(queued, calls.index)


def _bytes_until(search: GroupedSearch, bytes_: Ints, group: Ints, at_ns: Ints) -> Ints:
    """Add up the bytes of a group's rows before an instant."""
    total = np.append(0, np.cumsum(bytes_[search.order]))
    at = search.position(group, at_ns, after_equal=False)
    return np.asarray(total[at] - total[search.begin(group)])


def _is_refused(sent: pd.DataFrame) -> pd.Series[bool]:
    """Tell which sends found no room: a full socket buffer, or no memory that readers share."""
    told = sent["end_ns"] != NONE
    nobody = (sent["transport"] == SHM) & (sent["destinations"] == 0)
    return told & ((sent["result"] < 0) | nobody)


def _sends(sent: pd.DataFrame, again: pd.Series[bool]) -> pd.DataFrame:
    first = sent[~again].groupby("sample")
    out = pd.DataFrame(
        {
            "first_send_ns": first["ns"].min(),
            "first_sent_ns": first["end_ns"].max(),
            "transport": first["transport"].first(),
            "fragments": sent.groupby("sample")["fragment"].nunique(),
        }
    )
    return out.astype("Int64")


def _first_arrivals(came: pd.DataFrame) -> pd.DataFrame:
    """One row a fragment and receiving thread: when it came first, and how many copies came."""
    came = came.sort_values("ns", kind="stable")
    groups = came.groupby(["thread", "sample", "fragment"], as_index=False)
    return groups.agg(
        ns=("ns", "first"),
        copies=("ns", "size"),
        transport=("transport", "first"),
        port=("port", "first"),
    )


def _recovered(first: pd.DataFrame, sent: pd.DataFrame, again: pd.Series[bool]) -> pd.Series[bool]:
    """Tell which fragments came only after a resend to the port at which they came."""
    fragment = ["sample", "fragment"]
    suspect = sent[again & ~sent["transport"].isin(TCP)][fragment].drop_duplicates()
    asked = first.assign(row=np.arange(len(first))).merge(suspect, on=fragment)
    pairs = asked.merge(sent, on=[*fragment, "transport"], suffixes=("", "_sent"))
    # A port that is not known may be any; what SHM tells of several readers is the last one's.
    anywhere = (pairs["port"] <= 0) | (pairs["port_sent"] <= 0) | (pairs["destinations"] > 1)
    pairs = pairs[anywhere | (pairs["port"] == pairs["port_sent"])]
    pairs["before"] = pairs["ns_sent"] <= pairs["ns"]
    copies = pairs.groupby(["row", "destination"]).agg(
        sent=("before", "size"), before=("before", "sum")
    )
    most = copies.groupby("row").max()
    late = most[most["before"] > 1]
    lost = late[late["sent"] > first["copies"].to_numpy()[late.index.to_numpy(np.int64)]]
    out = pd.Series(data=False, index=first.index)
    out.iloc[lost.index.to_numpy(np.int64)] = True
    return out


def _first_of_process(first: pd.DataFrame) -> pd.DataFrame:
    ordered = first.sort_values("ns", kind="stable")
    return ordered.drop_duplicates(["process", "sample", "fragment"])


def _arrivals(first: pd.DataFrame, place: str) -> pd.DataFrame:
    key = [place, "sample"]
    every = first.groupby(key)
    out = pd.DataFrame(
        {
            "last_ns": every["ns"].max(),
            "recovered": every["recovered"].sum(),
            "arrived": every.size(),
            "transport": every["transport"].first(),
            "port": every["port"].first(),
        }
    ).astype("Int64")
    in_time = first[~first["recovered"]].groupby(key)["ns"].max().astype("Int64")
    out["received_ns"] = in_time.reindex(out.index)
    return out


def _fragments(buffers: pd.DataFrame) -> pd.DataFrame:
    """One row a fragment."""
    count = np.maximum(buffers["count"].to_numpy(np.int64), 1)
    row = np.repeat(np.arange(len(buffers)), count)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    out = buffers.iloc[row].reset_index(drop=True)
    out["fragment"] += offset
    return out
