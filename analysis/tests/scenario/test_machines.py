# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Hosts that are other machines: addresses, parts, requests, recordings put together."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest
from scenario_files import Ran, shell, written
from strata_command import STRATA, strata

from strata import __version__
from strata.errors import OutputError, ScenarioError
from strata.record.directory import check_directory, clear_directory, host_sessions
from strata.record.manifest import Manifest
from strata.record.ros import SYSTEM, Ros
from strata.scenario import host_recordings
from strata.scenario.domain import domain_held
from strata.scenario.host_recordings import _extract, add_host, fetch
from strata.scenario.host_side import Request, answer_check
from strata.scenario.load import LoadedScenario, load_scenario
from strata.scenario.part import check_hosts, only_hosts
from strata.scenario.plan import plan_run
from strata.scenario.remote_host import PROTOCOL, RemoteHost, Unreachable
from strata.scenario.running import rmw_variables, what_runs
from strata.scenario.several_machines import _compare_programs, _files, _Remote

TWO = (
    "network: {link: veth}\nduration: {messages: 1, limit_s: 20}\nprocesses:\n"
    + shell("server", "echo serving; sleep 60", "host: b")
    + shell("client", "echo done", "host: a", "ends: true")
    + "expected:\n  - {process: server, says: serving}\n  - {process: client, says: done}\n"
)
REQUEST: dict[str, Any] = {
    "run": "0123456789abcdef",
    "host": "b",
    "scenario": "one",
    "file": "one.yaml",
    "files": {},
    "changes": {},
    "duration": None,
    "session": None,
    "kernel": False,
    "traced": True,
    "variables": {},
    "protocol": PROTOCOL,
}


def two(directory: Path, *more: str) -> LoadedScenario:
    return load_scenario(str(written(directory, TWO + "".join(more))))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("b=robot@10.0.0.2", ("b", "robot@10.0.0.2", None)),
        ("b=robot@10.0.0.2:/opt/str ata", ("b", "robot@10.0.0.2", "/opt/str ata")),
        ("b=robot:~/strata", ("b", "robot", "~/strata")),
        ("b=me@fe80::1%eth0", ("b", "me@fe80::1%eth0", None)),
        ("b=me@fe80::1:/strata", ("b", "me@fe80::1", "/strata")),
    ],
)
def test_what_names_a_machine(text: str, parts: tuple[str, str, str | None]) -> None:
    host = RemoteHost.parse(text)
    assert (host.name, host.address, host.directory) == parts
    assert RemoteHost.parse(host.text) == host


@pytest.mark.parametrize("text", ["b", "b=", "=robot", "b=-oProxyCommand=id", "b= robot", "b=a b"])
def test_what_names_none(text: str) -> None:
    with pytest.raises(ValueError, match="has not the form"):
        RemoteHost.parse(text)


