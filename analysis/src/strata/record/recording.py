# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Record one command: set up, run, stop, destroy, describe; in that order whatever happens."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strata.errors import SessionError
from strata.record import daemon as session_daemon
from strata.record import leftovers
from strata.record.command import Command, End, held_signals, refuse_if_interrupted, resolve
from strata.record.config import SessionConfig
from strata.record.dds import Dds, plan_dds
from strata.record.directory import (
    CLEANUP,
    STATE,
    TRACE,
    State,
    check_directory,
    check_name,
    clear_directory,
    default_directory,
    holds_events,
    remove_begun,
)
from strata.record.driver import Driver, plan_driver
from strata.record.kernel.events import DEFAULT_EVENTS
from strata.record.kernel.recorder import ClockOffset, PerfRecording, plan_kernel
from strata.record.lttng import KERNEL, UST, Lttng, tool_environment
from strata.record.manifest import Manifest
from strata.record.preload import asks_for
from strata.record.processes import ProcessWatch
from strata.record.profiles import RmwProfile
from strata.record.ros import Ros, caller_environment
from strata.record.thread_cpu import ThreadSampling
from strata.record.watchdog import Watchdog
from strata.schema.events import DDS_PROVIDER, DRIVER_PROVIDER

SESSION_DIR_VARIABLE = "STRATA_SESSION_DIR"
# Generous: the consumer may have gigabytes of full buffers to write.
_STOP_TIMEOUT_S = 120.0

Say = Callable[[str], None]


@dataclass(frozen=True)
class Recording:
    """A finished recording. `discarded` counts the events lost to full buffers; null if not told.

    `empty` tells that no event was recorded.
    """

    directory: Path
    end: End
    discarded: int | None
    empty: bool


@dataclass(frozen=True)
class Attachment:
    """What a caller keeps in the session directory, beside the trace.

    `prepare` writes it before the command starts; `describe` gives what the manifest is to say of
    it once the command has ended, by keys of the manifest.
    """

    prepare: Callable[[Path], None] = lambda _: None
    describe: Callable[[Path], Mapping[str, Any]] = lambda _: {}


