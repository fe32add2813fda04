# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m strata.scenario.runner PLAN`: start a scenario's processes, wait, end them in order.

Their output goes line by line into logs/NAME.log and on to stderr, with the name before it. What
became of each is written to outcome.json. Exit status: 0 when all did what they should, 1 when
not, 128 + the number of a signal that ended the run. Imports the standard library only.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from strata.record.broker import answers
from strata.scenario.child import PRELOAD, Child
from strata.scenario.network import Hosts, Link, Refused
from strata.scenario.place import end_with_parent
from strata.scenario.resources import Sampler, every_process, family

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_TURN_S = 0.1
_POLL_S = 0.005
_LOOK_MOST_S = 1.0
# One at a time first, so that they end in order.
_APART_S = 1.0
_LOAD_SETTLES_S = 0.5
# One that says so and dies is not ready: its last words arrive before the kernel tells of its end.
_READY_SETTLES_S = 0.2
# Another machine ends its processes, and writes what its session has in its buffers.
REMOTE_PATIENCE_S = 180.0
ALL_RUN = "scenario: all processes run"
"""What a part says once it has started its processes."""


def without_preload() -> None:
    """Execute this program again without what it preloads, which is kept for the processes.

    It is none of those to trace.
    """
    preload = os.environ.pop("LD_PRELOAD", None)
    if preload is not None:
        os.environ[PRELOAD] = preload
        os.execv(sys.executable, [sys.executable, "-m", "strata.scenario.runner", *sys.argv[1:]])


class Load:
    """The load on the machine, while the scenario runs; its CPU time tells what it achieved."""

    def __init__(self, command: list[str], workers: int, log: Path) -> None:
        parent = os.getpid()
        self._command, self._workers, self._log = command, workers, log
        self._begun = time.monotonic()
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                preexec_fn=lambda: end_with_parent(parent),
                start_new_session=True,
            )
        time.sleep(_LOAD_SETTLES_S)

    @property
    def pid(self) -> int:
        """Give the id of the process that its workers descend from."""
        return self._process.pid

    def end(self) -> dict[str, Any]:
        """End it; tell what it did: the CPU time of its workers, in percent of one CPU for each."""
        early = self._process.poll() is not None
        if not early:
            os.killpg(self._process.pid, signal.SIGTERM)
        spent: float | None = None
        if not early:
            _, _, usage = os.wait4(self._process.pid, 0)
            told = self._told()
            spent = usage.ru_utime + usage.ru_stime if told is None else told
        took = time.monotonic() - self._begun
        return {
            "command": self._command,
            "workers": self._workers,
            "ended_early": early,
            "duration_s": round(took, 3),
            "achieved_cpu_percent": spent and round(100 * spent / took / self._workers, 1),
        }

    def _told(self) -> float | None:
        """Give the CPU time of the workers without that of the memory's; null of stress-ng."""
        try:
            return float(json.loads(self._log.read_text())["workers_cpu_s"])
        except (ValueError, KeyError, TypeError):
            return None


