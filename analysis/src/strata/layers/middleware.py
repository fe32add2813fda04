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
* A thread that polls may take a sample before its reader is told: N is then the begin of the take,
  or the arrival when that came later. An arrival that was told of after the take (Cyclone DDS tells
  it when the sample can be taken already) is none.
* A loaned message is not serialized: all before X is dds write.
* A message that stayed in its process (a ring buffer) went through nothing of this, even when a
  copy of it went through the middleware to others.
* A message that was written before its reader could be sent anything (a late joiner) waited in the
  writer's history until it was sent (native/model/dds/ways.hpp): that layer is *history*, and the
  others begin there.
* For as long as the sending thread was held up inside its send calls
  (native/model/dds/transmission.hpp), X is later than the first send began: that is the sender's
  time, in dds write.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from strata.layers.way import find_way
from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.schema.quality import NOTHING_FOUND, Finding, Findings
from strata.schema.rows import Coded, Flags, nulls

_OF_READER = 3
"""The first checkpoint that is taken on the reader's host: received."""


@dataclass(frozen=True)
class Passage:
    """What the middleware did with each matched message; `NONE` is null.

    Where `notified_ns` is not known, nothing of this parts layers. `sendable_ns` is when the reader
    of a message from the writer's history could be sent it, `NONE` of others. `lent` messages lay
    in the middleware's memory.
    """

    serialize_begin_ns: Ints
    serialize_end_ns: Ints
    sent_ns: Ints
    received_ns: Ints
    notified_ns: Ints
    send_held_ns: Ints
    deserialize_ns: Ints
    resend_ns: Ints
    size: Ints
    fragments: Ints
    recovered_fragments: Ints
    transport: Coded
    sendable_ns: Ints
    lent: Flags


def cut_middleware(model: Model) -> tuple[Passage, Findings]:
    """Cut every matched message at the checkpoints within the middleware; tell what is wrong."""
    if not model.facts.is_hooked:
        return _stock(len(model.matches.take)), NOTHING_FOUND
    take, publication = model.matches.take, model.matches.publication
    published_ns = model.publications.rmw_publish_ns[publication]
    reads, writes = model.middleware.reads, model.middleware.writes
    way = find_way(model)
    within = model.matches.enqueue_ns != NONE
    lent = writes.lent[publication]
    late = way.since_ns != NONE
    taken_ns = model.takes.rmw_take_ns[take]
    received_ns = np.where(_early(model) & (way.received_ns > taken_ns), NONE, way.received_ns)
    # Serialized long before its reader was there: that is part of history.
    told_ns = np.where(way.sent_ns != NONE, way.sent_ns, way.since_ns)
    begin_ns = np.where(late, told_ns, published_ns)
    checkpoints = [
        np.where(late, NONE, writes.serialize_begin_ns[publication]),
        np.where(late, NONE, writes.serialize_end_ns[publication]),
        way.sent_ns,
        received_ns,
        _ready(model, received_ns, way.last_ns),
    ]
    checkpoints = [np.where(within, NONE, ns) for ns in checkpoints]
    kept, odd = _in_order(begin_ns, checkpoints, taken_ns, model.unsynchronised)
    serialize_begin_ns, serialize_end_ns, sent_ns, received_ns, notified_ns = kept
    recovered = (received_ns != NONE) & (notified_ns != NONE) & (way.recovered > 0)
    findings = odd + _count(model, kept, late, lent, recovered)
    deserialized = reads.deserialize_end_ns[take] != NONE
    deserialize_ns = reads.deserialize_end_ns[take] - reads.deserialize_begin_ns[take]
    resend_ns = np.minimum(way.last_ns, notified_ns) - received_ns
    transport = Coded(np.where(within, NONE, way.transport.codes), way.transport.words)
    passage = Passage(
        serialize_begin_ns,
        serialize_end_ns,
        sent_ns,
        received_ns,
        notified_ns,
        np.where(sent_ns != NONE, way.held_ns, NONE),
        np.where(deserialized, deserialize_ns, NONE),
        np.where(recovered, resend_ns, NONE),
        np.where(within, NONE, writes.size[publication]),
        np.where(within, NONE, way.fragments),
        np.where(~within & (way.fragments != NONE), way.recovered, NONE),
        transport,
        np.where(begin_ns > published_ns, begin_ns, NONE),
        lent,
    )
    return passage, findings