@dataclass(frozen=True)
class _Plan:
    config: SessionConfig
    command: Sequence[str]
    program: str
    environment: dict[str, str]
    directory: Path
    session: str
    ros: Ros | None
    dds: Dds | None
    driver: Driver | None
    rmw_profile: RmwProfile | None
    lttng: Lttng
    clock_offset: ClockOffset
    say: Say
    attachment: Attachment = Attachment()
    kept_command: Sequence[str] = ()


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
    CLOCK_MONOTONIC (null: measured), for those that perf recorded. `attachment` is kept in the
    directory too. Without `keep_command_line` no file says what the command was. `say` gets one
    line for each thing that the user should know. To be called from the main thread of a process
    without other threads: signals are held while it runs.

    Raises SessionError or OutputError when nothing could be recorded; then no session, process or
    session daemon of ours is left. A command that fails is no error: see `Recording.end`.
    """
    if kernel and not config.kernel:
        config = replace(config, kernel=DEFAULT_EVENTS)
    plan = _plan(config, command, directory, name, force, ros, base, rmw_profile, clock_offset, say)
    plan = replace(
        plan,
        attachment=attachment or Attachment(),
        kept_command=list(command) if keep_command_line else [],
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
            return _record(plan, manifest)
        except BaseException:
            if not manifest.command_ran:
                remove_begun(plan.directory)
                if not existed:
                    plan.directory.rmdir()
            raise


def _plan(
    config: SessionConfig,
    command: Sequence[str],
    directory: Path | None,
    name: str | None,
    force: bool,
    ros: Ros | None,
    base: Mapping[str, str] | None,
    rmw_profile: RmwProfile | None,
    clock_offset: ClockOffset,
    say: Say,
) -> _Plan:
    """Decide everything that can be refused before anything is touched."""
    caller = caller_environment(os.environ if base is None else base)
    name = check_name(name or config.name)
    target = (directory or default_directory(name)).absolute()
    environment = ros.environment(caller) if ros else dict(caller)
    if rmw_profile:
        environment = rmw_profile.environment(environment, ros)
    dds = plan_dds(ros, environment) if asks_for(config.ust, DDS_PROVIDER) else None
    if dds and dds.hooks:
        environment = dds.hooks.preload(environment)
    driver = (
        plan_driver(ros, config.driver_ports) if asks_for(config.ust, DRIVER_PROVIDER) else None
    )
    if driver:
        environment = driver.preload(environment)
    environment[SESSION_DIR_VARIABLE] = str(target)
    program = resolve(command, environment)
    check_directory(target, force=force)
    lttng = Lttng(tool_environment(caller, ros.prefixes if ros else ()))
    return _Plan(
        config=config,
        command=command,
        program=program,
        environment=environment,
        directory=target,
        session=f"strata-{name}-{os.getpid()}-{time.time_ns() // 1_000_000}",
        ros=ros,
        dds=dds,
        driver=driver,
        rmw_profile=rmw_profile,
        lttng=lttng,
        clock_offset=clock_offset,
        say=say,
    )


def _record(plan: _Plan, manifest: Manifest) -> Recording:
    with _state(plan) as begun, _daemon(plan, begun) as state:
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
        kernel = plan_kernel(
            plan.config.kernel, plan.lttng.kernel_available(), plan.lttng.environment
        )
        closing = _Closing(plan)
        beside = PerfRecording(kernel, plan.directory, plan.lttng.environment, plan.say)
        with closing:
            _set_up(plan, kernel=kernel.by_lttng)
            plan.say(f"recording into {plan.directory} (LTTng session {plan.session})")
            end = _run_beside(plan, state, manifest, beside)
            manifest.end(end)
        replace(state, session_ended=closing.ended).write()
        empty = not holds_events(plan.directory / TRACE)
        beside.convert(plan.directory / TRACE, plan.clock_offset)
        manifest.content["kernel_tracing"] = kernel.as_json() | beside.as_json()
        manifest.content["discarded_events"] = closing.discarded
        manifest.content["empty"] = empty
        manifest.content["problems"] = [*closing.problems, *beside.problems]
        manifest.content |= plan.attachment.describe(plan.directory)
        manifest.write()
    return Recording(plan.directory, end, closing.discarded, empty)


def _set_up(plan: _Plan, *, kernel: bool) -> None:
    config, lttng, session = plan.config, plan.lttng, plan.session
    refuse_if_interrupted()
    lttng.enable_channel(session, UST, config.channel, per_pid=config.buffers == "per-pid")
    for event in config.ust:
        lttng.enable_event(session, UST, event)
    unknown = lttng.unknown_contexts(config.contexts)
    for context in unknown:
        plan.say(f"lttng-tools has no context {context}: containers may be mixed up (doctor)")
    contexts = [context for context in config.contexts if context not in unknown]
    lttng.add_contexts(session, UST, contexts)
    if kernel:
        lttng.enable_channel(session, KERNEL, config.channel)
        for event in config.kernel:
            lttng.enable_event(session, KERNEL, event)
        lttng.add_contexts(session, KERNEL, contexts)
    refuse_if_interrupted()
    lttng.start(session)
    refuse_if_interrupted()


def _run_beside(plan: _Plan, state: State, manifest: Manifest, beside: PerfRecording) -> End:
    """Run the command with perf beside it, where perf records the kernel's events."""
    try:
        beside.start()
        refuse_if_interrupted()
        running = replace(state, perf_pid=beside.pid)
        running.write()
        end = _run_sampled(plan, running, manifest)
    except BaseException:
        beside.kill()
        raise
    beside.stop()
    # Neither runs any more, and others may get their ids.
    state.write()
    return end


