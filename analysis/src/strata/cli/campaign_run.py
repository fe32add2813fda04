# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign run`: a campaign's cells, one by one, until all are there."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from strata.cli.completion import campaign_names
from strata.cli.record import say
from strata.cli.remote_hosts import remote_hosts

if TYPE_CHECKING:
    from strata.campaign.directory import CampaignDirectory
    from strata.campaign.running import Ended
    from strata.scenario.remote_host import RemoteHost

_LONGEST_SETTLE_S = 86_400.0


def _is_number(_: click.Context, __: click.Parameter, value: float) -> float:
    # The range takes it: it is neither below nor above.
    if math.isnan(value):
        raise click.BadParameter("nan is no number of seconds.")
    return value


@click.command("run")
@click.argument("campaign", metavar="FILE|NAME", **campaign_names)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Directory of the campaign; if it holds a started campaign, that continues.  "
    "[default: sessions/<utc>_campaign_<name>]",
)
@click.option("--quick", is_flag=True, help="The quick variant: fewer levels, shorter cells.")
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of the random order.  [default: random]"
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of repetitions of each cell, in place of the file's.",
)
@click.option(
    "--duration",
    metavar="TEXT",
    help="Duration of each of these cells, in place of the file's: a time (60s, 5min, 4h) or a "
    "number of what the scenario counts. Kept for later starts in the same DIR.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="STUDY[/LEVEL...]",
    help="Run only these cells; the others can run later. Repeatable.",
)
@click.option(
    "--host",
    "hosts",
    multiple=True,
    callback=remote_hosts,
    metavar="NAME=ADDRESS[:DIR]",
    help="Run this host of the scenarios that connect hosts on another machine, through ssh, as "
    "`strata run --host`. Repeatable.",
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
    help="How long to watch the load of the machine before each cell.",
)
def command(
    campaign: str,
    output: Path | None,
    quick: bool,
    seed: int | None,
    repetitions: int | None,
    duration: str | None,
    only: tuple[str, ...],
    hosts: tuple[RemoteHost, ...],
    listing: bool,
    keep_failed: bool,
    settle: float,
) -> None:
    """Run a campaign: a YAML file, or the name of a shipped one (`strata campaign list`).

    Each cell becomes a session below DIR/cells. The same command with the same -o continues:
    finished cells are kept, an interrupted one is moved to DIR/interrupted and runs again. Ctrl-C
    ends the running cell cleanly, and the campaign. Cells that cannot run on this machine are
    skipped and listed with the reason. Exit status: 0 all cells finished or were skipped; 1 the
    campaign could not run; 3 some cells failed.
    """
    from strata.campaign.directory import default_campaign_directory
    from strata.campaign.load import load_campaign
    from strata.campaign.planning import Asked, choose, plan_campaign
    from strata.campaign.running import run_campaign
    from strata.cli.campaign_progress import cells_progress
    from strata.record.ros import caller_environment, find_ros

    loaded = load_campaign(campaign)
    path = (output or default_campaign_directory(loaded.name)).absolute()
    ros, base = find_ros(), caller_environment(os.environ)
    asked = Asked(quick, seed, repetitions, duration, only, hosts)
    planned = plan_campaign(loaded, path, asked, ros, base)
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
            hosts=hosts,
            watcher=watcher,
        )
    _summary(planned, ended)
    if ended.interrupted is not None:
        sys.exit(128 + ended.interrupted)
    if ended.failed:
        sys.exit(3)


def _list(planned: CampaignDirectory, chosen: list[str]) -> None:
    from strata.campaign.remaining_time import Forecast
    from strata.cli.campaign_status import cells_text, duration_text, skips_table
    from strata.cli.console import make_console, plain_table

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
    from strata.cli.campaign_status import cells_text

    for name in ended.failed:
        cell = next(one for one in planned.cells if one.id == name)
        state = planned.state(cell)
        say(f"failed: {name}: {state.reason if state else 'no reason'}")
    if ended.interrupted is not None:
        say(f"interrupted by {ended.interrupted.name}; run the same command to continue")
    finished = len({*ended.finished, *ended.failed, *ended.kept})
    kept = f" ({len(ended.kept)} before)" if ended.kept else ""
    say(
        f"campaign {planned.name}: {cells_text(finished)} done{kept}, {len(ended.failed)} failed, "
        f"{len(ended.skipped)} skipped, in {planned.path}"
    )
