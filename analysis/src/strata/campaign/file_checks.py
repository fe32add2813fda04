# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What must fit together in a campaign's document, beyond the kinds of its values."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from strata.campaign.machine_requirements import unknown_need
from strata.campaign.model import (
    INHERENT,
    LEVEL_PATTERN,
    MEASURES,
    Campaign,
    Factor,
    Figure,
    Quick,
    Study,
    level_names,
    listed,
)

Fault = tuple[tuple[str | int, ...], str]
"""A place in the document, and what is wrong there."""

_OF_WHOLE_CELLS = (
    "boundaries",
    "calls",
    "findings",
    "layers",
    "loss",
    "saturation",
    "side_by_side",
    "transports",
)
_WITHOUT_MEASURE = (
    "ages",
    "anova",
    "calls",
    "clocks",
    "corrections",
    "findings",
    "layers",
    "loss",
    "published",
    "saturation",
    "side_by_side",
    "transports",
)
_PAIRED = ("pairs", "spread", "spread_interaction")
_ALONG_RATES = ("boundaries", "findings")
_OVER = (*_PAIRED, *_ALONG_RATES, "segmented", "side_by_side")
_TWO_OR_THREE = (2, 3)
_OF_PROCESSES = ("cpu", "cpu_by_second", "rss", "rss_max")
_REPETITION = re.compile(r"r[0-9]+")


def first_fault(campaign: Campaign) -> Fault | None:
    """Give the first thing that does not fit; null when all does."""
    return next(_faults(campaign), None)


def _faults(campaign: Campaign) -> Iterator[Fault]:
    for name, study in campaign.studies.items():
        for place, fact in _study(study):
            yield ("studies", name, *place), fact
        for number, figure in enumerate(study.figures):
            if figure.kind == "published" and figure.file not in _published(campaign):
                place = ("studies", name, "figures", number)
                yield place, f"file '{figure.file}' is not one of original.published"
    if campaign.quick:
        for name in campaign.quick:
            if name not in campaign.studies:
                yield ("quick", name), f"there is no study '{name}'"
        for name, study in campaign.studies.items():
            if name not in campaign.quick:
                yield ("quick",), f"study '{name}' is missing; `{name}: {{}}` runs it as it is"
                return
            for place, fact in _quick(campaign.quick[name], study):
                yield ("quick", name, *place), fact


def _published(campaign: Campaign) -> list[str]:
    return campaign.original.published if campaign.original else []


def _study(study: Study) -> Iterator[Fault]:
    for name, factor in study.factors.items():
        for place, fact in _factor(factor):
            yield ("factors", name, *place), fact
        if name in INHERENT:
            yield ("factors", name), f"'{name}' cannot name a factor: results have such a column"
    yield from _conflicts(study)
    for number, exclusion in enumerate(study.exclusions):
        for name, named in exclusion.when.items():
            for fact in _unknown_levels(study, name, level_names(named)):
                yield ("except", number, "when", name), fact
    for number, figure in enumerate(study.figures):
        if figure.limit is not None and figure.limit.at == "x":
            along = study.factors.get(figure.x or "")
            if along is not None and not along.numeric:
                yield ("figures", number, "limit"), f"the levels of '{figure.x}' are no numbers"
        for key, name in figure.named_factors:
            if name not in study.factors and name not in INHERENT:
                yield ("figures", number, key), f"there is no factor '{name}'{_known(study)}"
        for name, named in figure.where.items():
            for fact in _unknown_levels(study, name, level_names(named)):
                yield ("figures", number, "where", name), fact
        if figure.of is None and figure.kind not in _WITHOUT_MEASURE:
            yield ("figures", number), f"a figure of kind {figure.kind} needs `of`, a measure"
        if figure.of is not None and figure.of not in MEASURES:
            known = ", ".join(MEASURES)
            yield (("figures", number, "of"), f"'{figure.of}' is no measure (there are {known})")
        for place, fact in (*_figure(figure), *_of_numbers(figure, study)):
            yield ("figures", number, *place), fact


