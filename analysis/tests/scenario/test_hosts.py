# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts of a scenario: real network namespaces where they are allowed, refusals with the reason."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from lttng_world import alive, wait_until
from scenario_files import run, shell, written

from strata.errors import ScenarioError
from strata.scenario.for_launch import plan as plan_launch
from strata.scenario.load import load_scenario
from strata.scenario.network import Hosts, Link, Refused, namespaces_unavailable
from strata.scenario.plan import link_of, plan_run
from strata.scenario.running import prepare, rmw_variables

ENDING = "duration: {messages: 1, limit_s: 60}\nprocesses:\n"
VETH = "network: {link: veth}\n"
# The runner's Python has no other: the link is of a machine without ping or nc, too.
TO_PORT = """
import socket, struct, sys, time
here, there, count = sys.argv[1:]
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
udp.settimeout(30)
"""
SEND = (
    TO_PORT
    + """
for _ in range(int(count)):
    at = struct.pack("d", time.monotonic())
    udp.sendto(at + bytes(49992), (there, 5000))
"""
)
RECEIVE = (
    TO_PORT
    + """
udp.bind((here, 5000))
print("ready", flush=True)
senders = set()
for number in range(int(count)):
    data, sender = udp.recvfrom(65536)
    senders.add(sender[0])
    begin = begin if number else struct.unpack_from("d", data)[0]
print("from", *sorted(senders), "in", time.monotonic() - begin)
"""
)


@pytest.fixture
def hosts() -> None:
    why = namespaces_unavailable()
    if why:
        pytest.skip(f"not allowed here: {why}")


def python(name: str, program: Path, *more: str, words: tuple[str, ...]) -> str:
    """Give the lines of a process that runs a Python program."""
    command = json.dumps([sys.executable, str(program), *words])
    return "".join([f"  - name: {name}\n    command: {command}\n", *(f"    {m}\n" for m in more)])


def programs(directory: Path) -> tuple[Path, Path]:
    send, receive = directory / "send.py", directory / "receive.py"
    send.write_text(SEND)
    receive.write_text(RECEIVE)
    return send, receive


@pytest.mark.usefixtures("hosts")
def test_what_one_host_sends_crosses_the_link_at_its_rate(tmp_path: Path) -> None:
    send, receive = programs(tmp_path)
    text = (
        "network: {link: veth, rate_mbit: 40}\n"
        + ENDING
        + python(
            "sink",
            receive,
            "host: b",
            "ready: {says: ready}",
            "ends: true",
            words=("10.42.0.1", "", "20"),
        )
        + python("source", send, "host: a", words=("", "10.42.0.1", "20"))
    )
    ran = run(tmp_path, text)
    assert ran.status == 0, ran.errors
    said = (ran.directory / "logs/sink.log").read_text().split()
    assert said[:4] == ["ready", "from", "10.42.0.2", "in"]
    # From the first that was sent, of which the bucket lets 25 KB through at once, to the last that
    # came, at 5 MB/s: a receiver that has to wait for a CPU only makes it longer.
    assert (19 * 50_000 - 25_000) / 5e6 < float(said[4]) < 20
    assert {name: one["host"] for name, one in ran.processes.items()} == {
        "sink": "b",
        "source": "a",
    }
    network = ran.outcome["network"]
    b, a = network["hosts"]
    assert (network["rate_mbit"], a["name"], a["address"]) == (40.0, "a", "10.42.0.2")
    # Each datagram, with 8 bytes of UDP, is 34 packets with 34 bytes of Ethernet and IP each.
    assert 20 * (50_008 + 34 * 34) <= a["sent_bytes"] < 1_050_000
    assert b["received_bytes"] == a["sent_bytes"]
    assert b["received_packets"] == a["sent_packets"] >= 20 * 34
    lost = (a["queue_drops"], b["udp_receive_buffer_drops"], b["ip_reassembly_failures"])
    assert lost == (0, 0, 0)