def _stock(messages: int) -> Passage:
    """Return what stock events tell of the middleware: nothing."""
    none = nulls(messages)
    transport, lent = Coded(none, ()), np.broadcast_to(np.bool_(False), messages)
    return Passage(
        none, none, none, none, none, none, none, none, none, none, none, transport, none, lent
    )


def _ready(model: Model, received_ns: Ints, last_ns: Ints) -> Ints:
    """When each message was ready to be taken: its reader was told, or took it before that."""
    take = model.matches.take
    arrived_ns = np.maximum(received_ns, last_ns)
    begun_ns = np.maximum(model.middleware.reads.begin_ns[take], arrived_ns)
    return np.where(_early(model), begun_ns, model.middleware.notified.ns[take])


def _early(model: Model) -> Flags:
    """Tell of which messages the take began before the reader was notified of them."""
    take = model.matches.take
    begun_ns = model.middleware.reads.begin_ns[take]
    notified_ns = model.middleware.notified.ns[take]
    return np.asarray((begun_ns != NONE) & (begun_ns < notified_ns), bool)


def _in_order(
    begin_ns: Ints, checkpoints: list[Ints], end_ns: Ints, apart: Flags
) -> tuple[list[Ints], Findings]:
    """Drop checkpoints before the one before them, or after the end; count such messages.

    Those of two hosts, of messages that are `apart`, are not compared with each other.
    """
    kept, last_ns = [], begin_ns
    odd = np.zeros(len(begin_ns), bool)
    for number, ns in enumerate(checkpoints):
        if number == _OF_READER:
            last_ns = np.where(apart, NONE, last_ns)
        known = ns != NONE
        ends = known & (ns > end_ns)
        if number < _OF_READER:
            ends &= ~apart
        wrong = ends | (known & (ns < last_ns))
        odd |= wrong
        ns = np.where(wrong, NONE, ns)
        last_ns = np.maximum(last_ns, ns)
        kept.append(ns)
    begun, ended = kept[0] != NONE, kept[1] != NONE
    kept[0], kept[1] = np.where(ended, kept[0], NONE), np.where(begun, kept[1], NONE)
    disordered = Finding("disordered_dds_checkpoints", int(odd.sum()))
    return _without_null(begin_ns, kept, apart), Findings(disordered)


def _without_null(begin_ns: Ints, checkpoints: list[Ints], apart: Flags) -> list[Ints]:
    """Merge the layers of messages of which the one between two hosts would be -1 ns: null."""
    s0, s1, sent, received, notified = checkpoints
    left = np.where(sent != NONE, sent, np.where(s1 != NONE, s1, begin_ns))
    came = np.where(received != NONE, received, notified)
    # Without a send the time before the serialization counts, too.
    left -= np.where((sent == NONE) & (s0 != NONE), s0 - begin_ns, 0)
    odd = apart & (came != NONE) & (came - left == NONE)
    kept = [np.where(odd, NONE, ns) for ns in checkpoints[:-1]]
    return [*kept, np.where(odd & (notified - begin_ns == NONE), NONE, notified)]


def _count(
    model: Model,
    checkpoints: list[Ints],
    late: Flags,
    lent: Flags,
    recovered: Flags,
) -> Findings:
    middleware = model.middleware
    if not model.facts.names_samples:
        return NOTHING_FOUND
    notified = checkpoints[-1] != NONE
    within = model.matches.enqueue_ns != NONE
    whole = np.all([ns != NONE for ns in checkpoints[2:]], axis=0)
    whole &= late | lent | (checkpoints[1] != NONE)
    return Findings(
        Finding("messages_without_notification", int((~notified & ~within).sum())),
        Finding("messages_with_merged_dds_layers", int((notified & ~whole).sum())),
        Finding("messages_from_history", int((notified & late).sum())),
        Finding("resent_messages", int(recovered.sum())),
        Finding("inferred_notifications", middleware.notified.inferred),
        Finding("refused_sends", middleware.refused),
        Finding("incomplete_samples", middleware.incomplete),
    )
