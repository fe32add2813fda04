# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a recording will do, decided and checked before anything is touched."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strata.record import daemon as session_daemon
from strata.record.command import resolve
from strata.record.config import SessionConfig
from strata.record.dds import Dds
from strata.record.directory import check_directory, check_name, default_directory
from strata.record.driver import Driver
from strata.record.host import possible_cpus
from strata.record.kernel.recorder import ClockOffset
from strata.record.lttng import Lttng, tool_environment
from strata.record.profiles import RmwProfile
from strata.record.ring import Ring
from strata.record.ros import Ros, caller_environment
from strata.record.rotation import Limits, minimum_bytes
from strata.record.space import (
    DiskLimit,
    check_buffers,
    check_size,
    disk_limit,
    file_size_limit,
)
from strata.record.traced_environment import TracedEnvironment, configured_environment
from strata.units import format_size

SESSION_DIR_VARIABLE = "STRATA_SESSION_DIR"
TRACK_VARIABLE = "STRATA_TRACK_SESSION"
"""Names the LTTng session to a command that is to name the processes to record."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Bounds:
    """What ends a recording, or bounds it: null for what does not.

    `duration_s`: the command is sent SIGINT after it. `max_bytes`: the trace's size, beyond which
    its oldest part is dropped. `min_free_bytes`: of the disk, where the recording stops; null for
    the default (`disk_limit`). `keep_s`: what is older is dropped. `rotate_s`: how long a chunk of
    the trace may be.
    """

    duration_s: float | None = None
    max_bytes: int | None = None
    min_free_bytes: int | None = None
    keep_s: float | None = None
    rotate_s: float | None = None

    @property
    def of_trace(self) -> Limits | None:
        """What the trace is kept within while it is recorded; null where it just grows."""
        return Limits.chosen(self.max_bytes, self.keep_s, self.rotate_s)

    @property
    def dropping(self) -> tuple[str, ...]:
        """The options for which parts of the trace are dropped."""
        given = {"--max-size": self.max_bytes, "--keep": self.keep_s}
        return tuple(option for option, bound in given.items() if bound is not None)


@dataclass(frozen=True)
class Attachment:
    """What a caller keeps in the session directory, beside the trace.

    `prepare` writes it before the command starts; `describe` gives what the manifest is to say of
    it once the command has ended, by keys of the manifest.
    """

    prepare: Callable[[Path], None] = lambda _: None
    describe: Callable[[Path], Mapping[str, Any]] = lambda _: {}
    has_names: bool = False
    """It has names of what processes made before."""


@dataclass(frozen=True)
class Plan:
    """Everything that a recording needs; `mark` is the value of `daemon.RECORDER_VARIABLE`.

    `kept_command` is what files say of the command: empty where they are to say nothing.
    `command` is empty, and `program` too, where the processes that run anyway are recorded.
    """

    config: SessionConfig
    command: Sequence[str]
    program: str
    environment: dict[str, str]
    directory: Path
    session: str
    mark: str
    ros: Ros | None
    dds: Dds | None
    driver: Driver | None
    rmw_profile: RmwProfile | None
    lttng: Lttng
    disk: DiskLimit
    bounds: Bounds
    clock_offset: ClockOffset
    say: Say
    attachment: Attachment
    kept_command: Sequence[str]
    ring: bool = False
    named_only: bool = False

    @property
    def attached(self) -> bool:
        """Return whether there is no command: the processes that run anyway are recorded."""
        return not self.command


def make_plan(
    config: SessionConfig,
    command: Sequence[str],
    directory: Path | None,
    name: str | None,
    force: bool,
    ros: Ros | None,
    base: Mapping[str, str] | None,
    rmw_profile: RmwProfile | None,
    bounds: Bounds,
    clock_offset: ClockOffset,
    attachment: Attachment,
    kept_command: Sequence[str],
    say: Say,
    ring: Ring | None = None,
    *,
    named_only: bool = False,
) -> Plan:
    """Decide everything that can be refused before anything is touched.

    The arguments are those of `strata.record.recording.record`; without a command nothing is
    preloaded into anything. Raises SessionError, OutputError.
    """
    caller = caller_environment(os.environ if base is None else base)
    config = config if ring is None else ring.config(config, possible_cpus())
    name = check_name(name or config.name)
    target = (directory or default_directory(name)).absolute()
    if command:
        made = configured_environment(caller, ros, config, rmw_profile)
        made.variables[SESSION_DIR_VARIABLE] = str(target)
    else:
        made = TracedEnvironment(caller, None, None)
    program = resolve(command, made.variables) if command else ""
    session = f"strata-{name}-{os.getpid()}-{time.time_ns() // 1_000_000}"
    if named_only:
        made.variables[TRACK_VARIABLE] = session
    check_directory(target, force=force)
    check_buffers(config)
    if bounds.max_bytes is not None:
        check_size(bounds.max_bytes, minimum_bytes(config.channel, possible_cpus()))
    if (limit := file_size_limit()) is not None:
        say(f"a CPU's events are lost once they take {format_size(limit)}: ulimit -f")
    mark = f"{os.getpid()}-{session_daemon.process_start_ticks(os.getpid()) or 0}"
    tools = tool_environment(caller, ros.prefixes if ros else ())
    return Plan(
        config=config,
        command=command,
        program=program,
        environment=made.variables,
        directory=target,
        session=session,
        mark=mark,
        ros=ros,
        dds=made.dds,
        driver=made.driver,
        rmw_profile=rmw_profile,
        lttng=Lttng(tools | {session_daemon.RECORDER_VARIABLE: mark}),
        disk=disk_limit(target, bounds.min_free_bytes),
        bounds=bounds,
        clock_offset=clock_offset,
        say=say,
        attachment=attachment,
        kept_command=kept_command,
        ring=ring is not None,
        named_only=named_only,
    )
