# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a campaign's document may say; docs/campaigns.md explains each key with its unit."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from strata.scenario.expand import as_text

Scalar = bool | int | float | str
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
"""A name of a study or a factor: a directory's, and a column's."""

LEVEL_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
"""A level's name is a part of a directory's."""

MEASURES = (
    "latency",
    "hop_latency",
    "whole_latency",
    "period",
    "sent_period",
    "stamp_latency",
    "point_age",
    "clock_offset",
    "jitter",
    "loss",
    "grid_loss",
    "shortfall",
    "shortfall_by_second",
    "rate",
    "rate_by_second",
    "throughput",
    "cpu",
    "cpu_all",
    "cpu_by_second",
    "rss",
    "rss_max",
    "layer",
    "round_trip",
    "call_latency",
    "request_latency",
    "call_chain_latency",
    "call_loss",
    "call_layer",
)
"""What can be measured of a cell; `strata.study.measure_definitions` says how."""

INHERENT = ("hop", "layer", "process", "repetition", "column", "clock")
"""What a figure may be drawn over beside the study's factors."""


class _Part(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, populate_by_name=True
    )


class Original(_Part):
    """The published campaign: where, on what machine, its figures (files), and its known errors.

    `client` is the client library of its nodes.
    """

    title: str = Field(min_length=1)
    machine: str = "not stated"
    client: str = ""
    published: list[str] = []
    corrections: list[str] = []


class Level(_Part):
    """One value of a factor: what it changes, what it needs (`machine_requirements`), what it is.

    `also` has what results of others call it, published and imported ones.
    """

    scenario: str | None = None
    changes: dict[str, Any] = Field(default={}, alias="set")
    needs: list[str] = []
    text: str = ""
    also: list[str] = []
    duration: int | float | str | None = None
    warm_up: int | None = Field(default=None, ge=0)


LevelName = Annotated[str, Field(pattern=LEVEL_PATTERN)]
Levels = Annotated[
    Annotated[list[Scalar], Tag("values")] | Annotated[dict[LevelName, Level], Tag("named")],
    Discriminator(lambda levels: "values" if isinstance(levels, list) else "named"),
]


class Factor(_Part):
    """What is varied: levels by name, or a setting with its values."""

    setting: str | None = Field(default=None, alias="set")
    unit: Literal["B", "Hz"] | None = None
    levels: Levels

    @model_validator(mode="after")
    def _is_one_kind(self) -> Self:
        if isinstance(self.levels, list) != (self.setting is not None):
            raise ValueError("write `set` with a list of values, or levels by name")
        if not self.levels:
            raise ValueError("there is no level")
        if self.unit and not self.numeric:
            raise ValueError(f"unit {self.unit} needs values that are numbers")
        return self

    @property
    def names(self) -> list[str]:
        """Name the levels, in the file's order; that of a plain value is its text."""
        return level_names(self.levels) if isinstance(self.levels, list) else list(self.levels)

    @property
    def numeric(self) -> bool:
        """Tell whether every level is a number."""
        return isinstance(self.levels, list) and all(
            isinstance(one, int | float) and not isinstance(one, bool) for one in self.levels
        )

    def level_called(self, name: str) -> str | None:
        """Give the level of that name, else the one that others call so; null without one."""
        if name in self.names:
            return name
        return next((level for level in self.names if name in self.level(level).also), None)

    def number(self, name: str) -> float:
        """Give the number of a level of a numeric factor, in `unit`."""
        return float(name)

    def level(self, name: str) -> Level:
        """Give a level by its name."""
        if isinstance(self.levels, dict):
            return self.levels[name]
        assert self.setting is not None
        value = self.levels[self.names.index(name)]
        return Level(set={self.setting: value})


class Measured(_Part):
    """Which hops of a scenario are measured: globs of the topic and of the subscribing node."""

    topic: str = "*"
    node: str = "*"


class Exclusion(_Part):
    """Cells that make no sense, and why: levels by factor, one or a list."""

    when: dict[str, Scalar | list[Scalar]] = Field(min_length=1)
    because: str = Field(min_length=1)

    def covers(self, levels: dict[str, str]) -> bool:
        """Tell whether a combination of levels, by factor, is one of these."""
        return all(levels.get(factor) in level_names(named) for factor, named in self.when.items())


