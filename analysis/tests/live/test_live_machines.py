# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Scenarios whose hosts are several machines: through ssh, by hand, and when something breaks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from lttng_world import ROOT, World, alive, any_domain, manifest, wait_until
from other_machine import OtherMachine, other_machine

import strata
from strata.read import open_trace
from strata.scenario.network import Hosts, Link, namespaces_unavailable

pytestmark = pytest.mark.live
COUNT = 20
UDP = 1
UDP_PROFILE = "rmw.profile=fastdds_udp_two_hosts"


@pytest.fixture
def joined(world: World, other_world: World, tmp_path: Path) -> Iterator[OtherMachine]:
    """Another machine behind a link of 1 Gbit/s."""
    why = namespaces_unavailable()
    if why:
        pytest.skip(f"not allowed here: {why}")
    hosts = Hosts(Link(("a", "b")), tmp_path / "link")
    try:
        place = tmp_path / "other"
        place.mkdir()
        with other_machine(world, other_world, place, hosts) as machine:
            yield machine
    finally:
        hosts.close()


@pytest.fixture
def other(world: World, other_world: World, tmp_path: Path) -> Iterator[OtherMachine]:
    """Another machine with an LTTng of its own, whose address is this one's.

    Nodes find each other, but Fast DDS takes them for one machine's, and has no shared memory.
    """
    place = tmp_path / "other"
    place.mkdir()
    with other_machine(world, other_world, place) as machine:
        yield machine


def pids(session: Path) -> dict[str, int]:
    return {
        one["name"]: one["pid"] for one in manifest(session)["scenario"]["outcome"]["processes"]
    }


def recorded(session: Path) -> set[int]:
    writers = open_trace(session).tables(["dds:create_writer"])["dds:create_writer"]
    return set(writers.to_pandas()["vpid"])


def nothing_left(other: OtherMachine, world: World) -> None:
    """Check that neither side has a session or a process of the scenario."""
    for one in (world, other.there):
        if one.daemon_pid() is not None:
            assert one.sessions() == []
    mark = os.fsencode(other.place)
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes()
        except OSError:
            continue
        if b"relay_chain" in words or b"strata.scenario" in words:
            assert mark not in words and os.fsencode(other.place.parent) not in words, words


def test_two_machines_are_recorded_and_brought_together(
    joined: OtherMachine, world: World, tmp_path: Path
) -> None:
    target = tmp_path / "two"
    words = ["run", "ping_pong", "--host", joined.option, "-o", target, "--duration", str(COUNT)]
    words += ["--set", "size=65536", "--set", UDP_PROFILE]
    done = joined.strata(*words)
    assert done.returncode == 0, done.stderr

    here, there = manifest(target), manifest(target / "hosts" / "b")
    assert [here["scenario"]["part"], there["scenario"]["part"]] == [["a"], ["b"]]
    assert here["scenario"]["remote"][0]["address"] == "other"
    assert here["scenario"]["remote"][0]["strata"] == strata.__version__
    assert list(pids(target)) == ["ping"]
    assert list(pids(target / "hosts" / "b")) == ["pong"]
    # What was copied is not there any more.
    assert list(joined.sessions.iterdir()) == []
    # Each side has its own process, and the analysis has both.
    assert recorded(target / "trace") == {pids(target)["ping"]}
    assert recorded(target / "hosts" / "b") == {pids(target / "hosts" / "b")["pong"]}
    chains = strata.analyze(target).chains
    chain = chains[chains["name"] == "/ping -> /pong"]
    assert chain["count"].tolist() == [COUNT]
    sent = open_trace(target).tables(["dds:sent"])["dds:sent"].to_pandas().query("size >= 65536")
    assert set(sent["transport"]) == {UDP}
    nothing_left(joined, world)

    # The recording is the whole run's: it is replaced as a whole.
    done = joined.strata(*words, "--force")
    assert done.returncode == 0, done.stderr
    assert (target / "hosts" / "b" / "manifest.json").is_file()


