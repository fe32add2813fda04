# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Record one command, or what runs: set up, run, stop, destroy, describe; in that order always."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from strata.errors import OutputError, SessionError
from strata.record import daemon as session_daemon
from strata.record import leftovers
from strata.record.anchored import AnchoredDirectory
from strata.record.attached import Attached
from strata.record.command import (
    Command,
    End,
    held_signals,
    refuse_if_interrupted,
)
from strata.record.companion import Companion
from strata.record.config import SessionConfig
from strata.record.directory import (
    CLEANUP,
    CONVERTING,
    RECORDING,
    STATE,
    STOPPING,
    TRACE,
    State,
    check_directory,
    clear_directory,
    make_directory,
    remove_begun,
)
from strata.record.ended_trace import bring, judge
from strata.record.guarded import Guarded
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
from strata.record.ring import Ring
from strata.record.ros import Ros
from strata.record.rotation import Rotation
from strata.record.session import Session
from strata.record.thread_cpu import ThreadSampling
from strata.record.traced_processes import TracedProcesses, attached_line, ros_of_processes
from strata.record.watchdog import Watchdog


@dataclass(frozen=True)
class Recording:
    """A finished recording; `directory` is where it is now, null when somebody removed it.

    `discarded` counts the events lost to full buffers; null if not known. `empty` tells that no
    event was recorded; `problems` say why the recording is not complete. `traced` counts the
    processes found that could be traced, in a recording without a command; else null.
    """

    directory: Path | None
    end: End
    discarded: int | None
    empty: bool
    problems: tuple[str, ...]
    traced: int | None = None

    @property
    def complete(self) -> bool:
        """Return whether all that was to be recorded is there, but what full buffers lost."""
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
    watches_processes: bool = True,
    ring: Ring | None = None,
    companion: Companion | None = None,
    named_only: bool = False,
    say: Say = lambda _: None,
) -> Recording:
    """Record a command into a session directory and return how it went.

    Without a command (an empty one) the processes that run anyway are recorded, and those that
    start meanwhile, until a signal or the end of its time. `ros` is then what the manifest says.

    `directory` defaults to the project's `sessions/<utc>_<name>`, `name` to the configuration's;
    `ros` null runs the command in the caller's environment as it is; `base` is that environment.
    `rmw_profile` is what its middleware is made to use. `kernel` asks for the usual events of the
    kernel where the configuration lists none; `clock_offset` tells what the trace's clock adds to
    CLOCK_MONOTONIC (null: measured), for those that perf recorded. `bounds` are those of time and
    size. `attachment` is kept in the directory too. Without `keep_command_line` no file says what
    the command was. Without a command and `watches_processes` no process is looked at: neither
    which there are, nor the waits of their threads. With a `ring` nothing is written but what
    snapshots ask for, and no trace is there afterwards. A `companion` runs beside the recording.
    With `named_only` no process is recorded but those that the command names, by `lttng track` for
    the session that TRACK_VARIABLE names.
    `say` gets one line for each thing that the user should know. To be called from the main thread
    of a process without other threads: signals are held while it runs.

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
        ring,
        named_only=named_only,
    )
    with held_signals():
        for line in leftovers.describe(plan.lttng):
            say(line)
        existed = not make_directory(plan.directory)
        with AnchoredDirectory(plan.directory) as place:
            # Another recorder may have come before us since the plan was made.
            check_directory(plan.directory, force=force)
            for path in clear_directory(plan.directory):
                say(f"removed {path}")
            recorder = _Recorder(
                plan, place, existed=existed, watches=watches_processes, companion=companion
            )
            try:
                plan.attachment.prepare(plan.directory)
                return recorder.record()
            except BaseException:
                if not recorder.command_ran:
                    remove_begun(plan.directory)
                    place.release_space()
                    if not existed:
                        with contextlib.suppress(OSError):
                            plan.directory.rmdir()
                raise


class _Recorder:
    """One recording under way. `existed`: its directory was there before.

    `watches`: that a recording without a command looks at the processes that it records.
    """

    def __init__(
        self,
        plan: Plan,
        place: AnchoredDirectory,
        *,
        existed: bool,
        watches: bool,
        companion: Companion | None,
    ) -> None:
        self._watches, self._companion = watches, companion
        self._plan, self._place, self._existed = plan, place, existed
        self._manifest = Manifest(plan.directory)
        self._left = False
        self._traced: int | None = None
        self._state = State(
            session=plan.session,
            strata_pid=os.getpid(),
            start_ticks=session_daemon.process_start_ticks(os.getpid()) or 0,
            directory=str(plan.directory),
            command=list(plan.kept_command),
            mark=f"{session_daemon.RECORDER_VARIABLE}={plan.mark}",
            attached=plan.attached,
            ring=plan.ring,
        )

    @property
    def command_ran(self) -> bool:
        """Return whether the command was started at all, or recording began without one."""
        return self._manifest.command_ran

    def record(self) -> Recording:
        """Record, from the session daemon's start to its end."""
        plan, place, manifest = self._plan, self._place, self._manifest
        with self._watched(), self._daemon() as daemon:
            self._describe()
            asked = plan.config.kernel
            kernel = plan_kernel(asked, plan.lttng.kernel_available(), plan.lttng.environment)
            for option in plan.bounds.dropping if kernel.perf else ():
                plan.say(f"{option} does not limit kernel events recorded by perf")
            beside = PerfRecording(kernel, plan.directory, plan.lttng.environment, plan.say)
            trace = plan.directory / TRACE
            session = Session(
                plan.lttng,
                plan.session,
                trace,
                plan.say,
                ring=plan.ring,
                named_only=plan.named_only,
            )
            with self._left_unless_ended(session), session:
                session.start(plan.config, kernel=kernel.by_lttng)
                plan.say(f"recording into {plan.directory} (LTTng session {plan.session})")
                self._refuse_if_moved()
                place.reserve_space()
                rotation = _rotation(plan)
                manifest.content["rotation"] = rotation.as_json() if rotation else None
                manifest.write_unfinished()
                health = Health(session, daemon, plan.disk, rotation, place, attached=plan.attached)
                end = self._run_beside(beside, health)
                manifest.end(end)
                health.look(now=True)
            health.end()
            self._note(phase=CONVERTING)
            place.release_space()
            manifest.content["kernel_tracing"] = kernel.as_json()
            return self._finish(end, health, beside)

    @contextlib.contextmanager
    def _left_unless_ended(self, session: Session) -> Iterator[None]:
        """Note whether a session is left when this ends, in whatever way."""
        self._left = True
        try:
            yield
        finally:
            self._left = not session.ended

    def _refuse_if_moved(self) -> None:
        """Refuse to run the command when LTTng's directory is not ours any more."""
        if self._place.path() != self._plan.directory:
            raise SessionError(
                f"Cannot record into {self._plan.directory}: it was renamed or removed while the "
                "session was set up. Run it again."
            )

    def _describe(self) -> None:
        plan = self._plan
        self._manifest.describe(
            plan.config,
            session=plan.session,
            command=plan.kept_command,
            environment=plan.environment,
            ros=plan.ros,
            lttng=plan.lttng,
            dds=plan.dds,
            driver=plan.driver,
            rmw_profile=plan.rmw_profile,
            attached=plan.attached,
        )
        for layer in (plan.dds, plan.driver):
            for remark in layer.remarks if layer else ():
                plan.say(remark)

    def _run_beside(self, beside: PerfRecording, health: Health) -> End:
        """Run the command with perf beside it, where perf records the kernel's events."""
        try:
            beside.start()
            refuse_if_interrupted()
            self._state = replace(self._state, perf_pid=beside.pid, phase=RECORDING)
            self._state.write()
            end = self._run_sampled(health)
        except BaseException:
            beside.kill()
            raise
        beside.stop()
        # Neither runs any more, and others may get their ids.
        self._note(phase=STOPPING, perf_pid=None, command_pid=None)
        return end

    def _run_sampled(self, health: Health) -> End:
        """Run the command while the waits of its threads for a CPU are sampled."""
        if not self._watches and self._plan.attached:
            self._manifest.begin()
            return self._wait(Attached(lambda: self._is_over(health)), None, health)
        if self._plan.ring or self._plan.bounds.keep_s is not None:
            # Samples would grow for as long as it runs.
            return self._run(lambda _: None, health)
        sampling = ThreadSampling(self._plan.directory, self._plan.lttng.environment)
        try:
            return self._run(sampling.follow, health)
        finally:
            sampling.stop()
            self._manifest.content["thread_cpu"] = sampling.as_json(self._place.path())

    def _run(self, follow: Callable[[int], None], health: Health) -> End:
        plan = self._plan
        self._manifest.begin()
        if plan.attached:
            return self._run_attached(follow, health)
        watch = ProcessWatch(f"{SESSION_DIR_VARIABLE}={plan.directory}")
        watch.begin()
        command = Command(plan.program, plan.command, plan.environment)
        return self._wait(command, watch, health, follow, watch.follow)

    def _run_attached(self, follow: Callable[[int], None], health: Health) -> End:
        """Record what runs anyway, until a signal, the end of its time, or of the session."""
        traced = TracedProcesses(follow)
        traced.begin()
        has_names = self._plan.attachment.has_names
        self._plan.say(attached_line(traced, has_names=has_names))
        end = self._wait(Attached(lambda: self._is_over(health)), traced, health)
        self._traced = traced.count
        ros = self._manifest.content["ros"]
        self._manifest.content["ros"] = ros_of_processes(ros, traced)
        return end

    def _is_over(self, health: Health) -> bool:
        """Return whether nothing is recorded any more, or nobody is there to see it."""
        companion = self._companion
        if companion is not None and companion.is_needed and companion.over:
            return True
        return health.stopped is not None

    def _wait(
        self,
        run: Command | Attached,
        watch: ProcessWatch | TracedProcesses | None,
        health: Health,
        *follow: Callable[[int], None],
    ) -> End:
        """Wait for the end of what is recorded, whose processes are watched meanwhile."""
        manifest = self._manifest
        try:
            if run.pid is not None:
                for begin in follow:
                    begin(run.pid)
            manifest.content["command"]["pid"] = run.pid
            self._note(command_pid=run.pid)
            if self._companion is not None:
                plan = self._plan
                self._companion.begin(plan.directory, plan.lttng.environment, plan.say)
            each = [one for one in (watch, health, self._companion) if one is not None]
            watchers = [Guarded(one, health.session.problem) for one in each]
            end = run.wait(*watchers, limit_s=self._plan.bounds.duration_s)
        except BaseException:
            run.kill()
            self._note(phase=STOPPING, command_pid=None)
            raise
        finally:
            if self._companion is not None:
                self._companion.end()
        if watch is not None:
            with contextlib.suppress(OSError):
                watch.look(now=True)
            processes = watch.as_json()
            if self._plan.named_only:
                # None of them is in the trace, and a process of another host may have such an id.
                processes["others"] = []
            manifest.content["processes"] = processes
        return end

    def _finish(self, end: End, health: Health, beside: PerfRecording) -> Recording:
        """Judge the trace of a session that has ended; write the manifest where it is now."""
        plan, session, path = self._plan, health.session, self._place.path()
        if path is None:
            session.problem(
                f"{plan.directory} was removed during the recording: the recording is lost"
            )
            return Recording(
                None, end, session.discarded, True, tuple(session.problems), self._traced
            )
        if path != plan.directory:
            plan.say(f"{plan.directory} was renamed: the recording is in {path}")
            bring(plan.directory / TRACE, path / TRACE, session)
        empty = not plan.ring and judge(session, path / TRACE)
        beside.convert(path / TRACE, plan.clock_offset)
        problems = [*session.problems, *beside.problems]
        manifest = self._manifest
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
        try:
            manifest.write()
        except OutputError as error:
            # The one that was written before the command ran stays, and says that it is not ended.
            plan.say(str(error))
            problems.append(str(error))
        return Recording(path, end, session.discarded, empty, tuple(problems), self._traced)

    def _note(self, **changes: str | int | None) -> None:
        """Keep how far it has come, full disk or not."""
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]
        path = self._place.path()
        if path is not None:
            state = replace(self._state, directory=str(path))
            try:
                state.write()
            except OutputError:
                # What is kept for the end is enough for this, too.
                self._place.release_space()
                with contextlib.suppress(OutputError):
                    state.write()

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """Keep the state file and the watchdog while the recorder is at work."""
        descriptor = self._place.descriptor
        watchdog = Watchdog(descriptor, dict(self._plan.lttng.environment), made=not self._existed)
        try:
            self._state.write()
            yield
        finally:
            if self._left:
                watchdog.hand_over()
            else:
                watchdog.dismiss()
                for name in (STATE, CLEANUP):
                    with contextlib.suppress(OSError):
                        os.unlink(name, dir_fd=descriptor)

    @contextlib.contextmanager
    def _daemon(self) -> Iterator[session_daemon.Daemon]:
        """Use the running session daemon, or one of our own that ends with the recording."""
        plan = self._plan
        refuse_if_interrupted()
        daemon = session_daemon.ensure(plan.lttng)
        try:
            self._state = replace(self._state, daemon_pid=daemon.pid)
            self._state.write()
            yield daemon
        finally:
            problem = session_daemon.end(daemon, plan.lttng, own=plan.session)
            if problem:
                plan.say(problem)
            if daemon.pid is not None and not session_daemon.alive(daemon.pid, daemon.ticks):
                # Its sessions have ended with it.
                self._left = False


def _rotation(plan: Plan) -> Rotation | None:
    limits = plan.bounds.of_trace
    if limits is None:
        return None
    buffers = plan.config.channel.bytes_on(possible_cpus())
    trace = plan.directory / TRACE
    return Rotation(plan.lttng, plan.session, trace, limits, plan.say, buffer_bytes=buffers)
