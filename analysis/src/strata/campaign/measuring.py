# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Measure a cell in a process of its own: `python -m strata.campaign.measuring DIR CELL`.

So an analysis neither keeps memory and threads beside the cells to come, nor ends the campaign
when it fails. It prints one line of counts.
"""

from __future__ import annotations

import sys
from pathlib import Path

from strata.campaign.cells import Cell
from strata.campaign.directory import CampaignDirectory, open_directory
from strata.errors import StrataError

NOT_MEASURED = "not measured"


def measuring_command(directory: CampaignDirectory, cell: Cell) -> list[str]:
    """Give the command that measures a cell."""
    return [sys.executable, "-m", "strata.campaign.measuring", str(directory.path), cell.id]


def measured_line(directory: CampaignDirectory, cell: Cell) -> str:
    """Measure a cell and give its line of counts.

    Raises TraceError or OutputError.
    """
    # Only here: the campaign itself must not load the analysis.
    from strata.campaign.measured import measure_cell

    return measure_cell(directory, cell).line


def main(path: str, name: str) -> int:
    """Measure the cell of that id; the exit status."""
    directory = open_directory(Path(path))
    cell = next(one for one in directory.cells if one.id == name)
    try:
        line = measured_line(directory, cell)
    except StrataError as error:
        line = f"{NOT_MEASURED}: {error}"
    sys.stdout.write(f"{line}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
