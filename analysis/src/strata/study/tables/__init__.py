# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a campaign's report, as data: `table_of` makes one that the campaign's file asks for.

A `Table` is a frame and its columns (label, unit, form); terminal and page render the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from strata.campaign.model import Figure
from strata.errors import CampaignError
from strata.study.campaign_results import Results
from strata.study.tables.anova import anova
from strata.study.tables.boundaries import boundaries
from strata.study.tables.calls import calls
from strata.study.tables.clock_offsets import clocks
from strata.study.tables.comparisons import pairs
from strata.study.tables.findings import findings
from strata.study.tables.layers import layers
from strata.study.tables.losses import loss
from strata.study.tables.machines import of_every_machine
from strata.study.tables.modes import modes
from strata.study.tables.point_ages import ages
from strata.study.tables.published import corrections, published
from strata.study.tables.saturation import saturation
from strata.study.tables.segmented import segmented
from strata.study.tables.side_by_side import side_by_side
from strata.study.tables.spreads import spread, spread_interaction
from strata.study.tables.statistics import intervals, skipped_notes, summary
from strata.study.tables.table import Column, Table, written
from strata.study.tables.transports import transports

__all__ = ["TABLES", "Column", "Table", "table_of"]

TABLES: dict[str, Callable[[Results, str, Figure], Table]] = {
    "side_by_side": side_by_side,
    "summary": summary,
    "intervals": intervals,
    "anova": anova,
    "pairs": pairs,
    "spread": spread,
    "spread_interaction": spread_interaction,
    "segmented": segmented,
    "modes": modes,
    "loss": loss,
    "boundaries": boundaries,
    "findings": findings,
    "layers": layers,
    "calls": calls,
    "saturation": saturation,
    "transports": transports,
    "ages": ages,
    "clocks": clocks,
    "published": published,
    "corrections": corrections,
}
"""The kinds of `figures` that are tables, and what makes each."""

OF_CELLS = ("loss", "boundaries", "findings", "layers", "calls", "saturation", "transports")
"""Those that are made of cells, not of a measure's values: one for each of several machines."""


def table_of(results: Results, study: str, figure: Figure) -> Table:
    """Return the table that a figure of a study asks for; its notes name the cells it has not.

    Raises CampaignError for a kind that is no table.
    """
    if figure.kind not in TABLES:
        raise CampaignError(f"Cannot make a table of {figure.kind}: known are {', '.join(TABLES)}.")
    make = TABLES[figure.kind]
    of_cells = figure.kind in OF_CELLS
    made = (
        of_every_machine(make, results, study, figure) if of_cells else make(results, study, figure)
    )
    made = written(made, results.study(study), keep=("here",))
    if figure.kind in ("published", "corrections"):
        return made
    return replace(made, notes=(*made.notes, *skipped_notes(results, study, figure)))
