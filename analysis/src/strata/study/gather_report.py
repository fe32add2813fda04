# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A campaign's directory as the contents of its report: the one place that reads its results."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from strata.campaign import model
from strata.campaign.machine_description import changes, flat_facts
from strata.errors import StrataError
from strata.study.beside_campaigns import joined_factors, with_beside
from strata.study.campaign_results import FAILED, FINISHED, Outcome, Results, open_results
from strata.study.campaign_results import Study as StudyResults
from strata.study.client_libraries import client_words
from strata.study.imported_ranges import range_frame, ranged_measures
from strata.study.imported_results import Import, read_imports
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import MEASURES, OVER_TIME
from strata.study.report_answers import LOSSES, PRIMARY, SHORTFALL, answer
from strata.study.report_contents import (
    CellRow,
    Chart,
    Contents,
    Environment,
    Measure,
    Original,
    Request,
    StampPlace,
    Study,
    StudyPart,
)
from strata.study.report_findings import report_findings
from strata.study.saturation_answers import saturation_answer
from strata.study.stamp_modes import modes_of
from strata.study.table_answers import table_answers
from strata.study.tables import TABLES, Table, table_of
from strata.study.tables.clock_offsets import OF_TWO_CLOCKS, STAMP_LATENCY, ClockErrors
from strata.study.tables.machines import machine_facts, machine_pairs
from strata.study.tables.point_ages import POINT_AGE
from strata.study.tables.study_fits import fits_of

Progress = Callable[[int, int, str], None]
"""Called with how many figures and tables are made, of how many, and the next one's study."""


def gather(
    directory: Path,
    *,
    progress: Progress | None = None,
    beside: Sequence[tuple[str, Path]] = (),
) -> Contents:
    """Read a campaign's directory into the contents of its report.

    `beside` are names and directories of the same campaign on other machines. What was not measured
    yet is measured. Raises CampaignError when one is no campaign's directory, and as `with_beside`.
    """
    results = measured_results(with_beside(open_results(directory), beside))
    done = [0]
    total = sum(len(study.stated.figures) for study in results.studies.values())

    def step(study: str) -> None:
        if progress is not None:
            progress(done[0], total, study)
        done[0] += 1

    imports = read_imports(directory)
    studies = [_study_part(results, study, imports, step) for study in results.studies.values()]
    return _contents(results, studies)


def _contents(results: Results, studies: Sequence[StudyPart]) -> Contents:
    document = results.directory.document
    environments: Sequence[Mapping[str, Any]] = document.get("environments") or ()
    return Contents(
        name=results.directory.name,
        question=results.campaign.question,
        file=str(document.get("file") or ""),
        digest=str(document.get("sha256") or ""),
        made_utc=str(document.get("made_utc") or ""),
        is_quick=bool(document.get("quick")),
        seed=document.get("seed"),
        cells=tuple(cell for part in studies for cell in part.study.cells),
        studies=tuple(studies),
        environments=tuple(map(_environment, environments)),
        changed=_changed(environments),
        original=_original(results.campaign.original),
        findings=report_findings(results),
        commands=_commands(results),
        machines=machine_facts(results),
    )


def measured_results(results: Results) -> Results:
    """Return the results with every finished cell measured; one that cannot be has failed.

    One cell without a trace or with a damaged one is a gap of the report, and not its end.
    """
    studies = {
        name: replace(study, outcomes=tuple(_measured(results, one) for one in study.outcomes))
        for name, study in results.studies.items()
    }
    beside = tuple((name, measured_results(other)) for name, other in results.beside)
    for name, study in studies.items():
        others = [other.studies[name] for _, other in beside if name in other.studies]
        studies[name] = joined_factors(study, others)
    # What was found before may be of cells that have failed by now.
    return replace(results, studies=studies, beside=beside, _answers={})


def _measured(results: Results, outcome: Outcome) -> Outcome:
    if outcome.status != FINISHED:
        return outcome
    try:
        results.measured(outcome)
    except StrataError as error:
        reason = f"it ran, and cannot be measured: {str(error).rstrip('.')}"
        return replace(outcome, status=FAILED, reason=reason)
    return outcome


