# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata record`: an LTTng session around a command."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from strata.cli.quantities import Bytes, Seconds
from strata.cli.statuses import OwnRangeCommand, exit_with, own_range
from strata.errors import TraceError
from strata.printable import printable
from strata.read import open_trace
from strata.record.config import load_config
from strata.record.plan import Bounds
from strata.record.profiles import load_profile
from strata.record.recording import Recording, record
from strata.record.ros import find_ros


@click.command("record", cls=OwnRangeCommand, context_settings={"allow_interspersed_args": False})
@click.option(
    "-c",
    "--config",
    required=True,
    metavar="CONFIG",
    help="Session configuration: the name of a shipped one (ros2, light, full), or a YAML file.",
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
    help="Profile for the middleware of the command: an XML file, or the name of a shipped one "
    "(fastdds_shm, fastdds_udp ...; trace_configs/rmw/).",
)
@click.option(
    "--kernel",
    is_flag=True,
    help="Record the kernel's scheduling too, with lttng-modules or else perf (mostly as root).",
)
@click.option(
    "--duration",
    type=Seconds(),
    metavar="TIME",
    help="End after a time, as in 30s, 10m, 2h: the command gets SIGINT.",
)
@click.option(
    "--max-size",
    type=Bytes(),
    metavar="SIZE",
    help="Bound the trace's size, as in 20G: its oldest part is dropped, names are kept.",
)
@click.option(
    "--min-free",
    type=Bytes(),
    metavar="SIZE",
    help="Stop recording when the disk has less free.  [default: 1G, or 5 % of a small disk]",
)
@click.option("--no-ros", is_flag=True, help="Run the command in the environment as it is.")
@click.option(
    "--no-command-line",
    is_flag=True,
    help="Leave the command line out of the manifest (secrets in it are masked anyway).",
)
@click.argument("command_line", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    config: str,
    output: Path | None,
    name: str | None,
    force: bool,
    rmw_profile: str | None,
    kernel: bool,
    duration: float | None,
    max_size: int | None,
    min_free: int | None,
    no_ros: bool,
    no_command_line: bool,
    command_line: tuple[str, ...],
) -> None:
    """Record a tracing session around a command, given after `--`.

    The command's own output passes through. Ctrl-C is passed on to it once; a second one kills
    it. Exit status: the command's own, 128 + N when signal N ended it; 121 when it succeeded and
    the recording is incomplete; 125 nothing could be recorded; 126 the command cannot be executed;
    127 it was not found.
    """
    with own_range():
        recording = record(
            load_config(config),
            command_line,
            directory=output,
            name=name,
            force=force,
            ros=None if no_ros else find_ros(),
            rmw_profile=load_profile(rmw_profile) if rmw_profile else None,
            kernel=kernel,
            keep_command_line=not no_command_line,
            bounds=Bounds(duration, max_size, min_free),
            clock_offset=clock_offset,
            say=say,
        )
    say_lacks(recording)
    if not recording.end.succeeded:
        say(f"the command failed: {recording.end.description}")
    exit_with(recording.end.status, recording)


def say_lacks(recording: Recording) -> None:
    """Tell the user where a recording is, and that it is empty, incomplete or lacks events."""
    if recording.empty and recording.directory:
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
    """Tell what the clock of a recorded trace adds to CLOCK_MONOTONIC; null without a trace."""
    try:
        offsets = open_trace(trace).clock_offsets_ns
    except TraceError:
        return None
    return next(iter(offsets.values()), None)


def say(line: str) -> None:
    """Tell the user something, on stderr."""
    # Who does not listen any more is no reason to end a recording, or its command.
    with contextlib.suppress(OSError):
        click.echo(f"strata: {printable(line)}", err=True)
