# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a study about saturation: which rate fills an executor, by the levels of others."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from strata.campaign.model import Figure
from strata.study.campaign_results import Factor, Outcome, Results, Study
from strata.study.executor_saturation import VERDICTS, Saturation
from strata.study.level_texts import level_text, levels_words
from strata.study.tables.loss_evidence import cell_groups
from strata.study.tables.saturation import executors_of, verdict_words
from strata.study.tables.table import first_ones
from strata.study.wording import NANOSECONDS, count_words, value_text
from strata.units import format_share

_MOST_SENTENCES = 4
_SATURATED, _NEAR, _NOT = VERDICTS
_WORDS = {_SATURATED: "saturated", _NEAR: "near", _NOT: "not"}


def saturation_answer(results: Results, study: str, figure: Figure) -> tuple[str, ...]:
    """Return the sentences about saturation; none where nothing was measured.

    First how many cells are saturated; then, for combinations of the other factors in which the
    verdict depends on the rate, from which rate on it is.
    """
    found = results.study(study)
    rate = next((factor for factor in found.factors if factor.unit == "Hz"), None)
    others = [factor.name for factor in found.factors if factor is not rate]
    executors = executors_of(results, study)
    groups = [
        (levels, [(cell, fullest(executors.get(cell.id, ()))) for cell in cells])
        for levels, cells in cell_groups(found, others, figure)
    ]
    known = [(levels, [(c, s) for c, s in own if s is not None]) for levels, own in groups]
    every = [one for _, own in known for _, one in own]
    if not every:
        return ()
    count = sum(one.verdict == _SATURATED for one in every)
    near = sum(one.verdict == _NEAR for one in every)
    out = [
        f"Saturation: of {count_words(len(every), 'cell', 'cells')} {count:,} "
        f"{'is' if count == 1 else 'are'} saturated and {near:,} near it"
    ]
    if rate is None:
        return tuple(out)
    said = [
        _of_group(found, rate, levels, [(c, s) for c, s in own if s is not None])
        for levels, own in known
        if len({one.verdict for _, one in own if one is not None}) > 1
    ]
    rest = len(said) - _MOST_SENTENCES
    out += said[:_MOST_SENTENCES]
    if rest > 0:
        more = count_words(rest, "further combination", "further combinations")
        out.append(f"The table of saturation has {more} of levels that a rate saturates")
    return tuple(out)


def fullest(executors: Sequence[Saturation]) -> Saturation | None:
    """Return the executor with the largest load; null without any."""
    return max(executors, key=lambda one: one.load, default=None)


def _of_group(
    study: Study,
    rate: Factor,
    levels: dict[str, str],
    own: Sequence[tuple[Outcome, Saturation]],
) -> str:
    """Say what a message asks for at these levels, which rate fills the executor, what was seen."""
    relays = study.stated.changes.get("relays")
    chain = f"a chain of {count_words(relays, 'relay', 'relays')}" if type(relays) is int else ""
    told = levels_words(study, levels)
    # What callbacks take when they do not wait for each other.
    least = min(own, key=lambda pair: pair[1].load)[1]
    what = "one thread" if least.parallel == 1 else f"{least.parallel} threads"
    allowed = (
        "" if least.largest_hz is None else f" saturates {what} from {least.largest_hz:.3g} Hz"
    )
    text = (
        f"{chain or 'the work'} with {told}{allowed}, by the measured callbacks: a message asks "
        f"for {value_text(least.work_ns, NANOSECONDS)}. Measured: {_seen(rate, own)}"
    )
    worst = max(own, key=lambda pair: pair[1].load)[1]
    return text + _worst(worst)


def _seen(rate: Factor, own: Sequence[tuple[Outcome, Saturation]]) -> str:
    """List the verdict at each rate: not at 20 and 100 Hz, saturated at 200 Hz."""
    by_rate: dict[str, list[str]] = {}
    for cell, one in own:
        by_rate.setdefault(cell.cell.levels[rate.name], []).append(one.verdict)
    said = [
        (verdict_words(by_rate[level]), level_text(level, rate))
        for level in rate.levels
        if level in by_rate
    ]
    return ", ".join(
        f"{_WORDS.get(verdict, verdict)} at {first_ones([text for _, text in texts])}"
        for verdict, texts in groupby(said, key=lambda pair: pair[0])
    )


def _worst(one: Saturation) -> str:
    """Say what a saturated executor looks like: how busy, what it took, what became of the rest."""
    parts = []
    if one.busy is not None:
        parts.append(f"its threads are {format_share(one.busy)} busy")
    if one.received_hz is not None:
        parts.append(f"it takes {one.received_hz:.3g} of {one.asked_hz:.3g} messages a second")
    if one.growth is not None and one.growth.rises:
        parts.append(f"the latency grows by {value_text(one.growth.slope, NANOSECONDS)} a second")
    if one.loss:
        parts.append(f"{format_share(one.loss)} are lost")
    return f" (there {', '.join(parts)})" if parts else ""
