# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign's directory as results: its studies, its cells and their results.

Nothing is measured here but on request: `Results.measured` reads a cell's tables, or makes them.
What was read once is not read again: for what was written since, open the results anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from strata.campaign import model
from strata.campaign.cells import Cell
from strata.campaign.directory import CampaignDirectory, CellState, open_directory
from strata.errors import CampaignError
from strata.study.cell_tables import CellTables, measure_cell
from strata.study.imported_results import HERE as HERE
from strata.study.imported_results import read_imports
from strata.study.table_cache import KeptTables

if TYPE_CHECKING:
    import pandas as pd

_Found = TypeVar("_Found")
FINISHED, FAILED, SKIPPED, OPEN = "finished", "failed", "skipped", "not run yet"


@dataclass(frozen=True)
class Factor:
    """A factor with those of its levels that the campaign has, in the file's order.

    `numbers` are the levels as numbers in `unit` (B, Hz, or null for plain numbers); null for a
    factor of names. `texts` say what a level is, where the file does.
    """

    name: str
    levels: tuple[str, ...]
    unit: str | None = None
    numbers: tuple[float, ...] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """A cell and its result: `status`, why it did not finish, and its state once it ran."""

    cell: Cell
    directory: Path
    status: str
    reason: str = ""
    state: CellState | None = None

    @property
    def id(self) -> str:
        """Name the cell."""
        return self.cell.id

    @property
    def line(self) -> str:
        """Return one line about its state and result, as `strata campaign status` shows it."""
        if self.status == FINISHED:
            return self.state.line if self.state else FINISHED
        return f"{self.status}: {self.reason}" if self.reason else self.status


