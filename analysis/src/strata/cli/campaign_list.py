# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign list`: which campaigns ship."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from strata.cli.output import write_json

if TYPE_CHECKING:
    from strata.campaign.load import LoadedCampaign

_SCHEMA = 1


@click.command("list")
@click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True
)
def command(form: str) -> None:
    """List the campaigns that ship, with the number of cells of each variant."""
    from strata.campaign.load import load_campaign, shipped_campaigns
    from strata.cli.console import make_console, plain_table

    found = [load_campaign(str(path)) for path in shipped_campaigns()]
    if form == "json":
        write_json({"schema": _SCHEMA, "campaigns": [_described(loaded) for loaded in found]})
        return
    table = plain_table("campaign", "cells", "quick", "question")
    for loaded in found:
        quick = str(_count(loaded, quick=True)) if loaded.campaign.quick else ""
        count = str(_count(loaded, quick=False))
        table.add_row(loaded.name, count, quick, loaded.campaign.question)
    make_console().print(table)


def _described(loaded: LoadedCampaign) -> dict[str, object]:
    return {
        "name": loaded.name,
        "file": str(loaded.file),
        "question": loaded.campaign.question,
        "studies": {name: one.question for name, one in loaded.campaign.studies.items()},
        "cells": _count(loaded, quick=False),
        "quick_cells": _count(loaded, quick=True) if loaded.campaign.quick else None,
    }


def _count(loaded: LoadedCampaign, *, quick: bool) -> int:
    from strata.campaign.cells import combinations

    count = 0
    for name, study in loaded.campaign.studies.items():
        reduced = loaded.campaign.quick.get(name) if quick else None
        repetitions = (reduced and reduced.repetitions) or study.repetitions
        count += repetitions * len(list(combinations(loaded, name, quick=quick)))
    return count
