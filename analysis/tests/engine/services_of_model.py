# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the engine says of services, clients and their calls against the NumPy model, row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
import pyarrow as pa
from against_model import Run, run_engine

from strata.engine.windows import NO_LOSSES, Windows
from strata.layers.action_feedback import _callbacks
from strata.layers.actions import FEEDBACK
from strata.layers.call_columns import calls_of_model, calls_of_rows
from strata.model.build import Model, build_model
from strata.model.columns import NONE, Ints
from strata.model.entities import at_topics
from strata.model.goals import goals_of_model, goals_of_rows
from strata.model.search import pick
from strata.model.service_calls import METHODS
from strata.schema.quality import Ledger

_ACTION = 4
"""Of the engine's kinds of callbacks: of a goal or its feedback."""
FINDINGS = (
    "service_calls_unseen",
    "untaken_requests",
    "unanswered_requests",
    "untaken_responses",
    "unmatched_requests",
    "unmatched_responses",
    "calls_of_unseen_services",
    "ambiguous_service_events",
    "inferred_calls",
    "calls_by_thread_order",
    "requests_taken_by_several",
    "requests_without_callback",
    "empty_service_takes",
)


def assert_same_services(
    tables: Mapping[str, pa.Table], losses: Windows = NO_LOSSES, chunk_rows: int = 1 << 20
) -> Model:
    ledger = Ledger()
    model = build_model(dict(tables), ledger, losses)
    run = run_engine(tables, losses, chunk_rows=chunk_rows, processes=model.events.processes)
    _same_objects(model, run)
    row_of = _same_steps(model, run)
    _same_calls(model, run, row_of)
    _same_columns(model, run)
    _same_feedback(model, run)
    for code in FINDINGS:
        assert run.findings[code] == ledger.counts.get(code, 0), code
    return model


def _gids(model: Model, rows: Ints) -> list[str | None]:
    return list(model.service_traffic.gids.text(rows))


def _own_gids(run: Run, numbers: Ints) -> list[str | None]:
    return [None if number < 0 else run.bytes_[number].hex() for number in numbers.tolist()]


def _same_objects(model: Model, run: Run) -> None:
    traffic = model.service_traffic
    for name, known in (("services", traffic.services), ("clients", traffic.clients)):
        rows = run.rows[name]
        process = run.process_of_model[rows["process"]] if len(rows["process"]) else []
        assert list(process) == known.process.tolist(), name
        for column in ("handle", "rmw_handle", "node", "begin_ns"):
            assert rows[column].tolist() == getattr(known, column).tolist(), (name, column)
        assert run.words(rows["name"]) == list(known.name), name
    clients = run.rows["clients"]
    assert _own_gids(run, clients["gid"]) == _gids(model, traffic.clients.gid)


def _owners(model: Model, run: Run, of_client: bool) -> tuple[list[object], list[object]]:
    """What each owner is: its row, or process and handle. Of the engine, and of the model."""
    traffic = model.service_traffic
    table, others, known = (
        ("nameless_clients", traffic.exchange.unknown_clients, len(traffic.clients))
        if of_client
        else ("nameless_services", traffic.exchange.unknown_services, len(traffic.services))
    )
    rows = run.rows[table]
    own = [
        (int(run.process_of_model[process]), handle)
        for process, handle in zip(
            rows["process"].tolist(), rows["rmw_handle"].tolist(), strict=True
        )
    ]
    of_model = list(
        zip(others.process.tolist(), others.handle.tolist(), strict=True),
    )
    assert sorted(own) == sorted(of_model)
    first: list[object] = list(range(known))
    return first + own, first + of_model


