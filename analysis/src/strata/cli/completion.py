# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a shell completes beside verbs and options: names of what ships. It must be quick."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def shipped_names(directory: str, *suffixes: str) -> dict[str, Any]:
    """Return the arguments that make a parameter complete names of shipped files, and paths.

    `directory` is below `trace_configs/`.
    """

    def complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        from strata.record.places import shipped_files

        names = dict.fromkeys(path.stem for path in shipped_files(directory, *suffixes))
        found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
        # A path is as good as a name.
        return found or [CompletionItem(incomplete, type="file")]

    return {"shell_complete": complete}


scenario_names = shipped_names("scenarios", ".yaml")
campaign_names = shipped_names("campaigns", ".yaml")
config_names = shipped_names(".", ".yaml")
profile_names = shipped_names("rmw", ".xml", ".json5")
