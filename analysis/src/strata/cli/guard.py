# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata guard`: a flight recorder, which keeps the seconds around a fault."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from strata.cli.completion import profile_names
from strata.cli.quantities import Seconds
from strata.cli.record import announced, recorded_config, ros_if_any, say
from strata.cli.statuses import CANNOT_RECORD, OwnRangeCommand, own_range
from strata.errors import OutputError

if TYPE_CHECKING:
    from strata.record.recording import Recording


@click.command("guard", cls=OwnRangeCommand, context_settings={"allow_interspersed_args": False})
@click.option(
    "-c",
    "--conditions",
    "file",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="What is a fault, and how much is kept of it: a YAML file (docs/guard.md).",
)
@click.option(
    "--attach",
    is_flag=True,
    help="Guard the processes that run already, without a command, until Ctrl-C.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("guard"),
    show_default=True,
    metavar="DIR",
    help="Directory of the snapshots; those of former guards in it stay, and count.",
)
@click.option(
    "--rmw-profile",
    metavar="PROFILE",
    help="Settings for the middleware of the command, as for `strata record`.",
    **profile_names,
)
@click.option("--duration", type=Seconds(), metavar="TIME", help="End after this time.")
@click.argument("command_line", nargs=-1, type=click.UNPROCESSED)
def command(
    file: Path,
    attach: bool,
    output: Path,
    rmw_profile: str | None,
    duration: float | None,
    command_line: tuple[str, ...],
) -> None:
    """Record into ring buffers always, and keep the seconds around a fault.

    The command is given after `--`; with --attach, what runs already is guarded. Nothing is written
    until a condition of FILE holds: then the seconds before and after are kept as a session in DIR,
    with a verdict in words and a page.

    Exit status: the command's own, 128 + N when signal N ended it; 121 when it succeeded and the
    guard could not look to the end; 125 nothing could be recorded; 126, 127 as for `strata record`.
    """
    from strata.guard.load import read_guard
    from strata.record.companion import Companion
    from strata.record.plan import Bounds
    from strata.record.profiles import load_profile
    from strata.record.recording import record
    from strata.record.ring import Ring
    from strata.record.ros import find_ros

    _check_usage(command_line, attach=attach, rmw_profile=rmw_profile)
    with own_range():
        guard = read_guard(file)
        ring = _ring_of(output)
        ros = ros_if_any() if attach else find_ros()
        profile = load_profile(rmw_profile) if rmw_profile else None
        arguments = [str(file.absolute()), str(output.absolute())]
        companion = Companion(
            "strata.guard.judging", lambda place: [str(place), *arguments], restarts=True
        )
        try:
            recording = record(
                recorded_config(guard.config, ros, profile, attach=attach),
                command_line,
                directory=ring,
                name="guard",
                force=True,
                ros=ros,
                rmw_profile=profile,
                bounds=Bounds(duration),
                attachment=announced() if attach else None,
                ring=Ring(guard.memory),
                companion=companion,
                say=say,
            )
        finally:
            shutil.rmtree(ring, ignore_errors=True)
    _end(recording, watched=companion.status == 0)


def _ring_of(output: Path) -> Path:
    """Return the recorder's own directory in that of the snapshots. Raises OutputError."""
    from strata.record.directory import read_state
    from strata.record.ring import RING

    ring = output.absolute() / RING
    state = read_state(ring)
    if state is not None and state.recorder_alive:
        raise OutputError(
            f"Cannot guard into {output}: another guard does (process {state.strata_pid}). End it, "
            "or choose another -o."
        )
    # Of one that was killed together with its watchdog, as by a loss of power.
    shutil.rmtree(ring, ignore_errors=True)
    ring.parent.mkdir(parents=True, exist_ok=True)
    return ring


def _check_usage(command_line: tuple[str, ...], *, attach: bool, rmw_profile: str | None) -> None:
    error = None
    if attach and command_line:
        error = "--attach guards what runs already: it takes no command. Leave one of both out."
    elif attach and rmw_profile:
        error = "--rmw-profile sets the environment of a command, and with --attach there is none."
    elif not attach and not command_line:
        error = "Missing a command after `--`, or --attach to guard what runs already."
    if error:
        usage = click.UsageError(error, click.get_current_context())
        usage.exit_code = CANNOT_RECORD  # type: ignore[misc]
        raise usage


def _end(recording: Recording, *, watched: bool) -> None:
    from strata.cli.statuses import INCOMPLETE

    status = recording.end.status
    if not recording.end.succeeded:
        say(f"the command failed: {recording.end.description}")
    if not watched:
        say("the guard itself failed: what happened after that was not looked at")
    if status == 0 and not (watched and recording.complete):
        status = INCOMPLETE
    raise SystemExit(status)
