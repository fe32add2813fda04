# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The layers within the middleware, of every matched message that its events show.

    rmw_publish   serialize   first      last fragment     reader
                 begin  end   send       received          notified
       P          S0    S1     X             R                N
       |dds write |serial.|dds |  transport  |  dds receive   |
       |          |  ize  |write             |(resends inside)|

A checkpoint that is missing merges its neighbours. Without N nothing is cut: the message keeps the
merged layer of stock events.

* Between a writer and a reader of one process Fast DDS hands the sample over on the writing thread,
  with no transport: X and R are both the instant at which it came into the reader's history.
* With data sharing the reader may see a sample before it is told: X is R then.
* A fragment that was lost and sent again belongs to dds receive: R is the last fragment that came
  by a first transmission; when none did, the end of the first transmission.
* A thread that polls may take a sample before its reader is told: N is then the begin of the take.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.build import Model
from strata.model.columns import NONE, Ints, filled
from strata.model.dds.wire import DATA_SHARING
from strata.schema import layers as names
from strata.schema.quality import Ledger

Flags = npt.NDArray[np.bool_]
Objects = npt.NDArray[np.object_]

INTRA_PROCESS = "intra-process"
_TRANSPORTS = {
    1: "UDPv4",
    2: "UDPv6",
    4: "TCPv4",
    8: "TCPv6",
    16: "SHM",
    DATA_SHARING: "data sharing",
}


@dataclass(frozen=True)
class Passage:
    """What the middleware did with each matched message; `NONE` is null.

    `notified_ns` is known exactly where `durations` holds layers of the message.
    """

    serialize_begin_ns: Ints
    serialize_end_ns: Ints
    sent_ns: Ints
    received_ns: Ints
    notified_ns: Ints
    deserialize_ns: Ints
    resend_ns: Ints
    fragments: Ints
    recovered_fragments: Ints
    transport: Objects
    durations: dict[str, Ints]


@dataclass(frozen=True)
class _Way:
    """How the sample of each message travelled, as far as it was seen."""

    sent_ns: Ints
    received_ns: Ints
    last_ns: Ints
    fragments: Ints
    recovered: Ints
    transport: Objects


def cut_middleware(model: Model, ledger: Ledger) -> Passage:
    """Cut every matched message at the checkpoints within the middleware."""
    middleware, take = model.middleware, model.matches.take
    publication = model.matches.publication
    published_ns = model.publications.rmw_publish_ns[publication]
    reads, writes = middleware.reads, middleware.writes
    way = _way(model)
    begun_ns = reads.begin_ns[take]
    notified_ns = middleware.notified_ns[take]
    early = (notified_ns != NONE) & (begun_ns != NONE) & (begun_ns < notified_ns)
    checkpoints = [
        writes.serialize_begin_ns[publication],
        writes.serialize_end_ns[publication],
        way.sent_ns,
        way.received_ns,
        np.where(early, begun_ns, notified_ns),
    ]
    checkpoints = _in_order(published_ns, checkpoints, model.takes.rmw_take_ns[take], ledger)
    _count(model, checkpoints, ledger)
    recovered = (checkpoints[3] != NONE) & (way.recovered > 0)
    ledger.add("resent_messages", int(recovered.sum()))
    deserialized = reads.deserialize_end_ns[take] != NONE
    deserialize_ns = reads.deserialize_end_ns[take] - reads.deserialize_begin_ns[take]
    serialize_begin_ns, serialize_end_ns, sent_ns, received_ns, notified_ns = checkpoints
    resend_ns = np.minimum(way.last_ns, notified_ns) - received_ns
    return Passage(
        serialize_begin_ns,
        serialize_end_ns,
        sent_ns,
        received_ns,
        notified_ns,
        np.where(deserialized, deserialize_ns, NONE),
        np.where(recovered, resend_ns, NONE),
        way.fragments,
        np.where(way.fragments != NONE, way.recovered, NONE),
        way.transport,
        _durations(published_ns, checkpoints),
    )


