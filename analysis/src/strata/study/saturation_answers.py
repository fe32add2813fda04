# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a study about saturation: which rate fills an executor, by the levels of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from strata.campaign.model import Figure
from strata.study.campaign_results import Factor, Outcome, Results, Study
from strata.study.executor_saturation import VERDICTS, Saturation
from strata.study.level_texts import level_text, levels_words
from strata.study.tables.loss_evidence import cell_groups
from strata.study.tables.saturation import executors_of
from strata.study.tables.table import first_ones
from strata.study.wording import NANOSECONDS, count_words, value_text
from strata.units import format_share

_MOST_SENTENCES = 4
_MOST_NAMED = 8
_NEAR = VERDICTS[1]


def saturation_answer(results: Results, study: str, figure: Figure) -> tuple[str, ...]:
    """Return the sentences about saturation; none where nothing was measured.

    First how many cells are saturated; then, of combinations of the other factors, which are at
    every rate, and from which rate on those are of which the rate decides.
    """
    found = results.study(study)
    rate = next((factor for factor in found.factors if factor.unit == "Hz"), None)
    groups = _groups(results, study, figure, [one.name for one in found.factors if one is not rate])
    every = [one for group in groups for _, one in group.cells]
    if not every:
        return ()
    count = sum(one.is_saturated for one in every)
    near = sum(one.verdict == _NEAR for one in every)
    out = [
        f"Saturation: of {count_words(len(every), 'cell', 'cells')} {count:,} "
        f"{'is' if count == 1 else 'are'} saturated and {near:,} near it"
    ]
    if rate is None:
        return tuple(out)
    seen = [(group, {one.is_saturated for _, one in group.cells}) for group in groups]
    always = [group for group, verdicts in seen if verdicts == {True}]
    mixed = [group for group, verdicts in seen if len(verdicts) > 1]
    if always:
        out.append(_at_every_rate(found, rate, always))
    out += [_of_group(found, rate, group) for group in mixed[:_MOST_SENTENCES]]
    rest = len(mixed) - _MOST_SENTENCES
    if rest > 0:
        more = count_words(rest, "further combination", "further combinations")
        out.append(f"The table of saturation has {more} of levels that a rate saturates")
    return tuple(out)


@dataclass(frozen=True)
class _Group:
    """The cells of a combination of levels, each with the executor that decides of it."""

    levels: dict[str, str]
    cells: tuple[tuple[Outcome, Saturation], ...]


def _groups(results: Results, study: str, figure: Figure, names: Sequence[str]) -> list[_Group]:
    executors = executors_of(results, study)
    out = []
    for levels, cells in cell_groups(results.study(study), names, figure):
        pairs = [(cell, deciding(executors.get(cell.id, ()))) for cell in cells]
        known = tuple((cell, one) for cell, one in pairs if one is not None)
        if known:
            out.append(_Group(levels, known))
    return out


def deciding(executors: Sequence[Saturation]) -> Saturation | None:
    """Return the executor that decides whether a cell is saturated; null without any.

    It is the one with the largest load, of those that are saturated if there are such: one that is
    as full and keeps up does not hide them.
    """
    return max(executors, key=lambda one: (one.is_saturated, one.load), default=None)


def _at_every_rate(study: Study, rate: Factor, groups: Sequence[_Group]) -> str:
    """Name the combinations that no measured rate is low enough for."""
    measured = {cell.cell.levels[rate.name] for group in groups for cell, _ in group.cells}
    rates = first_ones([level_text(level, rate) for level in rate.levels if level in measured])
    names = [levels_words(study, group.levels) for group in groups if group.levels]
    text = f"Saturated at every rate that was measured ({rates})"
    if not names:
        return text
    rest = len(names) - _MOST_NAMED
    more = f"; and {count_words(rest, 'combination', 'combinations')} more" if rest > 0 else ""
    return f"{text}: {'; '.join(names[:_MOST_NAMED])}{more}"


def _of_group(study: Study, rate: Factor, group: _Group) -> str:
    """Say what a message asks for at these levels, which rate fills the executor, what was seen."""
    relays = study.stated.changes.get("relays")
    chain = f"a chain of {count_words(relays, 'relay', 'relays')}" if type(relays) is int else ""
    levels = levels_words(study, group.levels)
    # What callbacks take when they do not wait for each other.
    least = min(group.cells, key=lambda pair: pair[1].load)[1]
    what = "one thread" if least.parallel == 1 else f"{least.parallel} threads"
    allowed = (
        "" if least.largest_hz is None else f" saturates {what} from {least.largest_hz:.3g} Hz"
    )
    text = (
        f"{chain or 'the work'}{f' with {levels}' if levels else ''}{allowed}, by the measured "
        f"callbacks: a message asks for {value_text(least.work_ns, NANOSECONDS)}. Measured: "
        f"{_seen(rate, group)}"
    )
    worst = deciding([one for _, one in group.cells])
    return text + (_worst(worst) if worst else "")


def _seen(rate: Factor, group: _Group) -> str:
    """Say at which rates cells are saturated: not saturated at 20 Hz, 100 Hz, saturated at 200 Hz.

    Where the repetitions of a rate differ, it is in how many.
    """
    by_rate: dict[str, list[bool]] = {}
    for cell, one in group.cells:
        by_rate.setdefault(cell.cell.levels[rate.name], []).append(one.is_saturated)
    said = [
        (_word(by_rate[level]), level_text(level, rate))
        for level in rate.levels
        if level in by_rate
    ]
    return ", ".join(
        f"{word} at {first_ones([text for _, text in texts])}"
        for word, texts in groupby(said, key=lambda pair: pair[0])
    )


def _word(saturated: Sequence[bool]) -> str:
    if all(saturated) or not any(saturated):
        return "saturated" if saturated[0] else "not saturated"
    return f"saturated in {sum(saturated)} of {len(saturated)} runs"


def _worst(one: Saturation) -> str:
    """Say what a saturated executor looks like: how busy, what it took, what became of the rest."""
    parts = []
    if one.busy is not None:
        parts.append(f"its threads are {format_share(one.busy)} busy")
    if one.received_hz is not None:
        parts.append(f"it takes {one.received_hz:.3g} of {one.asked_hz:.3g} messages per second")
    if one.growth is not None and one.growth.rises:
        parts.append(f"the latency grows by {value_text(one.growth.slope, NANOSECONDS)} per second")
    if one.loss:
        parts.append(f"{format_share(one.loss)} are lost")
    return f" (there {', '.join(parts)})" if parts else ""
