# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A verb whose help ends with a list: of what an option may be, with an explanation of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click


class ListingCommand(click.Command):
    """A command with a list that `--help`, the reference and the man page show.

    `title` is its heading, `entries` are pairs of a word and what it means.
    """

    def __init__(
        self, *arguments: Any, title: str, entries: Sequence[tuple[str, str]], **settings: Any
    ) -> None:
        """Take the list, and what every command takes."""
        super().__init__(*arguments, **settings)
        self.title, self.entries = title, entries

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list below the options, one entry per line."""
        with formatter.section(self.title):
            formatter.write_dl(self.entries)
        super().format_epilog(ctx, formatter)
