# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A chain there and back between two hosts of this machine: one trace of both."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from lttng_world import ROOT, World, any_domain, manifest

import strata
from strata.read import open_trace
from strata.scenario.network import namespaces_unavailable

pytestmark = pytest.mark.live

UDP = 1
SIZE, COUNT = 150_000, 20


def test_messages_cross_the_link_and_one_trace_has_both_hosts(world: World, tmp_path: Path) -> None:
    why = namespaces_unavailable()
    if why:
        pytest.skip(f"not allowed here: {why}")
    environment = world.environment | {
        "ROS_DOMAIN_ID": any_domain(),
        "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
    }
    # No hosts would find each other with this one.
    del environment["ROS_AUTOMATIC_DISCOVERY_RANGE"]
    words = ["run", "relay_two_hosts", "-o", tmp_path / "two", "--duration", str(COUNT)]
    words += ["--set", f"payload={SIZE}", "--set", "rate=20"]
    done = world.run(sys.executable, "-m", "strata", *words, env=environment)
    assert done.returncode == 0, done.stderr
    told = manifest(tmp_path / "two")
    assert told["environment"]["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"
    a, b = told["scenario"]["outcome"]["network"]["hosts"]
    for host in (a, b):
        assert host["sent_bytes"] > COUNT * SIZE
        assert host["queue_drops"] == 0

    hops = strata.analyze(tmp_path / "two").hops
    assert hops[hops["topic"].str.startswith("/chain_")]["count"].tolist() == [COUNT, COUNT]
    events = ["dds:create_writer", "dds:sent"]
    read = open_trace(tmp_path / "two").tables(events)
    tables = {name: table.to_pandas() for name, table in read.items()}
    writers = tables["dds:create_writer"]
    pids = {one["name"]: one["pid"] for one in told["scenario"]["outcome"]["processes"]}
    assert set(writers["vpid"]) == set(pids.values())
    assert writers["host"].nunique() == 1
    # Fast DDS would take namespaces of one machine for one host.
    large = tables["dds:sent"].query("size >= @SIZE")
    assert set(large["transport"]) == {UDP}
    assert set(large["vpid"]) == {pids["source"], pids["relay_0"]}
    for sender, receiver in (("source", b), ("relay_0", a)):
        ends = tables["dds:sent"]
        ends = ends[(ends["vpid"] == pids[sender]) & (ends["transport"] == UDP)]
        there = ends["address"].map(lambda address: socket.inet_ntoa(address))
        # Three fragments each.
        assert (there == receiver["address"]).sum() >= 3 * COUNT
