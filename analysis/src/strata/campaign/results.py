# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign's directory as results: its studies, its cells and what came of each.

Nothing is measured here but on request: `Results.measured` reads a cell's tables, or makes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from strata.campaign.measured import Measured, Wanted, measure
from strata.errors import StrataError

CAMPAIGN, COPY, CELL, CELLS, IMPORTED = (
    "campaign.json",
    "campaign.yaml",
    "cell.json",
    "cells",
    "imported",
)
FINISHED, FAILED, SKIPPED, OPEN = "finished", "failed", "skipped", "not run yet"
HERE = "here"
"""The origin of what this campaign measured; other origins are the names of imports."""


@dataclass(frozen=True)
class Factor:
    """A factor with its levels in the file's order.

    `numbers` are the levels as numbers in `unit` (B, Hz, or null for plain numbers); null for a
    factor of names. `texts` say what a level is, where the file does.
    """

    name: str
    levels: tuple[str, ...]
    unit: str | None = None
    numbers: tuple[float, ...] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cell:
    """A cell and what came of it; `reason` says why it did not finish, `line` what it measured."""

    id: str
    study: str
    levels: Mapping[str, str]
    repetition: int
    directory: Path
    status: str
    reason: str = ""
    order: int | None = None
    duration_s: float | None = None
    load_average: float | None = None
    line: str = ""


@dataclass(frozen=True)
class Study:
    """A study with its cells; `document` is what the file says of it, the quick variant in it."""

    name: str
    document: Mapping[str, Any]
    factors: tuple[Factor, ...]
    cells: tuple[Cell, ...]

    @property
    def question(self) -> str:
        """Say what it asks."""
        return str(self.document.get("question", ""))

    @property
    def is_of_chains(self) -> bool:
        """Tell whether its latency is that of whole chains."""
        return bool(self.document.get("chain", False))

    @property
    def figures(self) -> tuple[Mapping[str, Any], ...]:
        """List its figures and tables as the file asks for them."""
        return tuple(self.document.get("figures") or ())

    @property
    def finished(self) -> tuple[Cell, ...]:
        """List the cells that have something to measure."""
        return tuple(cell for cell in self.cells if cell.status == FINISHED)

    def factor(self, name: str) -> Factor | None:
        """Return the factor of that name; null for what is none."""
        return next((factor for factor in self.factors if factor.name == name), None)

    def wanted(self, cell: Cell) -> Wanted:
        """Say what is measured of a cell: its hops, and how many messages are warm-up."""
        measured = self.document.get("measured") or {}
        warm_up = self.document.get("warm_up") or 0
        for factor, name in cell.levels.items():
            warm_up = _level(self.document, factor, name).get("warm_up", warm_up)
        return Wanted(
            topic=str(measured.get("topic", "*")),
            node=str(measured.get("node", "*")),
            warm_up=int(warm_up),
        )

    def why_empty(self, levels: Mapping[str, str] | None = None) -> str:
        """Say why there is nothing of the cells with these levels."""
        own = [
            cell
            for cell in self.cells
            if all(cell.levels.get(name) == level for name, level in (levels or {}).items())
        ]
        if not own:
            return "the campaign (or its quick variant) has no such cell"
        told = [f"{cell.status}: {cell.reason}" for cell in own if cell.reason]
        if told:
            return "; ".join(dict.fromkeys(told))
        if all(cell.status == OPEN for cell in own):
            return "its cells were not run yet"
        return "its cells measured no such value"


@dataclass(frozen=True)
class Results:
    """A campaign's directory. `document` is the campaign's file, `record` its campaign.json."""

    directory: Path
    document: Mapping[str, Any]
    record: Mapping[str, Any]
    studies: Mapping[str, Study]
    _measured: dict[str, Measured] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        """Name the campaign."""
        return str(self.record.get("name") or self.document.get("name") or self.directory.name)

    @property
    def question(self) -> str:
        """Say what it asks."""
        return str(self.document.get("question", ""))

    @property
    def original(self) -> Mapping[str, Any]:
        """Give what the file says of the published campaign: title, machine, corrections."""
        return self.document.get("original") or {}

    @property
    def environments(self) -> tuple[Mapping[str, Any], ...]:
        """List the machine's state at each start and resume."""
        return tuple(self.record.get("environments") or ())

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """List all cells of all studies."""
        return tuple(cell for study in self.studies.values() for cell in study.cells)

    def study(self, name: str) -> Study:
        """Return a study; raises StrataError when there is none of that name."""
        if name not in self.studies:
            raise StrataError(
                f"Cannot find study {name} in {self.directory}: it has "
                f"{', '.join(self.studies) or 'none'}."
            )
        return self.studies[name]

    def measured(self, cell: Cell) -> Measured:
        """Return what was measured of a finished cell; it is made when it is not there yet."""
        if cell.id not in self._measured:
            wanted = self.studies[cell.study].wanted(cell)
            self._measured[cell.id] = measure(cell.directory, wanted)
        return self._measured[cell.id]


