# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Make the directory of a campaign that has run: every cell has the session of one recorded cell.

usage: campaign_load.py --cells 700 -o DIR

The campaign is `relay` with as many repetitions as give this many cells or more, so that the report
draws the figures of a real study. The session is the sample cell_relay: 60 messages over two hops.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from pathlib import Path

import click

from strata.campaign.cells import Cell, Variant, expand
from strata.campaign.directory import CampaignDirectory, CellState, make_directory
from strata.campaign.load import load_campaign
from strata.study.cell_tables import SUBDIRECTORY, measure_cell

SAMPLE = Path(__file__).resolve().parents[1] / "tests/traces/cell_relay.tar.xz"
CAMPAIGN = "relay"
SEED = 1


def make(directory: Path, least: int) -> int:
    """Make the campaign with this many cells or some more, and return how many it has."""
    loaded = load_campaign(CAMPAIGN)
    one = len(expand(loaded, Variant(SEED, repetitions=1)))
    cells = expand(loaded, Variant(SEED, repetitions=-(-least // one)))
    campaign = make_directory(directory, loaded, Variant(SEED), cells)
    directory.mkdir()
    campaign.write()
    with tempfile.TemporaryDirectory(prefix="campaign_load_") as place:
        with tarfile.open(SAMPLE) as archive:
            archive.extractall(place)
        add_sessions(campaign, cells, next(Path(place).iterdir()))
    return len(cells)


def add_sessions(campaign: CampaignDirectory, cells: list[Cell], session: Path) -> None:
    """Give each cell a copy of a session, measured once for each study."""
    measured: dict[str, Path] = {}
    for cell in cells:
        target = campaign.cell_directory(cell)
        source = measured.get(cell.study, session)
        # Links: hundreds of copies of a trace would only fill the disk.
        shutil.copytree(
            source, target, copy_function=os.link if source != session else shutil.copy2
        )
        (target / "cell.json").unlink(missing_ok=True)
        campaign.write_state(cell, finished(cell))
        if cell.study not in measured:
            measure_cell(campaign, cell)
            measured[cell.study] = target
        assert (target / SUBDIRECTORY).is_dir()


def finished(cell: Cell) -> CellState:
    """Return the state of a cell that ran well."""
    return CellState(
        id=cell.id,
        status="finished",
        reason=None,
        begun_utc="2026-11-22T03:00:00Z",
        duration_s=2.0,
        order=cell.order,
        load_average=None,
        busy_percent=None,
        frequency_khz=None,
        busy=False,
        command=[],
        measured="",
    )


@click.command()
@click.option("--cells", type=click.IntRange(1), default=700, show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True)
def main(cells: int, output: Path) -> None:
    """Make a campaign's directory."""
    click.echo(f"{output}: {make(output, cells)} cells")


if __name__ == "__main__":
    main()