@pytest.mark.parametrize("place", ["plain", 'it\'s "a" $HOME; place'])
def test_the_other_side_is_found_in_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The command line goes through two shells, as it does behind ssh."""
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift 2\nexec sh -c "$*"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("STRATA_SSH", f"{ssh} -F none")
    program = tmp_path / place / ".venv" / "bin" / "strata"
    program.parent.mkdir(parents=True)
    program.write_text(
        '#!/bin/sh\nread line\necho "a shell says hello"\necho "{\\"got\\": $line}"\n'
    )
    program.chmod(0o755)
    asked = {"a": "b c"}
    assert RemoteHost("b", "robot", str(tmp_path / place)).ask("check", asked) == {"got": asked}
    with pytest.raises(Unreachable, match=r"host b \(robot\) has no Strata: no strata in /nowhere"):
        RemoteHost("b", "robot", "/nowhere").ask("check", asked)


def test_a_part_has_its_own_processes_and_no_link(tmp_path: Path) -> None:
    whole = two(tmp_path)
    part = only_hosts(whole, ["b"])
    assert [one.name for one in part.scenario.processes] == ["server"]
    assert [one.process for one in part.scenario.expected] == ["server"]
    assert (part.part, part.scenario.network.link) == (("b",), "none")
    # The others are not on this machine: they would not be found by LOCALHOST.
    assert rmw_variables(part, {})["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "SUBNET"
    plan = plan_run(part, tmp_path / "run", {})
    # The end of the run is the end of a process elsewhere, not of its seconds.
    assert (plan.seconds, plan.is_part, plan.network) == (None, True, None)
    with pytest.raises(ScenarioError, match=r"it has no host c. Name one of b, a"):
        check_hosts(whole, ["c"], "--host")


def node(name: str, host: str) -> str:
    return (
        f"  - {{name: {name}, host: {host}, package: relay_chain, executable: relay, "
        f"cpp: {{package: relay_chain, executable: relay_cpp}}, nodes: [{{name: {name}}}]}}\n"
    )


NODES = (
    "network: {link: veth}\nduration: {seconds: 1}\nprocesses:\n"
    + node("server", "b")
    + node("client", "a")
)


def installed(place: Path, *programs: str) -> Ros:
    """An installation of ROS 2 with two middlewares and these programs."""
    package = place / "lib" / "relay_chain"
    package.mkdir(parents=True)
    for name in ("fastrtps", "cyclonedds"):
        (place / "lib" / f"librmw_{name}_cpp.so").touch()
    for name in programs:
        (package / name).write_text("#!/bin/sh\n")
        (package / name).chmod(0o755)
    (place / "setup.bash").write_text(f"export AMENT_PREFIX_PATH={place}\n")
    return Ros(SYSTEM, "rolling", place, ())


def asked(directory: Path, ros: Ros, **variables: str) -> _Remote:
    """What the other machine answers with that ROS 2 and variables of its own."""
    (directory / "scenario").mkdir()
    text = written(directory / "scenario", NODES).read_text()
    request = Request(**{**REQUEST, "files": {"one.yaml": text}})
    answer = answer_check(request, ros, {"PATH": os.environ["PATH"], **variables})
    assert answer["error"] is None
    return _Remote(RemoteHost("b", "robot"), request, answer)


def test_machines_that_would_run_other_programs_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    here = only_hosts(load_scenario(str(written(tmp_path / "here", NODES))), ["a"])
    base = {"PATH": os.environ["PATH"]}
    own = what_runs(here, ros=installed(tmp_path / "one", "relay", "relay_cpp"), base=base)
    assert own == {
        "rmw": "rmw_fastrtps_cpp",
        "programs": {"client": "relay_chain/relay_cpp"},
        "libraries": ["cpp"],
    }
    far = asked(tmp_path, installed(tmp_path / "two", "relay"))
    assert far.answer["runs"]["programs"] == {"server": "relay_chain/relay"}
    said: list[str] = []
    _compare_programs(own, [far], said.append)
    assert len(said) == 1
    assert "cpp on this machine, wheels on host b (robot)" in said[0]
    assert "--set variant=wheels" in said[0]
    _compare_programs(far.answer["runs"], [far], said.append)
    assert len(said) == 1


def test_machines_with_several_middlewares_are_refused(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    here = only_hosts(load_scenario(str(written(tmp_path / "here", NODES))), ["a"])
    ros, base = installed(tmp_path / "one", "relay"), {"PATH": os.environ["PATH"]}
    far = asked(tmp_path, ros, RMW_IMPLEMENTATION="rmw_cyclonedds_cpp")
    own = what_runs(here, ros=ros, base=base)
    says = r"rmw_fastrtps_cpp on this machine, rmw_cyclonedds_cpp on host b \(robot\)"
    with pytest.raises(ScenarioError, match=says):
        _compare_programs(own, [far], lambda _: None)
    # A part without nodes has no middleware.
    _compare_programs({**own, "rmw": None}, [far], lambda _: None)


def test_every_process_needs_a_host(tmp_path: Path) -> None:
    text = (
        "duration: {seconds: 1}\nprocesses:\n"
        + shell("one", "true")
        + shell("two", "true", "host: b")
    )
    with pytest.raises(ScenarioError, match="its process one has no host"):
        check_hosts(load_scenario(str(written(tmp_path, text))), ["b"], "--only-host")


def test_a_part_runs_alone_and_says_when_its_processes_run(tmp_path: Path) -> None:
    ran = Ran(only_hosts(two(tmp_path), ["a"]), tmp_path / "run")
    assert ran.status == 0
    assert "scenario: all processes run\n" in ran.errors
    assert list(ran.processes) == ["client"]
    assert ran.outcome["others"] == []
    assert ran.unmet == []


def test_options_that_exclude_each_other(tmp_path: Path) -> None:
    file = written(tmp_path, TWO)
    done = strata("run", file, "--only-host", "a", "--host", "b=robot")
    assert done.returncode == 2
    assert "--only-host excludes --host" in done.stderr
    done = strata("run", file, "--host", "b=robot", "--host", "b=other")
    assert "host b is given twice" in done.stderr


def test_parts_of_one_machine_hold_their_own_domain() -> None:
    environment = {"ROS_DOMAIN_ID": f"test-{os.getpid()}"}
    with domain_held("one", environment, ["a"]), domain_held("one", environment, ["b"]):
        for part in (["a"], None):
            with (
                pytest.raises(ScenarioError, match="another one is running"),
                domain_held("one", environment, part),
            ):
                pass
    with (
        domain_held("one", environment),
        pytest.raises(ScenarioError, match="another one is running"),
        domain_held("one", environment, ["a"]),
    ):
        pass


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"protocol": PROTOCOL + 1}, "is of another version"),
        ({"run": "../../etc"}, "a directory in it"),
        ({"scenario": "../one"}, "a directory in it"),
        ({"host": "a/../../../home"}, "a directory in it"),
        ({"file": "../one.yaml"}, "a directory in it"),
        ({"files": {"..": ""}}, "a directory in it"),
        ({"files": {"../one.yaml": ""}}, "a directory in it"),
        ({"more": 1}, "has no request"),
    ],
)
def test_a_request_that_is_none(changes: dict[str, Any], says: str) -> None:
    assert Request.read(json.dumps(REQUEST)).host == "b"
    with pytest.raises(ScenarioError, match=says):
        Request.read(json.dumps({**REQUEST, **changes}))


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "a/../../outside"])
def test_nothing_is_written_outside(tmp_path: Path, name: str) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        archive.addfile(tarfile.TarInfo(name))
    made.seek(0)
    place = tmp_path / "place"
    place.mkdir()
    with (
        tarfile.open(fileobj=made, mode="r|") as archive,
        pytest.raises(Unreachable, match="outside"),
    ):
        _extract(archive, place)
    assert [one.name for one in tmp_path.iterdir()] == ["place"]


def part_of_run(place: Path, host: str, **scenario: Any) -> Path:
    place.mkdir(parents=True)
    told = {
        "name": "one",
        "changes": {},
        "variant": "auto",
        "part": [host],
        "checks": [],
        **scenario,
    }
    manifest = Manifest(place)
    manifest.content = {
        "schema": 1,
        "session": "strata-one-1-1",
        "versions": {"strata": __version__},
        "scenario": told,
        "end": {},
    }
    manifest.write()
    return place


def test_recordings_are_put_together_once(tmp_path: Path) -> None:
    here = part_of_run(tmp_path / "a", "a")
    unmet = [{"text": "server says 'serving'", "met": False}]
    there = part_of_run(tmp_path / "there", "b", checks=unmet)
    brought = add_host(here, there)
    assert host_sessions(here) == {"b": here / "hosts" / "b"}
    assert brought.unmet == ["host b: server says 'serving'"]
    assert (there / "manifest.json").is_file()
    with pytest.raises(ScenarioError, match="has the recording of host b already"):
        add_host(here, there)
    assert sorted(one.name for one in (here / "hosts").iterdir()) == ["b"]


@pytest.mark.parametrize(
    ("scenario", "says"),
    [
        ({"part": None}, "it is no part of a scenario"),
        ({"part": ["a"]}, "has the recording of host a already"),
        ({"name": "other"}, "its scenario is other, and not one"),
        ({"changes": {"size": "5"}}, "its settings is"),
    ],
)
def test_what_is_no_other_part(tmp_path: Path, scenario: dict[str, Any], says: str) -> None:
    here = part_of_run(tmp_path / "a", "a")
    there = part_of_run(tmp_path / "b", "b", **scenario)
    with pytest.raises(ScenarioError, match=says):
        add_host(here, there)
    assert not (here / "hosts").exists()


def test_another_version_is_told(tmp_path: Path) -> None:
    here, there = part_of_run(tmp_path / "a", "a"), part_of_run(tmp_path / "b", "b")
    content = json.loads((there / "manifest.json").read_text())
    (there / "manifest.json").write_text(json.dumps({**content, "versions": {"strata": "0.0.1"}}))
    with pytest.raises(ScenarioError, match=r"recorded by Strata 0\.0\.1"):
        add_host(here, there)


def test_the_recordings_of_others_are_replaced_with_it(tmp_path: Path) -> None:
    here = part_of_run(tmp_path / "a", "a")
    add_host(here, part_of_run(tmp_path / "b", "b"))
    kept = tmp_path / "kept"
    shutil.copytree(here, kept)
    check_directory(here, force=True)
    clear_directory(here)
    assert list(here.iterdir()) == []
    # A file of the user's is not.
    (kept / "hosts" / "b" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"notes.txt"):
        check_directory(kept, force=True)
    assert (kept / "hosts" / "b" / "notes.txt").read_text() == "mine"


def test_the_other_sides_command_is_for_no_person() -> None:
    assert "host-side" not in strata("--help").stdout
    done = subprocess.run(
        [*STRATA, "host-side", "check"], input="", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "standard input has no request" in done.stderr


def asks(monkeypatch: pytest.MonkeyPatch, place: Path, script: str) -> RemoteHost:
    """Put a shell script in place of ssh; `there` in it is what ssh runs on the other machine."""
    ssh = place / "ssh"
    ssh.write_text(
        '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift 2\n'
        f'there() {{ sh -c "$1"; }}\n{script}\n'
    )
    ssh.chmod(0o755)
    monkeypatch.setenv("STRATA_SSH", str(ssh))
    program = place / "strata"
    program.write_text(
        f"#!/bin/sh\nexport STRATA_ROOT='{place}'\nexec '{sys.executable}' -m strata \"$@\"\n"
    )
    program.chmod(0o755)
    return RemoteHost("b", "robot", str(program))


def recorded_there(place: Path) -> Request:
    """Record a part on the other machine: its manifest is before its trace in the alphabet."""
    request = Request.read(json.dumps(REQUEST))
    part = part_of_run(place / "sessions" / request.directory.name, "b")
    (part / "trace").mkdir()
    (part / "trace" / "channel0_0").write_bytes(os.urandom(30_000))
    (place / "here").mkdir()
    return request


def test_a_recording_comes_past_what_a_shell_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = asks(monkeypatch, tmp_path, "echo welcome; printf 'no end of a line'; there \"$1\"")
    request = recorded_there(tmp_path)
    there = tmp_path / "sessions" / request.directory.name
    data = (there / "trace" / "channel0_0").read_bytes()
    brought = fetch(host, request, tmp_path / "here")
    assert (brought.directory / "trace" / "channel0_0").read_bytes() == data
    assert (brought.directory / "manifest.json").is_file()
    assert not there.exists(), "it is removed there after its arrival"


def test_a_recording_that_was_cut_is_not_taken_for_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each place where a tar archive may be cut: at members' headers, within them, in data."""
    request = recorded_there(tmp_path)
    there = tmp_path / "sessions" / request.directory.name
    whole = tmp_path / "whole"
    host = asks(monkeypatch, tmp_path, f'there "$1" | tee {whole}')
    shutil.copytree(there, tmp_path / "kept")
    fetch(host, request, tmp_path / "here")
    shutil.rmtree(tmp_path / "here" / "hosts")
    sent = whole.read_bytes()
    cut = tmp_path / "cut"
    for share in (*range(0, len(sent) - 11_000, 512), len(sent) - 10_900, 700, 20_000):
        cut.write_bytes(sent[:share])
        host = asks(monkeypatch, tmp_path, f"cat {cut}")
        with pytest.raises(Unreachable, match=r"host b \(robot\).* (in part|something else)"):
            fetch(host, request, tmp_path / "here")
        assert not (tmp_path / "here" / "hosts").exists()


