# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The `strata` command: its verbs, and the one place where errors become exit codes."""

from __future__ import annotations

import importlib
import os
import sys
from typing import NoReturn

import click

from strata import __version__
from strata.cli import failing
from strata.cli.ending import exit_on_signals, explain
from strata.errors import StrataError

# Verbs in the order in which a user meets them; each module is imported when its verb is used, so
# that `strata record` does not pay for pandas and bokeh.
VERBS = {
    "doctor": "strata.cli.doctor",
    "record": "strata.cli.record",
    "scenarios": "strata.cli.scenarios",
    "run": "strata.cli.run",
    "info": "strata.cli.info",
    "analyze": "strata.cli.analyze",
    "sql": "strata.cli.sql",
    "links": "strata.cli.links",
    "path": "strata.cli.path",
    "hops": "strata.cli.hops",
    "compare": "strata.cli.compare",
    "report": "strata.cli.report",
    "convert": "strata.cli.convert",
    "campaign": "strata.cli.campaign",
}
_RECORDING = ("record", "run")


class Verbs(click.Group):
    """A command group that imports a verb's module only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every verb, in the order of use."""
        del ctx
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a verb and return its command; null when there is no such verb."""
        del ctx
        if cmd_name not in VERBS:
            return None
        if cmd_name not in (*_RECORDING, "campaign"):
            # No verb does linear algebra; starting OpenBLAS's threads takes longer than a decoding.
            # What is recorded must not inherit it.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        command = importlib.import_module(VERBS[cmd_name]).command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="strata")
@click.option("--debug", is_flag=True, help="Show the whole traceback of an error.")
@click.pass_context
def strata(ctx: click.Context, *, debug: bool) -> None:
    """Locate the layer of a ROS 2 system in which the time goes."""
    # `main` looks for it itself: an error may come before it is parsed.
    del debug
    # A recording ends in its own way: the command and the session have to be stopped.
    if ctx.invoked_subcommand not in _RECORDING:
        exit_on_signals()


def main() -> None:
    """Run the command line.

    Exit 0 done, 1 cannot, 2 usage, 3 done but a gate failed, 70 an unexpected error of Strata's
    own, 130 interrupted; `record` and `run` have more (docs/recording.md).
    """
    failing.open_standard_streams()
    debug = failing.wants_debug(sys.argv[1:])
    if not debug:
        # What fails in a destructor has no consequence, and would be told as a traceback.
        sys.unraisablehook = lambda _: None
    try:
        _run()
    except (Exception, KeyboardInterrupt) as error:
        if debug and not isinstance(error, click.ClickException):
            failing.show_traceback(error)
        _fail(error)


def _run() -> None:
    try:
        status = strata(prog_name="strata", standalone_mode=False)
    finally:
        # Here, where a failure can be told; the interpreter's own is a traceback.
        if sys.stdout is not None:
            sys.stdout.flush()
    if isinstance(status, int) and status:
        sys.exit(status)


def _fail(error: BaseException) -> NoReturn:
    match error:
        case StrataError():
            failing.fail(error)
        case click.ClickException():
            failing.fail_in_usage(error)
        case KeyboardInterrupt() | click.Abort():
            sys.exit(failing.INTERRUPTED)
        case MemoryError():
            failing.fail_without_memory()
        case ImportError() if "failed to map segment" in str(error):
            failing.fail_without_memory()
        case OSError():
            explained = explain(error)
            if explained is None:
                sys.exit(1)
            failing.fail(explained)
    failing.fail_unexpectedly(error)


if __name__ == "__main__":
    main()
