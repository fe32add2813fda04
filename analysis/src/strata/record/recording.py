# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Record one command: set up, run, stop, destroy, describe; in that order whatever happens."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from strata.errors import OutputError
from strata.record import daemon as session_daemon
from strata.record import leftovers
from strata.record.anchored import AnchoredDirectory
from strata.record.command import Command, End, held_signals, refuse_if_interrupted
from strata.record.config import SessionConfig
from strata.record.directory import (
    CLEANUP,
    CONVERTING,
    RECORDING,
    STATE,
    STOPPING,
    TRACE,
    State,
    clear_directory,
    holds_events,
    remove_begun,
)
from strata.record.health import Health
from strata.record.host import possible_cpus
from strata.record.kernel.events import DEFAULT_EVENTS
from strata.record.kernel.recorder import ClockOffset, PerfRecording, plan_kernel
from strata.record.manifest import Manifest
from strata.record.plan import (
    SESSION_DIR_VARIABLE,
    Attachment,
    Bounds,
    Plan,
    Say,
    make_plan,
)
from strata.record.processes import ProcessWatch
from strata.record.profiles import RmwProfile
from strata.record.ros import Ros
from strata.record.rotation import Rotation
from strata.record.session import Session
from strata.record.streams import mend
from strata.record.thread_cpu import ThreadSampling
from strata.record.watchdog import Watchdog


@dataclass(frozen=True)
class Recording:
    """A finished recording; `directory` is where it is now, null when somebody removed it.

    `discarded` counts the events lost to full buffers; null if not told. `empty` tells that no
    event was recorded; `problems` say why the recording is not complete.
    """

    directory: Path | None
    end: End
    discarded: int | None
    empty: bool
    problems: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Tell whether all that was to be recorded is there, but what full buffers lost."""
        return not self.problems


def record(
    config: SessionConfig,
    command: Sequence[str],
    *,
    directory: Path | None = None,
    name: str | None = None,
    force: bool = False,
    ros: Ros | None,
    base: Mapping[str, str] | None = None,
    rmw_profile: RmwProfile | None = None,
    kernel: bool = False,
    bounds: Bounds | None = None,
    clock_offset: ClockOffset = lambda _: None,
    attachment: Attachment | None = None,
    keep_command_line: bool = True,
    say: Say = lambda _: None,
) -> Recording:
    """Record a command into a session directory and return how it went.

    `directory` defaults to the project's `sessions/<utc>_<name>`, `name` to the configuration's;
    `ros` null runs the command in the caller's environment as it is; `base` is that environment.
    `rmw_profile` is what its middleware is made to use. `kernel` asks for the usual events of the
    kernel where the configuration lists none; `clock_offset` tells what the trace's clock adds to
    CLOCK_MONOTONIC (null: measured), for those that perf recorded. `bounds` are those of time and
    size. `attachment` is kept in the directory too. Without `keep_command_line` no file says what
    the command was. `say` gets one line for each thing that the user should know. To be called
    from the main thread of a process without other threads: signals are held while it runs.

    Raises SessionError or OutputError when nothing could be recorded; then no session, process or
    session daemon of ours is left. A command that fails is no error: see `Recording.end`.
    """
    if kernel and not config.kernel:
        config = replace(config, kernel=DEFAULT_EVENTS)
    plan = make_plan(
        config,
        command,
        directory,
        name,
        force,
        ros,
        base,
        rmw_profile,
        bounds or Bounds(),
        clock_offset,
        attachment or Attachment(),
        list(command) if keep_command_line else [],
        say,
    )
    existed = plan.directory.exists()
    manifest = Manifest(plan.directory)
    with held_signals():
        for line in leftovers.describe(plan.lttng):
            say(line)
        for path in clear_directory(plan.directory):
            say(f"removed {path}")
        try:
            plan.attachment.prepare(plan.directory)
            with AnchoredDirectory(plan.directory) as place:
                return _record(plan, manifest, place, existed=existed)
        except BaseException:
            if not manifest.command_ran:
                remove_begun(plan.directory)
                if not existed:
                    plan.directory.rmdir()
            raise


def _record(
    plan: Plan, manifest: Manifest, place: AnchoredDirectory, *, existed: bool
) -> Recording:
    with _state(plan, place, existed=existed) as begun, _daemon(plan, begun) as (state, daemon):
        _describe(plan, manifest)
        kernel = plan_kernel(
            plan.config.kernel, plan.lttng.kernel_available(), plan.lttng.environment
        )
        beside = PerfRecording(kernel, plan.directory, plan.lttng.environment, plan.say)
        session = Session(plan.lttng, plan.session, plan.directory / TRACE, plan.say)
        with session:
            session.start(plan.config, kernel=kernel.by_lttng)
            plan.say(f"recording into {plan.directory} (LTTng session {plan.session})")
            place.reserve_space()
            manifest.write_unfinished()
            health = Health(session, daemon, plan.disk, _rotation(plan), place)
            end = _run_beside(plan, state, manifest, beside, health, place)
            manifest.end(end)
            _write(plan, replace(state, phase=STOPPING), place)
        health.end()
        _write(plan, replace(state, phase=CONVERTING), place)
        place.release_space()
        manifest.content["kernel_tracing"] = kernel.as_json()
        return _finish(plan, manifest, place, end, health, beside)


def _describe(plan: Plan, manifest: Manifest) -> None:
    manifest.describe(
        plan.config,
        session=plan.session,
        command=plan.kept_command,
        environment=plan.environment,
        ros=plan.ros,
        lttng=plan.lttng,
        dds=plan.dds,
        driver=plan.driver,
        rmw_profile=plan.rmw_profile,
    )
    for layer in (plan.dds, plan.driver):
        for remark in layer.remarks if layer else ():
            plan.say(remark)


def _rotation(plan: Plan) -> Rotation | None:
    most = plan.bounds.max_bytes
    if most is None:
        return None
    buffers = plan.config.channel.bytes_on(possible_cpus())
    trace = plan.directory / TRACE
    return Rotation(plan.lttng, plan.session, trace, most, plan.say, buffer_bytes=buffers)


def _run_beside(
    plan: Plan,
    state: State,
    manifest: Manifest,
    beside: PerfRecording,
    health: Health,
    place: AnchoredDirectory,
) -> End:
    """Run the command with perf beside it, where perf records the kernel's events."""
    try:
        beside.start()
        refuse_if_interrupted()
        running = replace(state, perf_pid=beside.pid, phase=RECORDING)
        running.write()
        end = _run_sampled(plan, running, manifest, health, place)
    except BaseException:
        beside.kill()
        raise
    beside.stop()
    # Neither runs any more, and others may get their ids.
    _write(plan, replace(state, phase=STOPPING), place)
    return end