@pytest.mark.usefixtures("hosts")
def test_three_hosts_reach_one_another(tmp_path: Path) -> None:
    send, receive = programs(tmp_path)
    sink = ("host: c", "ready: {says: ready}", "ends: true")
    text = VETH + ENDING + python("sink", receive, *sink, words=("10.42.0.1", "", "2"))
    for host in "ab":
        text += python(f"source_{host}", send, f"host: {host}", words=("", "10.42.0.1", "1"))
    ran = run(tmp_path, text)
    assert ran.status == 0, ran.errors
    said = (ran.directory / "logs/sink.log").read_text()
    assert "from 10.42.0.2 10.42.0.3 in" in said
    assert [one["name"] for one in ran.outcome["network"]["hosts"]] == ["c", "a", "b"]


@pytest.mark.usefixtures("hosts")
def test_nothing_of_the_hosts_is_left_when_the_runner_is_killed(tmp_path: Path) -> None:
    before = subprocess.run(["ip", "-o", "link"], capture_output=True, check=True).stdout
    text = VETH + ENDING
    for host in "ab":
        note = f"echo $$ > {tmp_path}/{host}; readlink /proc/self/ns/net >> {tmp_path}/{host}"
        text += shell(host, f"{note}; exec sleep 300", f"host: {host}", "ends: true")
    loaded = load_scenario(str(written(tmp_path, text)))
    prepare(loaded, plan_run(loaded, tmp_path / "run", os.environ))
    command = [sys.executable, "-m", "strata.scenario.runner", tmp_path / "run/plan.json"]
    runner = subprocess.Popen(command)
    files = [tmp_path / host for host in "ab"]
    wait_until(lambda: all(f.exists() and f.read_text().count("\n") == 2 for f in files), "both")
    pids, spaces = zip(*(file.read_text().split() for file in files), strict=True)
    assert len({*spaces, str(Path("/proc/self/ns/net").readlink())}) == 3
    runner.send_signal(signal.SIGKILL)
    runner.wait()
    wait_until(lambda: not any(alive(int(pid)) for pid in pids), "their end")
    assert not set(spaces) & held_namespaces()
    assert subprocess.run(["ip", "-o", "link"], capture_output=True, check=True).stdout == before


@pytest.mark.usefixtures("hosts")
def test_each_host_is_a_machine_of_its_own(tmp_path: Path) -> None:
    own = Path("/etc/machine-id")
    if not own.is_file():
        pytest.skip("this machine has no id")
    before = own.read_text()
    text = VETH + ENDING
    for name, host in (("one", "a"), ("two", "b"), ("three", "b")):
        text += shell(name, f"cat {own}", f"host: {host}", "ends: true")
    ran = run(tmp_path, text)
    assert ran.status == 0, ran.errors
    one, two, three = ((ran.directory / f"logs/{name}.log").read_text() for name in ran.processes)
    assert two == three
    assert len({one, two, before}) == 3
    assert own.read_text() == before


def held_namespaces() -> set[str]:
    """Collect the network namespaces that any process is in, or holds open."""
    found = set()
    for pattern in ("*/ns/net", "*/fd/*"):
        for path in Path("/proc").glob(f"[0-9]{pattern}"):
            try:
                found.add(str(path.readlink()))
            except OSError:
                continue
    return found


UNPRIVILEGED = """
import os, pathlib, sys
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
from strata.scenario.network import Hosts, Link, Refused
try:
    hosts = Hosts(Link(("a", "b")), pathlib.Path(sys.argv[1]))
except Refused as refused:
    print("refused:", refused)
    raise SystemExit
before, network = os.getuid(), hosts.as_json()
hosts.enter("a")
print(network["user_namespace"], os.getuid() == before)
print(open("/proc/self/net/dev").read().count("eth0"))
"""


def test_a_user_who_is_not_root_has_hosts_in_a_user_namespace_where_that_is_allowed() -> None:
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o777)
        command = [sys.executable, "-c", UNPRIVILEGED, directory]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    if done.stdout.startswith("refused:"):
        pytest.skip(f"not allowed here: {done.stdout}")
    assert done.stdout.split() == ["True", "True", "1"]


