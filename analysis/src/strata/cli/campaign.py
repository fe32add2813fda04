# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign`: its verbs, each imported when it is used."""

from __future__ import annotations

import click

from strata.cli.verbs import Verb, Verbs

VERBS = {
    "import": Verb(
        "strata.cli.campaign_import",
        "Add published results (FILES of other tools) to the campaign in DIRECTORY, for "
        "comparison.",
    ),
    "list": Verb(
        "strata.cli.campaign_list",
        "List the campaigns that ship, with the number of cells of each variant.",
    ),
    "report": Verb(
        "strata.cli.campaign_report",
        "Report the results of a campaign that `strata campaign run` ran in DIRECTORY.",
    ),
    "run": Verb(
        "strata.cli.campaign_run",
        "Run a campaign: a YAML file, or the name of a shipped one (`strata campaign list`).",
        records=True,
    ),
    "status": Verb(
        "strata.cli.campaign_status",
        "Show the state of each cell of a campaign, and which cells are still to run.",
    ),
}


@click.group("campaign", cls=Verbs, verbs=VERBS)
def command() -> None:
    """Run a matrix of scenarios repeatedly and report the results."""
