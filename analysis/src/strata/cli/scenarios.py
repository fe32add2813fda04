# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata scenarios`: which workloads there are, and what can be changed of each."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click
import yaml
from rich.text import Text

from strata.cli.console import make_console, plain_table
from strata.cli.output import write_json
from strata.scenario.expand import as_text
from strata.scenario.load import LoadedScenario, load_scenario, shipped_scenarios

_SCHEMA = 1


@click.command("scenarios")
@click.argument("scenario", required=False, metavar="[SCENARIO]")
@click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True
)
def command(scenario: str | None, form: str) -> None:
    """List the scenarios that ship, or show one with its settings and all its keys.

    Every file is checked; exit status 1 when one cannot be used.
    """
    if scenario is None:
        _list([load_scenario(str(path)) for path in shipped_scenarios()], form)
        return
    loaded = load_scenario(scenario)
    if form == "json":
        write_json({"schema": _SCHEMA, **_described(loaded)})
        return
    console = make_console()
    console.print(f"{loaded.name}: {loaded.scenario.question}")
    console.print(f"{loaded.file}\n")
    table = plain_table("--set", "default", "what")
    for setting in loaded.settings:
        choices = f" ({', '.join(setting.choices)})" if setting.choices else ""
        table.add_row(setting.name, as_text(setting.default), f"{setting.text}{choices}")
    console.print(table)
    # Not by the console, which would break lines.
    click.echo()
    click.echo(yaml.safe_dump(_without_null(loaded.scenario.document()), sort_keys=False), nl=False)


def _list(found: list[LoadedScenario], form: str) -> None:
    if form == "json":
        write_json({"schema": _SCHEMA, "scenarios": [_described(loaded) for loaded in found]})
        return
    table = plain_table("scenario", "time", "question")
    for workload in dict.fromkeys(loaded.scenario.workload for loaded in found):
        table.add_row()
        table.add_row(Text(workload, style="bold"))
        for loaded in found:
            if loaded.scenario.workload == workload:
                table.add_row(loaded.name, _duration(loaded), loaded.scenario.question)
    make_console().print(table)


def _duration(loaded: LoadedScenario) -> str:
    duration = loaded.scenario.duration
    if duration.expected_s is None:
        return f"{duration.count:g} {duration.unit}"
    return f"{duration.expected_s:.3g} s"


def _described(loaded: LoadedScenario) -> dict[str, Any]:
    settings = [asdict(setting) for setting in loaded.settings]
    document = {**loaded.scenario.document(), "settings": settings}
    return {"name": loaded.name, "file": str(loaded.file), **document}


def _without_null(value: Any) -> Any:
    """Leave out what says nothing: null, and empty mappings and lists."""
    if isinstance(value, dict):
        kept = {key: _without_null(one) for key, one in value.items()}
        return {key: one for key, one in kept.items() if one not in (None, {}, [])}
    return [_without_null(one) for one in value] if isinstance(value, list) else value
