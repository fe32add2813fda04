# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/campaigns-coverage.md names what the shipped campaigns have, and leaves no study out."""

from __future__ import annotations

import lzma
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pandas as pd
import pytest
from click.testing import CliRunner

from strata.campaign.load import load_campaign, shipped_campaigns
from strata.campaign.model import MEASURES, Campaign
from strata.cli import campaign_run
from strata.cli.campaign_import import command as import_command
from strata.cli.main import strata
from strata.originals.formats import FORMATS
from strata.scenario.load import load_scenario, shipped_scenarios
from strata.study.campaign_results import open_results
from strata.study.long_frames import long_frame
from strata.study.tables import TABLES, table_of

ROOT = Path(__file__).parents[3]
DATA = ROOT / "analysis" / "tests" / "campaigns" / "data"
PAGE = (ROOT / "docs" / "campaigns-coverage.md").read_text(encoding="utf-8")
CAMPAIGNS = [
    path.stem
    for path in shipped_campaigns()
    if load_campaign(str(path)).campaign.original is not None
]
"""The five originals; templates for real sensors have none, and no section."""


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


def settings_of(campaign: Campaign) -> set[str]:
    """The settings of every scenario that a cell may run."""
    studies = campaign.studies.values()
    factors = [factor for study in studies for factor in study.factors.values()]
    varied = {factor.level(name).scenario for factor in factors for name in factor.names}
    scenarios = {*varied, *(study.scenario for study in studies)} - {None}
    return {one.name for name in scenarios if name for one in load_scenario(name).settings}


def is_command(words: list[str]) -> bool:
    """Whether `strata VERB ... --option` has these verbs and options."""
    command: click.Command = strata
    options: set[str] = set()
    for word in words[1:]:
        if isinstance(command, click.Group):
            found = command.get_command(click.Context(command), word)
            if found is None:
                return False
            command = found
            options = {name for one in command.params for name in one.opts}
        elif word.startswith("-") and word not in options:
            return False
    return True


def is_known(reference: str, campaign: Campaign) -> bool:
    """Whether what a row has in backticks is in the campaign, in the code, or a file."""
    words = reference.split()
    if words[0] in ("strata", ".venv/bin/strata"):
        return is_command(words)
    if words[0] == "pytest":
        return (ROOT / words[1]).exists()
    if "/" in reference or "." in reference:
        return any(
            True for _ in [*ROOT.glob(reference), *(ROOT / "trace_configs").rglob(reference)]
        )
    return (
        reference in levels(campaign)
        or reference in MEASURES
        or reference in settings_of(campaign)
        or reference in FORMATS
        or reference in {path.stem for path in shipped_scenarios()}
        or (reference.startswith("--") and set(re.findall(r"--[a-z-]+", reference)) <= RUN_OPTIONS)
    )


def leads_somewhere(link: str) -> bool:
    """Whether a link of the page has a file, and its anchor a heading there."""
    name, _, anchor = link.partition("#")
    target = ROOT / "docs" / name
    if not target.is_file():
        return False
    titles = re.findall(r"^#+ +(.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
    return not anchor or anchor in {anchor_of(one) for one in titles}


def anchor_of(title: str) -> str:
    """The anchor of a heading: lower case, without punctuation, a hyphen for each space."""
    return re.sub(r"[^\w -]", "", title.strip().lower()).replace(" ", "-")


IS_MISSING = re.compile(
    r"(?:^|[.;:,(] *)(?:none|no such|nothing)\b"
    r"|\b(?:not|never) (?:reproduced|covered|compared|measured|imported)\b"
)
"""Says, wherever in a row, that something of the original has no counterpart."""
CLAIMS_ALL = re.compile(r"\ball of (?:these|its|the) (?:figures|tables|plots)\b")
"""Claims figures without naming them: nobody can check that."""
RUN_OPTIONS = {name for one in campaign_run.command.params for name in one.opts}
NOT_COVERED = {
    "ouster": ["test cases 6 and 7 of the author's later pages: changes of the driver"],
    "relay": ["gRPC, Thrift, Zenoh without ROS 2 (later page)"],
    "sizes": ["its printed figures"],
    "camera": ["table of pool type, total, threshold, daemon; transport options"],
}
"""What is not ROS 2, what no longer exists, a patch of an original's driver, and thresholds that no
image is small enough to tell apart: all that a user of these studies has to miss."""


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_every_row_names_what_is_there(name: str) -> None:
    campaign = load_campaign(name).campaign
    unknown, bare, missing = [], [], []
    for original, here, figures in rows(name):
        references = [*re.findall(r"`([^`]+)`", here), *named_figures(figures)]
        links = re.findall(r"\]\(([^)]+)\)", here)
        texts = [one for one in references if isinstance(one, str)]
        unknown += [(original, one) for one in texts if not is_known(one, campaign)]
        unknown += [(original, one) for one in links if not leads_somewhere(one)]
        if IS_MISSING.search(here):
            missing.append(original)
        elif not references:
            # A link alone shows nothing of it: any page would do.
            bare.append(original)
        if CLAIMS_ALL.search(here):
            bare.append(original)
    assert unknown == []
    assert bare == []
    assert missing == NOT_COVERED.get(name, [])


def test_an_import_has_rows_in_each_figure_that_is_promised_of_it(tmp_path: Path) -> None:
    (promised,) = (cells for here, *cells in rows("ouster") if here == "its raw files")
    figures = list(named_figures(promised[1]))
    assert len(figures) >= 10
    results = open_results(imported_ouster(tmp_path))
    without = []
    for study, kind, of in figures:
        stated = results.study(study).stated.figures
        (figure,) = (one for one in stated if one.kind == kind and (of is None or one.of == of))
        if kind not in TABLES:
            is_there = has_origin(long_frame(results, study, str(of)))
        elif kind == "published":
            # Of printed figures each import has a column of its own.
            made = table_of(results, study, figure)
            own = [one.name for one in made.columns if one.label == "imported: 2020"]
            is_there = len(own) == 1 and bool(made.frame[own].notna().any(axis=None))
        else:
            is_there = has_origin(table_of(results, study, figure).frame)
        if not is_there:
            without.append((study, kind, of))
    assert without == []


def imported_ouster(place: Path) -> Path:
    """Import the original's raw files, each at its test case."""
    words = []
    for at, packed in enumerate(sorted(DATA.glob("tc-0*.csv.xz")), start=1):
        file = place / f"tc-0{at}.txt"
        file.write_bytes(lzma.decompress(packed.read_bytes()))
        words += [str(file), "--as", f"test_cases:test_case=tc{at}"]
    target = place / "ouster"
    done = CliRunner().invoke(
        import_command, [str(target), *words, "--new", "ouster", "--name", "2020"]
    )
    assert done.exit_code == 0, done.output
    return target


def has_origin(made: pd.DataFrame) -> bool:
    return "origin" in made and set(made["origin"].astype(str)) == {"2020"}


@pytest.mark.parametrize("name", CAMPAIGNS)
def test_every_printed_figure_is_shown_beside_ours(name: str) -> None:
    campaign = load_campaign(name).campaign
    published = campaign.original.published if campaign.original else []
    figures = [figure for study in campaign.studies.values() for figure in study.figures]
    shown = {figure.file for figure in figures if figure.kind == "published"}
    assert shown == set(published)


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
