# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The results of the same campaign on other machines, beside a campaign's own.

Nothing is copied: their directories are read where they are, and measured where that was not done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from strata.errors import CampaignError
from strata.study.campaign_results import HERE, Results, Study, open_results
from strata.study.imported_results import read_imports


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
