# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The machine's state at each start of a campaign, and what changed between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from strata.campaign.report.contents import Environment
from strata.printable import printable
from strata.units import NOTHING

_LONGEST_LIST = 12


@dataclass(frozen=True)
class Fact:
    """A fact of the machine, and its texts at each start; `changed` when that matters."""

    name: str
    texts: tuple[str, ...]
    changed: bool


def facts_of(environments: Sequence[Environment], changed: Sequence[str]) -> list[Fact]:
    """Return every fact with its text at each start; what was not told is a dash.

    `changed` names the facts that differ and do not merely pass, as the load does.
    """
    names = dict.fromkeys(name for one in environments for name in one.facts)
    out = []
    for name in names:
        texts = tuple(fact_text(one.facts.get(name)) for one in environments)
        out.append(Fact(name, texts, name in changed))
    return out


def fact_text(value: object) -> str:
    """Write a fact; lists with commas, cut where they are long, and null as a dash."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        shown = [fact_text(item) for item in value[:_LONGEST_LIST]]
        rest = len(value) - len(shown)
        return ", ".join(shown) + (f" and {rest} more" if rest else "") if shown else NOTHING
    return printable(str(value)) or NOTHING
