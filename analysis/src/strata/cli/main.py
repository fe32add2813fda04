# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The `strata` command: its verbs, and the one place where errors become exit codes."""

from __future__ import annotations

import sys
from typing import NoReturn

import click

from strata import __version__
from strata.cli import failing
from strata.cli.ending import exit_on_signals, explain
from strata.cli.verbs import Verb, Verbs
from strata.errors import StrataError

# In the order in which a user meets them.
VERBS = {
    "doctor": Verb(
        "strata.cli.doctor",
        "Check that this machine can record, and say how to fix what it cannot.",
    ),
    "record": Verb(
        "strata.cli.record",
        "Record a tracing session around a command, given after `--`.",
        records=True,
    ),
    "env": Verb(
        "strata.cli.env",
        "Print the environment in which nodes are ready to be recorded, or run a command in it.",
        records=True,
    ),
    "daemon": Verb(
        "strata.cli.daemon",
        "Keep a small LTTng session that has the names of nodes, topics and callbacks.",
        records=True,
    ),
    "guard": Verb(
        "strata.cli.guard",
        "Record into ring buffers always, and keep the seconds around a fault.",
        records=True,
    ),
    "live": Verb(
        "strata.cli.live",
        "Show a running system while it runs: latencies, layers, losses, executors.",
        records=True,
    ),
    "scenarios": Verb(
        "strata.cli.scenarios",
        "List the shipped scenarios, or show one with its settings and all its keys.",
    ),
    "run": Verb(
        "strata.cli.run",
        "Run a scenario inside a recording session: a YAML file, or the name of a shipped one.",
        records=True,
    ),
    "add-host": Verb(
        "strata.cli.add_host",
        "Add the recording of another host to SESSION, a recording of one part of a scenario.",
    ),
    "info": Verb(
        "strata.cli.info",
        "Show what TRACE holds: hosts, processes, events, what was lost, buffers.",
    ),
    "analyze": Verb(
        "strata.cli.analyze", "Show in which layer the time of TRACE went, on one screen."
    ),
    "results": Verb(
        "strata.cli.results",
        "Analyze TRACE chunk by chunk into a results directory, which every verb reads.",
    ),
    "sql": Verb(
        "strata.cli.sql", "Answer QUERY, one SELECT in SQL, from the tables of TRACE (docs/sql.md)."
    ),
    "links": Verb(
        "strata.cli.links", "Propose message links of TRACE, as a file for the option --links."
    ),
    "path": Verb("strata.cli.path", "Show the critical path of messages of TRACE, layer by layer."),
    "hops": Verb(
        "strata.cli.hops",
        "Show the latency distribution of every hop of each TRACE, side by side.",
    ),
    "compare": Verb(
        "strata.cli.compare", "Compare B with A: every chain, hop, layer and callback, and losses."
    ),
    "report": Verb(
        "strata.cli.report",
        "Write one HTML page that shows in which layer the time of TRACE_OR_SESSION went.",
    ),
    "convert": Verb(
        "strata.cli.convert", "Write the events of TRACE as Parquet files, one per event type."
    ),
    "export": Verb(
        "strata.cli.export", "Write the analysis of TRACE in a format of another program."
    ),
    "campaign": Verb(
        "strata.cli.campaign",
        "Run a matrix of scenarios repeatedly and report the results.",
        records=True,
    ),
    "host-side": Verb(
        "strata.cli.host_side",
        "Do what `strata run --host` of another machine asks for.",
        records=True,
        hidden=True,
    ),
    "help": Verb("strata.cli.help", "Explain a concept (TOPIC), or list the topics."),
}


@click.group(cls=Verbs, verbs=VERBS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="strata")
@click.option("--debug", is_flag=True, help="Show the whole traceback of an error.")
@click.pass_context
def strata(ctx: click.Context, *, debug: bool) -> None:
    """Show in which layer of a ROS 2 system the time goes.

    Record a running system (record) or a known workload (run), then look at the recording
    (analyze, report) or compare two (compare). `strata VERB --help` explains a verb, `strata help`
    a concept.
    """
    # `main` looks for it itself: an error may come before it is parsed.
    del debug
    # A recording ends in its own way: the command and the session have to be stopped.
    if ctx.invoked_subcommand not in ("record", "run", "host-side"):
        exit_on_signals()


def main() -> None:
    """Run the command line.

    Exit 0 done, 1 cannot, 2 usage, 3 done but a gate failed, 70 an unexpected error of Strata's
    own, 130 interrupted; `record` and `run` have more (docs/recording.md).
    """
    failing.open_standard_streams()
    debug = failing.wants_debug(sys.argv[1:])
    if not debug:
        # What fails in a destructor has no consequence, and would be shown as a traceback.
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
