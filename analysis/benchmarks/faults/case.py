# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A planted fault: what runs, and what Strata has to say of it."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Document = dict[str, Any]
Graph = dict[str, Any]

SHARE = 0.05
ABSOLUTE_NS = 50_000
"""A magnitude is right within 5 % of what was planted; a duration also within 50 us."""
NS, MESSAGES, NS_PER_S = "ns", "messages", "ns/s"
"""What a magnitude may be: a duration, a number of messages, or a growth of the latency."""


@dataclass(frozen=True)
class Truth:
    """What the programs wrote down themselves; times are CLOCK_MONOTONIC in ns."""

    place: Path

    def durations(self, node: str, what: str, topic: str | None = None) -> npt.NDArray[np.int64]:
        """Return how long a node did something, a value each time, in order; ns."""
        rows = self.rows(node, what, topic)
        return np.array([int(row["end_ns"]) - int(row["begin_ns"]) for row in rows], np.int64)

    def rows(self, node: str, what: str, topic: str | None = None) -> list[dict[str, str]]:
        """Return the rows of a node, as they were written."""
        found = []
        for file in sorted(self.place.glob("*.csv")):
            with file.open(newline="") as lines:
                found += [
                    row
                    for row in csv.DictReader(lines)
                    if (row["node"], row["what"]) == (node, what) and topic in (None, row["topic"])
                ]
        return found


@dataclass(frozen=True)
class Answer:
    """What `strata analyze` said: its JSON, and its text as `print_text` gives it at 80 columns."""

    document: Document
    print_text: Callable[[], str]
    session: Path

    @cached_property
    def text(self) -> str:
        """Return the text; few judges need it, and the analysis runs once more for it."""
        return self.print_text()


@dataclass(frozen=True)
class Judgement:
    """What was right of an answer; `measured` and `planted` are None without a magnitude."""

    said: str
    layer: bool
    place: bool
    measured: float | None = None
    planted: float | None = None
    unit: str = NS

    @property
    def magnitude(self) -> bool:
        """Whether the measured magnitude is close enough to the planted one."""
        if self.planted is None:
            return True
        if self.measured is None:
            return False
        bound = SHARE * self.planted
        if self.unit == NS:
            bound = max(bound, ABSOLUTE_NS)
        return abs(self.measured - self.planted) <= bound

    @property
    def verdict(self) -> str:
        """right, partly (the layer or the place, or the magnitude is off), or wrong."""
        if self.layer and self.place and self.magnitude:
            return "right"
        return "partly" if self.layer or self.place else "wrong"


class Expectation(Protocol):
    """What must be said."""

    def judge(self, answer: Answer, truth: Truth) -> Judgement:
        """Hold an answer against what was planted."""


@dataclass(frozen=True)
class Case:
    """A planted fault. `command` gets the directory of the truth; without it, `graph` runs.

    `links` is the text of a links file, `options` are further ones of `strata record`. `around` is
    a context in which all runs, that gives the graph to run. `meanwhile` is called with the pid of
    the recorder and the place of the truth, once the recorder has begun.
    """

    name: str
    about: str
    expected: Expectation
    graph: Graph | None = None
    program: str = "graph.py"
    arguments: Sequence[str] = ()
    links: str = ""
    options: Sequence[str] = ()
    environment: dict[str, str] = field(default_factory=dict)
    around: Callable[[Graph], AbstractContextManager[Graph]] | None = None
    meanwhile: Callable[[int, Truth], None] | None = None
