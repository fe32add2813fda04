# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign import`: results of others beside a campaign's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from strata.campaign.cells import Variant
from strata.campaign.directory import (
    CampaignDirectory,
    check_campaign_directory,
    make_directory,
    open_directory,
)
from strata.campaign.load import load_campaign
from strata.cli.console import make_console, plain_table
from strata.cli.output import write_json
from strata.errors import CampaignError, OutputError
from strata.originals import FORMATS, Imported, read_original
from strata.printable import printable
from strata.study.import_placement import Placement
from strata.study.imported_results import (
    CLOCK_LOGS,
    DIRECTORY,
    DISTRIBUTION,
    Import,
    MeasureSummary,
    check_free,
    plan_import,
    run_summaries,
    write_import,
)
from strata.units import NOTHING, as_float, format_count

_SCHEMA = 1
_SHOWN = {"count": "n", "p50": "median", "mad": "MAD", "mean": "mean", "std": "std"}
_SHOWN |= {"min": "min", "max": "max"}

_Group = tuple[list[Imported], list[Placement | None]]


@click.command("import")
@click.argument("directory", type=click.Path(path_type=Path))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--as",
    "places",
    multiple=True,
    metavar="STUDY:FACTOR=LEVEL,...",
    help="Which study and levels the results belong to: once for all FILES, or once for each, in "
    "their order. {height} and other facts of a run may be part of a level. Without it, no figure "
    "has the values, but those of a log of clocks, which belongs to the cells that ran meanwhile.",
)
@click.option(
    "--name",
    help="Name of the import, shown as the origin of its values. Default: the file's name.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="Format of FILES. Default: found by their first lines.",
)
@click.option(
    "--new",
    metavar="CAMPAIGN",
    help="Make DIRECTORY a campaign of this file or name, without cells: for imports only.",
)
@click.option("--force", is_flag=True, help="Replace an import of the same name.")
@click.option("--json", "as_json", is_flag=True, help="Print the statistics as JSON, for machines.")
def command(
    directory: Path,
    files: tuple[Path, ...],
    places: tuple[str, ...],
    name: str | None,
    form: str | None,
    new: str | None,
    *,
    force: bool,
    as_json: bool,
) -> None:
    """Add published results (FILES of other tools) to the campaign in DIRECTORY, for comparison.

    The first lines of a file show its format. FILES are copied unchanged. With --name all FILES
    become one import, otherwise each becomes its own.
    """
    placements = _placements(places, len(files))
    groups = _groups([read_original(file, form) for file in files], placements, name)
    campaign = _campaign(directory, new)
    planned = []
    for one, (originals, placed) in groups.items():
        check_free(directory / DIRECTORY / one, force=force)
        planned.append(plan_import(campaign.loaded.campaign, one, originals, placed))
    if new is not None:
        campaign.write()
    written = []
    for plan in planned:
        written.append(write_import(directory, plan, force=force))
        _tell(written[-1])
    if as_json:
        write_json({"schema": _SCHEMA, "imports": [_document(one) for one in written]})
        return
    for made in written:
        _show(made)


def _placements(places: Sequence[str], count: int) -> list[Placement | None]:
    if len(places) not in (0, 1, count):
        raise CampaignError(
            f"Cannot place {format_count(count, 'file', 'files')}: --as is given {len(places)} "
            "times. Give it once for all, or once for each, in the order of the files."
        )
    parsed: list[Placement | None] = [Placement.parse(text) for text in places]
    return parsed if len(parsed) == count else (parsed or [None]) * count


def _groups(
    originals: Sequence[Imported], placements: Sequence[Placement | None], name: str | None
) -> dict[str, _Group]:
    groups: dict[str, _Group] = {}
    for original, placement in zip(originals, placements, strict=True):
        chosen = name or original.path.stem
        if chosen in groups and name is None:
            raise CampaignError(
                f"Cannot import {original.path}: another file makes an import of the name "
                f"'{chosen}', too. Give a --name, or import them one by one."
            )
        mine = groups.setdefault(chosen, ([], []))
        mine[0].append(original)
        mine[1].append(placement)
    return groups


def _campaign(directory: Path, new: str | None) -> CampaignDirectory:
    """Open the campaign, or plan one that has no cells. Raises CampaignError or OutputError."""
    if new is None:
        if not directory.exists() or not check_campaign_directory(directory):
            raise CampaignError(
                f"Cannot import into {directory}: it holds no campaign. Run one there, or make "
                "one of imports alone with --new CAMPAIGN."
            )
        return open_directory(directory)
    if check_campaign_directory(directory):
        raise OutputError(
            f"Cannot make a campaign in {directory}: it already holds one. Leave --new out."
        )
    return make_directory(directory, load_campaign(new), Variant(seed=0), [])


def _tell(made: Import) -> None:
    values = sum(run["values"] for run in made.runs)
    click.echo(
        f"Wrote {printable(str(made.path))} "
        f"({format_count(len(made.document['files']), 'file', 'files')}, "
        f"{format_count(len(made.runs), 'run', 'runs')}, "
        f"{format_count(values, 'value', 'values')})",
        err=True,
    )
    for finding in made.findings:
        text = f"{finding['code']}: {finding['file']}: {finding['text']}"
        click.echo(printable(text), err=True)


def _document(made: Import) -> dict[str, Any]:
    runs = [
        {**run, "measures": [asdict(one) for one in measures]}
        for run, measures in run_summaries(made)
    ]
    return {"name": made.name, "runs": runs, "findings": made.findings}


def _show(made: Import) -> None:
    console = make_console()
    for run, measures in run_summaries(made):
        levels = ", ".join(f"{factor} {level}" for factor, level in run["levels"].items())
        unplaced = "by its time" if run["form"] in CLOCK_LOGS else "in no study"
        where = f"{run['study']}: {levels}" if run["study"] else unplaced
        console.print(f"\n{made.name}: {printable(run['file'])} ({run['form']}), {where}")
        own = [one for one in measures if one.statistic == DISTRIBUTION]
        others = [one for one in measures if one.statistic != DISTRIBUTION]
        if own:
            table = plain_table("measure", *_SHOWN.values())
            for one in own:
                table.add_row(f"{one.measure}, {one.unit}", *_figures(one, list(_SHOWN)))
            console.print(table)
        if others:
            table = plain_table("measure", "the value is", "n", "min", "median", "max")
            for one in others:
                name = f"{one.measure}, {one.unit}"
                table.add_row(name, one.statistic, *_figures(one, ["count", "min", "p50", "max"]))
            console.print(table)


def _figures(one: MeasureSummary, names: Sequence[str]) -> list[str]:
    return [
        f"{one.statistics[name]}" if name == "count" else _figure(one.statistics[name])
        for name in names
    ]


def _figure(value: float | None) -> str:
    """Write a figure with what the originals print, at most three decimals, in seven places."""
    number = as_float(value)
    if number is None:
        return NOTHING
    return f"{number:.3f}" if abs(number) < 1000 else f"{number:.2f}"
