# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata scenarios`: which workloads there are, and what can be changed of each."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from strata.cli.completion import scenario_names
from strata.cli.output import format_option, write_json

if TYPE_CHECKING:
    from strata.scenario.load import LoadedScenario

_SCHEMA = 1


@click.command("scenarios")
@click.argument("scenario", required=False, metavar="[SCENARIO]", **scenario_names)
@format_option(["table", "json"], "json for machines")
def command(scenario: str | None, form: str) -> None:
    """List the shipped scenarios, or show one with its settings and all its keys.

    A scenario is a known workload that `strata run` runs and records: nodes, rates and sizes in one
    YAML file. Every file is checked. Exit status: 0, or 1 when a file cannot be used.
    """
    from strata.scenario.load import load_scenario, shipped_scenarios

    if scenario is None:
        _list([load_scenario(str(path)) for path in shipped_scenarios()], form)
        return
    loaded = load_scenario(scenario)
    if form == "json":
        write_json({"schema": _SCHEMA, **_described(loaded)})
        return
    _show(loaded)


def _show(loaded: LoadedScenario) -> None:
    import yaml

    from strata.cli.console import make_console, plain_table
    from strata.scenario.expand import as_text

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
    from rich.text import Text

    from strata.cli.console import make_console, plain_table

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
