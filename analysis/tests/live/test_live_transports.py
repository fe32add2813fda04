# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every profile that ships, recorded: messages take the transport that it states and arrive."""

from __future__ import annotations

import csv
import os
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lttng_world import ROOT, World, any_domain, manifest

from strata.read import open_trace

pytestmark = pytest.mark.live

UDP, TCP, SHM, SHARED = 1, 4, 16, 0x10000
KIB, MIB = 1 << 10, 1 << 20
LONGEST = 65500
"""Bytes of an RTPS message: a sample above it goes in fragments."""
ONE_AT_A_TIME = ["taskset", "-c", str(min(os.sched_getaffinity(0))), "chrt", "--batch", "0"]
"""Runs a command so that a thread that wakes up waits for the running one, on one CPU.

Over TCP, Fast DDS (2.14 to 3.6) ignores the answer to its connection request if it comes between
`connect` and `add_logical_port` in TCPTransportInterface::OpenOutputChannel, and then never sends
on that connection (docs/transports.md).
"""


@dataclass(frozen=True)
class Run:
    """A chain of one relay with a profile, and the transport that its messages should take."""

    profile: str
    transport: int
    payload: int
    sinks: int = 1
    processes: str = "two"
    message: str = "timing"
    messages: int = 12

    def __str__(self) -> str:
        return f"{self.profile}-{self.payload}-{self.sinks}"


RUNS = [
    Run("fastdds_shm", SHM, 256, sinks=10, processes="each"),
    Run("fastdds_shm", SHM, MIB),
    Run("fastdds_shm_large_segment", SHM, 4 * MIB),
    Run("fastdds_udp", UDP, 64 * KIB, sinks=3),
    Run("fastdds_udp_small_buffers", UDP, MIB),
    Run("fastdds_tcp", TCP, 64 * KIB),
    Run("fastdds_large_data", SHM, MIB),
    Run("fastdds_data_sharing", SHARED, MIB, sinks=3, message="fixed"),
    # A type without a bound cannot be shared, and takes the transports.
    Run("fastdds_data_sharing", SHM, 256),
]


@pytest.fixture(params=["jazzy", "kilted"])
def world_of(request: pytest.FixtureRequest, world: World) -> Iterator[World]:
    """Make a world whose ROS 2 is of one distribution, without a discovery range of its own."""
    if not (ROOT / "tracing_ws/install" / request.param / "lib/dds_tracepoints").is_dir():
        pytest.skip(f"the workspace is not built for {request.param}")
    if request.param != "jazzy":
        world.environment["STRATA_ROS_PREFIX"] = str(ROOT / f".venv-{request.param}")
    del world.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"]
    world.environment["ROS_DOMAIN_ID"] = any_domain()
    yield world


def record(world: World, run: Run, target: Path) -> None:
    chain = (
        f"--relays 1 --sinks {run.sinks} --processes {run.processes} --message {run.message} "
        f"--payload {run.payload} --messages {run.messages} --rate 24 --depth {run.messages} "
        f"--log {target}/truth"
    )
    command = ["record", "-c", "full", "--rmw-profile", run.profile, "--force", "-o", target, "--"]
    command += ONE_AT_A_TIME if run.transport == TCP else []
    command += ["python3", "-m", "relay_chain", *chain.split()]
    done = world.strata(*command)
    if run.profile == "fastdds_large_data" and "no subscription on" in done.stderr:
        # Its discovery is by multicast on every interface: a domain may have others in it.
        world.environment["ROS_DOMAIN_ID"] = any_domain()
        done = world.strata(*command)
    assert done.returncode == 0, done.stderr
    # Fast DDS tells a profile that it cannot read, and goes on without.
    assert "XML" not in done.stderr
    assert manifest(target)["discarded_events"] == 0
    described = manifest(target)["rmw_profile"]
    assert described["name"] == run.profile
    assert described["variables"].items() <= manifest(target)["environment"].items()


def rows(target: Path, event: str) -> dict[str, list[dict[str, Any]]]:
    """Give an event's rows by the topic of their writer; of the chain's topics only."""
    tables = open_trace(target).tables([event, "dds:create_writer"])
    topics = {
        row["gid_prefix"] + row["gid_entity"]: row["topic_name"].removeprefix("rt")
        for row in tables["dds:create_writer"].to_pylist()
    }
    found = defaultdict(list)
    for row in tables[event].to_pylist() if event in tables else []:
        topic = topics[row["writer_guid"]]
        if topic.startswith("/chain_") and topic != "/chain_ready":
            found[topic].append(row)
    return found


def received(target: Path) -> dict[str, list[int]]:
    """Give the numbers of the messages that each node received or made, by its own stamps."""
    found = {}
    for path in (target / "truth").glob("*.csv"):
        with path.open(newline="") as file:
            lines = list(csv.DictReader(file))
        found[path.stem] = [int(line["seq"]) for line in lines if line["event"] == "cb_start"]
    return found


def check_sent(run: Run, topic: str, sent: list[dict[str, Any]]) -> None:
    """Assert that all went by the transport stated, in fragments of the right size."""
    assert {row["transport"] for row in sent} == {run.transport}, topic
    assert len({row["sequence_number"] for row in sent}) == run.messages, topic
    assert {row["size"] for row in sent if row["size"]} <= {size(sent)}
    assert size(sent) >= run.payload + 16
    fragmented = {row["fragment"] > 0 for row in sent}
    assert fragmented == {size(sent) > LONGEST}, topic
    pieces = defaultdict(set)
    for row in sent:
        last = row["fragment"] + max(1, row["fragment_count"])
        pieces[row["sequence_number"]] |= set(range(row["fragment"], last))
    if fragmented == {True}:
        count = -(-size(sent) // sent[0]["fragment_size"])
        assert set(map(frozenset, pieces.values())) == {frozenset(range(1, count + 1))}, topic


def size(sent: list[dict[str, Any]]) -> int:
    return max(row["size"] for row in sent)


@pytest.mark.parametrize("run", RUNS, ids=str)
def test_a_profile_takes_the_transport_that_it_states(
    world_of: World, tmp_path: Path, run: Run
) -> None:
    target = tmp_path / "session"
    record(world_of, run, target)

    sinks = ["sink"] if run.sinks == 1 else [f"sink_{index}" for index in range(run.sinks)]
    own = received(target)
    assert set(own) == {"source", "relay_0", *sinks}
    assert all(numbers == list(range(run.messages)) for numbers in own.values())
    sent, notified = rows(target, "dds:sent"), rows(target, "dds:reader_notify")
    for topic, found in rows(target, "dds:received").items():
        notified[topic] += [row for row in found if row["notified"]]
    assert {topic: len(found) for topic, found in notified.items()} == {
        "/chain_0": run.messages,
        "/chain_1": run.messages * run.sinks,
    }
    if run.transport == SHARED:
        # Nothing is sent but word of it, to every reader.
        told = Counter({topic: len(found) for topic, found in sent.items()})
        assert told == {"/chain_0": run.messages, "/chain_1": run.messages * run.sinks}
        assert {row["transport"] for found in sent.values() for row in found} == {SHARED}
        return
    assert set(sent) == {"/chain_0", "/chain_1"}
    for topic, found in sent.items():
        check_sent(run, topic, found)
