# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Run the cells of a campaign, one by one, each as a session of `strata run`."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from strata.campaign.cell_process import Interrupts, run_child
from strata.campaign.cell_verdict import recorded_something, unmet, verdict
from strata.campaign.cells import Cell
from strata.campaign.directory import (
    CAMPAIGN,
    LOG,
    MEASURED_LATER,
    NOT_MEASURED,
    CampaignDirectory,
    CellState,
    Lock,
    as_output,
    utc_now,
)
from strata.campaign.leftover_processes import end_remains
from strata.campaign.machine_description import changes, describe_environment
from strata.campaign.machine_load import Moment, look
from strata.campaign.middleware_variables import own_middleware, set_aside
from strata.campaign.remaining_time import Forecast
from strata.errors import CampaignError, OutputError, SessionError
from strata.record.lttng import INSTALL_HINT, Lttng, tool_environment
from strata.record.ros import Ros
from strata.scenario.domain import domain_held
from strata.scenario.host_recordings import SILENT_S
from strata.scenario.remote_host import RemoteHost
from strata.scenario.runner import REMOTE_PATIENCE_S
from strata.scenario.several_machines import SETS_UP_WITHIN_S, introduced

_RUNNING_LOG = "running.log"
_MEASURING = "strata.study.measure_cell"
# Beyond what a scenario allows itself: setting the session up, and writing what is buffered.
_BESIDE_S = 300.0
# Per other machine: setting up, ending, and nothing coming before its recording does.
_BESIDE_REMOTE_S = SETS_UP_WITHIN_S + REMOTE_PATIENCE_S + SILENT_S
# Besides a time that grows with that of the recording.
_MEASURING_S = 900.0
_LOCK_PATIENCE_S = 90.0
_LEAST_FREE_BYTES = 256 * 2**20


class Watcher(Protocol):
    """What shows the progress of a campaign."""

    def say(self, line: str) -> None:
        """Tell one line that is no cell's."""

    def begin(self, number: int, total: int, cell: Cell, expected_s: float, left_s: float) -> None:
        """Tell that a cell begins, the how manieth of those to run; times are in seconds."""

    def turn(self) -> None:
        """Be called some times a second while it runs."""

    def end(self, number: int, total: int, cell: Cell, state: CellState, left_s: float) -> None:
        """Show the result of a cell."""

    def skip(self, cell: Cell) -> None:
        """Tell that a cell cannot run here; `cell.skipped` says why."""


@dataclass
class Ended:
    """How a campaign ended: ids of cells; `interrupted` is the signal that ended it, or null."""

    finished: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    interrupted: signal.Signals | None = None


def run_campaign(
    directory: CampaignDirectory,
    chosen: Sequence[Cell],
    *,
    ros: Ros,
    base: Mapping[str, str],
    keep_failed: bool = False,
    settle_s: float = 1.0,
    hosts: Sequence[RemoteHost] = (),
    watcher: Watcher,
) -> Ended:
    """Run the chosen cells of a planned campaign that have not finished.

    `base` is the caller's environment, of which the cells do not inherit what chooses a middleware;
    what is set aside is reported. Before each cell the machine is watched for `settle_s`. `hosts`
    are the machines on which hosts of cells run. To be called from the main thread: it takes the
    signals that end a program.

    Raises CampaignError when another process runs it, ScenarioError when another scenario runs in
    its ROS domain or a host cannot be used, SessionError without LTTng, OutputError when the disk
    refuses.
    """
    if shutil.which("lttng-sessiond", path=base.get("PATH", os.defpath)) is None:
        raise SessionError(f"Cannot run a campaign: LTTng is not installed. {INSTALL_HINT}.")
    lock = Lock(directory.path)
    try:
        if names := set_aside(base):
            what = "it says" if len(names) == 1 else "they say"
            watcher.say(
                f"ignored: {', '.join(names)}; each cell uses the middleware and the profile that "
                f"the campaign states, whatever {what}"
            )
        run = _Run(directory, ros, own_middleware(base), lock, watcher, keep_failed, settle_s)
        run.hosts = [one for one in hosts if any(one.name in cell.hosts for cell in chosen)]
        with run.interrupts.noted():
            run.prepare()
            run.cells(chosen)
        return run.ended
    finally:
        lock.close()
        if not (directory.path / CAMPAIGN).exists():
            lock.discard()


