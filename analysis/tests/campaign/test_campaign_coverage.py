# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/campaigns-coverage.md names what the shipped campaigns have, and leaves no study out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from strata.campaign.load import load_campaign
from strata.campaign.model import Campaign

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "campaigns-coverage.md").read_text(encoding="utf-8")
CAMPAIGNS = sorted(path.stem for path in (ROOT / "trace_configs" / "campaigns").glob("*.yaml"))


def rows(name: str) -> list[list[str]]:
    """The rows of a campaign's section: original, here, figures."""
    section = re.split(r"^## ", PAGE.split(f"\n## {name}\n")[1], flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def named_figures(cell: str) -> Iterator[tuple[str, str, str | None]]:
    """Study, kind and measure of each figure of a row."""
    for group in re.findall(r"`([^`]+)`", cell):
        study, figures = group.split(": ")
        for figure in figures.split("; "):
            kind, _, measures = figure.partition(" of ")
            for measure in measures.split(", "):
                yield study, kind, measure or None


def levels(campaign: Campaign) -> set[str]:
    """All that a study varies, and its levels."""
    studies = campaign.studies
    factors = [one for study in studies.values() for one in study.factors.items()]
    return {*studies, *(name for name, _ in factors)}.union(*(one.names for _, one in factors))


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_what_a_row_names_is_in_the_campaign(name: str) -> None:
    campaign = load_campaign(name).campaign
    known = {
        (study, figure.kind, of)
        for study, one in campaign.studies.items()
        for figure in one.figures
        for of in (figure.of, None)
    }
    found = [figure for row in rows(name) for figure in named_figures(row[2])]
    assert len(rows(name)) >= 10
    assert [figure for figure in found if figure not in known] == []
    assert {study for study, _, _ in found} == set(campaign.studies)
    words = {word for row in rows(name) for word in re.findall(r"`([a-z0-9_]+)`", row[1])}
    assert words - levels(campaign) <= {"shortfall"}
