# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata env`: the environment in which nodes are ready to be recorded by `record --attach`."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, NoReturn

import click

from strata.cli.completion import config_names, profile_names
from strata.cli.environment_format import FORMATS, formatted
from strata.cli.record import say
from strata.cli.statuses import OwnRangeCommand, own_statuses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strata.record.traced_environment import TracedEnvironment

# Python ignores them, and a program that is executed would inherit that.
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


@click.command("env", cls=OwnRangeCommand, context_settings={"allow_interspersed_args": False})
@click.option(
    "-c",
    "--config",
    metavar="CONFIG",
    help="Preload the hooks that this session configuration's events need: a shipped name (ros2, "
    "light, full), or a YAML file.  [default: all hooks that are built and fit the middleware]",
    **config_names,
)
@click.option(
    "--rmw-profile",
    metavar="PROFILE",
    help="Settings for the middleware: an XML file, or the name of a shipped one (fastdds_shm, "
    "fastdds_udp ...; trace_configs/rmw/).",
    **profile_names,
)
@click.option("--no-ros", is_flag=True, help="Do not add ROS 2's environment, only the hooks.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="sh",
    show_default=True,
    help='sh: for eval "$(strata env)". systemd: for EnvironmentFile=. docker: for --env-file.',
)
@click.argument("command_line", nargs=-1, type=click.UNPROCESSED)
def command(
    config: str | None,
    rmw_profile: str | None,
    no_ros: bool,
    form: str,
    command_line: tuple[str, ...],
) -> None:
    """Print the environment in which nodes are ready to be recorded, or run a command in it.

    Nodes that were started in it can be recorded at any time, by `strata record --attach`. Until
    then nothing is recorded. Only variables that differ from yours are printed, but for systemd and
    Docker all that nodes need. With a command after `--` nothing is printed: it is executed in that
    environment.

    Exit status: 0, or the command's own; 125 the environment cannot be made, 126 the command
    cannot be executed, 127 it was not found.
    """
    from strata.record.host import steers
    from strata.record.ros import caller_environment

    with own_statuses():
        caller = caller_environment(os.environ)
        made = _made(caller, config, rmw_profile, no_ros=no_ros)
        for remark in made.remarks:
            say(remark)
        if command_line:
            _execute(command_line, made.variables)
        # A service or a container has nothing of this shell's: neither what was set here before.
        bare = {"PATH": os.defpath}
        needed = () if form == "sh" else _made(bare, config, rmw_profile, no_ros=no_ros).variables
        wanted = {
            name: value
            for name, value in made.variables.items()
            if caller.get(name) != value or name in needed or (form != "sh" and steers(name))
        }
        # As bytes: a value need not be text.
        click.echo(os.fsencode(formatted(wanted, form)), nl=False)


def _made(
    caller: Mapping[str, str], config: str | None, rmw_profile: str | None, *, no_ros: bool
) -> TracedEnvironment:
    """Make the environment. Raises SessionError."""
    from strata.record.config import load_config
    from strata.record.profiles import load_profile
    from strata.record.ros import find_ros
    from strata.record.traced_environment import (
        announcing,
        configured_environment,
        fullest_environment,
    )

    ros = None if no_ros else find_ros()
    profile = load_profile(rmw_profile) if rmw_profile else None
    if config is None:
        return announcing(fullest_environment(caller, ros, profile), ros)
    return announcing(configured_environment(caller, ros, load_config(config), profile), ros)


def _execute(command_line: Sequence[str], variables: Mapping[str, str]) -> NoReturn:
    """Become the command. Raises SessionError when it cannot be executed."""
    from strata.record.command import CannotExecuteError, resolve

    program = resolve(command_line, variables)
    for number in _IGNORED_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(program, list(command_line), dict(variables))
    except OSError as error:
        raise CannotExecuteError(
            f"Cannot run {command_line[0]}: {error.strerror}. Check the file and its first line."
        ) from error
