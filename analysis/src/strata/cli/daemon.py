# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata daemon`: the init session, which has the names that later recordings need."""

from __future__ import annotations

import os
from pathlib import Path

import click

from strata.cli.quantities import Bytes
from strata.cli.record import clock_offset, say
from strata.cli.statuses import OwnRangeCommand, exit_with, own_range

_MAX_BYTES = 64 << 20
"""More where that would not hold the buffers of all CPUs."""


@click.command("daemon", cls=OwnRangeCommand)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Directory of the init session. Recordings look for it in STRATA_INIT_SESSION.  "
    "[default: that variable, else strata/init-session in XDG_STATE_HOME or ~/.local/state]",
)
@click.option(
    "--max-size",
    type=Bytes(),
    metavar="SIZE",
    help="Keep it below this size, as in 256M, by dropping all but the newest event about each "
    "thing.  [default: 64M, or what many CPUs need]",
)
def command(output: Path | None, max_size: int | None) -> None:
    """Keep a small LTTng session that has the names of nodes, topics and callbacks.

    Runs until a signal. It records only the events that introduce entities, so a node costs some
    kilobytes, and a message nothing. `strata record --attach` takes from it the names of nodes that
    were started meanwhile without `strata env`, as those of an installed ROS 2.

    Exit status: 0 when a signal ended it; 121 it ended early, or is incomplete; 125 it could not be
    started.
    """
    from strata.errors import SessionError
    from strata.live.init_session import (
        INIT_CONFIG,
        carried_over,
        init_directory,
        is_running,
    )
    from strata.record.config import load_config
    from strata.record.host import possible_cpus
    from strata.record.plan import Bounds
    from strata.record.recording import record
    from strata.record.rotation import minimum_bytes

    with own_range():
        directory = output or init_directory(os.environ)
        if is_running(directory):
            raise SessionError(
                f"Cannot start: another `strata daemon` keeps the init session in {directory}. End "
                "it first, or give another directory (-o)."
            )
        config = load_config(INIT_CONFIG)
        least = minimum_bytes(config.channel, possible_cpus())
        recording = record(
            config,
            (),
            directory=directory,
            force=True,
            ros=None,
            bounds=Bounds(max_bytes=max_size or max(_MAX_BYTES, least)),
            clock_offset=clock_offset,
            attachment=carried_over(directory),
            watches_processes=False,
            say=say,
        )
    exit_with(recording.end.status, recording)