def open_results(directory: Path) -> Results:
    """Read a campaign's directory; raises StrataError when it is none."""
    path = directory / CAMPAIGN
    record = _json(path)
    if record is None:
        raise StrataError(
            f"Cannot read campaign {directory}: there is no readable {CAMPAIGN} in it. Name the "
            "directory that `strata campaign run` wrote."
        )
    try:
        document = yaml.safe_load((directory / COPY).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise StrataError(f"Cannot read campaign {directory}: {COPY}: {error}.") from error
    if not isinstance(document, dict):
        raise StrataError(f"Cannot read campaign {directory}: {COPY} is no campaign.")
    stated = document.get("studies") or {}
    quick = (document.get("quick") or {}) if record.get("quick") else {}
    cells: dict[str, list[Cell]] = {name: [] for name in stated}
    for row in record.get("cells") or ():
        cells.setdefault(row["study"], []).append(_cell(directory, row))
    studies = {
        name: _study(name, _varied(stated.get(name) or {}, quick.get(name) or {}), own)
        for name, own in cells.items()
    }
    return Results(directory, document, record, studies)


def level_text(value: object) -> str:
    """Give the name of a level that a file states as a plain value."""
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _varied(study: Mapping[str, Any], quick: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study with what its quick variant has otherwise."""
    out = dict(study)
    out |= {key: quick[key] for key in ("duration", "repetitions", "warm_up") if key in quick}
    out["set"] = {**(study.get("set") or {}), **(quick.get("set") or {})}
    return out


def _study(name: str, document: Mapping[str, Any], cells: list[Cell]) -> Study:
    factors = tuple(
        _factor(factor, stated or {}, cells)
        for factor, stated in (document.get("factors") or {}).items()
    )
    return Study(name, document, factors, tuple(cells))


def _factor(name: str, stated: Mapping[str, Any], cells: list[Cell]) -> Factor:
    levels = stated.get("levels") or []
    texts = {}
    if isinstance(levels, dict):
        texts = {str(level): str(said["text"]) for level, said in levels.items() if _text(said)}
    present = {cell.levels[name] for cell in cells if name in cell.levels}
    names = [level_text(level) for level in levels]
    order = [level for level in names if level in present]
    order += sorted(present - set(order))
    numbers = None
    if isinstance(levels, list) and all(_is_number(level) for level in levels):
        numbers = tuple(float(level) for level in order)
    return Factor(name, tuple(order), stated.get("unit"), numbers, texts)


def _text(said: object) -> bool:
    return isinstance(said, dict) and bool(said.get("text"))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _level(document: Mapping[str, Any], factor: str, name: str) -> Mapping[str, Any]:
    stated = (document.get("factors") or {}).get(factor) or {}
    levels = stated.get("levels")
    said = levels.get(name) if isinstance(levels, dict) else None
    return said if isinstance(said, dict) else {}


def _cell(directory: Path, row: Mapping[str, Any]) -> Cell:
    place = directory / CELLS / row["id"]
    ended = _json(place / CELL) or {}
    skipped = row.get("skipped")
    return Cell(
        id=row["id"],
        study=row["study"],
        levels={factor: str(level) for factor, level in (row.get("levels") or {}).items()},
        repetition=int(row.get("repetition") or 1),
        directory=place,
        status=SKIPPED if skipped else str(ended.get("status") or OPEN),
        reason=str(skipped or ended.get("reason") or ""),
        order=row.get("order"),
        duration_s=ended.get("duration_s"),
        load_average=ended.get("load_average"),
        line=str(ended.get("measured") or ""),
    )


def _json(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
