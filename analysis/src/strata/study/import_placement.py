# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a foreign result belongs in a campaign: a study, and a level of each of its factors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from strata.campaign.model import Campaign
from strata.errors import CampaignError
from strata.originals.imported import Fact

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]+)\}")
_FORM = "Write STUDY:FACTOR=LEVEL,FACTOR=LEVEL"


@dataclass(frozen=True)
class Place:
    """A study and its levels by factor, as names of the campaign's file."""

    study: str
    levels: Mapping[str, str]


@dataclass(frozen=True)
class Placement:
    """A place as it was asked for: in each level, `{fact}` stands for a fact of the run."""

    study: str
    levels: Mapping[str, str]

    @classmethod
    def parse(cls, text: str) -> Placement:
        """Read `STUDY:FACTOR=LEVEL,...`; a study without factors is named alone.

        Raises CampaignError for anything else.
        """
        study, colon, rest = text.partition(":")
        levels: dict[str, str] = {}
        for one in rest.split(",") if colon else []:
            factor, equals, level = (part.strip() for part in one.partition("="))
            if not (factor and equals and level):
                raise CampaignError(f"Cannot use --as '{text}': '{one}' names no level. {_FORM}.")
            if factor in levels:
                fact = f"factor {factor} appears twice"
                raise CampaignError(f"Cannot use --as '{text}': {fact}. {_FORM}.")
            levels[factor] = level
        return cls(study.strip(), levels)

    def place(self, campaign: Campaign, facts: Mapping[str, Fact]) -> Place:
        """Give the place of a run with these facts.

        Raises CampaignError when the campaign has no such study, factor or level, a factor is not
        named, or the run has not the fact that is asked for.
        """
        study = campaign.studies.get(self.study)
        if study is None:
            raise self._refused(f"there is no study '{self.study}'", campaign.studies)
        for named in self.levels:
            if named not in study.factors:
                raise self._refused(f"study {self.study} has no factor '{named}'", study.factors)
        levels = {}
        for name, factor in study.factors.items():
            if name not in self.levels:
                raise self._refused(f"factor {name} of study {self.study} is not named", [name])
            level = self._filled(self.levels[name], facts)
            found = factor.level_called(level)
            if found is None:
                raise self._refused(f"factor {name} has no level '{level}'", factor.names)
            levels[name] = found
        return Place(self.study, levels)

    def _filled(self, level: str, facts: Mapping[str, Fact]) -> str:
        for name in _PLACEHOLDER.findall(level):
            if name not in facts:
                raise self._refused(f"the run has no fact called '{name}'", facts)
        return _PLACEHOLDER.sub(lambda found: f"{facts[found[1]]}", level)

    def _refused(self, fact: str, there: Iterable[str]) -> CampaignError:
        names = ", ".join(there)
        return CampaignError(f"Cannot use --as: {fact}. Name one of: {names}.")