def test_processes_that_end_on_the_other_machine_end_the_run(
    joined: OtherMachine, world: World, tmp_path: Path
) -> None:
    target = tmp_path / "through"
    words = ["run", "throughput", "--host", joined.option, "-o", target, "--duration", "1s"]
    done = joined.strata(*words, "--set", "size=4096", "--set", "rate=100", "--set", UDP_PROFILE)
    assert done.returncode == 0, done.stderr
    source = json.loads((target / "scenario/results/source.json").read_text())
    sink = json.loads((target / "hosts/b/scenario/results/sink_0.json").read_text())
    assert sink["received"] + sink["lost"] == source["sent"] > 10
    nothing_left(joined, world)


def test_interrupt_ends_both_sides(other: OtherMachine, world: World, tmp_path: Path) -> None:
    target, running = tmp_path / "interrupted", tmp_path / "errors"
    with running.open("w") as errors:
        words = ["run", "ping_pong", "--host", other.option, "-o", target, "--duration", "100000"]
        process = other.popen(*words, stderr=errors)
        wait_until(lambda: "ping: all connected" in running.read_text(), "the ping")
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0, running.read_text()
    assert manifest(target)["command"]["interrupted_by"] == "SIGINT"
    assert manifest(target / "hosts" / "b")["complete"] is True
    assert recorded(target) == {pids(target)["ping"], pids(target / "hosts" / "b")["pong"]}
    nothing_left(other, world)


def test_a_lost_connection_ends_both_sides(
    other: OtherMachine, world: World, tmp_path: Path
) -> None:
    target, running = tmp_path / "lost", tmp_path / "errors"
    with running.open("w") as errors:
        words = ["run", "ping_pong", "--host", other.option, "-o", target, "--duration", "100000"]
        process = other.popen(*words, stderr=errors)
        wait_until(lambda: "ping: all connected" in running.read_text(), "the ping")
        for pid in other.connections():
            os.kill(pid, signal.SIGKILL)
        assert process.wait(120) == 1, running.read_text()
    last = running.read_text().splitlines()[-1]
    assert last.startswith("strata: the scenario failed: host b (other): the connection was lost")
    wait_until(lambda: other.there.daemon_pid() is None, "the end of the other side")
    nothing_left(other, world)
    # It was brought by another connection, once it had ended.
    assert "end" in manifest(target / "hosts" / "b")


def test_what_fails_there_is_said_with_its_host(
    other: OtherMachine, world: World, tmp_path: Path
) -> None:
    def refused(*words: str | Path, option: str | None = None) -> str:
        target = tmp_path / "refused"
        line = ["run", "ping_pong", "--host", option or other.option, "-o", target, *words]
        done = other.strata(*line)
        assert done.returncode == 1, done.stderr
        assert not target.exists()
        assert len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr

    assert "host b (other) has no Strata: no strata in /nowhere" in refused(
        option="b=other:/nowhere"
    )
    assert "host b (nowhere.invalid) cannot be reached" in refused(option="b=nowhere.invalid")
    assert "it has no host c" in refused(option="c=other")
    # It is asked before anything runs.
    assert "host b (other): Cannot place process 'pong'" in refused(
        "--set", "processes.pong.cpus=[4000]"
    )
    program = other.installation / "bin" / "strata"
    whole = program.read_text()
    answer = f'"strata": "{strata.__version__}"'
    other.install(
        whole.replace("exec ", "").rstrip() + f' | sed \'s/{answer}/"strata": "0.0.1"/\'\n'
    )
    assert f"it has Strata 0.0.1, and this machine has {strata.__version__}" in refused()
    nothing_left(other, world)


def test_a_process_that_dies_there_ends_the_run(
    other: OtherMachine, world: World, tmp_path: Path
) -> None:
    target, running = tmp_path / "died", tmp_path / "errors"
    with running.open("w") as errors:
        words = ["run", "ping_pong", "--host", other.option, "-o", target, "--duration", "100000"]
        process = other.popen(*words, stderr=errors)
        wait_until(lambda: "ping: all connected" in running.read_text(), "the ping")
        [plan] = other.sessions.glob("part_b_*/scenario/plan.json")
        found = [
            int(entry.parent.name)
            for entry in Path("/proc").glob("[0-9]*/cmdline")
            if os.fsencode(plan.parent / "parameters") in entry.read_bytes()
        ]
        assert len(found) == 1
        os.kill(found[0], signal.SIGKILL)
        assert process.wait(120) == 1, running.read_text()
    last = running.read_text().splitlines()[-1]
    assert last == (
        "strata: the scenario failed: host b (other): pong did not end cleanly: SIGKILL"
    )
    assert not alive(found[0])
    nothing_left(other, world)


