# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata add-host`: the recording of another machine beside that of this one."""

from __future__ import annotations

from pathlib import Path

import click

from strata.cli.record import say


@click.command("add-host")
@click.argument("session", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.argument("recording", type=click.Path(path_type=Path, exists=True, file_okay=False))
def command(session: Path, recording: Path) -> None:
    """Add the recording of another host to SESSION, a recording of one part of a scenario.

    Both were recorded by `strata run SCENARIO --only-host NAME` at the same time, each on its
    machine, or by `--host` where RECORDING could not be fetched. RECORDING is copied to
    SESSION/hosts/NAME. From then on every verb that reads SESSION reads both. SESSION may be a cell
    of a campaign.
    """
    from strata.scenario.host_recordings import add_host

    brought = add_host(session, recording)
    for text in (*brought.unmet, *brought.problems):
        say(text)
    say(f"added {brought.directory}")
