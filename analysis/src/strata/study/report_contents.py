# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a campaign's report is made of, before it becomes a page or text.

Figures and tables are made of these alone; `gather` fills them from a campaign's directory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from strata.study.campaign_results import FAILED as FAILED
from strata.study.campaign_results import FINISHED as FINISHED
from strata.study.campaign_results import HERE as HERE
from strata.study.campaign_results import OPEN as OPEN
from strata.study.campaign_results import SKIPPED as SKIPPED
from strata.study.campaign_results import Factor
from strata.study.segmented_fits import ShapedFit
from strata.study.tables.table import Table


@dataclass(frozen=True)
class Measure:
    """What a long frame's column `value` holds; as `strata.study.measure_definitions.Measure`."""

    name: str
    unit: str
    each: str
    text: str


@dataclass(frozen=True)
class Request:
    """A figure as the campaign's file asks for it; `x`, `by` and `panels` name columns.

    `scale` is linear, log, or empty (chosen from the values); `fit` is segmented or empty; `text`
    is said in the caption. `limit` is a line of reference with its text: at a value of the measure,
    or "x" for y = x.
    """

    kind: str
    of: str = ""
    x: str = ""
    by: str = ""
    panels: tuple[str, ...] = ()
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    statistic: str = "p50"
    confidence: float = 0.95
    scale: str = ""
    fit: str = ""
    text: str = ""
    limit: tuple[float | str, str] | None = None


@dataclass(frozen=True)
class CellRow:
    """A cell and what came of it; `reason` is empty for a finished one.

    `duration_s` and `load` (load average at its begin) are null where it did not run.
    """

    cell_id: str
    study: str
    levels: Mapping[str, str]
    repetition: int
    status: str
    reason: str = ""
    duration_s: float | None = None
    load: float | None = None
    measured: str = ""


@dataclass(frozen=True)
class Study:
    """A study: its question, factors, and what all of its figures' captions say.

    `client` names the client library of the measured nodes; empty where nothing ran.
    """

    name: str
    question: str
    scenario: str
    factors: tuple[Factor, ...]
    cells: tuple[CellRow, ...]
    warm_up: int = 0
    repetitions: int = 1
    duration: str = ""
    client: str = ""

    def factor(self, name: str) -> Factor | None:
        """Return the factor of that name; null for another column (hop, layer, process)."""
        return next((factor for factor in self.factors if factor.name == name), None)

    def why(self, levels: Mapping[str, str]) -> str:
        """Say why there are no data of the cells with these levels."""
        mine = [
            cell
            for cell in self.cells
            if all(cell.levels.get(name, level) == level for name, level in levels.items())
        ]
        if not mine:
            return "the campaign (or its quick variant) has no such cell"
        told = [f"{cell.status}: {cell.reason}" for cell in mine if cell.reason]
        told += ["its cells have not run yet"] if any(cell.status == OPEN for cell in mine) else []
        if any(cell.status == FINISHED for cell in mine):
            told.insert(0, "the finished cells have no such value")
        return "; ".join(dict.fromkeys(told))


@dataclass(frozen=True)
class Chart:
    """A figure that was asked for: the request, its long frame, and the measure of it.

    `empty` says why there is nothing to draw. `fits` are those of a curve's series by the levels of
    its panels, of `by` and of the origin; a series with too few levels has none. `errors` say of a
    cell by how much each of its values may be off (+-), in the measure's unit: by imported logs of
    clocks. A cell without a log has none.
    """

    request: Request
    measure: Measure
    frame: pd.DataFrame
    empty: str = ""
    fits: Mapping[tuple[str, ...], ShapedFit] = field(default_factory=dict)
    errors: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class StampPlace:
    """Where the stamps of messages are taken in one stamp mode: `where` says it in words.

    `at_sensor` tells that the sensor stamps, else the driver does. `levels` are the texts of the
    combinations of levels with that mode, empty where a study has no other mode.
    """

    mode: str
    where: str
    at_sensor: bool
    levels: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyPart:
    """A study with its answer, and its figures and tables in the file's order."""

    study: Study
    answer: tuple[str, ...]
    parts: tuple[Chart | Table, ...]
    present_layers: tuple[str, ...] = ()
    stamps: tuple[StampPlace, ...] = ()

    @property
    def tables(self) -> dict[str, Table]:
        """Return the tables by name, in the file's order: ``study.1_summary_latency``."""
        found = [part for part in self.parts if isinstance(part, Table)]
        return {
            ".".join(
                (self.study.name, "_".join(dict.fromkeys((str(at), one.kind, one.of or one.kind))))
            ): one
            for at, one in enumerate(found, start=1)
        }


@dataclass(frozen=True)
class Finding:
    """A finding of loss or a warning, of `cells` cells.

    `text` is that of `most`, the cell that has most of it; empty where it is of all of them.
    `code` is that of the declared finding, or names what the report itself found.
    """

    severity: str
    text: str
    cells: int = 1
    most: str = ""
    code: str = ""

    @property
    def where(self) -> str:
        """Say which cells have it."""
        number = f"{self.cells:,} cell{'s' if self.cells != 1 else ''}"
        if not self.most:
            return number
        return f"{self.most}; {number} in all" if self.cells > 1 else self.most


@dataclass(frozen=True)
class Environment:
    """The machine at one start or resume: flat names to what the machine reports (null: "
    "nothing)."""

    at_utc: str
    facts: Mapping[str, object]


@dataclass(frozen=True)
class Original:
    """The published campaign."""

    title: str
    machine: str
    corrections: tuple[str, ...] = ()


@dataclass(frozen=True)
class Contents:
    """A whole report; `changed` names the facts of the machine that differ between its starts.

    `machines` has the facts in which the machines differ; null where the report is of one.
    """

    name: str
    question: str
    file: str
    digest: str
    made_utc: str
    is_quick: bool
    seed: int | None
    cells: tuple[CellRow, ...]
    studies: tuple[StudyPart, ...]
    environments: tuple[Environment, ...] = ()
    changed: tuple[str, ...] = ()
    original: Original | None = None
    findings: tuple[Finding, ...] = ()
    commands: Sequence[str] = ()
    machines: Table | None = None

    @property
    def has_imports(self) -> bool:
        """Tell whether a figure shows values that were not measured here."""
        charts = (part for study in self.studies for part in study.parts)
        return any(
            (chart.frame["origin"] != HERE).any()
            for chart in charts
            if isinstance(chart, Chart) and "origin" in chart.frame
        )

    def count(self, status: str) -> int:
        """Return how many cells have that status."""
        return sum(cell.status == status for cell in self.cells)