def test_two_sides_by_hand_are_put_together(world: World, tmp_path: Path) -> None:
    environment = world.environment | {
        "ROS_DOMAIN_ID": any_domain(),
        "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
    }
    del environment["ROS_AUTOMATIC_DISCOVERY_RANGE"]
    python = str(ROOT / ".venv/bin/python")

    def words(host: str) -> list[str | Path]:
        line = [python, "-m", "strata", "run", "ping_pong", "--only-host", host]
        return [*line, "-o", tmp_path / host, "--duration", str(COUNT)]

    # Both have one session daemon, and still each session has only its own processes.
    with (tmp_path / "b.log").open("w") as log:
        other = world.popen(*words("b"), env=environment, stdout=log, stderr=log)
        done = world.run(*words("a"), env=environment)
        assert done.returncode == 0, done.stderr
        other.send_signal(signal.SIGINT)
        assert other.wait(60) == 0
    for host in ("a", "b"):
        assert recorded(tmp_path / host) == set(pids(tmp_path / host).values())

    def add(session: Path, recording: Path) -> subprocess.CompletedProcess[str]:
        return world.strata("add-host", session, recording, env=environment)

    done = add(tmp_path / "a", tmp_path / "b")
    assert done.returncode == 0, done.stderr
    chains = strata.analyze(tmp_path / "a").chains
    chain = chains[chains["name"] == "/ping -> /pong"]
    assert chain["count"].tolist() == [COUNT]
    assert (tmp_path / "b" / "manifest.json").is_file()
    # A second time it would count twice, and a part of itself it is not.
    assert "has the recording of host b already" in add(tmp_path / "a", tmp_path / "b").stderr
    assert "has the recording of host b already" in add(tmp_path / "b", tmp_path / "b").stderr


def test_a_campaign_runs_a_cell_on_two_machines(
    joined: OtherMachine, world: World, tmp_path: Path
) -> None:
    target = tmp_path / "campaign"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        line = ["campaign", "run", "sizes", "--quick", "--seed", "1", "-o", target, "--settle", "0"]
        return joined.strata(*line, "--only", "two_hosts_latency/1024", *words)

    done = run("--host", "c=other")
    assert (done.returncode, target.exists()) == (1, False)
    assert "no cell of this campaign connects a host of that name" in done.stderr

    done = run("--host", joined.option)
    assert done.returncode == 0, done.stderr
    plan = json.loads((target / "campaign.json").read_text())
    [cell] = [one for one in plan["cells"] if one["id"] == "two_hosts_latency/two+1024/r1"]
    # Its hosts are machines: it needs no namespaces, and others keep theirs on this one.
    assert (cell["hosts"], cell["needs"], cell["skipped"]) == (["b"], [], None)
    assert {one["study"] for one in plan["cells"] if one["hosts"]} == {
        "two_hosts_latency",
        "two_hosts_throughput",
        "two_hosts_bandwidth",
    }
    there = plan["environments"][0]["hosts"]["b"]
    assert there["address"] == "other"
    assert there["host"]["boot_id"] == plan["environments"][0]["host"]["boot_id"]
    session = target / "cells" / cell["id"]
    assert list(pids(session / "hosts" / "b")) == ["pong"]
    # CPU time, round trips and layers are of both sides.
    measured = session / "measured"
    assert set(pd.read_parquet(measured / "processes.parquet")["process"]) == {"ping", "pong"}
    trips = pd.read_parquet(measured / "round_trips.parquet")
    assert len(trips) == 40
    hops = pd.read_parquet(measured / "hops.parquet")
    assert set(hops["hop"].str.split(":").str[0]) == {"/ping", "/pong"}

    done = joined.strata("campaign", "report", target, "--format", "json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)["machine"][0]["facts"]
    assert facts["hosts.b.address"] == "other"
    # What ran on two machines is not mixed with what runs on one.
    done = run()
    assert done.returncode == 1
    assert "ran with --host b=..." in done.stderr
    nothing_left(joined, world)
