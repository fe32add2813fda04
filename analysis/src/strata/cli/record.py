# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata record`: an LTTng session around a command."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from strata.cli.completion import config_names, profile_names
from strata.cli.program import suggested
from strata.cli.quantities import Bytes, Seconds
from strata.cli.statuses import CANNOT_RECORD, OwnRangeCommand, exit_with, own_range
from strata.errors import SessionError, StrataError
from strata.printable import printable

if TYPE_CHECKING:
    from strata.record.companion import Companion
    from strata.record.config import SessionConfig
    from strata.record.plan import Attachment
    from strata.record.profiles import RmwProfile
    from strata.record.recording import Recording
    from strata.record.ros import Ros

_CHUNK_S = 60.0
"""How long chunks are that are analyzed, where nothing else is asked for."""


@click.command("record", cls=OwnRangeCommand, context_settings={"allow_interspersed_args": False})
@click.option(
    "-c",
    "--config",
    metavar="CONFIG",
    help="Which events are recorded: the name of a shipped session configuration (ros2, light, "
    "full), or a YAML file.  [default: full where the hooks of the DDS layer bind, else ros2]",
    **config_names,
)
@click.option(
    "--attach",
    is_flag=True,
    help="Record the processes that run already, without a command, until Ctrl-C or --duration. "
    "They must have been started with `strata env`, or have LTTng-UST by themselves.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Directory of the recording.  [default: sessions/<utc>_<name>]",
)
@click.option("--name", help="Name of the recording.  [default: the configuration's]")
@click.option("--force", is_flag=True, help="Replace a former recording in DIR.")
@click.option(
    "--rmw-profile",
    metavar="PROFILE",
    help="Settings for the middleware of the command: an XML file, or the name of a shipped one "
    "(fastdds_shm, fastdds_udp ...; trace_configs/rmw/).",
    **profile_names,
)
@click.option(
    "--kernel",
    is_flag=True,
    help="Record the kernel's scheduling too, with lttng-modules or else perf; both mostly need "
    "root.",
)
@click.option(
    "--duration",
    type=Seconds(),
    metavar="TIME",
    help="End the command after this time, as in 30s, 10m, 2h, by SIGINT; with --attach, the "
    "recording.",
)
@click.option(
    "--max-size",
    type=Bytes(),
    metavar="SIZE",
    help="Keep the trace below this size, as in 20G, by dropping its oldest part.",
)
@click.option(
    "--keep",
    type=Seconds(),
    metavar="TIME",
    help="Keep what was recorded in the last TIME, as in 30s, 10m, 2h, 1d, and drop what is older.",
)
@click.option(
    "--rotate",
    type=Seconds(),
    metavar="TIME",
    help="Begin a new chunk of the trace at least this often, which is also what --keep drops at "
    "once.  [default: an eighth of --keep, from 10s to 10m; without it none]",
)
@click.option(
    "--results",
    is_flag=True,
    help="Analyze each chunk once it is complete into `results` in the session's directory, which "
    "stays when chunks are dropped.  [without --rotate and --keep: a chunk a minute]",
)
@click.option(
    "--min-free",
    type=Bytes(),
    metavar="SIZE",
    help="Stop recording when the disk has less free.  [default: 1G, or 5 % of a small disk]",
)
@click.option(
    "--no-ros", is_flag=True, help="Run the command in your environment, without adding ROS 2's."
)
@click.option(
    "--no-command-line",
    is_flag=True,
    help="Leave the command line out of the manifest (secrets in it are masked anyway).",
)
@click.argument("command_line", nargs=-1, type=click.UNPROCESSED)
def command(
    config: str | None,
    attach: bool,
    output: Path | None,
    name: str | None,
    force: bool,
    rmw_profile: str | None,
    kernel: bool,
    duration: float | None,
    max_size: int | None,
    keep: float | None,
    rotate: float | None,
    results: bool,
    min_free: int | None,
    no_ros: bool,
    no_command_line: bool,
    command_line: tuple[str, ...],
) -> None:
    """Record a tracing session around a command, given after `--`.

    The command's own output passes through. The first Ctrl-C is passed on to it, a second one
    kills it. With --attach there is no command: what runs already is recorded until Ctrl-C.

    Exit status: the command's own, 128 + N when signal N ended it; 121 when it succeeded and the
    recording is incomplete; 125 nothing could be recorded; 126 the command cannot be executed; 127
    it was not found.
    """
    _check_usage(command_line, attach=attach, rmw_profile=rmw_profile, no_ros=no_ros)
    if results and keep is None and rotate is None:
        rotate = _CHUNK_S
    _check_times(keep, rotate)
    from strata.record.plan import Bounds
    from strata.record.profiles import load_profile
    from strata.record.recording import record
    from strata.record.ros import find_ros

    with own_range():
        ros = ros_if_any() if attach else None if no_ros else find_ros()
        profile = load_profile(rmw_profile) if rmw_profile else None
        recording = record(
            recorded_config(config, ros, profile, attach=attach),
            command_line,
            directory=output,
            name=name,
            force=force,
            ros=ros,
            rmw_profile=profile,
            kernel=kernel,
            keep_command_line=not no_command_line,
            bounds=Bounds(duration, max_size, min_free, keep, rotate),
            clock_offset=clock_offset,
            attachment=announced() if attach else None,
            companion=_analyzing() if results else None,
            say=say,
        )
    say_lacks(recording)
    if not recording.end.succeeded:
        say(f"the command failed: {recording.end.description}")
    if results and recording.directory and not recording.empty:
        _finish_results(recording.directory)
    else:
        say_next(recording)
    found_none = recording.traced == 0 and recording.empty
    exit_with(CANNOT_RECORD if found_none else recording.end.status, recording)


