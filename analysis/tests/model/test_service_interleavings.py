# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Random traffic of clients and services: no call is put together wrongly, nothing counts twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st
from scene import BASE, Scene

from strata.model.build import Model
from strata.model.columns import NONE
from strata.schema.quality import Findings

SERVICES = ("on_a", "on_b")
CLIENTS = ("ana", "bob", "eve", "dan")
# After every event of the clients of the first round: their addresses are used again.
SECOND_ROUND = 100_000
Event = tuple[str, int, str | None]


@dataclass(frozen=True)
class Call:
    """When its events happen, relative to the one before; `lost` ones are not in the trace."""

    client: int
    begin: int
    to_take: int
    to_response: int
    to_end: int
    served_by: tuple[str, ...]
    lost: frozenset[str]


def a_call(*, lossy: bool) -> st.SearchStrategy[Call]:
    kinds = ("send", "on_a take", "on_a answer", "on_b take", "on_b answer", "on_a got", "on_b got")
    return st.builds(
        Call,
        client=st.integers(0, len(CLIENTS) - 1),
        begin=st.integers(0, 300),
        # A service may take a request before the event of its sending.
        to_take=st.integers(-2, 200),
        to_response=st.integers(1, 300),
        to_end=st.integers(1, 300),
        served_by=st.sampled_from([(), ("on_a",), ("on_b",), ("on_a", "on_b")]),
        lost=st.frozensets(st.sampled_from(kinds), max_size=4) if lossy else st.just(frozenset()),
    )


def play(calls: list[Call], unknown: frozenset[int]) -> tuple[Scene, dict[int, Event]]:
    """Make the scene; returns what each instant is: its kind, number of the call, and service."""
    made = Scene()
    for symbol in SERVICES:
        made.service("/s", node=f"/{symbol}", pid=9, symbol=symbol)
    for number, key in enumerate(CLIENTS):
        # eve and dan live after ana and bob, in the same process, at the same address.
        first = number < 2
        made.client(
            key,
            "/s",
            node=f"/{key}",
            pid=number % 2,
            known=not (first and number in unknown),
            at=None if first else SECOND_ROUND,
            like="" if first else CLIENTS[number - 2],
        )
    counts: Counter[int] = Counter()
    happened: dict[int, Event] = {}

    def add(ns: int, line: str, event: Event, *, lost: bool) -> int:
        while ns in happened:
            ns += 1
        if not lost:
            happened[ns] = event
            made.play(f"{ns} {line}")
        return ns

    for number, call in enumerate(sorted(calls, key=lambda call: call.begin)):
        counts[call.client] += 1
        client, sequence = CLIENTS[call.client], counts[call.client]
        pid = call.client % 2
        begin = 1000 + call.begin * 10 + (2 * SECOND_ROUND if call.client > 1 else 0)
        line = f"{pid}.1 rmw_send_request {client} {sequence}"
        begin = add(begin, line, ("send", number, None), lost="send" in call.lost)
        for place, service in enumerate(call.served_by):
            ns, stamp = begin + 7 * place, 10_000_000 + 2 * number + place
            for kind, after, line in (
                ("take", call.to_take, f"9.9 rmw_take_request {service} {client} {sequence}"),
                (
                    "answer",
                    call.to_response,
                    f"9.8 rmw_send_response {service} {client} {sequence} {stamp}",
                ),
                ("got", call.to_end, f"{pid}.1 rmw_take_response {client} {sequence} {stamp}"),
            ):
                lost = f"{service} {kind}" in call.lost
                ns = add(ns + after, line, (kind, number, service), lost=lost)
    return made, happened


def rows_of(model: Model, happened: dict[int, Event]) -> list[list[Event]]:
    exchange, calls = model.service_traffic.exchange, model.service_traffic.calls
    rows: list[list[Event]] = [[] for _ in range(len(calls))]
    for kind, events, of in (
        ("send", exchange.sent_requests, calls.request),
        ("take", exchange.taken_requests, calls.taken),
        ("answer", exchange.sent_responses, calls.response),
        ("got", exchange.taken_responses, calls.taken_response),
    ):
        for row, event in enumerate(of):
            if event != NONE:
                found = happened[int(events.ns[event]) - BASE]
                assert found[0] == kind
                rows[row].append(found)
    return rows


def check_rows(rows: list[list[Event]], happened: dict[int, Event], findings: Findings) -> None:
    for row in rows:
        assert len({number for _, number, _ in row}) == 1, row
        assert len({service for _, _, service in row if service}) <= 1, row
    told = Counter(event for row in rows for event in row)
    assert set(told.values()) <= {1}
    seen = Counter(happened.values())
    rest = seen - told
    # A response of which nothing else is known has no row; it is counted.
    assert {kind for kind, _, _ in rest} <= {"got"}
    assert sum(rest.values()) == findings.counts.get("unmatched_responses", 0)


@given(
    st.lists(a_call(lossy=True), max_size=15),
    st.frozensets(st.integers(0, 1)),
)
def test_no_call_is_wrong_and_every_request_is_in_one_row(
    calls: list[Call], unknown: frozenset[int]
) -> None:
    made, happened = play(calls, unknown)
    model = made.model()
    check_rows(rows_of(model, happened), happened, model.findings)


@given(st.lists(a_call(lossy=False), min_size=1, max_size=15))
def test_without_losses_every_call_is_whole(calls: list[Call]) -> None:
    made, happened = play(calls, frozenset())
    model = made.model()
    rows = rows_of(model, happened)
    check_rows(rows, happened, model.findings)
    requested = [row for row in rows if row[0][0] == "send"]
    assert len(requested) == len(calls)
    for row in requested:
        number = row[0][1]
        served = sorted(calls, key=lambda call: call.begin)[number].served_by
        assert len(row) == (4 if served else 1)
    assert not model.findings.counts.keys() & {
        "ambiguous_service_events",
        "unmatched_responses",
        "unanswered_requests",
        "untaken_responses",
        "inferred_calls",
    }
