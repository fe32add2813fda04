# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How a chain and message links are given on the command line."""

from __future__ import annotations

from pathlib import Path

import click

from strata.schema.chain_text import topics_of
from strata.schema.links import MessageLink

chain_option = click.option(
    "--chain",
    metavar="TOPICS",
    help="Report only the chain over these topics, as in '/a -> /b -> /c'.  [default: all chains]",
)
links_option = click.option(
    "--links",
    "links_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="YAML file of message links: what nodes publish from messages that they stored; "
    "`strata links` proposes one (docs/method.md).",
)


def declared_links(path: Path | None) -> tuple[MessageLink, ...]:
    """Return the message links of a file; none for null. Raises TraceError for a wrong file."""
    if path is None:
        return ()
    from strata.read.links import read_links

    return tuple(read_links(path))


def parse_chain(chain: str) -> list[str]:
    """Return the topics of "/a -> /b -> /c"; raises UsageError for what is not a chain."""
    try:
        return topics_of(chain)
    except ValueError as error:
        raise click.UsageError(f"--chain: {error}.") from error