class Limit(_Part):
    """A line of reference in a curve: a value in the measure's unit, or what `x` says (y = x).

    One `of` the scenario's link is not drawn where cells ran on machines with a link of their own.
    """

    at: float | int | Literal["x"]
    of: Literal["link"] | None = None
    text: str = Field(min_length=1)


class Figure(_Part):
    """A figure or table of the report: its kind, the measure, and which factor goes where."""

    kind: Literal[
        "samples",
        "quantiles",
        "boxplot",
        "histogram",
        "curve",
        "bars",
        "timeline",
        "band",
        "side_by_side",
        "summary",
        "intervals",
        "anova",
        "pairs",
        "spread",
        "spread_interaction",
        "segmented",
        "modes",
        "loss",
        "boundaries",
        "findings",
        "layers",
        "calls",
        "saturation",
        "transports",
        "ages",
        "clocks",
        "published",
        "corrections",
    ]
    of: str | None = None
    x: str | None = None
    by: str | None = None
    panels: str | list[str] | None = None
    rows: str | list[str] | None = None
    over: str | None = None
    within: str | list[str] | None = None
    factors: list[str] | None = None
    consecutive: bool = False
    fit: Literal["segmented"] | None = None
    where: dict[str, Scalar | list[Scalar]] = {}
    statistic: Literal["min", "p50", "mad", "mean", "std", "p90", "p99", "p999", "max"] | None = (
        None
    )
    confidence: list[Annotated[float, Field(gt=0, lt=1)]] = [0.95]
    scale: Literal["linear", "log"] | None = None
    classes: bool = False
    limit: Limit | None = None
    file: str | None = None
    text: str = ""

    @property
    def named_factors(self) -> list[tuple[str, str]]:
        """List the factors that it names, each with the key that names it."""
        keys = ("x", "by", "panels", "rows", "over", "within", "factors")
        named = [(key, listed(getattr(self, key))) for key in keys]
        return [(key, one) for key, names in named for one in names] + [
            ("where", one) for one in self.where
        ]


class Study(_Part):
    """One question of a campaign: a matrix over one scenario.

    `warm_up` counts messages of each hop or source; `nominal_hz` is the stated rate, a number or
    the name of a setting.
    """

    question: str = Field(min_length=1)
    scenario: str = Field(min_length=1)
    changes: dict[str, Any] = Field(default={}, alias="set")
    duration: int | float | str | None = None
    warm_up: int = Field(default=0, ge=0)
    repetitions: int = Field(default=1, ge=1)
    nominal_hz: float | str | None = None
    measured: Measured = Measured()
    chain: bool = False
    factors: dict[Name, Factor] = {}
    exclusions: list[Exclusion] = Field(default=[], alias="except")
    figures: list[Figure] = []


class Quick(_Part):
    """What is otherwise in the quick variant of a study; `only` has the combinations that remain.

    `levels` has the levels that remain of a factor.
    """

    duration: int | float | str | None = None
    repetitions: int | None = Field(default=None, ge=1)
    warm_up: int | None = Field(default=None, ge=0)
    levels: dict[str, list[Scalar]] = {}
    changes: dict[str, Any] = Field(default={}, alias="set")
    only: list[dict[str, Scalar | list[Scalar]]] = []


class Campaign(_Part):
    """A campaign: a question, its studies, and the published one that it reproduces."""

    name: str | None = None
    question: str = Field(min_length=1)
    description: str = ""
    original: Original | None = None
    studies: dict[Name, Study] = Field(min_length=1)
    quick: dict[str, Quick] = {}


def level_names(named: Scalar | list[Scalar]) -> list[str]:
    """Give the names of levels that a document states as a plain value or a list of them."""
    return [as_text(one) for one in (named if isinstance(named, list) else [named])]


def listed(named: str | list[str] | None) -> list[str]:
    """Give a list of what is stated as one, several or none."""
    return [] if named is None else [named] if isinstance(named, str) else named