class _Run:
    def __init__(
        self,
        directory: CampaignDirectory,
        ros: Ros,
        base: Mapping[str, str],
        lock: Lock,
        watcher: Watcher,
        keep_failed: bool,
        settle_s: float,
    ) -> None:
        self.directory, self.ros, self.base, self.lock = directory, ros, base, lock
        self.watcher, self.keep_failed, self.settle_s = watcher, keep_failed, settle_s
        self.hosts: Sequence[RemoteHost] = ()
        self.interrupts = Interrupts()
        self.forecast = Forecast()
        self.ended = Ended()

    def prepare(self) -> None:
        """Take the directory, end what a killed run left, and note the environment."""
        for cell in self.directory.cells:
            if self.directory.state(cell) is None:
                for what in end_remains(self.directory.cell_directory(cell), self.ros, self.base):
                    self.watcher.say(f"ended processes that were left of {cell.id}: {what}")
        if not self.lock.take(0.0):
            if self.lock.owner() is None:
                self.watcher.say("waiting for the interrupted cell to end")
            if not self.lock.take(_LOCK_PATIENCE_S):
                owner = self.lock.owner()
                who = (
                    f"process {owner} runs it"
                    if owner
                    else "processes of a killed run are still running"
                )
                raise CampaignError(
                    f"Cannot run campaign {self.directory.path}: {who}. Wait for its end."
                )
        environment = self.ros.environment(self.base)
        with domain_held(self.directory.name, environment):
            pass
        lttng = Lttng(tool_environment(self.base, self.ros.prefixes))
        now = describe_environment(self.ros, lttng, environment)
        if self.hosts:
            now["hosts"] = {one.name: _describe_host(one) for one in self.hosts}
        starts = self.directory.document["environments"]
        if starts:
            now["changed"] = changes(starts[-1], now)
            for one in now["changed"]:
                text = f"{one['key']} was {one['before']} and is {one['after']}"
                self.watcher.say(f"the machine changed since the last start: {text}")
        self.directory = self.directory.with_environment(now)
        self.directory.write()

    def cells(self, chosen: Sequence[Cell]) -> None:
        """Run those of the cells that have to."""
        todo = [cell for cell in chosen if self._is_to_run(cell)]
        for number in range(1, len(todo) + 1):
            if self.interrupts.first is None:
                self._refuse_full_disk()
                self._cell(number, todo)
        self.ended.interrupted = self.interrupts.first

    def _is_to_run(self, cell: Cell) -> bool:
        state = self.directory.state(cell)
        if state is not None and (state.status == "finished" or self.keep_failed):
            self.ended.kept.append(cell.id)
            if state.status == "failed":
                self.ended.failed.append(cell.id)
            return False
        if cell.skipped:
            self.ended.skipped.append(cell.id)
            self.watcher.skip(cell)
        return not cell.skipped

    def _refuse_full_disk(self) -> None:
        free = shutil.disk_usage(self.directory.path).free
        if free < _LEAST_FREE_BYTES:
            raise OutputError(
                f"Cannot run the next cell: {self.directory.path} has {free // 2**20} MiB free, "
                f"and {_LEAST_FREE_BYTES // 2**20} are needed. Make room, and run it again: "
                "finished cells are kept."
            )

    def _cell(self, number: int, todo: Sequence[Cell]) -> None:
        cell, later = todo[number - 1], todo[number:]
        left = self.forecast.all(todo[number - 1 :])
        self.watcher.begin(number, len(todo), cell, self.forecast.of(cell), left)
        self._move_aside(cell)
        begun = time.monotonic()
        moment = look(self.settle_s, self._turn)
        state = self._run_one(cell, moment)
        if state is None:
            return
        self.directory.write_state(cell, state)
        self.forecast.note(cell, time.monotonic() - begun)
        (self.ended.finished if state.status == "finished" else self.ended.failed).append(cell.id)
        self.watcher.end(number, len(todo), cell, state, self.forecast.all(later))

    def _turn(self) -> bool:
        self.watcher.turn()
        return self.interrupts.first is None

    def _move_aside(self, cell: Cell) -> None:
        moved = self.directory.move_aside(cell)
        log = self.directory.path / _RUNNING_LOG
        with as_output(log):
            if moved:
                self.watcher.say(f"moved the incomplete files of {cell.id} to {moved}")
                if log.exists():
                    log.rename(moved / LOG)
            log.unlink(missing_ok=True)

    def _run_one(self, cell: Cell, moment: Moment) -> CellState | None:
        """Run a cell and judge it; null when it was interrupted."""
        target, log = self.directory.cell_directory(cell), self.directory.path / _RUNNING_LOG
        command = run_command(cell, target, self.hosts)
        limit_s = running_limit_s(cell)
        begun_utc, begun = utc_now(), time.monotonic()
        with as_output(log):
            target.parent.mkdir(parents=True, exist_ok=True)
            status = None
            if self.interrupts.first is None:
                status = self._child(command, log, limit_s)
        took = time.monotonic() - begun
        if status is None or status < 0:
            for what in end_remains(target, self.ros, self.base):
                self.watcher.say(f"ended processes that were left of {cell.id}: {what}")
        if self.interrupts.first is not None:
            return None
        with as_output(target):
            target.mkdir(exist_ok=True)
            if log.exists():
                log.rename(target / LOG)
        reason = verdict(target, status, limit_s)
        measured = self._measure(cell) if recorded_something(target) else NOT_MEASURED
        if reason is None and measured.startswith(NOT_MEASURED):
            reason = measured
        return CellState(
            id=cell.id,
            status="failed" if reason else "finished",
            reason=reason,
            begun_utc=begun_utc,
            duration_s=round(took, 3),
            order=cell.order,
            load_average=moment.load_average,
            busy_percent=moment.busy_percent,
            frequency_khz=moment.frequency_khz,
            busy=moment.busy,
            command=command,
            measured=measured,
            unmet=unmet(target),
        )

    def _measure(self, cell: Cell) -> str:
        """Measure it; a failure is told in place of the counts.

        What takes too long, or is interrupted, is none: the recording is whole, and can be measured
        at any time.
        """
        log = self.directory.path / _RUNNING_LOG
        with as_output(log):
            limit_s = measuring_limit_s(cell)
            status = self._child(_measuring_command(self.directory, cell), log, limit_s)
            said = log.read_text(errors="replace").splitlines()
            log.unlink()
        if status is None:
            return f"{MEASURED_LATER}: it took longer than {limit_s:.0f} s"
        if status and self.interrupts.first is not None:
            return f"{MEASURED_LATER}: it was interrupted"
        if status:
            return f"{NOT_MEASURED}: {said[-1] if said else f'exit status {status}'}"
        return said[-1] if said else NOT_MEASURED

    def _child(self, command: Sequence[str], log: Path, limit_s: float) -> int | None:
        return run_child(
            command,
            # Ours, not `base`: it finds ROS 2 as we did.
            own_middleware(os.environ),
            output=log,
            limit_s=limit_s,
            held=self.lock.descriptor,
            interrupts=self.interrupts,
            turn=self.watcher.turn,
        )


