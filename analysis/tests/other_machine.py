# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Another machine that is reached by ssh: an sshd of the test's own, in an LTTng world of its own.

Where it is allowed, both sides are network namespaces joined by virtual Ethernet.
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from lttng_world import ROOT, World, any_domain

from strata.scenario.network import Hosts

NO_SSHD = "there is no program sshd"
_CONFIG = """Port {port}
ListenAddress {address}
HostKey {place}/host_key
AuthorizedKeysFile {place}/key.pub
PidFile none
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
PermitRootLogin prohibit-password
"""
_CLIENT = """Host other
  HostName {address}
  Port {port}
  User {user}
  IdentityFile {place}/key
  IdentitiesOnly yes
  UserKnownHostsFile {place}/known_hosts
  StrictHostKeyChecking accept-new
  LogLevel ERROR
"""
_STRATA = """#!/bin/sh
{variables}
exec {python} -m strata "$@"
"""


class OtherMachine:
    """The machine `other` of ssh; `strata` runs on this one, with what finds the other."""

    def __init__(self, world: World, there: World, place: Path, hosts: Hosts | None) -> None:
        self.place, self.there, self._world, self._hosts = place, there, world, hosts
        self.installation = place / "installed"
        self.sessions = place / "root" / "sessions"
        self.environment = world.environment | {
            "ROS_DOMAIN_ID": any_domain(),
            "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
            "STRATA_SSH": f"ssh -F {place}/client",
        }
        del self.environment["ROS_AUTOMATIC_DISCOVERY_RANGE"]
        self._install()
        self._sshd = self._serve()

    @property
    def option(self) -> str:
        """The value of --host for the scenario's host b."""
        return f"b=other:{self.installation}"

    def _enter(self, name: str) -> dict[str, Any]:
        return {"preexec_fn": partial(self._hosts.enter, name)} if self._hosts else {}

    def _install(self) -> None:
        # Sessions of the other machine are not among those of this one.
        root = self.sessions.parent
        root.mkdir()
        for name in ("trace_configs", "tracing_ws"):
            (root / name).symlink_to(ROOT / name)
        variables = {
            "STRATA_ROOT": str(root),
            "STRATA_ROS_PREFIX": str(ROOT / ".venv"),
            "LTTNG_HOME": str(self.there.home),
            "HOME": str(self.there.home),
            "PYTHONPATH": str(ROOT / "analysis/src"),
        }
        lines = "\n".join(f"export {name}='{value}'" for name, value in variables.items())
        self.install(_STRATA.format(variables=lines, python=ROOT / ".venv/bin/python"))

    def install(self, script: str) -> None:
        """Make that shell script the other machine's strata."""
        program = self.installation / "bin" / "strata"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(script)
        program.chmod(0o755)

    def _serve(self) -> subprocess.Popen[str]:
        address = self._hosts.address("b") if self._hosts else "127.0.0.1"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        for name in ("host_key", "key"):
            words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.place / name]
            subprocess.run(words, check=True)
        values = {"port": port, "address": address, "place": self.place, "user": getpass.getuser()}
        (self.place / "sshd_config").write_text(_CONFIG.format(**values))
        (self.place / "client").write_text(_CLIENT.format(**values))
        if os.geteuid() == 0:
            # Where sshd, of root, separates its privileges; elsewhere the package makes it.
            self.there.run("mkdir", "-p", "/run/sshd")
        sshd = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:" + os.environ["PATH"])
        assert sshd
        log = (self.place / "sshd.log").open("w")
        process = self.there.popen(
            sshd,
            *("-D", "-e", "-f", self.place / "sshd_config"),
            stdout=log,
            stderr=log,
            **self._enter("b"),
        )
        self._wait_until_it_answers(process)
        return process

    def _wait_until_it_answers(self, sshd: subprocess.Popen[str]) -> None:
        deadline = time.monotonic() + 30
        words = ["ssh", "-F", self.place / "client", "-o", "BatchMode=yes", "other", "true"]
        while True:
            done = self._world.run(*words, env=self.environment, **self._enter("a"))
            if done.returncode == 0:
                return
            log = (self.place / "sshd.log").read_text()
            assert sshd.poll() is None, log
            assert time.monotonic() < deadline, done.stderr + log
            time.sleep(0.1)

    def popen(self, *words: str | Path, **options: Any) -> subprocess.Popen[str]:
        """Start strata on this machine."""
        line = [str(ROOT / ".venv/bin/python"), "-m", "strata", *words]
        options = {"env": self.environment, **self._enter("a"), **options}
        return self._world.popen(*line, **options)

    def strata(
        self, *words: str | Path, timeout_s: float = 180, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run strata on this machine."""
        process = self.popen(*words, **options)
        out, err = process.communicate(timeout=timeout_s)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def connections(self) -> list[int]:
        """Give the ids of the processes that serve a connection."""
        found = subprocess.run(
            ["pgrep", "-P", str(self._served_by())], capture_output=True, text=True, check=False
        )
        return [int(word) for word in found.stdout.split()]

    def _served_by(self) -> int:
        return self._sshd.pid

    def close(self) -> None:
        """End it, with all connections."""
        for pid in self.connections():
            os.kill(pid, signal.SIGTERM)
        self._sshd.terminate()
        self._sshd.communicate(timeout=30)


@contextmanager
def other_machine(
    world: World, there: World, place: Path, hosts: Hosts | None = None
) -> Iterator[OtherMachine]:
    """Start another machine, or skip the test where there is no sshd."""
    path = "/usr/sbin:/usr/local/sbin:" + os.environ["PATH"]
    if shutil.which("sshd", path=path) is None or shutil.which("ssh") is None:
        pytest.skip(NO_SSHD)
    machine = OtherMachine(world, there, place, hosts)
    try:
        yield machine
    finally:
        machine.close()