def _analyzing() -> Companion:
    """Return what analyzes the chunks of a recording beside it."""
    from strata.read.manifest import RESULTS_NAME
    from strata.record.companion import Companion

    return Companion(
        "strata.results.beside",
        lambda place: [str(place), str(place / RESULTS_NAME)],
        restarts=True,
        is_needed=False,
    )


def _finish_results(session: Path) -> None:
    """Analyze the chunks that are left, and say where the results are.

    The recording is there without them, so what is wrong with them is only said.
    """
    from strata.cli.results import grow_to_end
    from strata.read.manifest import RESULTS_NAME

    target = session / RESULTS_NAME
    try:
        grow_to_end(session, target)
    except StrataError as error:
        say(f"{error} `strata results` makes them from the recording.")
    else:
        say(f"next: {suggested('analyze', target)}")


def _check_usage(
    command_line: tuple[str, ...], *, attach: bool, rmw_profile: str | None, no_ros: bool
) -> None:
    """Refuse options that contradict each other. Raises click.UsageError."""
    error = None
    if attach and command_line:
        error = "--attach records what runs already: it takes no command. Leave one of both out."
    elif attach and rmw_profile:
        error = (
            "--rmw-profile sets the environment of a command, and with --attach there is none. "
            "Give it to `strata env`, in whose environment the nodes are started."
        )
    elif attach and no_ros:
        error = (
            "--no-ros is about the environment of a command, and with --attach there is none. "
            "Give it to `strata env`, in whose environment the nodes are started."
        )
    elif not attach and not command_line:
        error = "Missing a command after `--`, or --attach to record what runs already."
    if error:
        raise _wrong_usage(error)


def _check_times(keep: float | None, rotate: float | None) -> None:
    """Refuse times that a trace cannot be rotated by. Raises click.UsageError."""
    if keep is None and rotate is None:
        return
    from strata.record.rotation import Limits

    limits = Limits.chosen(None, keep, rotate)
    if limits is not None and limits.contradiction:
        raise _wrong_usage(limits.contradiction)


def _wrong_usage(error: str) -> click.UsageError:
    usage = click.UsageError(error, click.get_current_context())
    usage.exit_code = CANNOT_RECORD  # type: ignore[misc]
    return usage


def ros_if_any() -> Ros | None:
    """Find the ROS 2 of which the manifest of an attached recording tells; it needs none."""
    from strata.record.ros import find_ros

    try:
        return find_ros()
    except SessionError:
        return None


def announced() -> Attachment | None:
    """Keep what a running init session knows of older nodes."""
    from strata.live.init_session import announced_by_init_session

    return announced_by_init_session(say)


def recorded_config(
    name: str | None, ros: Ros | None, profile: RmwProfile | None, *, attach: bool
) -> SessionConfig:
    """Load the configuration of that name; without one choose it, and say which and why."""
    from strata.record.config import load_config

    if name is not None:
        return load_config(name)
    from strata.record.default_config import attached_config, default_config

    chosen = attached_config() if attach else None
    chosen = chosen or default_config(ros, os.environ, profile)
    say(f"session configuration {chosen.config}: {chosen.reason} (choose another with -c)")
    return load_config(chosen.config)


def say_next(recording: Recording) -> None:
    """Say which command shows what was recorded, as it can be pasted."""
    if recording.directory and not recording.empty:
        say(f"next: {suggested('analyze', recording.directory)}")


def say_lacks(recording: Recording) -> None:
    """Say where a recording is, and that it is empty, incomplete or lacks events."""
    if recording.traced == 0:
        say(
            "no process was ready to be traced: none had LTTng-UST loaded. Start the nodes in the "
            'environment of `strata env`: eval "$(strata env)", or `strata env -- COMMAND`'
        )
    elif recording.empty and recording.directory:
        say("no event was recorded: the trace is empty (see `strata doctor`)")
    if recording.discarded:
        say(
            f"{recording.discarded} events were lost to full buffers: raise channel.num_subbuf or "
            "channel.subbuf_size of the session configuration (-c)"
        )
    if recording.directory:
        how = "recorded" if recording.complete else "INCOMPLETE (see above): recorded"
        say(f"{how} into {recording.directory} (manifest.json, trace/)")


def clock_offset(trace: Path) -> int | None:
    """Return what the clock of a trace adds to CLOCK_MONOTONIC; null without a trace."""
    from strata.errors import TraceError
    from strata.read import open_trace

    try:
        offsets = open_trace(trace).clock_offsets_ns
    except TraceError:
        return None
    return next(iter(offsets.values()), None)


def say(line: str) -> None:
    """Say something to the user, on stderr."""
    # Who does not listen any more is no reason to end a recording, or its command.
    with contextlib.suppress(OSError):
        click.echo(f"strata: {printable(line)}", err=True)
