# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Whole chains of real ROS 2 nodes, and what their stamps say."""

from __future__ import annotations

import itertools
import statistics
from pathlib import Path

import pytest
from chain_process import (
    CLIENTS,
    JAZZY,
    Place,
    Row,
    check_line,
    finish,
    free_domain,
    needs_rclcpp,
    stamps,
    summary,
    truth,
)

MS = 1_000_000


def check(nodes: dict[str, list[Row]], relays: int, messages: int, sinks: int = 1) -> None:
    """Assert that every node saw every message in order, and that the stamps fit together."""
    line = ["source", *(f"relay_{index}" for index in range(relays))]
    ends = ["sink"] if sinks == 1 else [f"sink_{index}" for index in range(sinks)]
    assert set(nodes) - {"distractor"} == {*line, *ends}
    for sink in ends:
        check_line(nodes, [*line, sink], messages)


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("processes", ["one", "each"])
def test_a_chain_passes_every_message_on(tmp_path: Path, client: str, processes: str) -> None:
    options = f"--client {client} --relays 3 --messages 100 --processes {processes}"
    status, errors = JAZZY.run(*options.split(), "--log", tmp_path / "truth")

    assert status == 0, errors
    assert "sink: received 100 of 100 messages" in errors
    nodes = truth(tmp_path / "truth")
    check(nodes, 3, 100)
    for name, rows in nodes.items():
        assert f"{name}: wrote {tmp_path / 'truth' / name}.csv" in errors
        # A single-threaded executor spins on the main thread.
        assert {(row.pid, row.tid) for row in rows} == {(rows[0].pid, rows[0].pid)}
    assert len({rows[0].pid for rows in nodes.values()}) == (1 if processes == "one" else 5)
    sent = stamps(nodes["source"], "publish")
    assert 0.9 < (sent[-1] - sent[0]) / (99 * 10 * MS) < 2.0


def test_the_same_on_kilted(tmp_path: Path) -> None:
    place = Place("kilted")
    if not place.space.is_dir():
        pytest.skip("the workspace is not built for kilted: make setup-kilted")
    status, errors = place.run("--messages", "50", "--log", tmp_path)
    assert status == 0, errors
    check(truth(tmp_path), 3, 50)


def test_a_multi_threaded_executor_uses_other_threads(tmp_path: Path, client: str) -> None:
    # A low rate: rclpy's executor queues a callback again and again until a thread takes it, and
    # falls far behind on a busy machine.
    options = f"--client {client} --executor multi --threads 3 --processes one --rate 20"
    status, errors = JAZZY.run(*options.split(), "--messages", "30", "--log", tmp_path)
    assert status == 0, errors
    nodes = truth(tmp_path)
    check(nodes, 3, 30)
    rows = [row for rows in nodes.values() for row in rows]
    if client == "rclpy":
        assert all(row.tid != row.pid for row in rows)
    else:
        # rclcpp counts the thread that spins among the three.
        assert 1 < len({row.tid for row in rows}) <= 3


@needs_rclcpp
@pytest.mark.parametrize("processes", ["one", "each"])
def test_the_events_executor_runs_the_same_chain(tmp_path: Path, processes: str) -> None:
    options = f"--client rclcpp --executor events --processes {processes} --messages 50"
    status, errors = JAZZY.run(*options.split(), "--log", tmp_path)
    assert status == 0, errors
    check(truth(tmp_path), 3, 50)


@needs_rclcpp
@pytest.mark.parametrize("processes", ["one", "two"])
@pytest.mark.parametrize("options", ["", "--message fixed --payload 4194304", "--sinks 3"])
def test_messages_pass_intra_process(tmp_path: Path, options: str, processes: str) -> None:
    line = f"--client rclcpp --intra-process --processes {processes} --rate 20 --messages 20"
    status, errors = JAZZY.run(*line.split(), *options.split(), "--log", tmp_path)
    assert status == 0, errors
    check(truth(tmp_path), 3, 20, 3 if "--sinks" in options else 1)


def test_nodes_in_cpp_that_are_not_built_are_asked_for_in_vain(tmp_path: Path) -> None:
    if not needs_rclcpp.args[0]:
        pytest.skip("relay_chain was built with rclcpp")
    status, errors = JAZZY.run("--client", "rclcpp", "--log", tmp_path)
    assert status == 1
    assert errors.startswith(f"Cannot run nodes in C++: there is no {JAZZY.space}/lib/relay_chain/")


