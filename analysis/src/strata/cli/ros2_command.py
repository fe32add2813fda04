# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`ros2 strata VERB ...`: the command `strata` as an extension of the `ros2` command.

Only ros2cli imports this module, through the entry point `ros2cli.command` of the package; ros2cli
is not a dependency. Its interface: https://github.com/ros2/ros2cli, ros2cli/command/__init__.py.
"""

from __future__ import annotations

import argparse
import sys

from ros2cli.command import CommandExtension

from strata.cli.main import VERBS, main

# Nothing on a command line begins with it, so a verb's options are left for the verb to parse.
_NO_PREFIX = "\0"


class StrataCommand(CommandExtension):  # type: ignore[misc]
    """Show in which layer of a ROS 2 system the time goes."""

    def add_arguments(self, parser: argparse.ArgumentParser, cli_name: str) -> None:
        """Declare every verb, with arguments that only the verb itself interprets."""
        verbs = parser.add_subparsers(
            title="verbs",
            description=f"`{cli_name} VERB --help` explains a verb.",
            dest="strata_verb",
            metavar="VERB",
            required=True,
        )
        for name, verb in VERBS.items():
            each = verbs.add_parser(
                name, help=verb.summary, add_help=False, prefix_chars=_NO_PREFIX
            )
            each.add_argument("strata_arguments", nargs=argparse.REMAINDER)

    def main(self, *, parser: argparse.ArgumentParser, args: argparse.Namespace) -> int:
        """Run the verb as `strata` does, with its exit status."""
        del parser
        sys.argv = ["strata", args.strata_verb, *args.strata_arguments]
        main()
        return 0
