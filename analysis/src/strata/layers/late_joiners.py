# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that were written before their reader could be sent anything, and waited in the history.

A reader gets nothing before it and the writer know of each other (they are *matched*), which is
some time after the later of both was made; no event tells when. What was written until then, a
writer that keeps its history for late joiners sends afterwards. A message waited in the history

* when it was published before its reader was made; or
* when its write had returned before the first send to its reader of any sample of the writer: the
  last send of the sample that reached the reader first, before it did. Nor was the message itself
  sent to the place of that send before: what was lost and is sent again went there in its write.

An asynchronous writer (a flow controller) sends after its write, too, on a thread of its own: a
writer is taken for one when none of its messages was sent within its write. Then its thread is
given `_ASYNCHRONOUS_NS` to begin, before what it sends is from the history. So what cannot be
known: the first messages of an asynchronous writer whose thread got no CPU for longer than that;
over SHM, where a send to several readers at once is one event with one port, messages for a reader
that was matched later than these; and those for the later of two readers of one participant.

The send by which a message came is the last one to the port at which it came, before it came: what
was sent to another late joiner meanwhile is not for this one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.lazy import pandas as pd
from strata.model.build import Model
from strata.model.columns import NONE, Ints, filled

_ASYNCHRONOUS_NS = 10_000_000
Flags = npt.NDArray[np.bool_]


def history_until(model: Model, sample: Ints, arrived_ns: Ints, send: Ints) -> Ints:
    """Return since when the reader of each matched message could be sent it, if that was later.

    `NONE` for messages that did not wait in the history. `sample`, `arrived_ns` (any arrival of it
    at the reader) and `send` (`Wire.last_send_until` that) are of the matched messages; `NONE`
    where they are not known.
    """
    made_ns = _made_later(model)
    matched_ns = _matched_later(model, sample, arrived_ns, send)
    return np.where(made_ns != NONE, made_ns, matched_ns)


def _made_later(model: Model) -> Ints:
    """When the reader was made, for messages that were published before; `NONE` for the others."""
    take = model.matches.take
    published_ns = model.publications.rmw_publish_ns[model.matches.publication]
    subscription = model.takes.subscription[take]
    known = subscription != NONE
    init_ns = np.full(len(take), NONE, np.int64)
    init_ns[known] = model.entities.subscriptions.begin_ns[subscription[known]]
    told_ns = model.middleware.reads.made_ns[take]
    made_ns = np.where(told_ns == NONE, init_ns, told_ns)
    made_ns = np.where(init_ns == NONE, made_ns, np.minimum(made_ns, init_ns))
    notified_ns = model.middleware.notified.ns[take]
    # One that was told of after it had got the message was only named late.
    late = (made_ns > published_ns) & (notified_ns != NONE) & (made_ns <= notified_ns)
    return np.where(late, made_ns, NONE)


def _matched_later(model: Model, sample: Ints, arrived_ns: Ints, send: Ints) -> Ints:
    """When each message's reader was first sent anything, where the message was written before."""
    wire = model.middleware.wire
    publication, take = model.matches.publication, model.matches.take
    written_ns = model.middleware.writes.end_ns[publication]
    writer = model.middleware.samples.writer(sample)
    reader = model.takes.subscription[take]
    known = (writer != NONE) & (reader != NONE) & (arrived_ns != NONE)
    if not known.any():
        return np.full(len(take), NONE, np.int64)
    rows = pd.DataFrame({"writer": writer, "reader": reader, "at": arrived_ns, "send": send})
    rows = rows[known & (send != NONE)].sort_values("at", kind="stable")
    first = rows.drop_duplicates(["writer", "reader"]).set_index(["writer", "reader"])
    of_pair = first["send"].astype("Int64").reindex(pd.MultiIndex.from_arrays([writer, reader]))
    to = filled(of_pair)
    since_ns = wire.sent_ns(to)
    told = since_ns != NONE
    patience = np.where(_synchronous(model, sample, writer), 0, _ASYNCHRONOUS_NS)
    waited = known & told & (written_ns != NONE) & (written_ns + patience < since_ns)
    waited &= arrived_ns >= since_ns
    waited &= ~wire.sent_before(np.where(waited, sample, NONE), to, since_ns)
    return np.where(waited, since_ns, NONE)


def _synchronous(model: Model, sample: Ints, writer: Ints) -> Flags:
    """Tell of each message whether any of its writer's was sent before its write returned."""
    written_ns = model.middleware.writes.end_ns[model.matches.publication]
    sends = model.middleware.wire.sends.reindex(sample)
    first_ns = filled(sends["first_send_ns"])
    within = (first_ns != NONE) & (first_ns <= written_ns)
    return np.isin(writer, np.unique(writer[within]))
