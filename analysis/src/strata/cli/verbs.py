# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Groups of verbs whose modules are imported when a verb is used: help needs none of them.

A verb's module declares its options. What does its work is imported where it is used, in functions:
help and wrong usage are told without.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@dataclass(frozen=True)
class Verb:
    """A module with a `command`, and the first sentence of that command's help.

    `records` says that the verb starts programs of the user's, which inherit its environment.
    `hidden` is one that no person is to call.
    """

    module: str
    summary: str
    records: bool = False
    hidden: bool = False

    def load(self) -> click.Command:
        """Import the module and return its command."""
        if not self.records:
            # No verb does linear algebra; starting OpenBLAS's threads takes longer than a decoding.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        command = importlib.import_module(self.module).command
        assert isinstance(command, click.Command)
        return command


class Verbs(click.Group):
    """A command group over declared verbs."""

    def __init__(self, *, verbs: Mapping[str, Verb], **attributes: Any) -> None:
        """Take the verbs by name, in the order in which help lists them."""
        super().__init__(**attributes)
        self.verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every verb that is not hidden."""
        del ctx
        return list(self._shown())

    def _shown(self) -> dict[str, Verb]:
        return {name: verb for name, verb in self.verbs.items() if not verb.hidden}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a verb and return its command; null when there is no such verb."""
        del ctx
        verb = self.verbs.get(cmd_name)
        return verb.load() if verb else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb that is the first argument; raises UsageError, which names similar ones."""
        name = args[0]
        if name in self.verbs or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from strata.nearest import did_you_mean

        raise click.UsageError(f"No such command {name!r}.{did_you_mean(name, self._shown())}", ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the verbs with their summaries, and the group's own options; imports no verb."""
        from click.shell_completion import CompletionItem

        verbs = [
            CompletionItem(name, help=verb.summary)
            for name, verb in self._shown().items()
            if name.startswith(incomplete)
        ]
        # Those of click.Group would import every verb.
        return [*verbs, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs with their summaries."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, verb.summary) for name, verb in self._shown().items()])
