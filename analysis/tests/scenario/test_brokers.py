# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a middleware needs beside the processes; programs that listen stand in for the real ones."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from lttng_world import ROOT, alive
from scenario_files import Ran, shell, written

from strata.errors import ScenarioError
from strata.record.broker import Broker, answers
from strata.record.profiles import load_profile
from strata.record.ros import SYSTEM, Ros
from strata.scenario.load import load_scenario
from strata.scenario.plan import plan_run
from strata.scenario.running import check_run, run_scenario

RMW = ROOT / "trace_configs/rmw"
# Listens after a moment, as the real ones; says what it was given, and that it was told to end.
PROGRAM = """#!{python}
import os, signal, socket, sys, time
def end(*_):
    print("ended", *open("{order}").read().split(), flush=True)
    sys.exit(0)
signal.signal(signal.SIGINT, end)
print(os.environ.get("ZENOH_ROUTER_CONFIG_URI"), *sys.argv[1:], flush=True)
print("preload", os.environ.get("LD_PRELOAD"), flush=True)
time.sleep(0.3)
{listen}
{then}
time.sleep(60)
"""
TCP = "s = socket.create_server(('localhost', {port}))"
UNIX = "s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind({path!r})"


def program(directory: Path, name: str, listen: str, then: str = "") -> None:
    """Put a stand-in into bin/; at its end it tells what the processes wrote into `order`."""
    path = directory / "bin" / name
    path.parent.mkdir(exist_ok=True)
    order = directory / "order"
    order.touch()
    path.write_text(PROGRAM.format(python=sys.executable, order=order, listen=listen, then=then))
    path.chmod(0o755)


def free_port() -> int:
    with socket.create_server(("localhost", 0)) as server:
        return int(server.getsockname()[1])


def profile(directory: Path, port: int) -> Broker:
    """Read the broker of a profile of Zenoh with another port than everybody's."""
    text = (RMW / "zenoh_session.json5").read_text().replace("7447", str(port))
    (directory / "session.json5").write_text(text)
    broker = load_profile(str(directory / "session.json5")).broker
    assert broker
    return broker


def run(directory: Path, broker: Broker, script: str, **variables: str) -> Ran:
    text = f"duration: {{limit_s: 30, messages: 1}}\nprocesses:\n{shell('a', script, 'ends: true')}"
    loaded = load_scenario(str(written(directory, text)))
    path = f"{directory / 'bin'}:{os.environ['PATH']}"
    return Ran(loaded, directory / "run", broker=broker, PATH=path, **variables)


def connects(port: int) -> str:
    code = f"import socket; socket.create_connection(('localhost', {port}))"
    return f'{sys.executable} -c "{code}"'


def test_the_router_serves_before_the_first_process_and_ends_after_the_last(tmp_path: Path) -> None:
    port = free_port()
    program(tmp_path, "rmw_zenohd", TCP.format(port=port))
    # One that ends late, when it is told to, still has its router.
    script = f"{connects(port)} && sleep 0.2 && echo a > {tmp_path}/order"
    ran = run(tmp_path, profile(tmp_path, port), script, LD_PRELOAD="/hooks.so")
    assert ran.status == 0, ran.errors
    log = (ran.directory / "logs/rmw_zenohd.log").read_text()
    assert log == f"{RMW}/zenoh_router.json5\npreload None\nended a\n"
    assert list(ran.processes) == ["rmw_zenohd", "a"]
    assert ran.processes["rmw_zenohd"]["ended_by"] == "runner"
    address = f"tcp/localhost:{port}"
    assert ran.outcome["brokers"] == [{"name": "rmw_zenohd", "address": address, "started": True}]
    assert not answers(address)