def test_a_link_that_the_system_does_not_make_is_refused_with_the_command(tmp_path: Path) -> None:
    why = namespaces_unavailable()
    if why:
        pytest.skip(f"not allowed here: {why}")
    with pytest.raises(Refused, match=r"`ip link add eth0 mtu 70000 type veth .*` fails: .+"):
        Hosts(Link(("a", "b"), mtu=70000), tmp_path)
    # What the kernel lacks is said; where it has netem there is nothing to say.
    lossy = namespaces_unavailable(Link(("a", "b"), delay_us=50))
    assert lossy is None or "netem" in lossy


def test_a_delay_and_loss_stand_behind_the_rate() -> None:
    rate, loss = Link(("a", "b"), 100.0, 50.0, 0.5).shaping("eth0")
    assert rate == (
        "qdisc add dev eth0 root handle 1: tbf rate 100000000bit burst 24608 limit 67108864 "
        "overhead 24"
    )
    assert loss.startswith("qdisc add dev eth0 parent 1:1 handle 10: netem limit ")
    assert loss.endswith(" delay 50us loss 0.5%")
    assert Link(("a", "b"), 0.0).shaping("eth0") == []


def test_what_may_leave_at_once_is_what_the_rate_gives_in_that_time_or_16_frames() -> None:
    assert Link(("a", "b")).burst_bytes() == 16 * 1538
    assert Link(("a", "b"), burst_us=2000.0).burst_bytes() == 250_000
    assert Link(("a", "b"), 100.0, burst_us=2000.0).burst_bytes() == 25_000


def test_without_the_programs_hosts_are_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        VETH + ENDING + shell("a", "true", "host: a", "ends: true") + shell("b", "true", "host: b")
    )
    loaded = load_scenario(str(written(tmp_path, text)))
    plan_environment = dict(os.environ)
    monkeypatch.setenv("PATH", str(tmp_path))
    message = (
        r"Cannot connect the hosts of scenario one: there is no program ip \(package iproute2\)"
    )
    with pytest.raises(ScenarioError, match=message):
        plan_run(loaded, tmp_path, plan_environment)


def test_without_a_link_all_is_on_one_host(tmp_path: Path) -> None:
    text = ENDING + shell("a", "true", "host: a", "ends: true") + shell("b", "true", "host: b")
    loaded = load_scenario(str(written(tmp_path, text)))
    assert link_of(loaded.scenario) is None
    plan = plan_run(loaded, tmp_path, os.environ)
    assert (plan.network, [one.host for one in plan.processes]) == (None, [None, None])
    changed = load_scenario(str(loaded.file), {"network.link": "veth", "network.rate_mbit": "100"})
    assert link_of(changed.scenario) == Link(("a", "b"), 100.0)


@pytest.mark.parametrize(
    ("hosts", "fact"),
    [
        (("host: a", "cpus: []"), "network.link is veth: b has no host"),
        (("host: a", "host: a"), "connects 2 to 32 hosts, but the processes name 1"),
    ],
)
def test_a_link_needs_hosts(tmp_path: Path, hosts: tuple[str, str], fact: str) -> None:
    text = VETH + ENDING
    for name, host in zip("ab", hosts, strict=True):
        text += shell(name, "true", host, "ends: true")
    with pytest.raises(ScenarioError, match=fact):
        load_scenario(str(written(tmp_path, text)))


def test_nodes_of_several_hosts_look_for_each_other_beyond_their_own() -> None:
    loaded = load_scenario("relay_two_hosts", {"rmw.profile": "null"})
    assert rmw_variables(loaded, {})["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"
    with pytest.raises(ScenarioError, match="ROS_AUTOMATIC_DISCOVERY_RANGE is LOCALHOST"):
        rmw_variables(loaded, {"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"})


def test_a_launch_file_has_no_hosts(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="ros2 launch runs everything on one host"):
        plan_launch("relay_two_hosts", str(tmp_path), "")