def _study_part(
    results: Results, study: StudyResults, imports: list[Import], step: Callable[[str], None]
) -> StudyPart:
    shown = _study(study, client_words(results, study.finished))
    parts: list[Chart | Table] = []
    frames = _Frames(results, study.name)
    errors = ClockErrors(results, study.name, STAMP_LATENCY)
    for figure in study.stated.figures:
        step(study.name)
        if figure.kind in TABLES:
            parts.append(table_of(results, study.name, figure))
        else:
            made = _chart(frames, figure, errors)
            if figure.fit:
                fits = fits_of(results, study.name, figure).found
                made = replace(made, fits={tuple(one.levels.values()): one for one in fits})
            parts.append(made)
    parts += _clocks(results, study, frames)
    parts += _ranges(results, study.name, imports, frames)
    parts += _of_machines(results, study)
    layers = frames.get("layer").frame
    asked = [figure.of for figure in study.stated.figures if figure.of in PRIMARY]
    ages = [POINT_AGE] if any(one.kind == "ages" for one in study.stated.figures) else []
    primary = dict.fromkeys([*asked, *ages, *LOSSES, SHORTFALL])
    charts = [frames.get(name) for name in primary if name]
    present = tuple(str(layer) for layer in layers["layer"].dropna().unique())
    said = answer(shown, charts, layers)
    for figure in study.stated.figures:
        if figure.kind == "saturation":
            said += saturation_answer(results, study.name, figure)
    said += table_answers(shown, [one for one in parts if isinstance(one, Table)])
    return StudyPart(shown, said, tuple(parts), present, _stamps(results, study))


def _of_machines(results: Results, study: StudyResults) -> list[Table]:
    """Make the table that compares each machine beside with this one; no file has to ask for it."""
    if not any(study.name in other.studies for _, other in results.beside):
        return []
    asked = [figure.of for figure in study.stated.figures if figure.of in PRIMARY]
    measures = dict.fromkeys(one for one in asked if one is not None)
    return [machine_pairs(results, study.name, one) for one in measures]


def _stamps(results: Results, study: StudyResults) -> tuple[StampPlace, ...]:
    """Say where stamps are taken in each stamp mode of the study's cells."""
    modes = modes_of(results, study.name)
    out = []
    for mode, levels in modes.items():
        texts = [", ".join(one.values()) for one in levels if one] if len(modes) > 1 else []
        out.append(StampPlace(mode.name, mode.where, mode.is_of_sensor, tuple(texts)))
    return tuple(out)


def _clocks(results: Results, study: StudyResults, frames: _Frames) -> list[Chart | Table]:
    """Make figure and table of the logs of clocks that belong to a study; no file has to ask."""
    if any(figure.kind == "clocks" for figure in study.stated.figures):
        return []
    found = frames.get("clock_offset")
    if found.frame.empty:
        return []
    request = Request("timeline", "clock_offset", by="clock")
    table = table_of(results, study.name, model.Figure(kind="clocks", rows=["clock"]))
    return [Chart(request, found.measure, found.frame), table]


def _ranges(
    results: Results, study: str, imports: list[Import], frames: _Frames
) -> list[Chart | Table]:
    """Make a figure of each measure that imports have ranges of; no file has to ask for it."""
    charts: list[Chart | Table] = []
    for name in ranged_measures(imports):
        if name not in MEASURES:
            continue
        found = frames.get(name)
        rows = range_frame(results, imports, study, name, found.frame)
        if len(rows):
            charts.append(Chart(Request("ranges", name), found.measure, rows))
    return charts


class _Frames:
    """The long frames of a study, each made once: a figure keeps the rows that it asks for."""

    def __init__(self, results: Results, study: str) -> None:
        self._results, self._study = results, study
        self._made: dict[str, Chart] = {}

    @property
    def is_on_machines(self) -> bool:
        """Whether hosts of cells were machines, with a link of their own."""
        return any(one.cell.hosts for one in self._results.study(self._study).outcomes)

    def get(self, name: str) -> Chart:
        if name not in self._made:
            declared = MEASURES[name]
            frame = long_frame(self._results, self._study, name)
            shown = Measure(name, declared.unit, declared.each, declared.text)
            self._made[name] = Chart(Request("samples", name), shown, frame)
        return self._made[name]


def _limit(figure: model.Figure, frames: _Frames) -> tuple[float | str, str] | None:
    """Return the line of reference; none of a link that the cells did not use."""
    if figure.limit is None or (figure.limit.of == "link" and frames.is_on_machines):
        return None
    return figure.limit.at, figure.limit.text