def _same_steps(model: Model, run: Run) -> list[Ints]:
    """Compare what was sent and taken; the model's rows in the engine's, by kind."""
    exchange, rows = model.service_traffic.exchange, run.rows["service_steps"]
    place = _execution_of_model(run)
    kinds = (
        exchange.sent_requests,
        exchange.taken_requests,
        exchange.sent_responses,
        exchange.taken_responses,
    )
    found = []
    for kind, known in enumerate(kinds):
        own = np.flatnonzero(rows["kind"] == kind)
        found.append(own)
        assert rows["ns"][own].tolist() == known.ns.tolist(), kind
        assert run.thread_of_model[rows["thread"][own]].tolist() == known.thread.tolist(), kind
        for column in ("sequence", "told", "stamp"):
            assert rows[column][own].tolist() == getattr(known, column).tolist(), (kind, column)
        assert _own_gids(run, rows["gid"][own]) == _gids(model, known.gid), kind
        owners, of_model = _owners(model, run, kind in (0, 3))
        assert [owners[at] for at in rows["owner"][own]] == [of_model[at] for at in known.owner]
    sent, taken, _, _ = found
    for own, execution, before_ns in (
        (sent, exchange.caller, exchange.written_ns),
        (taken, exchange.execution, exchange.picked_ns),
    ):
        assert place[rows["execution"][own]].tolist() == execution.tolist()
        assert rows["before_ns"][own].tolist() == before_ns.tolist()
    return found


def _execution_of_model(run: Run) -> Ints:
    """The model's row of each execution; the last is of null."""
    rows = run.rows["executions"]
    order = np.lexsort((rows["start_at"], run.thread_of_model[rows["thread"]]))
    place = np.full(len(order) + 1, NONE, np.int64)
    place[order] = np.arange(len(order))
    return place


def _same_calls(model: Model, run: Run, row_of: list[Ints]) -> None:
    known, rows = model.service_traffic.calls, run.rows["service_calls"]
    for column, own in zip(("request", "taken", "response", "taken_response"), row_of, strict=True):
        wanted = pick(own, getattr(known, column))
        assert rows[column].tolist() == wanted.tolist(), column
    for column in ("client", "service"):
        owners, of_model = _owners(model, run, column == "client")
        found = [*owners, None]
        expected = [*of_model, None]
        assert [found[at] for at in rows[column]] == [
            expected[at] for at in getattr(known, column)
        ], column
    assert _own_gids(run, rows["gid"]) == _gids(model, known.gid)
    method = np.where(rows["method"] == 255, NONE, rows["method"].astype(np.int64))
    assert method.max(initial=NONE) < len(METHODS)
    assert method.tolist() == known.method.tolist()
    assert (rows["further"] == 1).tolist() == known.further.tolist()


def _same_columns(model: Model, run: Run) -> None:
    """What layers of calls and phases of goals are made of."""
    clock_of = model.host_clocks.of_thread[run.thread_of_model]
    calls, wanted_calls = calls_of_rows(run.rows, clock_of), calls_of_model(model)
    goals, wanted_goals = goals_of_rows(run.rows, run.texts), goals_of_model(model)
    threads = np.append(run.thread_of_model, NONE)
    executions = _execution_of_model(run)
    processes = run.process_of_model
    for found, wanted in ((calls, wanted_calls), (goals, wanted_goals)):
        for item in fields(wanted):
            column, expected = getattr(found, item.name), getattr(wanted, item.name)
            if item.name in ("server", "asker", "answerer"):
                column = threads[column]
            elif item.name in ("execution", "goal_execution"):
                column = executions[column]
            elif item.name in ("client_process", "service_process"):
                column = processes[column] if len(column) else column
            elif found is goals and item.name in ("start_ns", "finished_ns"):
                column = column[np.argsort(executions[:-1])]
            assert np.array_equal(column, expected), item.name


def _same_feedback(model: Model, run: Run) -> None:
    """The execution of an action's callback that each take of feedback started."""
    takes, rows = model.takes, run.rows
    of_topic = at_topics(model.entities.subscriptions.topic, takes.subscription, FEEDBACK)
    row = np.flatnonzero(of_topic & (takes.rmw_take_ns != NONE) & ~takes.loaned)
    wanted = zip(
        takes.thread[row].tolist(),
        takes.rmw_take_ns[row].tolist(),
        _callbacks(model, row).tolist(),
        strict=True,
    )
    found, taken = rows["feedback_takes"], rows["takes"]
    own = np.searchsorted(taken["at"], found["at"])
    execution = found["execution"]
    callback = pick(rows["executions"]["callback"].astype(np.int64), execution)
    is_action = pick(rows["callbacks"]["kind"], callback) == _ACTION
    ran = _execution_of_model(run)[np.where(is_action, execution, NONE)]
    thread = run.thread_of_model[taken["thread"][own]]
    pairs = zip(thread.tolist(), taken["ns"][own].tolist(), ran.tolist(), strict=True)
    assert sorted(pairs) == sorted(wanted)
