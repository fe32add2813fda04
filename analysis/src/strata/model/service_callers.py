# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which client has which GID, and when.

A client's GID is in its rmw_client_init. Where that is missing (the trace began late), its
responses tell it: a response has one sequence number and one source timestamp where it is sent,
with the GID, and where it is taken, with the client's handle. Responses that tell different GIDs
tell nothing, and a client whose responses contradict its init event is two clients (an init event
was lost).
"""

from __future__ import annotations

import numpy as np

from strata.lazy import pandas as pd
from strata.model.columns import NONE, Ints
from strata.model.joins import Flags, codes_of, repeated, single
from strata.model.search import GroupedSearch, pick
from strata.model.service_events import Exchange
from strata.model.services import Clients

_EARLIEST, _LATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class Callers:
    """One row a client number: its GID (`NONE`: unknown) and since when it has it.

    `learned` tells GIDs that responses told, `contradictory` clients that must be several, `clock`
    by which clock each lives (strata.model.hosts).
    """

    def __init__(
        self, gid: Ints, begin_ns: Ints, learned: Flags, contradictory: Flags, clock: Ints
    ) -> None:
        self.gid = gid
        self.begin_ns = begin_ns
        self.learned = learned
        self.contradictory = contradictory
        self._clock = clock
        self._row = np.flatnonzero(gid != NONE).astype(np.int64)
        self._lives = GroupedSearch(gid[self._row], begin_ns[self._row])

    def __len__(self) -> int:
        return len(self.gid)

    def at(self, gid: Ints, ns: Ints, clock: Ints) -> Ints:
        """Return the client that had a GID at a time; `NONE` where none is known.

        By another clock than the client's the time says nothing: a GID that one client alone has
        is that client's.
        """
        if not len(self._row):
            return np.full(len(gid), NONE, np.int64)
        last = self._lives.position(gid, ns, after_equal=True) - 1
        first = self._lives.begin(gid)
        found = (gid != NONE) & (last >= first)
        at = np.where(found, self._row[self._lives.order[np.maximum(last, 0)]], NONE)
        count = self._lives.position(gid, np.full_like(ns, _LATEST), after_equal=True) - first
        only = np.where(
            count == 1, self._row[self._lives.order[np.minimum(first, len(self._row) - 1)]], NONE
        )
        apart = (gid != NONE) & (only != NONE) & (pick(self._clock, only) != clock)
        return np.where(apart, only, at)

    def reused(self) -> Flags:
        """Return which clients have a GID that another one has, too."""
        nobody = -2 - np.arange(len(self.gid))
        return repeated(np.where(self.gid != NONE, self.gid, nobody))


def find_callers(exchange: Exchange, clients: Clients, of_process: Ints) -> Callers:
    """Return the GIDs of all clients, known and told; `of_process` numbers clocks of processes."""
    count = len(clients) + len(exchange.unknown_clients)
    unknown = np.full(count - len(clients), NONE, np.int64)
    gid = np.concatenate([clients.gid, unknown])
    begin_ns = np.concatenate([clients.begin_ns, unknown])
    pairs = _told(exchange)
    known = gid != NONE
    odd = pairs[known[pairs["client"]] & (gid[pairs["client"]] != pairs["gid"])]
    contradictory = np.zeros(count, bool)
    contradictory[odd["client"]] = True
    told = pairs.drop_duplicates("client", keep=False)
    told = told[~known[told["client"]] & ~told["gid"].isin(gid[known])]
    told = told.drop_duplicates("gid", keep=False)
    gid[told["client"]] = told["gid"]
    learned = (gid != NONE) & ~known
    unseen = exchange.unknown_clients.process
    clock = of_process[np.concatenate([clients.process, unseen])]
    return Callers(gid, np.where(learned, _EARLIEST, begin_ns), learned, contradictory, clock)


def _told(exchange: Exchange) -> pd.DataFrame:
    """Pairs of GID and client that a response has in common."""
    sent, taken = exchange.sent_responses, exchange.taken_responses
    of_sent, of_taken = codes_of([sent.sequence, sent.stamp], [taken.sequence, taken.stamp])
    own = (sent.stamp > 0) & (sent.gid != NONE) & ~repeated(of_sent)
    found = single(of_sent, of_taken, own, taken.stamp > 0)
    pairs = pd.DataFrame({"gid": sent.gid, "client": pick(taken.owner, found)})
    told: pd.DataFrame = pairs[found != NONE].drop_duplicates()
    return told