def test_a_machine_that_sends_no_recording_and_does_not_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_recordings, "_ENDS_WITHIN_S", 0.3)
    monkeypatch.setattr(host_recordings, "SILENT_S", 0.3)
    request = recorded_there(tmp_path)
    begun = time.monotonic()
    for script in (
        "echo 'strata: an archive follows'; head -c 2000 /dev/zero | tr '\\0' x; exec sleep 600",
        "exec sleep 600",
    ):
        host = asks(monkeypatch, tmp_path, script)
        with pytest.raises(Unreachable):
            fetch(host, request, tmp_path / "here")
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("linked", [False, True])
def test_the_other_side_opens_the_file_by_its_name(tmp_path: Path, *, linked: bool) -> None:
    file = written(tmp_path, TWO).rename(tmp_path / "mine.yml")
    if linked:
        (tmp_path / "link.yml").symlink_to(file)
        file = tmp_path / "link.yml"
    loaded = load_scenario(str(file))
    there = tmp_path / "there"
    there.mkdir()
    request = Request.read(
        json.dumps(REQUEST | {"scenario": loaded.name, "file": file.name, "files": _files(loaded)})
    )
    part = request.load(there)
    assert part.name == loaded.name == file.stem
    assert [one.name for one in part.scenario.processes] == ["server"]
