# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`strata host-side`: what `strata run --host` of another machine starts here through ssh."""

from __future__ import annotations

import json
import os
import sys

import click

from strata.cli.ending import exit_on_signals

_ACTIONS = ["introduce", "describe", "check", "run", "send"]


@click.command("host-side", hidden=True)
@click.argument("action", type=click.Choice(_ACTIONS))
def command(action: str) -> None:
    """Do what `strata run --host` of another machine asks for."""
    from strata.record.ros import caller_environment, find_ros
    from strata.scenario.host_side import Request, answer_check, introduce, run_part, send_part

    line = _line()
    if action == "run":
        sys.exit(run_part(Request.read(line)))
    exit_on_signals()
    if action == "send":
        send_part(Request.read(line))
        return
    ros, base = find_ros(), caller_environment(os.environ)
    checks = action == "check"
    answer = answer_check(Request.read(line), ros, base) if checks else introduce(ros)
    if action == "describe":
        from strata.campaign.machine_description import describe_environment
        from strata.record.lttng import Lttng, tool_environment

        lttng = Lttng(tool_environment(base, ros.prefixes))
        answer["environment"] = describe_environment(ros, lttng, ros.environment(base))
    # One line: a shell may have said something before.
    click.echo(json.dumps(answer))


def _line() -> str:
    """Read the request, and nothing beyond it, which `run` and `send` read."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(0, 1)):
        line += byte
    return line.decode(errors="replace")
