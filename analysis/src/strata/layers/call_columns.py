# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Service calls as columns of what layers need of them, from the model or from the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.build import Model
from strata.model.columns import NONE, Ints
from strata.model.search import pick

Flags = npt.NDArray[np.bool_]
Tables = Mapping[str, Mapping[str, npt.NDArray[np.generic]]]


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


def calls_of_rows(rows: Tables, clock_of: Ints) -> CallColumns:
    """Return the calls of the engine; `clock_of` numbers the clock of each of its threads."""
    steps = {name: _ints(column) for name, column in rows["service_steps"].items()}
    calls = {name: _ints(column) for name, column in rows["service_calls"].items()}
    executions = rows["executions"]
    sent, taken, answered, got = (
        calls[name] for name in ("request", "taken", "response", "taken_response")
    )
    execution = pick(steps["execution"], taken)
    threads = tuple(pick(steps["thread"], of) for of in (sent, taken, answered, got))
    return CallColumns(
        pick(steps["before_ns"], sent),
        pick(steps["ns"], sent),
        pick(steps["before_ns"], taken),
        pick(steps["ns"], taken),
        pick(_ints(executions["start_ns"]), execution),
        pick(_ints(executions["finished_ns"]), execution),
        pick(steps["ns"], answered),
        pick(steps["ns"], got),
        threads[1],
        execution,
        threads[3],
        _apart(threads, clock_of),
    )


def _apart(threads: tuple[Ints, ...], clock_of: Ints) -> Flags:
    """Which calls have a client and a service whose threads have two clocks.

    `threads` sent the request, took it, sent the response and took it.
    """
    asked, taken, answered, got = threads
    client, service = np.where(asked != NONE, asked, got), np.where(taken != NONE, taken, answered)
    clocks = pick(clock_of, client), pick(clock_of, service)
    return np.asarray((client != NONE) & (service != NONE) & (clocks[0] != clocks[1]), bool)


def _ints(values: npt.NDArray[np.generic]) -> Ints:
    return values.astype(np.int64, copy=False)
