# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A program whose sockets are traced gets what it would have got."""

from __future__ import annotations

import json

import pytest
from driver_trace import PROGRAMS, compiled, free_ports, python, run, trace, with_hooks

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def plain() -> list:
    told = json.loads(run(python("calls.py", *free_ports(2)), {}))
    assert len(told) > 1000
    return told


def first_difference(one: list, other: list) -> list:
    return [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]][:3]


def test_it_prints_the_same_twice(plain):
    again = json.loads(run(python("calls.py", *free_ports(2)), {}))
    assert first_difference(plain, again) == []


def test_nothing_changes_without_a_session(lttng, plain):
    ports = free_ports(2)
    hooked = json.loads(run(python("calls.py", *ports), with_hooks(ports), lttng))
    assert first_difference(plain, hooked) == []
    assert len(plain) == len(hooked)


def test_nothing_changes_while_every_event_is_recorded(lttng, plain):
    ports = free_ports(2)
    printed, events = trace(lttng, python("calls.py", *ports), with_hooks(ports))
    hooked = json.loads(printed)
    assert first_difference(plain, hooked) == []
    assert len(plain) == len(hooked)
    packets = [event for event in events if event.name == "packet_received"]
    # What was read by a call that told a length, once each; of the child, which has no LTTng, none.
    assert len(packets) > 500
    assert {event["source"] for event in packets} == set(range(1, 8))


def test_threads_that_read_one_socket_at_once(lttng, tmp_path):
    program = compiled(tmp_path / "threads", PROGRAMS / "threads.c", "-pthread")
    (port,) = free_ports(1)
    line = [program, str(port), "4", "2000"]
    printed, events = trace(lttng, line, with_hooks([port]))
    assert printed == "2000 read, 0 wrong, 0 with control data\n"
    source, *packets = events
    assert source.name == "source_init"
    assert sorted(event["sequence"] for event in packets) == list(range(2000))
    assert {(event["source"], event["bytes"]) for event in packets} == {(source["source"], 8)}
