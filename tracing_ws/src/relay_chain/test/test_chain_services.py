# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Chains of services and their stamps; listeners beside a chain."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from chain_process import (
    CLIENTS,
    JAZZY,
    Row,
    check_line,
    finish,
    free_domain,
    stamps,
    summary,
    truth,
)

CALLS = 40
NODES = ["caller", "forwarder_0", "forwarder_1", "responder"]


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def settings(name: str, answers: str, log: Path) -> list[str]:
    """Give the parameters of a node of the chain."""
    place = NODES.index(name)
    own = {
        "caller": ["service:=/service_0", "rate:=50.0", "peers:=3"],
        "responder": [f"input:=/service_{len(NODES) - 2}"],
    }.get(name, [f"input:=/service_{place - 1}", f"output:=/service_{place}"])
    ends = [f"messages:={CALLS}"] if name in ("caller", "responder") else [f"answers:={answers}"]
    return [*own, *ends, f"log:={log}"]


def check_calls(nodes: dict[str, list[Row]], answers: str) -> None:
    """Assert that each call went through all nodes, in order and at the times that fit together."""
    assert set(nodes) == set(NODES)
    sent = stamps(nodes["caller"], "request")
    assert len(sent) == CALLS
    for name in NODES[1:]:
        assert [row.seq for row in nodes[name] if row.event == "cb_start"] == list(range(CALLS))
        assert all(row.sent == sent[row.seq] for row in nodes[name])
    for before, after in pairwise(NODES):
        asked, begun = stamps(nodes[before], "request"), stamps(nodes[after], "cb_start")
        assert all(a < b for a, b in zip(asked, begun, strict=True)), (before, after)
    answered = stamps(nodes["caller"], "response")
    assert len(answered) == CALLS
    last = stamps(nodes["responder"], "cb_end")
    if answers == "after_next":
        assert all(a > b for a, b in zip(answered, last, strict=True))


@pytest.mark.parametrize("answers", ["at_once", "after_next"])
@pytest.mark.parametrize("executor", ["single", "multi"])
def test_every_call_goes_through_the_chain_in_one_process(
    tmp_path: Path, client: str, executor: str, answers: str
) -> None:
    program = JAZZY.space / "lib/relay_chain" / ("chain_cpp" if client == "rclcpp" else "chain")
    words = [
        word
        for name in NODES
        for setting in [*settings(name, answers, tmp_path), f"executor:={executor}"]
        for word in ("-p", f"{name}:{setting}")
    ]
    # No answer is waited for within a callback: one thread is enough, and nothing blocks.
    status, errors = finish(JAZZY.start(program, *NODES, "--ros-args", *words))
    assert status == 0, errors
    assert f"caller: {CALLS} of {CALLS} requests answered" in errors
    assert f"responder: received {CALLS} of {CALLS} requests" in errors
    check_calls(truth(tmp_path), answers)
    asked = summary(tmp_path, "caller")
    assert (asked["sent"], asked["answered"], asked["lost"]) == (CALLS, CALLS, 0)
    rows = truth(tmp_path)["caller"]
    ways = zip(stamps(rows, "request"), stamps(rows, "response"), strict=True)
    assert asked["round_trips_ns"] == [back - out for out, back in ways]


def test_every_call_goes_through_processes(tmp_path: Path, client: str) -> None:
    domain = free_domain()
    running: dict[str, subprocess.Popen[str]] = {}
    for name in reversed(NODES):
        kind = name.split("_")[0]
        program = JAZZY.space / "lib/relay_chain" / (f"{kind}_cpp" if client == "rclcpp" else kind)
        words = [w for one in settings(name, "at_once", tmp_path) for w in ("-p", one)]
        renamed = ["-r", f"__node:={name}"]
        running[name] = JAZZY.start(program, "--ros-args", *renamed, *words, domain=domain)
    try:
        status, errors = finish(running["responder"])
        ended, told = finish(running["caller"])
    finally:
        for process in running.values():
            process.terminate()
        for name in NODES[1:-1]:
            finish(running[name])
    assert (status, ended) == (0, 0), errors + told
    check_calls(truth(tmp_path), "at_once")


def test_requests_that_do_not_come_are_counted(tmp_path: Path, client: str) -> None:
    # The responder works for far longer than a request takes to come, and its queue has one place.
    program = JAZZY.space / "lib/relay_chain" / ("chain_cpp" if client == "rclcpp" else "chain")
    domain = free_domain()
    slow = "responder_cpp" if client == "rclcpp" else "responder"
    common = ("losses:=count", f"log:={tmp_path}", "depth:=1")
    own = ("input:=/service_0", f"messages:={CALLS}", "work_ms:=60.0")
    responder = JAZZY.executable(slow, *own, *common, domain=domain)
    words = ["service:=/service_0", "rate:=100.0", "peers:=1", f"messages:={CALLS}", *common]
    line = [word for one in words for word in ("-p", f"caller:{one}")]
    caller = JAZZY.start(program, "caller", "--ros-args", *line, domain=domain)
    try:
        status, errors = finish(responder)
        ended, told = finish(caller)
    finally:
        responder.kill()
        caller.kill()
    assert (status, ended) == (0, 0), errors + told
    received, asked = summary(tmp_path, "responder"), summary(tmp_path, "caller")
    assert received["received"] + received["lost"] == received["sent"] == CALLS
    assert received["lost"] > 0
    assert asked["sent"] == CALLS
    assert asked["answered"] <= received["received"]
    assert asked["round_trips_ns"].count(None) == asked["lost"] == CALLS - asked["answered"]


def test_listeners_take_what_the_chain_passes_on(tmp_path: Path, client: str) -> None:
    program = JAZZY.space / "lib/relay_chain" / ("chain_cpp" if client == "rclcpp" else "chain")
    own = {
        "source": ["output:=/chain_0", "messages:=40", "rate:=50.0", "peers:=4", "listeners:=2"],
        "relay_0": ["input:=/chain_0", "output:=/chain_1", "listeners:=2", "work_ms:=1.0"],
        "listener_0_0": ["input:=/chain_0", "work_ms:=2.0"],
        "listener_1_0": ["input:=/chain_1"],
        "sink": ["input:=/chain_1", "messages:=40"],
    }
    words = [
        word
        for name, given in own.items()
        for setting in [*given, "depth:=100", f"log:={tmp_path}"]
        for word in ("-p", f"{name}:{setting}")
    ]
    status, errors = finish(JAZZY.start(program, *own, "--ros-args", *words))
    assert status == 0, errors
    nodes = truth(tmp_path)
    check_line(nodes, ["source", "relay_0", "sink"], 40)
    for name in ("listener_0_0", "listener_1_0"):
        # The chain ends with its sink, whose message may be the last one of a listener, too.
        assert len(stamps(nodes[name], "cb_start")) >= 39
    begun, ended = (stamps(nodes["listener_0_0"], event) for event in ("cb_start", "cb_end"))
    assert all(end - begin >= 2_000_000 for begin, end in zip(begun, ended, strict=True))