def running_limit_s(cell: Cell) -> float:
    """Return after how many seconds a cell's run is ended.

    A recording of another machine is copied in the time that the run may take, as it was written.
    """
    remote_s = len(cell.hosts) * (_BESIDE_REMOTE_S + cell.limit_s)
    return cell.limit_s + _BESIDE_S + remote_s


def measuring_limit_s(cell: Cell) -> float:
    """Return after how many seconds the measuring of a cell is ended."""
    return _MEASURING_S + 2 * cell.limit_s


def _measuring_command(directory: CampaignDirectory, cell: Cell) -> list[str]:
    """Give the command that measures a cell.

    It is a process, called by name: what runs cells must not load the analysis of them.
    """
    return [sys.executable, "-m", _MEASURING, str(directory.path), cell.id]


def _describe_host(host: RemoteHost) -> dict[str, Any]:
    """Describe another machine as this one; raises ScenarioError when it cannot be used."""
    environment = introduced(host, "describe")["environment"]
    return {"address": host.address, **environment}


def run_command(cell: Cell, target: Path, hosts: Sequence[RemoteHost] = ()) -> list[str]:
    """Give the command that runs a cell into its directory; `hosts` are other machines."""
    changes = [word for key, text in cell.changes.items() for word in ("--set", f"{key}={text}")]
    duration = ["--duration", cell.duration] if cell.duration else []
    elsewhere = [
        word for host in hosts if host.name in cell.hosts for word in ("--host", host.text)
    ]
    words = ["run", cell.scenario, "-o", str(target), *changes, *duration, *elsewhere]
    return [sys.executable, "-m", "strata", *words]
