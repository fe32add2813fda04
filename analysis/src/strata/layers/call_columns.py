# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Service calls as columns of what layers need of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import pick

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class CallColumns:
    """Checkpoints of calls as they were seen, one row a call; `NONE` is null.

    `server` is the thread that took the request and `execution` what it started, `asker` the thread
    that took the response. `unsynchronised`: client and service have no common clock.
    """

    written_ns: Ints
    sent_ns: Ints
    picked_ns: Ints
    taken_ns: Ints
    start_ns: Ints
    finished_ns: Ints
    answered_ns: Ints
    got_ns: Ints
    server: Ints
    execution: Ints
    asker: Ints
    unsynchronised: Flags

    def __len__(self) -> int:
        return len(self.sent_ns)


def calls_of_model(model: Model) -> CallColumns:
    """Return the calls of the model."""
    exchange, calls = model.service_traffic.exchange, model.service_traffic.calls
    execution = pick(exchange.execution, calls.taken)
    threads = (
        pick(exchange.sent_requests.thread, calls.request),
        pick(exchange.taken_requests.thread, calls.taken),
        pick(exchange.sent_responses.thread, calls.response),
        pick(exchange.taken_responses.thread, calls.taken_response),
    )
    return CallColumns(
        pick(exchange.written_ns, calls.request),
        pick(exchange.sent_requests.ns, calls.request),
        pick(exchange.picked_ns, calls.taken),
        pick(exchange.taken_requests.ns, calls.taken),
        pick(model.executions.start_ns, execution),
        pick(model.executions.finished_ns, execution),
        pick(exchange.sent_responses.ns, calls.response),
        pick(exchange.taken_responses.ns, calls.taken_response),
        threads[1],
        execution,
        threads[3],
        _apart(threads, model.host_clocks.of_thread),
    )


def _apart(threads: tuple[Ints, ...], clock_of: Ints) -> Flags:
    """Which calls have a client and a service whose threads have two clocks.

    `threads` sent the request, took it, sent the response and took it.
    """
    asked, taken, answered, got = threads
    client, service = np.where(asked != NONE, asked, got), np.where(taken != NONE, taken, answered)
    clocks = pick(clock_of, client), pick(clock_of, service)
    return np.asarray((client != NONE) & (service != NONE) & (clocks[0] != clocks[1]), bool)