def _way(model: Model) -> _Way:
    wire, take = model.middleware.wire, model.matches.take
    written = model.middleware.writes.sample[model.matches.publication]
    sample = np.where(written != NONE, written, model.middleware.reads.sample[take])
    of_thread = model.events.processes.thread_process
    process = of_thread[model.takes.thread[take]]
    source = of_thread[model.publications.thread[model.matches.publication]]
    here = pd.MultiIndex.from_arrays([process, sample])
    sends, arrivals = wire.sends.reindex(sample), wire.arrivals.reindex(here)
    added_ns = _column(wire.added.reindex(here), "added_ns")
    sent_ns, last_ns = _column(sends, "first_send_ns"), _column(arrivals, "last_ns")
    came = last_ns != NONE
    first_ns = _column(arrivals, "received_ns")
    # Nothing came by a first transmission: it was over when its last send returned.
    over_ns = np.minimum(np.maximum(_column(sends, "first_sent_ns"), sent_ns), last_ns)
    received_ns = np.where(came, np.where(first_ns != NONE, first_ns, over_ns), added_ns)
    local = ~came & (process == source) & (added_ns != NONE)
    sent_ns = np.where(local, added_ns, sent_ns)
    kind = _column(sends, "transport")
    told_late = (kind == DATA_SHARING) & (received_ns != NONE) & (received_ns < sent_ns)
    sent_ns = np.where(told_late, received_ns, sent_ns)
    transport = np.asarray([_TRANSPORTS.get(number) for number in kind.tolist()], dtype=object)
    transport[local] = INTRA_PROCESS
    recovered = np.maximum(_column(arrivals, "recovered"), 0)
    fragments = np.where(local, 1, _column(sends, "fragments"))
    return _Way(sent_ns, received_ns, last_ns, fragments, recovered, transport)


def _column(frame: pd.DataFrame, name: str) -> Ints:
    return filled(frame[name])


def _in_order(begin_ns: Ints, checkpoints: list[Ints], end_ns: Ints, ledger: Ledger) -> list[Ints]:
    """Drop checkpoints before the one before them, or after the end; count such messages."""
    kept, last_ns = [], begin_ns
    odd = np.zeros(len(begin_ns), bool)
    for ns in checkpoints:
        known = ns != NONE
        wrong = known & ((ns < last_ns) | (ns > end_ns))
        odd |= wrong
        ns = np.where(wrong, NONE, ns)
        last_ns = np.maximum(last_ns, ns)
        kept.append(ns)
    ledger.add("disordered_dds_checkpoints", int(odd.sum()))
    begun, ended = kept[0] != NONE, kept[1] != NONE
    kept[0], kept[1] = np.where(ended, kept[0], NONE), np.where(begun, kept[1], NONE)
    return kept


def _count(model: Model, checkpoints: list[Ints], ledger: Ledger) -> None:
    if not len(model.middleware.samples):
        return
    notified = checkpoints[-1] != NONE
    whole = np.all([ns != NONE for ns in checkpoints], axis=0)
    ledger.add("messages_without_notification", int((~notified).sum()))
    ledger.add("messages_with_merged_dds_layers", int((notified & ~whole).sum()))


def _durations(published_ns: Ints, checkpoints: list[Ints]) -> dict[str, Ints]:
    s0, s1, x, r, n = checkpoints
    cut, serialized, sent, received = n != NONE, s1 != NONE, x != NONE, r != NONE
    # What lies before and after the serialization, up to an instant.
    before = s0 - published_ns
    layers: list[tuple[names.Layer, Flags, Ints]] = [
        (names.SERIALIZE, serialized, s1 - s0),
        (names.DDS_WRITE, serialized & sent, before + x - s1),
        (names.SERIALIZE_DDS_WRITE, ~serialized & sent, x - published_ns),
        (names.TRANSPORT, sent & received, r - x),
        (names.DDS_WRITE_TRANSPORT, serialized & ~sent & received, before + r - s1),
        (names.SERIALIZE_DDS_WRITE_TRANSPORT, ~serialized & ~sent & received, r - published_ns),
        (names.DDS_RECEIVE, received, n - r),
        (names.TRANSPORT_DDS_RECEIVE, sent & ~received, n - x),
        (
            names.DDS_WRITE_TRANSPORT_DDS_RECEIVE,
            serialized & ~sent & ~received,
            before + n - s1,
        ),
        (names.MIDDLEWARE, ~serialized & ~sent & ~received, n - published_ns),
    ]
    return {layer.column: np.where(cut & there, ns, NONE) for layer, there, ns in layers}