def _chart(frames: _Frames, figure: model.Figure, errors: ClockErrors) -> Chart:
    name = figure.of or "latency"
    has_errors = name in OF_TWO_CLOCKS
    said = errors.caption() if has_errors else ""
    if figure.kind == "timeline":
        name = OVER_TIME.get(name, name)
    request = Request(
        kind=figure.kind,
        of=name,
        x=figure.x or ("column" if figure.kind == "band" else ""),
        by=figure.by or "",
        panels=tuple(model.listed(figure.panels)),
        where={key: tuple(model.level_names(level)) for key, level in figure.where.items()},
        statistic=figure.statistic or "p50",
        confidence=figure.confidence[0],
        scale=figure.scale or "",
        fit=figure.fit or "",
        limit=_limit(figure, frames),
        text="; ".join(filter(None, (figure.text, said))),
    )
    found = frames.get(name)
    known = errors.by_cell if has_errors else {}
    return Chart(request, found.measure, found.frame, errors=known)


def _study(study: StudyResults, client: str) -> Study:
    stated = study.stated
    cells = tuple(_cell(outcome) for outcome in study.outcomes)
    warm_ups = [outcome.cell.warm_up for outcome in study.outcomes]
    durations = dict.fromkeys(outcome.cell.duration or "" for outcome in study.outcomes)
    return Study(
        name=study.name,
        question=stated.question,
        scenario=stated.scenario,
        factors=study.factors,
        cells=cells,
        warm_up=max(warm_ups, default=stated.warm_up),
        repetitions=max((cell.repetition for cell in cells), default=stated.repetitions),
        duration=_duration(list(durations)),
        client=client,
    )


def _duration(durations: list[str]) -> str:
    """Say how long a cell is: plain numbers are messages."""
    if len(durations) != 1 or not durations[0]:
        return ""
    text = durations[0]
    return f"{text} messages" if text.isdigit() else text


def _cell(outcome: Outcome) -> CellRow:
    state = outcome.state
    load = state.load_average[0] if state and state.load_average else None
    return CellRow(
        cell_id=outcome.id,
        study=outcome.cell.study,
        levels=outcome.cell.levels,
        repetition=outcome.cell.repetition,
        status=outcome.status,
        reason=outcome.reason,
        duration_s=state.duration_s if state else None,
        load=load,
        measured=state.measured if state else "",
    )


def _original(stated: model.Original | None) -> Original | None:
    if stated is None:
        return None
    return Original(stated.title, stated.machine, tuple(stated.corrections))


def _environment(document: Mapping[str, Any]) -> Environment:
    facts = {
        key: value
        for key, value in flat_facts(document)
        if not key.startswith(("at_utc", "changed"))
    }
    return Environment(str(document.get("at_utc") or ""), facts)


def _changed(environments: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    names = [
        change["key"]
        for before, after in pairwise(environments)
        for change in changes(before, after)
    ]
    return tuple(dict.fromkeys(names))


def _commands(results: Results) -> tuple[str, ...]:
    document = results.directory.document
    directory = shlex.quote(str(results.directory.path))
    run = ["strata campaign run", shlex.quote(str(document.get("file") or "")), "-o", directory]
    run += ["--quick"] if document.get("quick") else []
    run += ["--repetitions", str(document["repetitions"])] if document.get("repetitions") else []
    run += ["--seed", str(document["seed"])] if document.get("seed") is not None else []
    run += [f"--host {shlex.quote(host)}" for host in _hosts(results)]
    given = dict(document.get("durations") or {})
    groups = {cell.group for cell in results.directory.cells}
    timed = []
    for text in dict.fromkeys(given.values()):
        own = [group for group, one in given.items() if one == text]
        only = [] if set(own) == groups else [f"--only {shlex.quote(group)}" for group in own]
        timed.append(" ".join([*run, "--duration", shlex.quote(text), *only]))
    # Cells without a duration of their own run by the plain command.
    plain = [] if given and set(given) == groups else [" ".join(run)]
    beside = [
        f"--beside {shlex.quote(f'{name}={other.directory.path}')}"
        for name, other in results.beside
    ]
    return *timed, *plain, " ".join(["strata campaign report", directory, *beside])


def _hosts(results: Results) -> list[str]:
    """Return what --host named, NAME=ADDRESS[:DIRECTORY]: as the cells ran, else as described."""
    environments = results.directory.document.get("environments") or [{}]
    described = environments[-1].get("hosts") or {}
    found = {name: f"{name}={facts.get('address')}" for name, facts in described.items()}
    for outcome in results.outcomes:
        for word, following in pairwise(outcome.state.command if outcome.state else ()):
            if word == "--host":
                found[following.partition("=")[0]] = following
    return list(found.values())
