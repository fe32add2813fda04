# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata run`: a known workload, inside a recording session."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from strata.cli.completion import config_names, scenario_names
from strata.cli.record import clock_offset, say, say_lacks, say_next
from strata.cli.remote_hosts import remote_hosts
from strata.cli.statuses import exit_with

if TYPE_CHECKING:
    from strata.scenario.remote_host import RemoteHost
    from strata.scenario.running import Finished


def _changes(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    changes = {}
    for value in values:
        key, equals, text = value.partition("=")
        if not (key and equals):
            raise click.BadParameter(f"'{value}' has not the form KEY=VALUE, like rate=50.")
        changes[key] = text
    return changes


@click.command("run")
@click.argument("scenario", metavar="SCENARIO", **scenario_names)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Directory of the recording.  [default: sessions/<utc>_<scenario>]",
)
@click.option(
    "--set",
    "changes",
    multiple=True,
    callback=_changes,
    metavar="KEY=VALUE",
    help="Change a setting of the scenario, or a key of its file (load.cpu_percent=50). May be "
    "given several times.",
)
@click.option(
    "--duration",
    metavar="N|SECONDSs",
    help="Run for N of what the scenario counts (messages, frames), or for a time as in 10s.",
)
@click.option(
    "-c",
    "--config",
    metavar="CONFIG",
    help="Use this session configuration in place of the scenario's.",
    **config_names,
)
@click.option(
    "--host",
    "remotes",
    multiple=True,
    callback=remote_hosts,
    metavar="NAME=ADDRESS[:DIR]",
    help="Run the processes of this host of the scenario on another machine, through ssh. Strata "
    "is in DIR there, or on the PATH. May be given several times.",
)
@click.option(
    "--only-host",
    "only",
    metavar="NAME",
    help="Run only the processes of this host: the others run on other machines at the same time. "
    "`strata add-host` brings the recordings together.",
)
@click.option("--no-trace", is_flag=True, help="Run the scenario without tracing anything.")
@click.option("--kernel", is_flag=True, help="Record the kernel's scheduling too.")
@click.option("--force", is_flag=True, help="Replace a former recording in DIR.")
def command(
    scenario: str,
    output: Path | None,
    changes: dict[str, str],
    duration: str | None,
    config: str | None,
    remotes: tuple[RemoteHost, ...],
    only: str | None,
    no_trace: bool,
    kernel: bool,
    force: bool,
) -> None:
    """Run a scenario inside a recording session: a YAML file, or the name of a shipped one.

    `strata scenarios` lists the shipped ones. Logs, parameters and the nodes' own results are kept
    in DIR/scenario. Ctrl-C ends the scenario as if its time were over.

    Exit status: 0 it ran and was recorded; 1 it could not be run, or a process failed; 3 it ran,
    and a result that the scenario expects was not reached; 121 it ran, and the recording is
    incomplete.
    """
    from strata.record.ros import find_ros
    from strata.scenario.load import load_scenario
    from strata.scenario.part import check_hosts, only_hosts
    from strata.scenario.running import run_scenario
    from strata.scenario.several_machines import run_on_machines

    if no_trace and (kernel or config):
        raise click.UsageError("--no-trace excludes --kernel and --config.")
    if only and remotes:
        raise click.UsageError("--only-host excludes --host.")
    loaded = load_scenario(scenario, changes, duration)
    if only:
        check_hosts(loaded, [only], "--only-host")
        loaded = only_hosts(loaded, [only])
    run = partial(run_on_machines, loaded, remotes) if remotes else partial(run_scenario, loaded)
    finished = run(
        directory=output,
        force=force,
        traced=not no_trace,
        session=config,
        kernel=kernel,
        ros=find_ros(),
        clock_offset=clock_offset,
        say=say,
    )
    _report(finished)
    if not finished.end.succeeded:
        say(f"the scenario failed: {_why(finished)}")
        sys.exit(1)
    if finished.problems:
        sys.exit(1)
    if finished.unmet and finished.end.forwarded is None:
        sys.exit(3)
    if finished.recording:
        exit_with(0, finished.recording)


def _why(finished: Finished) -> str:
    from strata.scenario.running import part_problem

    remote = part_problem(finished.directory)
    return remote or f"{finished.end.description}; see scenario/logs"


def _report(finished: Finished) -> None:
    for text in finished.unmet:
        say(f"expected, but not met: {text}")
    recording = finished.recording
    if recording:
        say_lacks(recording)
        say_next(recording)
    else:
        say(f"ran into {finished.directory} (manifest.json, scenario/)")
    for text in finished.problems:
        say(text)
