# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Find, read and check campaigns."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from strata.campaign.file_checks import first_fault
from strata.campaign.model import Campaign
from strata.errors import CampaignError, StrataError
from strata.record.places import find_file, shipped_files
from strata.scenario.load import read_extended, refused_document
from strata.scenario.located import LocatedDict, line_of, refusal

WHAT = "campaign"
_DOCS = "docs/campaigns.md lists the keys"


@dataclass(frozen=True)
class LoadedCampaign:
    """A checked campaign and its file; `sha256` is of the file and of those that it extends.

    `document` is what the file says, with the lines.
    """

    file: Path
    sha256: str
    campaign: Campaign
    document: LocatedDict
    extends: bool

    @property
    def name(self) -> str:
        """Name the campaign, by its file unless it says otherwise."""
        return self.campaign.name or self.file.stem

    def text(self) -> str:
        """Give the file's text, with what it extends resolved."""
        if self.extends:
            return yaml.safe_dump(_plain(self.document), sort_keys=False, allow_unicode=True)
        return self.file.read_text(encoding="utf-8")

    def refusal(self, place: tuple[str | int, ...], fact: str, advice: str = _DOCS) -> StrataError:
        """Make the error for one place of the file."""
        where = ".".join(map(str, place))
        line = line_of(self.document, place)
        return refusal(self.file, line, f"key '{where}': {fact}", advice, WHAT)


def shipped_campaigns() -> list[Path]:
    """List the files of the campaigns that ship, by name."""
    return shipped_files("campaigns", ".yaml")


def load_campaign(name: str) -> LoadedCampaign:
    """Read a campaign and check it, but for its scenarios (`strata.campaign.cells` does).

    `name` is a path, or the name of a shipped one. Raises CampaignError, naming the file and the
    line, for anything that cannot be meant.
    """
    path = find_file(name, WHAT, shipped_campaigns(), "Give", CampaignError)
    document, files = read_extended(path, (), WHAT)
    try:
        campaign = Campaign.model_validate(document)
    except ValidationError as error:
        raise refused_document(path, document, error, WHAT, _DOCS) from error
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    loaded = LoadedCampaign(path, digest.hexdigest(), campaign, document, len(files) > 1)
    fault = first_fault(campaign)
    if fault:
        raise loaded.refusal(*fault)
    return loaded


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value
