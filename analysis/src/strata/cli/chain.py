# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How a chain is given on the command line."""

from __future__ import annotations

import click


def parse_chain(chain: str) -> list[str]:
    """Return the topics of "/a -> /b -> /c"; raises UsageError for what is none."""
    topics = [part.strip() for part in chain.split("->")]
    if not all(topics):
        raise click.UsageError(f"--chain {chain!r} is no row of topics joined by ->, as '/a -> /b'")
    return topics