def test_processes_that_end_slowly_are_served_until_they_have(tmp_path: Path) -> None:
    port = free_port()
    program(tmp_path, "rmw_zenohd", TCP.format(port=port))
    # Longer than the next in the order waits for its signal.
    end = f"sleep 1.5; echo slow > {tmp_path}/order; exit 0"
    slow = f"trap '{end}' INT; echo up; while :; do sleep 0.05; done"
    text = "duration: {messages: 1}\nprocesses:\n" + shell("slow", slow, "ready: {says: up}")
    loaded = load_scenario(str(written(tmp_path, text + shell("b", "true", "ends: true"))))
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    broker = profile(tmp_path, port)
    ran = Ran(loaded, tmp_path / "run", broker=broker, patience_s=5.0, PATH=path)
    assert ran.status == 0, ran.errors
    assert "ended slow\n" in (ran.directory / "logs/rmw_zenohd.log").read_text()


def test_a_callers_own_configuration_of_the_router_stays(tmp_path: Path) -> None:
    port = free_port()
    program(tmp_path, "rmw_zenohd", TCP.format(port=port))
    ran = run(tmp_path, profile(tmp_path, port), "true", ZENOH_ROUTER_CONFIG_URI="/my.json5")
    assert ran.status == 0, ran.errors
    assert (ran.directory / "logs/rmw_zenohd.log").read_text().startswith("/my.json5\n")


def test_a_router_that_runs_already_serves_and_stays(tmp_path: Path) -> None:
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
        # The program need not be here then.
        ran = run(tmp_path, profile(tmp_path, port), connects(port))
        address = f"tcp/localhost:{port}"
        assert answers(address)
    assert ran.status == 0, ran.errors
    assert list(ran.processes) == ["a"]
    assert ran.outcome["brokers"] == [{"name": "rmw_zenohd", "address": address, "started": False}]
    assert f"rmw_zenohd is not started: one already answers at {address}" in ran.errors


@pytest.mark.parametrize("status", [0, 3])
def test_a_router_that_ends_early_fails_the_run(tmp_path: Path, status: int) -> None:
    port = free_port()
    program(tmp_path, "rmw_zenohd", TCP.format(port=port), f"time.sleep(1); sys.exit({status})")
    ran = run(tmp_path, profile(tmp_path, port), "exec sleep 20")
    assert ran.status == 1
    assert ran.outcome["problems"] == [f"rmw_zenohd ended before the run: exit status {status}"]
    assert ran.processes["a"]["ended_by"] == "runner"


def test_nothing_starts_without_a_router_that_serves(tmp_path: Path) -> None:
    port = free_port()
    program(tmp_path, "rmw_zenohd", "sys.exit(1)")
    ran = run(tmp_path, profile(tmp_path, port), "true")
    assert ran.status == 1
    assert list(ran.processes) == ["rmw_zenohd"]
    assert ran.outcome["problems"] == [
        f"rmw_zenohd did not answer at tcp/localhost:{port} before it ended",
        "rmw_zenohd ended before the run: exit status 1",
    ]


def test_roudi_gets_its_memory_and_is_known_by_its_socket(tmp_path: Path) -> None:
    broker = load_profile("cyclonedds_iceoryx").broker
    assert broker
    assert broker.address == "unix//tmp/roudi"
    # The real one's place is everybody's.
    place = str(tmp_path / "roudi")
    program(tmp_path, "iox-roudi", UNIX.format(path=place))
    ran = run(tmp_path, replace(broker, address=f"unix/{place}"), f"test -e {place}")
    assert ran.status == 0, ran.errors
    log = (ran.directory / "logs/iox-roudi.log").read_text()
    assert log.startswith(f"None -m off -c {RMW}/roudi_config.toml\n")
    # Its file is still there, and nobody behind it.
    assert Path(place).exists()
    assert not answers(f"unix/{place}")


def test_a_broker_ends_with_a_run_that_is_interrupted(tmp_path: Path) -> None:
    port = free_port()
    program(tmp_path, "rmw_zenohd", TCP.format(port=port))
    ran = run(tmp_path, profile(tmp_path, port), "kill -TERM $PPID; exec sleep 20")
    assert ran.status == 128 + signal.SIGTERM, ran.errors
    assert not alive(ran.processes["rmw_zenohd"]["pid"])
    assert not answers(f"tcp/localhost:{port}")