@pytest.mark.parametrize("options", ["--relays 0 --payload 0", "--durability transient_local"])
def test_other_chains(tmp_path: Path, client: str, options: str) -> None:
    line = f"--client {client} --messages 30 {options}"
    status, errors = JAZZY.run(*line.split(), "--log", tmp_path)
    assert status == 0, errors
    check(truth(tmp_path), 0 if "--relays" in options else 3, 30)


def test_in_two_processes_every_hop_crosses(tmp_path: Path, client: str) -> None:
    options = f"--client {client} --processes two --messages 50"
    status, errors = JAZZY.run(*options.split(), "--log", tmp_path)
    assert status == 0, errors
    nodes = truth(tmp_path)
    pids = {name: rows[0].pid for name, rows in nodes.items()}
    assert pids["source"] == pids["relay_1"] == pids["sink"]
    assert pids["relay_0"] == pids["relay_2"] != pids["source"]
    check(nodes, 3, 50)


@pytest.mark.parametrize(
    ("sinks", "processes", "number"), [(3, "each", 5), (3, "one", 1), (10, "two", 2)]
)
def test_every_sink_gets_every_message(
    tmp_path: Path, client: str, sinks: int, processes: str, number: int
) -> None:
    options = f"--client {client} --relays 1 --sinks {sinks} --processes {processes}"
    options += " --messages 30 --rate 30"
    status, errors = JAZZY.run(*options.split(), "--log", tmp_path)
    assert status == 0, errors
    for index in range(sinks):
        assert f"sink_{index}: received 30 of 30 messages" in errors
    nodes = truth(tmp_path)
    assert len({rows[0].pid for rows in nodes.values()}) == number
    check(nodes, 1, 30, sinks)


FIXED = [256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20]
"""Bytes of the payloads that have a type of their own."""


@pytest.mark.parametrize(
    ("message", "payload"),
    [("timing", 64 << 10), ("timing", 4 << 20), *(("fixed", size) for size in FIXED)],
)
def test_messages_of_every_size_pass(
    tmp_path: Path, client: str, message: str, payload: int
) -> None:
    options = f"--client {client} --message {message} --payload {payload}"
    options += " --relays 1 --rate 20 --messages 4"
    status, errors = JAZZY.run(*options.split(), "--log", tmp_path)
    assert status == 0, errors
    check(truth(tmp_path), 1, 4)
    # The size is that of the payload alone.
    assert summary(tmp_path, "sink")["bytes"] == 4 * payload


def test_work_keeps_the_callback_busy_before_its_publish(tmp_path: Path, client: str) -> None:
    options = f"--client {client} --work relay_1=5 --messages 50"
    status, errors = JAZZY.run(*options.split(), "--log", tmp_path)
    assert status == 0, errors
    nodes = truth(tmp_path)
    check(nodes, 3, 50)
    held = {
        name: [
            b - a for a, b in zip(stamps(rows, "cb_start"), stamps(rows, "publish"), strict=True)
        ]
        for name, rows in nodes.items()
        if name != "sink"
    }
    assert min(held["relay_1"]) >= 5 * MS
    # Beside busy processes it takes several times the 5 ms.
    assert statistics.median(held["relay_1"]) < 100 * MS
    for name in ("source", "relay_0", "relay_2"):
        assert statistics.median(held[name]) < 1 * MS, name


@pytest.mark.parametrize("processes", ["one", "each"])
def test_a_blocking_callback_delays_what_comes_meanwhile(
    tmp_path: Path, client: str, processes: str
) -> None:
    options = f"--client {client} --block relay_1=60@4 --messages 150"
    status, errors = JAZZY.run(*options.split(), "--processes", processes, "--log", tmp_path)
    assert status == 0, errors
    nodes = truth(tmp_path)
    check(nodes, 3, 150)
    assert stamps(nodes["distractor"], "publish")
    sent = stamps(nodes["source"], "cb_start")
    published, begun = stamps(nodes["relay_0"], "publish"), stamps(nodes["relay_1"], "cb_start")
    waits = [b - a for a, b in zip(published, begun, strict=True)]
    gaps = [b - a for a, b in itertools.pairwise(sent)]
    if processes == "each":
        # About 1 of 4 messages comes while the callback blocks.
        assert sum(wait > 10 * MS for wait in waits) >= 10
    else:
        # The source's timer is on the blocked executor too: nothing is sent meanwhile.
        assert sum(gap > 40 * MS for gap in gaps) >= 3
    assert statistics.median(waits) < 10 * MS
    assert statistics.median(gaps) < 20 * MS


