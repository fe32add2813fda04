# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata campaign`: its verbs, each imported when it is used."""

from __future__ import annotations

import importlib
import os

import click

VERBS = {
    "import": "strata.cli.campaign_import",
    "list": "strata.cli.campaign_list",
    "report": "strata.cli.campaign_report",
    "run": "strata.cli.campaign_run",
    "status": "strata.cli.campaign_status",
}


class _CampaignVerbs(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in VERBS:
            return None
        if cmd_name != "run":
            # As all verbs do that analyze; what a campaign runs must not inherit it.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        command = importlib.import_module(VERBS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command


@click.group("campaign", cls=_CampaignVerbs)
def command() -> None:
    """Run a matrix of scenarios, again and again, and report what came of it."""
