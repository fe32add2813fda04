# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of three recordings: one that was blocked, the reference system, and a long one of robots.

Each is made once a run, when a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from made_fleet import Fleet, write_fleet

import strata
from strata.analysis import Analysis
from strata.read.links import read_links
from strata.show.html import write_report

BLOCKED, REFERENCE, FLEET = NAMES = ("blocked", "reference", "fleet")
_LINKS = Path(__file__).parents[1] / "traces" / "ref_multi_full-links.yaml"


@dataclass(frozen=True)
class RecordedPage:
    """An analysis, and the file of its page."""

    analysis: Analysis
    path: Path


class RecordedPages:
    """Makes pages by name, each once."""

    def __init__(self, sample: Callable[[str], Path], place: Path) -> None:
        self._sample, self._place = sample, place
        self._made: dict[str, RecordedPage] = {}

    def __call__(self, name: str) -> RecordedPage:
        """Return the page of one of the recordings."""
        if name not in self._made:
            analysis = self._analyze(name)
            path = write_report(analysis, self._place / f"{name}.html", title=name, force=False)
            self._made[name] = RecordedPage(analysis, path)
        return self._made[name]

    def _analyze(self, name: str) -> Analysis:
        if name == BLOCKED:
            return strata.analyze(self._sample("fast_blocked_st"))
        if name == REFERENCE:
            return strata.analyze(self._sample("ref_multi_full"), links=read_links(_LINKS))
        fleet = Fleet()
        assert fleet.messages == 100_000
        return strata.analyze(write_fleet(self._place / "fleet", fleet))