def test_a_chain_that_loses_messages_says_so(tmp_path: Path, client: str) -> None:
    options = f"--client {client} --work relay_0=40 --rate 200 --messages 100 --depth 1 --relays 1"
    status, errors = JAZZY.run(*options.split(), "--log", tmp_path)
    assert status == 1
    received = len(stamps(truth(tmp_path)["sink"], "cb_start"))
    assert 0 < received < 100
    assert f"Cannot receive every message: {received} of 100 came, then none for" in errors


def test_stamps_are_replaced_only_when_that_is_asked_for(tmp_path: Path, client: str) -> None:
    old = tmp_path / "relay_1.csv"
    old.write_text("old")
    options = ["--client", client, "--messages", "5", "--log", tmp_path]
    status, errors = JAZZY.run(*options)
    assert status == 1
    assert errors.startswith(f"Cannot write stamps to {old}: it is there already.")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]

    status, errors = JAZZY.run(*options, "--force")
    assert status == 0, errors
    check(truth(tmp_path), 3, 5)


def test_nodes_run_alone_by_their_parameters(tmp_path: Path, client: str) -> None:
    suffix = "_cpp" if client == "rclcpp" else ""
    domain = free_domain()
    log = f"log:='{tmp_path}'"
    sink = JAZZY.executable(
        f"sink{suffix}", "messages:=20", "input:=/b", "depth:=1000", log, domain=domain
    )
    relay = JAZZY.executable(
        f"relay{suffix}", "input:=/a", "output:=/b", "depth:=1000", log, domain=domain
    )
    source = JAZZY.executable(
        f"source{suffix}",
        "messages:=20",
        "rate:=50",
        "peers:=2",
        "output:=/a",
        "depth:=1000",
        log,
        domain=domain,
    )
    try:
        status, errors = finish(sink)
        assert (status, "sink: received 20 of 20" in errors) == (0, True), errors
    finally:
        relay.terminate()
        source.terminate()
        ended = [finish(relay)[0], finish(source)[0]]
    assert ended == [0, 0]
    nodes = truth(tmp_path)
    nodes["relay_0"] = nodes.pop("relay")
    check(nodes, 1, 20)


@pytest.mark.parametrize(
    ("node", "setting", "says"),
    [
        ("distractor", "rate:=0.0", "Cannot use parameter rate: 0.0 Hz is not above 0."),
        ("source", "rate:=-1.0", "Cannot use parameter rate: -1.0 is below 0."),
        ("source", "messages:=0", "Cannot send for ever: messages and seconds are both 0."),
        ("source", "loans:=true", "Cannot use parameter loans: "),
        ("source", "type:=fixed payload:=1000", "no type of fixed size has a payload of 1000 b"),
        ("sink", "messages:=0", "Cannot use parameter messages: 0, where the source says how"),
        ("source", "messages:=many", "Cannot use parameter messages: 'many' is no int."),
        ("relay", "type:=wrong", "parameter type: 'wrong' is none of unbounded, fixed."),
        ("relay", "depth:=0", "Cannot use parameter depth: 0 is below 1."),
        ("relay", "reliability:=x", "'x' is none of reliable, best_effort."),
        ("sink", "executor:=triple", "Cannot use parameter executor: 'triple' is n"),
        ("relay", "discovery_s:=0.5", "Cannot start relay: no subscription on /chain_1 after 0.5"),
    ],
)
def test_a_node_that_cannot_run_says_why(client: str, node: str, setting: str, says: str) -> None:
    executable = f"{node}_cpp" if client == "rclcpp" else node
    status, errors = finish(JAZZY.executable(executable, *setting.split()))
    assert status == 1
    assert says in errors
    assert "Traceback" not in errors


def test_nodes_that_are_no_kind_cannot_share_a_process() -> None:
    status, errors = finish(JAZZY.start(JAZZY.space / "lib/relay_chain/chain", "source", "mixer"))
    assert status == 2
    assert errors == (
        "Cannot run the chain: 'mixer' names none of source, relay, listener, sink, "
        "distractor, ping, caller, forwarder, responder. "
        "Name some, like source relay_0 sink.\n"
    )