def test_a_scenario_with_such_a_profile_is_served(tmp_path: Path) -> None:
    port = free_port()
    profile(tmp_path, port)
    library = tmp_path / "lib/librmw_zenoh_cpp.so"
    library.parent.mkdir()
    library.touch()
    (tmp_path / "setup.bash").write_text(f"export AMENT_PREFIX_PATH={tmp_path}\n")
    ros = Ros(SYSTEM, "rolling", tmp_path, ())
    text = "rmw: {profile: session.json5}\nduration: {messages: 1}\nprocesses:\n"
    text += shell("a", f"echo $RMW_IMPLEMENTATION; {connects(port)}", "ends: true")
    loaded = load_scenario(str(written(tmp_path, text)))
    base = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "ROS_DOMAIN_ID": f"t{port}"}
    with pytest.raises(ScenarioError, match="its profile needs rmw_zenohd"):
        check_run(loaded, ros=ros, base=base)
    program(tmp_path, "rmw_zenohd", TCP.format(port=port))
    check_run(loaded, ros=ros, base=base)
    done = run_scenario(loaded, directory=tmp_path / "run", traced=False, ros=ros, base=base)
    assert done.end.exit_status == 0
    assert (tmp_path / "run/scenario/logs/a.log").read_text() == "rmw_zenoh_cpp\n"
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    assert [one["started"] for one in manifest["scenario"]["outcome"]["brokers"]] == [True]


def planned(tmp_path: Path, process: str, broker: Broker, more: str = "") -> list[str]:
    text = f"{more}duration: {{seconds: 1}}\nprocesses:\n{process}"
    loaded = load_scenario(str(written(tmp_path, text)))
    there = {"AMENT_PREFIX_PATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
    plan = plan_run(loaded, tmp_path / "run", there, broker)
    return [one.command[0] for one in plan.processes]


def test_the_router_is_found_where_its_package_has_it(tmp_path: Path) -> None:
    broker = profile(tmp_path, free_port())
    with pytest.raises(ScenarioError, match="needs rmw_zenohd, which is not in lib/rmw_zenoh_cpp"):
        planned(tmp_path, shell("a", "true"), broker)
    path = tmp_path / "lib/rmw_zenoh_cpp/rmw_zenohd"
    path.parent.mkdir(parents=True)
    path.touch(0o755)
    assert planned(tmp_path, shell("a", "true"), broker)[0] == str(path)


def test_a_scenario_may_have_a_router_of_its_own(tmp_path: Path) -> None:
    broker = profile(tmp_path, free_port())
    assert len(planned(tmp_path, shell("rmw_zenohd", "true"), broker)) == 1


def test_hosts_of_a_link_cannot_share_a_router(tmp_path: Path) -> None:
    broker = profile(tmp_path, free_port())
    processes = shell("a", "true", "host: x") + shell("b", "true", "host: y")
    with pytest.raises(ScenarioError, match=r"serves only one host, but network\.link is veth"):
        planned(tmp_path, processes, broker, "network: {link: veth}\n")


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("zenoh_session", "rmw_zenohd"),
        ("zenoh_session_shm_48m", "rmw_zenohd"),
        ("cyclonedds_iceoryx", "iox-roudi"),
        ("zenoh_router", None),
        ("cyclonedds_default", None),
        ("fastdds_shm", None),
    ],
)
def test_a_profile_knows_what_it_needs(name: str, needed: str | None) -> None:
    broker = load_profile(name).broker
    assert (broker.program if broker else None) == needed


def test_a_router_on_another_machine_is_none_of_ours(tmp_path: Path) -> None:
    text = (RMW / "zenoh_session.json5").read_text().replace("tcp/localhost:7447", "tcp/far:7447")
    path = tmp_path / "session.json5"
    path.write_text(text)
    assert load_profile(str(path)).broker is None


def test_a_configuration_beside_the_profile_is_taken(tmp_path: Path) -> None:
    (tmp_path / "zenoh_router.json5").touch()
    own = profile(tmp_path, free_port())
    assert dict(own.environment) == {
        "ZENOH_ROUTER_CONFIG_URI": str(tmp_path / "zenoh_router.json5")
    }
