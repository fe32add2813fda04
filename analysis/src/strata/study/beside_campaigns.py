# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The results of the same campaign on other machines, beside a campaign's own.

Nothing is copied: their directories are read where they are, and measured where that was not done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from strata.campaign.machine_description import changes
from strata.errors import CampaignError
from strata.study.campaign_results import HERE, Results, Study, open_results
from strata.study.imported_results import read_imports
from strata.study.tables.table import Column, Table

_ALWAYS = ("host.cpu_model", "host.cpu_count", "host.distribution", "host.kernel")
"""Facts that are shown although they are alike, in this order."""

_LONGEST = 80


def with_beside(results: Results, asked: Sequence[tuple[str, Path]]) -> Results:
    """Return results that have those of other campaign directories beside them.

    `asked` are names and directories. Raises CampaignError for a directory that is no campaign's,
    names that are not different, no study in common, and a study with other factors.
    """
    known = {HERE, *(one.name for one in read_imports(results.directory.path))}
    out = []
    for name, path in asked:
        if name in known:
            raise CampaignError(
                f"Cannot put {path} beside {results.directory.path}: the name {name} is used "
                "already. Give it another one: --beside NAME=DIR."
            )
        known.add(name)
        other = open_results(path)
        _check_studies(results, other)
        out.append((name, other))
    return replace(results, beside=tuple(out))


def _check_studies(results: Results, other: Results) -> None:
    common = [name for name in results.studies if name in other.studies]
    refused = f"Cannot put {other.directory.path} beside {results.directory.path}"
    if not common:
        raise CampaignError(f"{refused}: they have no study in common.")
    for name in common:
        ours, theirs = (
            list(results.studies[name].stated.factors),
            list(other.studies[name].stated.factors),
        )
        if set(ours) != set(theirs):
            raise CampaignError(
                f"{refused}: study {name} has the factors {', '.join(ours) or 'none'} here and "
                f"{', '.join(theirs) or 'none'} there. Run both with one file."
            )


def joined_factors(study: Study, others: Sequence[Study]) -> Study:
    """Return a study whose factors have the levels that any machine has, in the file's order."""
    out = []
    for factor in study.factors:
        present = set(factor.levels)
        for other in others:
            found = other.factor(factor.name)
            present |= set(found.levels) if found else set()
        stated = study.stated.factors[factor.name]
        levels = tuple(level for level in stated.names if level in present)
        numbers = tuple(stated.number(level) for level in levels) if stated.numeric else None
        out.append(replace(factor, levels=levels, numbers=numbers))
    return replace(study, factors=tuple(out))


def different_cells(results: Results) -> dict[str, tuple[int, str]]:
    """Count, for each machine beside, the cells of one id that ran in another way, and name one."""
    ours = {one.id: one.cell.digest for one in results.outcomes}
    out = {}
    for name, other in results.beside:
        cells = [
            one.id for one in other.outcomes if one.id in ours and one.cell.digest != ours[one.id]
        ]
        if cells:
            out[name] = (len(cells), cells[0])
    return out


def machine_table(results: Results) -> Table | None:
    """Return the facts in which the machines differ, a column each; null without others."""
    if not results.beside:
        return None
    every = [(HERE, results), *results.beside]
    facts = {name: _facts(one) for name, one in every}
    changed = {
        change["key"]
        for _, other in results.beside
        for change in changes(_environment(results), _environment(other))
    }
    names = [*_ALWAYS, *sorted(changed - set(_ALWAYS))]
    rows = [{"fact": fact, **{name: facts[name].get(fact) for name in facts}} for fact in names]
    columns = (Column("fact", "fact"), *(Column(name, name) for name, _ in every))
    notes = (
        "At the last start of each campaign. What passes, such as the load, is left out, and what "
        "is alike on all machines.",
    )
    frame = pd.DataFrame(rows, columns=[column.name for column in columns])
    return Table("machines", "in what the machines differ", columns, frame, notes)


def _environment(results: Results) -> Mapping[str, Any]:
    environments: list[dict[str, Any]] = results.directory.document.get("environments") or [{}]
    return environments[-1]


def _facts(results: Results) -> dict[str, str]:
    return {
        name: str(value)[:_LONGEST]
        for name, value in flat_facts(_environment(results))
        if value is not None
    }


def flat_facts(value: object, name: str = "") -> list[tuple[str, object]]:
    """Return dotted names, as `strata.campaign.machine_description.changes` has them."""
    pairs: list[tuple[str, Any]]
    if isinstance(value, Mapping):
        pairs = [(str(key), one) for key, one in value.items()]
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        pairs = [(str(at), one) for at, one in enumerate(value)]
    else:
        return [(name, value)]
    return [
        item for key, one in pairs for item in flat_facts(one, f"{name}.{key}" if name else key)
    ]
