# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata doctor`: is this machine ready to record?"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click
from rich.table import Table
from rich.text import Text

from strata.cli.console import make_console
from strata.record.config import load_config
from strata.record.doctor import OK, PROBLEM, WARNING, Check, examine

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
def command(config: str, form: str) -> None:
    """Check that this machine can record, and say how to mend what it cannot.

    Exit status: 0 it can (there may be warnings), 1 a problem prevents recording.
    """
    checks = examine(load_config(config))
    ready = all(check.status != PROBLEM for check in checks)
    if form == "json":
        document = {
            "schema": _SCHEMA,
            "ready": ready,
            "checks": [asdict(check) for check in checks],
        }
        click.echo(json.dumps(document, indent=1))
    else:
        _print_table(checks)
        click.echo("ready to record" if ready else "not ready to record: mend the problems above")
    sys.exit(0 if ready else 1)


def _print_table(checks: list[Check]) -> None:
    console = make_console()
    console.width = min(console.width, _WIDTH) if console.is_terminal else _WIDTH
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("check", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("found; how to mend", overflow="fold")
    for check in checks:
        found = Text(check.found)
        if check.mend:
            found.append(f"\n-> {check.mend}", style="bold")
        table.add_row(check.name, Text(check.status, style=_STYLE[check.status]), found)
    console.print(table)