def _run_sampled(
    plan: Plan, state: State, manifest: Manifest, health: Health, place: AnchoredDirectory
) -> End:
    """Run the command while the waits of its threads for a CPU are sampled."""
    sampling = ThreadSampling(plan.directory, plan.lttng.environment)
    try:
        return _run(plan, state, manifest, sampling, health, place)
    finally:
        sampling.stop()
        manifest.content["thread_cpu"] = sampling.as_json(place.path())


def _run(
    plan: Plan,
    state: State,
    manifest: Manifest,
    sampling: ThreadSampling,
    health: Health,
    place: AnchoredDirectory,
) -> End:
    manifest.begin()
    watch = ProcessWatch(f"{SESSION_DIR_VARIABLE}={plan.directory}")
    watch.begin()
    command = Command(plan.program, plan.command, plan.environment)
    try:
        sampling.follow(command.pid)
        watch.follow(command.pid)
        manifest.content["command"]["pid"] = command.pid
        _write(plan, replace(state, command_pid=command.pid), place)
        end = command.wait(watch, health, limit_s=plan.bounds.duration_s)
    except BaseException:
        command.kill()
        raise
    watch.look(now=True)
    manifest.content["processes"] = watch.as_json()
    return end


def _finish(
    plan: Plan,
    manifest: Manifest,
    place: AnchoredDirectory,
    end: End,
    health: Health,
    beside: PerfRecording,
) -> Recording:
    """Judge the trace of a session that has ended, and write the manifest where it is now."""
    session, path = health.session, place.path()
    if path is None:
        session.problem(f"{plan.directory} was removed while the recording went on: it is lost")
        return Recording(None, end, session.discarded, True, tuple(session.problems))
    if path != plan.directory:
        plan.say(f"{plan.directory} was renamed: the recording is in {path}")
    for problem in mend(path / TRACE):
        session.problem(problem)
    empty = not holds_events(path / TRACE)
    beside.convert(path / TRACE, plan.clock_offset)
    problems = [*session.problems, *beside.problems]
    manifest.directory = path
    manifest.content["kernel_tracing"] |= beside.as_json()
    manifest.content |= {
        "complete": not problems,
        "problems": problems,
        "stopped_early": health.stopped.as_json() if health.stopped else None,
        "discarded_events": session.discarded,
        "empty": empty,
        "rotation": health.rotation.as_json() if health.rotation else None,
    }
    manifest.content |= plan.attachment.describe(path)
    manifest.write()
    return Recording(path, end, session.discarded, empty, tuple(problems))


def _write(plan: Plan, state: State, place: AnchoredDirectory) -> None:
    """Write the state of a recording that goes on, full disk or not."""
    path = place.path()
    if path is not None:
        try:
            replace(state, directory=str(path)).write()
        except OutputError as error:
            plan.say(str(error))


@contextlib.contextmanager
def _state(plan: Plan, place: AnchoredDirectory, *, existed: bool) -> Iterator[State]:
    """Keep the state file and the watchdog while a recorder is at work."""
    state = State(
        session=plan.session,
        strata_pid=os.getpid(),
        start_ticks=session_daemon.process_start_ticks(os.getpid()) or 0,
        directory=str(plan.directory),
        command=list(plan.kept_command),
        mark=f"{session_daemon.RECORDER_VARIABLE}={plan.mark}",
        made_directory=not existed,
    )
    watchdog = Watchdog(place.descriptor, dict(plan.lttng.environment), made=not existed)
    try:
        state.write()
        yield state
    finally:
        watchdog.dismiss()
        for name in (STATE, CLEANUP):
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=place.descriptor)


@contextlib.contextmanager
def _daemon(plan: Plan, state: State) -> Iterator[tuple[State, session_daemon.Daemon]]:
    """Use the running session daemon, or one of our own that ends with the recording."""
    refuse_if_interrupted()
    daemon = session_daemon.ensure(plan.lttng)
    try:
        known = replace(state, daemon_pid=daemon.pid)
        known.write()
        yield known, daemon
    finally:
        problem = session_daemon.end(daemon, plan.lttng, own=plan.session)
        if problem:
            plan.say(problem)