@dataclass(frozen=True)
class Study:
    """A study with its cells, in the order in which they run; `stated` is what the file says."""

    name: str
    stated: model.Study
    factors: tuple[Factor, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def finished(self) -> tuple[Outcome, ...]:
        """List the cells that have something to measure."""
        return tuple(one for one in self.outcomes if one.status == FINISHED)

    def factor(self, name: str) -> Factor | None:
        """Return the factor of that name; null for what is none (hop, layer, process)."""
        return next((factor for factor in self.factors if factor.name == name), None)

    def why_empty(self, levels: Mapping[str, object] | None = None) -> str:
        """Say why there is nothing of the cells with these levels (one or several a factor)."""
        own = [one for one in self.outcomes if keeps(levels, one.cell.levels)]
        if not own:
            return "the campaign (or its quick variant) has no such cell"
        told = [f"{one.status}: {one.reason}" for one in own if one.reason]
        if told:
            return "; ".join(dict.fromkeys(told))
        if all(one.status == OPEN for one in own):
            return "its cells have not run yet"
        return "its cells have no such value"


@dataclass(frozen=True)
class Results:
    """A campaign's directory, read."""

    directory: CampaignDirectory
    studies: Mapping[str, Study]
    beside: tuple[tuple[str, Results], ...] = ()
    """The same campaign on other machines: a name, the origin of its values, and its results."""

    unknown: tuple[str, ...] = ()
    """Cells of a study or level that the campaign's file does not have: it was changed since."""
    _measured: dict[str, CellTables] = field(default_factory=dict, repr=False)
    _kept: KeptTables = field(default_factory=KeptTables, repr=False)
    _values: dict[str, dict[str, pd.DataFrame]] = field(default_factory=dict, repr=False)
    _answers: dict[tuple[str, str], Any] = field(default_factory=dict, repr=False)

    @property
    def campaign(self) -> model.Campaign:
        """Give the campaign's file."""
        return self.directory.loaded.campaign

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """List all cells of all studies."""
        return tuple(one for study in self.studies.values() for one in study.outcomes)

    def study(self, name: str) -> Study:
        """Return a study; raises CampaignError when there is none of that name."""
        if name not in self.studies:
            raise CampaignError(
                f"Cannot find study {name} in {self.directory.path}: it has "
                f"{', '.join(self.studies) or 'none'}."
            )
        return self.studies[name]

    def measured(self, outcome: Outcome) -> CellTables:
        """Return what was measured of a finished cell, and measure it when it was not yet.

        Raises CampaignError when its tables are damaged, and what `measure_cell` raises.
        """
        if outcome.id not in self._measured:
            measured = measure_cell(self.directory, outcome.cell)
            measured.check()
            self._measured[outcome.id] = measured.keep_in(self._kept)
        return self._measured[outcome.id]

    def measured_cells(self, study: str, cells: set[str]) -> list[CellTables]:
        """Return what was measured of finished cells by their ids in long frames.

        Those of other machines beside begin with the name of theirs and a slash.
        """
        found = [self.measured(one) for one in self.study(study).finished if one.id in cells]
        for name, other in self.beside:
            if study in other.studies:
                ran = other.study(study).finished
                found += [other.measured(one) for one in ran if f"{name}/{one.id}" in cells]
        return found

    def once(self, name: str, of: str, find: Callable[[], _Found]) -> _Found:
        """Return what is found by that name of a study or cell; find it when first asked for."""
        if (name, of) not in self._answers:
            self._answers[name, of] = find()
        found: _Found = self._answers[name, of]
        return found

    def values_of(self, study: str) -> dict[str, pd.DataFrame]:
        """Return where values of a study's measures are kept, until another study is asked for."""
        if study not in self._values:
            self._values.clear()
        return self._values.setdefault(study, {})


def open_results(path: Path) -> Results:
    """Read a campaign's directory; raises CampaignError when it is none."""
    directory = open_directory(path)
    known = [cell for cell in directory.cells if _is_known(directory.loaded.campaign, cell)]
    unknown = tuple(cell.id for cell in directory.cells if cell not in known)
    outcomes = [_outcome(directory, cell) for cell in known]
    placed = [run for one in read_imports(path) for run in one.runs]
    studies = {
        name: _study(
            name,
            stated,
            [one for one in outcomes if one.cell.study == name],
            [run["levels"] for run in placed if run["study"] == name],
        )
        for name, stated in directory.loaded.campaign.studies.items()
    }
    return Results(directory, studies, unknown=unknown)


def _is_known(campaign: model.Campaign, cell: Cell) -> bool:
    study = campaign.studies.get(cell.study)
    return study is not None and all(
        name in study.factors and level in study.factors[name].names
        for name, level in cell.levels.items()
    )


def keeps(where: Mapping[str, object] | None, levels: Mapping[str, str]) -> bool:
    """Tell whether levels are those that are asked for: of each factor one, or one of several."""
    return all(levels.get(name) in level_texts(level) for name, level in (where or {}).items())


def level_texts(level: object) -> list[str]:
    """Give the names of levels that are stated as a plain value or several."""
    several: list[Any] = list(level) if isinstance(level, list | tuple) else [level]
    return model.level_names(several)


def _outcome(directory: CampaignDirectory, cell: Cell) -> Outcome:
    place = directory.cell_directory(cell)
    if cell.skipped:
        return Outcome(cell, place, SKIPPED, cell.skipped)
    state = directory.state(cell)
    if state is None:
        return Outcome(cell, place, OPEN)
    return Outcome(cell, place, state.status, state.reason or "", state)


def _study(
    name: str, stated: model.Study, outcomes: list[Outcome], imported: list[dict[str, str]]
) -> Study:
    """Make a study of its cells, and of the levels (by factor) of the imported runs in it."""
    having = [*(one.cell.levels for one in outcomes), *imported]
    factors = tuple(_factor(factor, one, having) for factor, one in stated.factors.items())
    return Study(name, stated, factors, tuple(outcomes))


def _factor(name: str, stated: model.Factor, having: list[dict[str, str]]) -> Factor:
    present = {levels[name] for levels in having if name in levels}
    levels = tuple(level for level in stated.names if level in present)
    numbers = tuple(stated.number(level) for level in levels) if stated.numeric else None
    texts = {level: stated.level(level).text for level in levels if stated.level(level).text}
    return Factor(name, levels, stated.unit, numbers, texts)
