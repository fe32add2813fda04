# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata doctor`: is this machine ready to record?"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from strata.cli.completion import config_names
from strata.cli.output import write_json

if TYPE_CHECKING:
    from rich.console import Console

    from strata.record.doctor import Check

_SCHEMA = 1
_STYLE = {"ok": "green", "warning": "yellow", "problem": "bold red"}
_WIDTH = 80


@click.command("doctor")
@click.option(
    "-c",
    "--config",
    default="ros2",
    show_default=True,
    metavar="CONFIG",
    help="Session configuration whose buffers must fit: the name of a shipped one, or a YAML file.",
    **config_names,
)
@click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True
)
@click.option(
    "--dds",
    is_flag=True,
    help="Show whether the hooks of the DDS layer bind in the middleware in use, and which layers "
    "can be separated.",
)
@click.option(
    "--all", "everything", is_flag=True, help="With --dds: list the hooks that bind, too."
)
@click.option(
    "--library",
    "libraries",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="PATH",
    help="Examine this DDS or rmw library, in place of the installed one; implies --dds.",
)
def command(
    config: str, form: str, dds: bool, everything: bool, libraries: tuple[Path, ...]
) -> None:
    """Check that this machine can record, and say how to fix what it cannot.

    Exit status: 0 it can (there may be warnings), 1 a problem prevents recording. Hooks that do
    not bind prevent nothing: the layers that they would separate are shown as one.
    """
    from strata.record.config import load_config
    from strata.record.doctor import PROBLEM, examine, examine_dds

    examined = examine_dds(libraries) if dds or libraries else None
    checks = examine(load_config(config))
    ready = all(check.status != PROBLEM for check in checks)
    if form == "json":
        document: dict[str, Any] = {
            "schema": _SCHEMA,
            "ready": ready,
            "checks": [asdict(check) for check in checks],
        }
        if examined is not None:
            document["dds"] = [found.as_json() for found in examined.used]
        write_json(document)
    else:
        console = _console()
        _print_table(console, checks)
        if examined is not None:
            from strata.cli.preflight import print_examined

            print_examined(console, examined, everything=everything)
        click.echo("ready to record" if ready else "not ready to record: fix the problems above")
    sys.exit(0 if ready else 1)


def _console() -> Console:
    from strata.cli.console import make_console

    console = make_console()
    console.width = min(console.width, _WIDTH) if console.is_terminal else _WIDTH
    return console


def _print_table(console: Console, checks: list[Check]) -> None:
    from rich.text import Text

    from strata.cli.console import plain_table

    table = plain_table("check", "state", "found; -> how to fix it")
    for check in checks:
        found = Text(check.found)
        if check.mend:
            found.append(f"\n-> {check.mend}", style="bold")
        table.add_row(check.name, Text(check.status, style=_STYLE[check.status]), found)
    console.print(table)