def _run_sampled(plan: _Plan, state: State, manifest: Manifest) -> End:
    """Run the command while the waits of its threads for a CPU are sampled."""
    sampling = ThreadSampling(plan.directory, plan.lttng.environment)
    try:
        return _run(plan, state, manifest, sampling)
    finally:
        sampling.stop()
        manifest.content["thread_cpu"] = sampling.as_json()


def _run(plan: _Plan, state: State, manifest: Manifest, sampling: ThreadSampling) -> End:
    manifest.begin()
    watch = ProcessWatch(f"{SESSION_DIR_VARIABLE}={plan.directory}")
    watch.begin()
    command = Command(plan.program, plan.command, plan.environment)
    try:
        sampling.follow(command.pid)
        watch.follow(command.pid)
        manifest.content["command"]["pid"] = command.pid
        replace(state, command_pid=command.pid).write()
        end = command.wait(watch)
    except BaseException:
        command.kill()
        raise
    watch.look(now=True)
    manifest.content["processes"] = watch.as_json()
    return end


class _Closing:
    """Create the session on entry; stop and destroy it on exit, whatever happened between.

    `ended` tells that it was destroyed.
    """

    def __init__(self, plan: _Plan) -> None:
        self._plan = plan
        self.ended = False
        self.discarded: int | None = None
        self.problems: list[str] = []

    def __enter__(self) -> None:
        refuse_if_interrupted()
        with _current_session_kept(self._plan.lttng):
            self._plan.lttng.create(self._plan.session, self._plan.directory / TRACE)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        lttng, session = self._plan.lttng, self._plan.session
        stuck = False
        if kind is None:
            stuck = not self._try(lambda: lttng.stop(session, _STOP_TIMEOUT_S))
            self._try(self._count)
        with _current_session_kept(lttng):
            # Waiting again for a consumer that did not finish in time would not help.
            self.ended = self._try(lambda: lttng.destroy(session, wait=not stuck))
        for problem in self.problems:
            self._plan.say(problem)

    def _count(self) -> None:
        self.discarded = self._plan.lttng.discarded(self._plan.session)

    def _try(self, step: Callable[[], None]) -> bool:
        try:
            step()
        except SessionError as error:
            self.problems.append(str(error))
            return False
        return True


@contextlib.contextmanager
def _current_session_kept(lttng: Lttng) -> Iterator[None]:
    """Keep the user's current session: `lttng create` makes the new one current in ~/.lttngrc."""
    home = lttng.environment.get("LTTNG_HOME") or lttng.environment.get("HOME")
    path = Path(home or Path.home()) / ".lttngrc"
    before = path.read_bytes() if path.is_file() else None
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if before is not None:
                path.write_bytes(before)
            else:
                path.unlink(missing_ok=True)


@contextlib.contextmanager
def _state(plan: _Plan) -> Iterator[State]:
    """Keep the state file and the watchdog while a recorder is at work."""
    state = State(
        session=plan.session,
        strata_pid=os.getpid(),
        start_ticks=session_daemon.process_start_ticks(os.getpid()) or 0,
        directory=str(plan.directory),
        command=list(plan.kept_command),
    )
    watchdog = Watchdog(plan.directory, dict(plan.lttng.environment))
    try:
        state.write()
        yield state
    finally:
        watchdog.dismiss()
        for name in (STATE, CLEANUP):
            (plan.directory / name).unlink(missing_ok=True)


@contextlib.contextmanager
def _daemon(plan: _Plan, state: State) -> Iterator[State]:
    """Use the running session daemon, or one of our own that ends with the recording."""
    refuse_if_interrupted()
    daemon = session_daemon.ensure(plan.lttng)
    try:
        known = replace(state, daemon_pid=daemon.pid)
        known.write()
        yield known
    finally:
        problem = session_daemon.end(daemon, plan.lttng, own=plan.session)
        if problem:
            plan.say(problem)