class Run:
    """One run of a plan."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self._plan = plan
        self._directory = Path(plan["directory"])
        self._children: list[Child] = []
        self._brokers: list[dict[str, Any]] = []
        self._outputs = selectors.DefaultSelector()
        self._signal: int | None = None
        self._hosts: Hosts | None = None
        self._load: Load | None = None
        self._achieved: dict[str, Any] | None = None
        self._sampler: Sampler | None = None
        self._begun = self._due = time.monotonic()
        self._others: set[int] = set()
        self.problems: list[str] = []

    def run(self) -> int:
        """Run it; the exit status."""
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP:
                signal.signal(number, self._note)
        logs = self._directory / "logs"
        logs.mkdir(exist_ok=True)
        if self._join_hosts():
            if self._plan["load"]:
                self._load = Load(self._plan["load"], self._plan["workers"], logs / "load.log")
            if self._plan["resources_s"]:
                file = self._directory / "resources.csv"
                self._sampler = Sampler(file, self._plan["resources_s"])
            self._run(logs)
        return self._report()

    def _join_hosts(self) -> bool:
        """Make the network of the plan, if any; false when the system refuses it."""
        if self._plan["network"]:
            link = {**self._plan["network"], "hosts": tuple(self._plan["network"]["hosts"])}
            try:
                self._hosts = Hosts(Link(**link), self._directory / "hosts")
            except Refused as refused:
                self.problems.append(f"the hosts cannot be connected: {refused}")
        return not self.problems

    def _run(self, logs: Path) -> None:
        try:
            self._start(logs)
            if not self.problems and self._signal is None:
                self._wait()
        finally:
            for child in self._children:
                if child.running and child.placement is None:
                    child.observe()
            self._sample(now=True)
            self._end()
            if self._load:
                self._achieved = self._load.end()

    def _sample(self, *, now: bool = False) -> None:
        if self._sampler:
            self._sampler.sample(self._running(), now=now)

    def _running(self) -> Iterator[tuple[str, list[int]]]:
        """Name the processes that run, with the ids of their families, and the load."""
        if self._load:
            yield "load", family(self._load.pid)
        for child in self._children:
            if not child.is_remote:
                yield child.name, child.family()

    def _look(self) -> None:
        """Note who is not ours, often at first: the session records others, too."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + min(_LOOK_MOST_S, max(_TURN_S, (now - self._begun) / 10))
            there = every_process()
            for child in self._children:
                child.family()
            # One that ended meanwhile may have been ours.
            self._others |= there & every_process()

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self._signal = self._signal or number

    def _start(self, logs: Path) -> None:
        for plan in self._plan["processes"]:
            if self._signal is not None:
                return
            if plan["serves_at"] and self._is_served(plan):
                continue
            try:
                enter = partial(self._hosts.enter, plan["host"]) if self._hosts else None
                child = Child(plan, logs, enter)
            except (OSError, subprocess.SubprocessError) as error:
                self.problems.append(f"{plan['name']} could not be started: {error}")
                return
            self._children.append(child)
            self._outputs.register(child.process.stdout, selectors.EVENT_READ, child)  # type: ignore[arg-type]
            if child.is_awaited and not self._is_ready(child):
                when = f"within {plan['ready_s']:g} s" if child.running else "before it ended"
                said = f"say '{plan['ready_says']}'"
                what = f"answer at {child.serves_at}" if child.serves_at else said
                why = child.last_words if child.is_remote and not child.running else None
                self.problems.append(why or f"{child.name} did not {what} {when}")
                return
        if self._plan["is_part"] and self._signal is None:
            sys.stderr.write(f"{ALL_RUN}\n")

    def _is_served(self, plan: Mapping[str, Any]) -> bool:
        """Return whether somebody else's process is this broker already; notes which it will be."""
        name, address = plan["name"], plan["serves_at"]
        served = answers(address)
        if served:
            sys.stderr.write(f"scenario: {name} is not started: one already answers at {address}\n")
        self._brokers.append({"name": name, "address": address, "started": not served})
        return served

    def _is_ready(self, child: Child) -> bool:
        """Pass output on until a process says that it is ready; false when it does not in time.

        One that failed meanwhile, or just after, is not ready, whatever it said.
        """
        until = time.monotonic() + child.plan["ready_s"]
        while not child.ready:
            self._turn()
            if not child.running or self._signal is not None or time.monotonic() > until:
                break
        ready = child.ready
        if ready:
            self._until_gone([child], _READY_SETTLES_S)
        return ready and (child.running or not child.failed)

    def _turn(self, seconds: float = _TURN_S) -> None:
        if self._sampler:
            self._sample()
            seconds = min(seconds, self._sampler.left_s())
        self._look()
        # A selector without files returns at once.
        if not self._outputs.get_map():
            time.sleep(_POLL_S)
        for key, _ in self._outputs.select(seconds):
            if not key.data.read():
                self._outputs.unregister(key.fileobj)

    def _wait(self) -> None:
        """Wait for the end: of those that end, of the time, or of one that failed."""
        begun = time.monotonic()
        seconds, limit = self._plan["seconds"], self._plan["limit_s"]
        ending = [child for child in self._children if child.plan["ends"]]
        while self._signal is None:
            self._turn()
            took = time.monotonic() - begun
            # Late enough that the program runs, not what placed it.
            if took > 1.0:
                for child in self._children:
                    if child.placement is None and child.running:
                        child.observe()
            if any(not child.running and child.failed for child in self._children):
                return
            if ending and not any(child.running for child in ending):
                return
            if seconds is not None and took >= seconds:
                return
            if took > limit:
                late = ", ".join(child.name for child in ending if child.running)
                self.problems.append(f"{late or 'the run'} did not end within {limit:g} s")
                return

    def _end(self) -> None:
        """End those that run, in their order, and after them what serves them."""
        patience = self._plan["patience_s"]
        remote = [child for child in self._children if child.is_remote]
        here = [child for child in self._children if not child.is_remote]
        self._end_all([child for child in here if not child.serves_at], patience)
        self._end_all(remote, REMOTE_PATIENCE_S)
        self._end_all([child for child in here if child.serves_at], patience)
        # A process's own child may keep the pipe open.
        until = time.monotonic() + _APART_S
        while self._outputs.get_map() and time.monotonic() < until:
            self._turn(_POLL_S)

    def _end_all(self, children: list[Child], patience: float) -> None:
        """End those that run, in their order; kill what does not end."""
        for child in children:
            child.signal(signal.SIGINT)
            self._until_gone([child], _APART_S)
        for number, seconds in ((None, patience), (signal.SIGTERM, patience / 2)):
            left = [child for child in children if child.running]
            if number is not None:
                for child in left:
                    child.signal(number)
            self._until_gone(left, seconds)
        for child in children:
            child.signal(signal.SIGKILL)
            child.wait()
            child.end_group()

    def _until_gone(self, children: list[Child], seconds: float) -> None:
        until = time.monotonic() + seconds
        while any(child.running for child in children) and time.monotonic() < until:
            self._turn(_POLL_S)

    def _foreign(self) -> list[int]:
        """List who ran beside us; none for a part, whose session records its own only."""
        if self._plan["is_part"]:
            return []
        return sorted(self._others.difference(*(child.pids for child in self._children)))

    def _report(self) -> int:
        for child in self._children:
            if child.failed and child.is_remote:
                if child.last_words not in self.problems:
                    self.problems.append(child.last_words or f"{child.name} failed")
            elif child.failed:
                how = child.as_json()
                end = how["signal"] or f"exit status {how['exit_status']}"
                early = child.serves_at and not child.signalled
                what = "ended before the run" if early else "did not end cleanly"
                self.problems.append(f"{child.name} {what}: {end}")
        if self._achieved and self._achieved["ended_early"]:
            self.problems.append("the load ended before the run; see logs/load.log")
        for problem in self.problems:
            sys.stderr.write(f"scenario: {problem}\n")
        interrupted = signal.Signals(self._signal).name if self._signal else None
        document = {
            "processes": [child.as_json() for child in self._children if not child.is_remote],
            "remote": [child.as_json() for child in self._children if child.is_remote],
            "brokers": self._brokers,
            "load": self._achieved,
            "network": self._hosts.as_json() if self._hosts else None,
            "resources": self._sampler.end() if self._sampler else None,
            "others": self._foreign(),
            "interrupted_by": interrupted,
            "problems": self.problems,
        }
        partial = self._directory / ".outcome.json"
        partial.write_text(json.dumps(document, indent=1) + "\n")
        partial.replace(self._directory / "outcome.json")
        if self._signal is not None:
            return 128 + self._signal
        return 1 if self.problems else 0


def main(path: str) -> int:
    """Run the plan of a file; the exit status."""
    return Run(json.loads(Path(path).read_text())).run()


if __name__ == "__main__":
    without_preload()
    sys.exit(main(sys.argv[1]))
