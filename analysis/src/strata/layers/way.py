# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How the sample of each matched message came to its reader, as far as it was seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.layers.late_joiners import history_until
from strata.lazy import pandas as pd
from strata.model.build import Model
from strata.model.columns import NONE, Ints, filled
from strata.model.dds.wire import DATA_SHARING
from strata.schema.rows import Coded

Flags = npt.NDArray[np.bool_]

INTRA_PROCESS = "intra-process"
INTRA_PROCESS_NUMBER = -2
_TRANSPORTS = {
    1: "UDPv4",
    2: "UDPv6",
    4: "TCPv4",
    8: "TCPv6",
    16: "SHM",
    DATA_SHARING: "data sharing",
}


@dataclass(frozen=True)
class Way:
    """One row a matched message; `NONE` is null.

    `since_ns` is from when on its reader could be sent it, for a message that waited for that in
    the writer's history; then sends before do not count. `sent_ns` is later than the first send by
    `held_ns`, for which the sender was held up in its send calls until the arrival
    (strata.model.dds.wire). `recovered` counts fragments.
    """

    since_ns: Ints
    sent_ns: Ints
    held_ns: Ints
    received_ns: Ints
    last_ns: Ints
    fragments: Ints
    recovered: Ints
    transport: Coded


def find_way(model: Model) -> Way:
    """Return the way of every matched message."""
    if not model.facts.is_hooked:
        return nothing_of(len(model.matches.take))
    known = model.facts.ways()
    if known is not None:
        return _known(known)
    take, wire = model.matches.take, model.middleware.wire
    written = model.middleware.writes.sample[model.matches.publication]
    sample = np.where(written != NONE, written, model.middleware.reads.sample[take])
    arrivals, local = _arrivals(model, sample)
    added_ns = model.middleware.notified.added_ns[take]
    sends = wire.sends.reindex(sample)
    # What has no number with its reader came through shared memory, whatever went to others.
    direct = model.middleware.notified.unnumbered[take] & ~local
    last_ns = np.where(direct, NONE, arrivals["last_ns"])
    came = last_ns != NONE
    # Whether the reader was there, and whether the sender was held up, two clocks cannot say.
    apart = model.unsynchronised
    send = wire.last_send_until(np.where(came, sample, NONE), arrivals["port"], last_ns)
    since_ns = np.where(apart, NONE, history_until(model, sample, last_ns, send))
    late = since_ns != NONE
    first_ns = filled(sends["first_send_ns"])
    sent_ns = np.where(late, wire.first_send_since(send, since_ns), first_ns)
    # Nothing came by a first transmission: it was over when its last send returned.
    over_ns = np.minimum(np.maximum(filled(sends["first_sent_ns"]), first_ns), last_ns)
    over_ns = np.where(apart, last_ns, over_ns)
    in_time_ns = np.where(late, last_ns, arrivals["received_ns"])
    received_ns = np.where(came, np.where(in_time_ns != NONE, in_time_ns, over_ns), added_ns)
    kind = np.where(came, arrivals["transport"], filled(sends["transport"]))
    sent_ns, kind = np.where(direct, NONE, sent_ns), np.where(direct, NONE, kind)
    shared = ~came & ~local & (kind == DATA_SHARING) & (received_ns != NONE)
    sent_ns = np.where(local | (shared & (received_ns < sent_ns)), received_ns, sent_ns)
    travels = (sent_ns != NONE) & (received_ns != NONE) & ~late & ~local & ~shared & ~apart
    held_ns = wire.held_up(np.where(travels, sample, NONE), sent_ns, received_ns)
    # Calls of two threads may overlap.
    held_ns = np.where(travels, np.clip(held_ns, 0, np.maximum(received_ns - sent_ns, 0)), 0)
    transport = _words_of(np.where(local, INTRA_PROCESS_NUMBER, kind))
    return Way(
        since_ns,
        np.where(travels, sent_ns + held_ns, sent_ns),
        np.where(travels, held_ns, NONE),
        received_ns,
        last_ns,
        np.where(local, 1, filled(sends["fragments"])),
        np.where(late, 0, np.maximum(arrivals["recovered"], 0)),
        transport,
    )


def _known(ways: Mapping[str, Ints]) -> Way:
    """A way of columns; its transport is a number, `INTRA_PROCESS_NUMBER` within a process."""
    columns = {name: column for name, column in ways.items() if name != "transport"}
    return Way(**columns, transport=_words_of(ways["transport"]))


def _words_of(transport: Ints) -> Coded:
    """Return the names of transports by their numbers; null for others."""
    names = {**_TRANSPORTS, INTRA_PROCESS_NUMBER: INTRA_PROCESS}
    numbers = np.asarray(sorted(names), np.int64)
    at = np.minimum(np.searchsorted(numbers, transport), len(numbers) - 1)
    words = tuple(names[number] for number in numbers.tolist())
    return Coded(np.where(numbers[at] == transport, at, NONE), words)


def nothing_of(messages: int) -> Way:
    """Return the ways of messages in a trace without the hooks: nothing is known of them."""
    none = np.full(messages, NONE, np.int64)
    return Way(none, none, none, none, none, none, np.zeros(messages, np.int64), Coded(none, ()))


def _arrivals(model: Model, sample: Ints) -> tuple[dict[str, Ints], Flags]:
    """Arrivals of each message's sample, and whether it was handed over within the process.

    Those on the thread that told the reader; where it did not get all that the process got (several
    threads of one participant, or a thread of its own for delivery), those of the process.
    """
    wire, take = model.middleware.wire, model.matches.take
    of_thread = model.processes.thread_process
    process = of_thread[model.takes.thread[take]]
    source = of_thread[model.publications.thread[model.matches.publication]]
    notified = model.middleware.notified
    index = [notified.thread[take], sample]
    on_thread = wire.by_thread.reindex(pd.MultiIndex.from_arrays(index))
    in_process = wire.by_process.reindex(pd.MultiIndex.from_arrays([process, sample]))
    own = filled(on_thread["arrived"])
    local = (own == NONE) & (process == source) & (notified.added_ns[take] != NONE)
    whole = (own != NONE) & (own >= filled(in_process["arrived"]))
    arrivals = {}
    for name in wire.by_thread.columns:
        elsewhere = np.where(local, NONE, filled(in_process[name]))
        arrivals[name] = np.where(whole, filled(on_thread[name]), elsewhere)
    return arrivals, local