def _figure(figure: Figure) -> Iterator[Fault]:
    """Say what a kind of figure lacks, and what its values are not told apart by."""
    if figure.kind == "anova" and len(figure.factors or listed(figure.rows)) not in _TWO_OR_THREE:
        yield (), "an analysis of variance needs `factors`, two or three of them"
    if figure.kind in _OVER and figure.over is None:
        yield (), f"a figure of kind {figure.kind} needs `over`, a factor"
    if figure.kind == "spread_interaction" and figure.by is None:
        yield (), "a figure of kind spread_interaction needs `by`, a factor"
    if figure.consecutive and figure.kind not in _PAIRED:
        yield ("consecutive",), f"a figure of kind {figure.kind} has no pairs of levels"
    if figure.fit and (figure.kind != "curve" or figure.x is None):
        yield ("fit",), "only a figure of kind curve with `x`, a factor of numbers, has a fit"
    if figure.limit is not None and figure.kind != "curve":
        yield ("limit",), f"a figure of kind {figure.kind} has no limit; a curve has"
    if figure.kind == "findings" and not figure.by:
        yield (), "a figure of kind findings needs `by`, a factor"
    if figure.kind in _ALONG_RATES and figure.over is not None:
        for key in ("by", "panels"):
            if figure.over in listed(getattr(figure, key)):
                yield (key,), f"'{figure.over}' is what the data rate grows along (`over`)"
    for key, name in figure.named_factors:
        if name not in INHERENT or name == "repetition":
            continue
        if figure.kind in _OF_WHOLE_CELLS:
            yield (key,), f"a figure of kind {figure.kind} is of whole cells, which have no {name}"
        elif name not in told_apart_by(_measure(figure)):
            yield (key,), f"values of {_measure(figure)} have no {name}"


def _measure(figure: Figure) -> str:
    return figure.of or {"ages": "point_age", "clocks": "clock_offset"}.get(figure.kind, "latency")


def _of_numbers(figure: Figure, study: Study) -> Iterator[Fault]:
    """Say whether a straight line is asked for along something that has no numbers."""
    key = "over" if figure.kind == "segmented" else "x" if figure.fit else ""
    factor = study.factors.get(str(getattr(figure, key))) if key else None
    if factor is not None and not factor.numeric:
        yield (key,), f"'{getattr(figure, key)}' is no factor of numbers: lines need numbers"


def told_apart_by(measure: str) -> tuple[str, ...]:
    """Name what the values of a measure are told apart by, beside the study's factors."""
    if measure in _OF_PROCESSES:
        return ("process",)
    if measure == "cpu_all":
        return ()
    if measure == "clock_offset":
        return ("clock",)
    if measure == "point_age":
        return ("hop", "column")
    return ("hop", "layer") if measure in ("layer", "call_layer") else ("hop",)


def _factor(factor: Factor) -> Iterator[Fault]:
    names = factor.names
    for number, name in enumerate(names):
        if names.index(name) != number:
            yield ("levels", number), f"level '{name}' appears twice"
        if isinstance(factor.levels, list) and not re.match(LEVEL_PATTERN, name):
            yield ("levels", number), f"'{name}' cannot be part of a directory name"
        if _REPETITION.fullmatch(name):
            key = name if isinstance(factor.levels, dict) else number
            yield ("levels", key), f"'{name}' cannot name a level: repetitions have such names"
        for need in factor.level(name).needs:
            fact = unknown_need(need)
            if fact:
                yield ("levels", name, "needs"), fact


def _conflicts(study: Study) -> Iterator[Fault]:
    """Two factors must not decide of the same thing: the last would win, unseen."""
    for (one, first), (other, second) in itertools.combinations(study.factors.items(), 2):
        for key in sorted(_keys(first) & _keys(second)):
            what = "choose the scenario" if key == "scenario" else f"set '{key}'"
            yield ("factors", other), f"factors '{one}' and '{other}' both {what}"


def _keys(factor: Factor) -> set[str]:
    levels = [factor.level(name) for name in factor.names]
    keys = {key for level in levels for key in level.changes}
    for key in ("scenario", "duration", "warm_up"):
        if any(getattr(level, key) is not None for level in levels):
            keys.add(key)
    return keys


def _quick(quick: Quick, study: Study) -> Iterator[Fault]:
    for name, named in quick.levels.items():
        for fact in _unknown_levels(study, name, level_names(list(named))):
            yield ("levels", name), fact
    for number, only in enumerate(quick.only):
        for name, level in only.items():
            for fact in _unknown_levels(study, name, level_names(level)):
                yield ("only", number, name), fact


def _unknown_levels(study: Study, factor: str, names: list[str]) -> Iterator[str]:
    if factor not in study.factors:
        yield f"there is no factor '{factor}'{_known(study)}"
        return
    known = study.factors[factor].names
    for name in names:
        if name not in known:
            yield f"factor '{factor}' has no level '{name}' (it has {', '.join(known)})"


def _known(study: Study) -> str:
    return f" (the study has {', '.join(study.factors) or 'none'})"
