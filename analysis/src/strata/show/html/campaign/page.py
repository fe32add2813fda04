# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The report of a campaign: one HTML file that needs nothing beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bokeh.resources import Resources
from jinja2 import Environment as Templates
from jinja2 import PackageLoader, StrictUndefined
from markupsafe import Markup

from strata import __version__
from strata.printable import printable
from strata.show.html import theme
from strata.show.html.campaign.dataflow import Flow, flow
from strata.show.html.campaign.figure_parts import FigurePart, figure_part
from strata.show.html.embedding import (
    breakable,
    check_target,
    figure_json,
    glued,
    page_asset,
    seen,
    write_page,
)
from strata.show.words.campaign_tables import TablePart, table_part, unfinished_cells
from strata.study.level_texts import level_text
from strata.study.report_contents import Chart, Contents, Environment, Study, StudyPart
from strata.study.wording import sentence
from strata.units import NOTHING, format_number


@dataclass(frozen=True)
class StudySection:
    """What the page shows of a study."""

    study: Study
    answer: tuple[str, ...]
    parts: tuple[FigurePart | TablePart, ...]
    counts: dict[str, int]


def write_page_of(
    contents: Contents, path: Path, *, force: bool, replace_page: bool = False
) -> Path:
    """Write the page of a campaign to `path` and return that path.

    Raises OutputError when the file exists and `force` is not given, or when it cannot be written.
    """
    check_target(path, force=force, replace_page=replace_page)
    return write_page(path, render_page(contents))


def render_page(contents: Contents) -> str:
    """Return the page as text; it depends on `contents` alone."""
    sections = [_section(part, at) for at, part in enumerate(contents.studies)]
    facts = facts_of(contents.environments, contents.changed)
    return (
        _templates()
        .get_template("template.html.j2")
        .render(
            contents=contents,
            version=__version__,
            sections=sections,
            outcomes=unfinished_cells(contents.cells),
            facts=facts,
            changed=[fact for fact in facts if fact.changed],
            machine=_machine(facts),
            machines=contents.machines and table_part(contents.machines, "machines"),
            flow=_flow(contents.studies),
            figures=_figure_items(sections),
            paints=theme.paints(),
            style=page_asset("style.css") + _asset("campaign.css"),
            script=_asset("campaign.js"),
            bokeh=Markup(Resources(mode="inline", components=["bokeh"]).render_js()),
        )
    )


def _section(part: StudyPart, at: int) -> StudySection:
    study = part.study
    parts: list[FigurePart | TablePart] = []
    for number, item in enumerate(part.parts):
        place = f"s{at}-{number}"
        if isinstance(item, Chart):
            parts.append(figure_part(item, study, place))
        else:
            parts.append(table_part(item, place))
    counts: dict[str, int] = {}
    for cell in study.cells:
        counts[cell.status] = counts.get(cell.status, 0) + 1
    return StudySection(study, tuple(map(sentence, part.answer)), tuple(parts), counts)


def _flow(studies: Sequence[StudyPart]) -> Flow | None:
    present = dict.fromkeys(layer for part in studies for layer in part.present_layers)
    return flow(present, {part.study.name: part.stamps for part in studies})


def _machine(facts: Sequence[Fact]) -> str:
    """Name the machine by what is known of it."""
    told = {fact.name: fact.texts[0] for fact in facts if fact.texts[0] != NOTHING}
    names = ("host.cpu_model", "host.cpu_count", "host.distribution", "host.kernel")
    shown = [
        told[name] + (" CPUs" if name.endswith("count") else "") for name in names if name in told
    ]
    return ", ".join(shown)


def _figure_items(sections: Sequence[StudySection]) -> list[tuple[str, Markup]]:
    """Every panel's place on the page and its document as JSON."""
    items = []
    for section in sections:
        for part in section.parts:
            if not isinstance(part, FigurePart):
                continue
            for at, panel in enumerate(part.panels):
                if panel.plot is not None:
                    place = f"{part.place}-{at}"
                    items.append((place, figure_json(panel.plot, place)))
    return items


def _templates() -> Templates:
    templates = Templates(
        loader=PackageLoader("strata.show.html.campaign", "."),
        autoescape=True,
        finalize=seen,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["breakable"] = breakable
    templates.filters["glued"] = glued
    templates.filters["sentence"] = sentence
    templates.filters["words"] = lambda name: name.replace("_", " ")
    templates.filters["level"] = level_text
    templates.filters["slug"] = lambda layer: theme.paint(layer).slug
    templates.filters["count"] = lambda number: f"{number:,}"
    templates.filters["number"] = lambda value: (
        NOTHING if value is None else format_number(float(value))
    )
    templates.tests["figure_part"] = lambda part: isinstance(part, FigurePart)
    return templates


def _asset(name: str) -> Markup:
    return Markup((Path(__file__).parent / name).read_text(encoding="utf-8"))


_LONGEST_LIST = 12


@dataclass(frozen=True)
class Fact:
    """A fact of the machine, and its texts at each start; `changed` when that matters."""

    name: str
    texts: tuple[str, ...]
    changed: bool


def facts_of(environments: Sequence[Environment], changed: Sequence[str]) -> list[Fact]:
    """Return every fact with its text at each start; what is not known is a dash.

    `changed` names the facts that differ and do not merely pass, as the load does.
    """
    names = dict.fromkeys(name for one in environments for name in one.facts)
    out = []
    for name in names:
        texts = tuple(fact_text(one.facts.get(name)) for one in environments)
        out.append(Fact(name, texts, name in changed))
    return out


def fact_text(value: object) -> str:
    """Write a fact; lists with commas, cut where they are long, and null as a dash."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        shown = [fact_text(item) for item in value[:_LONGEST_LIST]]
        rest = len(value) - len(shown)
        return ", ".join(shown) + (f" and {rest} more" if rest else "") if shown else NOTHING
    return printable(str(value)) or NOTHING
