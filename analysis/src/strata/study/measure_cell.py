# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Measure a cell in a process of its own: `python -m strata.study.measure_cell DIR CELL`.

So an analysis neither keeps memory and threads beside the cells to come, nor ends the campaign
when it fails. It prints one line of counts.
"""

from __future__ import annotations

import sys
from pathlib import Path

from strata.campaign.directory import NOT_MEASURED, open_directory
from strata.errors import StrataError
from strata.study.cell_tables import measure_cell


def main(path: str, name: str) -> int:
    """Measure the cell with that id, print its line of counts, and return the exit status."""
    directory = open_directory(Path(path))
    cell = next(one for one in directory.cells if one.id == name)
    try:
        line = measure_cell(directory, cell).line
    except StrataError as error:
        line = f"{NOT_MEASURED}: {error}"
    sys.stdout.write(f"{line}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
