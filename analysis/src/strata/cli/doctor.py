# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata doctor`: is this machine ready to record?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from strata.cli.console import make_console, plain_table
from strata.cli.output import write_json
from strata.cli.preflight import print_preflights
from strata.record.config import load_config
from strata.record.doctor import OK, PROBLEM, WARNING, Check, examine, examine_dds

_SCHEMA = 1
_STYLE = {OK: "green", WARNING: "yellow", PROBLEM: "bold red"}
_WIDTH = 80


@click.command("doctor")
@click.option(
    "-c",
    "--config",
    default="ros2",
    show_default=True,
    metavar="CONFIG",
    help="Session configuration whose buffers must fit: a YAML file or a shipped name.",
)
@click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True
)
@click.option("--dds", is_flag=True, help="Tell which hooks of the DDS layer bind, and why not.")
@click.option(
    "--library",
    "libraries",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="PATH",
    help="Examine this DDS or rmw library in place of the one that is found; implies --dds.",
)
def command(config: str, form: str, dds: bool, libraries: tuple[Path, ...]) -> None:
    """Check that this machine can record, and say how to mend what it cannot.

    Exit status: 0 it can (there may be warnings), 1 a problem prevents recording. Hooks that do
    not bind prevent nothing: the layers that they would tell apart merge.
    """
    preflights = examine_dds(libraries) if dds or libraries else None
    checks = examine(load_config(config))
    ready = all(check.status != PROBLEM for check in checks)
    if form == "json":
        document: dict[str, Any] = {
            "schema": _SCHEMA,
            "ready": ready,
            "checks": [asdict(check) for check in checks],
        }
        if preflights is not None:
            document["dds"] = [found.as_json() for found in preflights]
        write_json(document)
    else:
        console = _console()
        _print_table(console, checks)
        if preflights is not None:
            print_preflights(console, preflights)
        click.echo("ready to record" if ready else "not ready to record: mend the problems above")
    sys.exit(0 if ready else 1)


def _console() -> Console:
    console = make_console()
    console.width = min(console.width, _WIDTH) if console.is_terminal else _WIDTH
    return console


def _print_table(console: Console, checks: list[Check]) -> None:
    table = plain_table("check", "state", "found; how to mend")
    for check in checks:
        found = Text(check.found)
        if check.mend:
            found.append(f"\n-> {check.mend}", style="bold")
        table.add_row(check.name, Text(check.status, style=_STYLE[check.status]), found)
    console.print(table)
