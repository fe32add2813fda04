# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign run`: a campaign's cells, one by one, until all are there."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import click

from strata.campaign.directory import CampaignDirectory, default_campaign_directory
from strata.campaign.load import load_campaign
from strata.campaign.planning import Asked, choose, plan_campaign
from strata.campaign.remaining_time import Forecast
from strata.campaign.running import Ended, run_campaign
from strata.cli.campaign_progress import cells_progress
from strata.cli.campaign_status import cells_text, duration_text, skips_table
from strata.cli.console import make_console, plain_table
from strata.cli.record import say
from strata.record.ros import caller_environment, find_ros

_LONGEST_SETTLE_S = 86_400.0


def _is_number(_: click.Context, __: click.Parameter, value: float) -> float:
    # The range takes it: it is neither below nor above.
    if math.isnan(value):
        raise click.BadParameter("nan is no number of seconds.")
    return value


@click.command("run")
@click.argument("campaign", metavar="FILE|NAME")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Directory of the campaign; one that was begun goes on.  "
    "[default: sessions/<utc>_campaign_<name>]",
)
@click.option("--quick", is_flag=True, help="The quick variant: fewer levels, shorter cells.")
@click.option("--seed", type=click.IntRange(min=0), help="Of the random order.  [default: any]")
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    metavar="N",
    help="Repetitions of every cell, not the file's.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="STUDY[/LEVEL...]",
    help="Run these cells only; the others can follow later. Repeatable.",
)
@click.option("--list", "listing", is_flag=True, help="Show the cells; run nothing.")
@click.option("--keep-failed", is_flag=True, help="Do not run failed cells again.")
@click.option(
    "--settle",
    type=click.FloatRange(min=0.0, max=_LONGEST_SETTLE_S),
    callback=_is_number,
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the machine is watched before each cell.",
)
def command(
    campaign: str,
    output: Path | None,
    quick: bool,
    seed: int | None,
    repetitions: int | None,
    only: tuple[str, ...],
    listing: bool,
    keep_failed: bool,
    settle: float,
) -> None:
    """Run a campaign: a YAML file, or the name of a shipped one (`strata campaign list`).

    Every cell is a session of its own below DIR/cells. Running it again with the same -o goes on:
    finished cells are kept, what was interrupted is moved to DIR/interrupted. Ctrl-C ends the cell
    that runs in order, and the campaign. What cannot run here is skipped, by name. Exit status: 0
    all finished or skipped; 1 it could not be run; 3 some cells failed.
    """
    loaded = load_campaign(campaign)
    path = (output or default_campaign_directory(loaded.name)).absolute()
    ros, base = find_ros(), caller_environment(os.environ)
    planned = plan_campaign(loaded, path, Asked(quick, seed, repetitions), ros, base)
    chosen = choose(planned, only)
    if listing:
        _list(planned, [cell.id for cell in chosen])
        return
    with cells_progress() as watcher:
        ended = run_campaign(
            planned,
            chosen,
            ros=ros,
            base=base,
            keep_failed=keep_failed,
            settle_s=settle,
            watcher=watcher,
        )
    _summary(planned, ended)
    if ended.interrupted is not None:
        sys.exit(128 + ended.interrupted)
    if ended.failed:
        sys.exit(3)


def _list(planned: CampaignDirectory, chosen: list[str]) -> None:
    forecast = Forecast()
    cells = [cell for cell in planned.cells if cell.id in set(chosen)]
    todo = [cell for cell in cells if not cell.skipped and not planned.finished(cell)]
    table = plain_table("", "cell", "time")
    for cell in cells:
        if not cell.skipped:
            done = planned.finished(cell)
            time = "finished" if done else duration_text(forecast.of(cell))
            table.add_row(str(cell.order), cell.id, time)
    console = make_console()
    console.print(table)
    skips = skips_table(cells)
    if skips:
        console.print()
        console.print(skips)
    skipped = sum(cell.skipped is not None for cell in cells)
    console.print(
        f"\n{planned.name}: {cells_text(len(cells))}, {skipped} skipped, {len(todo)} to run, "
        f"about {duration_text(forecast.all(todo))}; seed {planned.variant.seed}"
    )


def _summary(planned: CampaignDirectory, ended: Ended) -> None:
    for name in ended.failed:
        cell = next(one for one in planned.cells if one.id == name)
        state = planned.state(cell)
        say(f"failed: {name}: {state.reason if state else 'no reason'}")
    if ended.interrupted is not None:
        say(f"interrupted by {ended.interrupted.name}; the same command goes on")
    finished = len({*ended.finished, *ended.failed, *ended.kept})
    kept = f" ({len(ended.kept)} before)" if ended.kept else ""
    say(
        f"campaign {planned.name}: {cells_text(finished)} done{kept}, {len(ended.failed)} failed, "
        f"{len(ended.skipped)} skipped, in {planned.path}"
    )
