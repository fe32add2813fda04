# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sources that send as fast as they can, sinks that count what is lost, and pings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from chain_process import CLIENTS, JAZZY, finish, free_domain, stamps, summary, truth

ALL = ("type:=fixed", "payload:=16384", "losses:=count")


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def start(client: str, kind: str, domain: int, *settings: str) -> subprocess.Popen[str]:
    executable = f"{kind}_cpp" if client == "rclcpp" else kind
    return JAZZY.executable(executable, *settings, domain=domain)


def test_what_is_sent_at_full_speed_is_received_or_counted_as_lost(
    tmp_path: Path, client: str
) -> None:
    domain = free_domain()
    log = f"log:={tmp_path}"
    # The work makes the sink slower than the source: with a short history it must lose some.
    own = ("input:=/f", "messages:=0", "stamps:=false", "depth:=1", "work_ms:=3", *ALL, log)
    sink = start(client, "sink", domain, *own)
    own = ("output:=/f", "messages:=0", "seconds:=0.5", "rate:=0", "peers:=1", "depth:=1")
    source = start(client, "source", domain, *own, *ALL, log)
    try:
        status, errors = finish(sink)
    finally:
        source.terminate()
        ended, told = finish(source)
    assert (status, ended) == (0, 0), errors + told
    received, sent = summary(tmp_path, "sink"), summary(tmp_path, "source")
    assert f"source: sent {sent['sent']} messages" in told
    assert f"sink: received {received['received']} of {sent['sent']} messages" in errors
    assert received["sent"] == sent["sent"]
    assert received["received"] + received["lost"] - received["duplicates"] == sent["sent"]
    assert (received["duplicates"], received["reordered"]) == (0, 0)
    assert received["lost"] > 0
    assert {received["type"], sent["type"]} == {"TimingFixed16k"}
    assert received["bytes"] == 16384 * received["received"]
    assert sent["bytes"] == 16384 * sent["sent"]
    assert 0.3 < sent["seconds"] <= 0.5
    by_hand = 16384 * (received["received"] - 1) / received["seconds"]
    assert received["bytes_per_second"] == pytest.approx(by_hand)
    # Every row costs time, so none was kept of the sink; the source's are as many as it sent.
    own_stamps = truth(tmp_path)
    assert set(own_stamps) == {"source"}
    assert len(stamps(own_stamps["source"], "publish")) == sent["sent"]


@pytest.mark.parametrize("slow", [False, True])
def test_a_ping_returns_or_is_given_up(tmp_path: Path, client: str, slow: bool) -> None:
    domain = free_domain()
    # A pong that holds each ping for long after its time: none may stop what measures.
    held, timeout = ("700", "0.0") if slow else ("0", "20.0")
    settings = ("input:=/ping", "output:=/pong", f"work_ms:={held}")
    pong = start(client, "relay", domain, *settings)
    settings = ("messages:=3", f"timeout_s:={timeout}", "peers:=1", f"log:={tmp_path}")
    ping = start(client, "ping", domain, *settings)
    try:
        status, errors = finish(ping)
    finally:
        pong.terminate()
        finish(pong)
    assert status == 0, errors
    found = summary(tmp_path, "ping")
    assert f"ping: {found['returned']} of 3 pings returned" in errors
    if slow:
        assert (found["returned"], found["lost"], found["round_trips_ns"]) == (0, 3, [None] * 3)
        return
    assert (found["sent"], found["returned"], found["lost"], found["late"]) == (3, 3, 0, 0)
    rows = truth(tmp_path)["ping"]
    ways = zip(stamps(rows, "publish"), stamps(rows, "cb_start"), strict=True)
    assert found["round_trips_ns"] == [back - out for out, back in ways]
