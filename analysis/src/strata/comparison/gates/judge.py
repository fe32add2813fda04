# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Hold gates against what was measured.

A gate holds when the whole interval is within its bound, is broken when the whole interval is
beyond it, and is undecided when the interval straddles it. What has no interval (min, max) is held
against the bound by itself. Where too much of B is missing, or the recording of a side is not known
to be complete, it cannot be judged, and fails unless its file says otherwise. The intervals are at
95 % each and not corrected for how many gates there are: a gate was chosen before the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fnmatch import fnmatchcase

import numpy as np
import numpy.typing as npt

from strata.comparison.comparison import SEED
from strata.comparison.difference import FEWEST, Estimate, quantile_difference
from strata.comparison.gates.grammar import LOSS, Condition
from strata.comparison.gates.load import FAILS, Gate
from strata.comparison.losses import Loss, loss_of_runs
from strata.comparison.parts import Cut, Part
from strata.comparison.runs import Subject
from strata.comparison.sides import TRANSFER, Side, cut_of
from strata.comparison.values import value_of_runs
from strata.units import format_count

Ints = npt.NDArray[np.int64]

MOST_UNSEEN = 0.1
"""Of what B should have received: where more is not seen, no statistic of it is judged."""


class Outcome(Enum):
    """What a gate came to."""

    HOLDS = "holds"
    BROKEN = "broken"
    UNDECIDED = "undecided"
    MISSING = "data missing"


@dataclass(frozen=True)
class Judgement:
    """One gate held against one subject; `subject` is null where none was found.

    `found` is in ns, of losses a fraction, of a relative gate what B is beyond A, in ns. `broken`
    is what the exit status goes by: one that is undecided, or of which data are missing, is broken
    where its policy says so.
    """

    gate: Gate
    subject: Subject | None
    place: str
    outcome: Outcome
    found: Estimate | None
    text: str

    @property
    def broken(self) -> bool:
        """Tell whether it counts as broken."""
        undecided = self.outcome is Outcome.UNDECIDED and self.gate.undecided == FAILS
        missing = self.outcome is Outcome.MISSING and self.gate.missing == FAILS
        return self.outcome is Outcome.BROKEN or undecided or missing


def judge(gates: Sequence[Gate], a: Side | None, b: Side) -> list[Judgement]:
    """Judge every gate for each of its subjects, at least once each; A is null without one."""
    found = [judgement for gate in gates for judgement in _judge(gate, a, b)]
    return [_of_recordings(one, a, b) for one in found]


def _of_recordings(judgement: Judgement, a: Side | None, b: Side) -> Judgement:
    """Take back what was decided of recordings that are not complete, unless it is broken."""
    sides = {"A": a, "B": b} if judgement.gate.condition.relative else {"B": b}
    partial = [
        f"{letter}, {run.name}"
        for letter, side in sides.items()
        for run in (side.runs if side is not None else ())
        if run.incomplete
    ]
    if not partial or judgement.outcome is Outcome.BROKEN:
        return judgement
    named = "; ".join(partial)
    text = f"the recording is not known to be complete ({named}): such a gate"
    text = f"{text} {judgement.gate.missing}"
    text = f"{judgement.text}; {text}" if judgement.text else text
    return replace(judgement, outcome=Outcome.MISSING, text=text)


def _judge(gate: Gate, a: Side | None, b: Side) -> list[Judgement]:
    # A topic of which B lost everything is known of A only.
    both = gate.condition.relative or gate.condition.subject == LOSS
    sides = [b] if a is None or not both else [a, b]
    subjects = _matching(gate, sides)
    found = [one for subject in subjects for one in _of_subject(gate, sides, subject)]
    if found:
        return found
    what = f"no {gate.kind} matches {gate.pattern!r}"
    if subjects and not gate.whole:
        what = f"no {gate.kind} has {gate.condition.subject} as a layer of its own"
        others = sorted({name for subject in subjects for name in _merged(gate, sides, subject)})
        what += f"; it is within {', '.join(others)}" if others else ""
    elif subjects:
        what = "nothing was measured of it"
    return [Judgement(gate, None, "", Outcome.BROKEN, None, what)]


def _matching(gate: Gate, sides: Sequence[Side]) -> list[Subject]:
    every = dict.fromkeys(subject for side in sides for subject in side.subjects())
    return [subject for subject in every if is_matched(subject, gate.kind, gate.pattern)]


def is_matched(subject: Subject, kind: str, pattern: str) -> bool:
    """Tell whether a subject is of a kind and a pattern means it; an internal one by its name."""
    return (
        subject.kind == kind
        and (not subject.internal or pattern in subject.names)
        and any(fnmatchcase(name, pattern) for name in subject.names)
    )


def _cuts(gate: Gate, sides: Sequence[Side], subject: Subject) -> list[Cut | str | None]:
    """What the gate is of: the whole, or layers of its name (a node may have its own)."""
    if gate.condition.subject == TRANSFER:
        return [TRANSFER]
    if gate.whole:
        return [None]
    return [*cuts_named(gate.condition.subject, cut_of(sides[0], sides[-1], subject))]


def cuts_named(layer: str, cuts: Sequence[Cut]) -> list[Cut]:
    """Return the cuts of a layer's name, else one made of several that are exactly it."""
    return [cut for cut in cuts if cut.layer == layer] or _together(layer, cuts)


def _together(layer: str, cuts: Sequence[Cut]) -> list[Cut]:
    """Make a layer of several that are exactly it, so that a gate holds of finer cuts too."""
    for notified in (True, False):
        wanted = Part(layer, notified).covers
        own = [cut for cut in cuts if all(part.covers <= wanted for part in cut.parts)]
        parts = frozenset().union(*(cut.parts for cut in own))
        if own and frozenset().union(*(part.covers for part in parts)) == wanted:
            return [Cut(layer, "", parts)]
    return []


def _merged(gate: Gate, sides: Sequence[Side], subject: Subject) -> list[str]:
    """Layers of which the one that is asked for is a part."""
    return [
        cut.layer
        for cut in cut_of(sides[0], sides[-1], subject)
        if any(gate.condition.subject in part.covers for part in cut.parts)
    ]


def _of_subject(gate: Gate, sides: Sequence[Side], subject: Subject) -> list[Judgement]:
    condition = gate.condition
    if condition.subject == LOSS:
        losses = sides[-1].losses(subject)
        if not losses:
            return [_missing(gate, subject, "", "B")] if sides[0].losses(subject) else []
        return [_of_losses(gate, subject, losses)]
    unseen = _unseen(gate, sides[-1], subject)
    if unseen is not None:
        return [unseen]
    found = []
    for cut in _cuts(gate, sides, subject):
        place = cut.place if isinstance(cut, Cut) else ""
        values = [side.values(subject, cut) for side in sides]
        missing = [name for name, own in zip("AB", values, strict=False) if not own]
        if missing and len(sides) == 2:
            found.append(_missing(gate, subject, place, " and ".join(missing)))
        elif not missing:
            judged = _against(gate, subject, place, _estimate(condition, values))
            few = min(len(run) for own in values for run in own) < FEWEST
            found.append(_of_too_few(judged) if few else judged)
    return found


def _of_losses(gate: Gate, subject: Subject, losses: Sequence[Loss]) -> Judgement:
    """Hold losses against the bound: with all that is unknown as received, and as lost."""
    best, worst = (
        _against(gate, subject, "", loss_of_runs([one.decided(lost=lost) for one in losses]))
        for lost in (False, True)
    )
    if best.outcome is worst.outcome:
        return worst
    unknown = sum(one.unknown for one in losses)
    text = (
        f"of {format_count(unknown, 'message', 'messages')} it is not known whether they are lost"
    )
    return replace(worst, outcome=Outcome.MISSING, text=f"{text}: such a gate {gate.missing}")


def _unseen(gate: Gate, b: Side, subject: Subject) -> Judgement | None:
    """Return the judgement of a subject of which most of B was not seen, or nothing received."""
    unseen, every = b.unseen(subject)
    received = every - unseen
    if not unseen or unseen <= MOST_UNSEEN * every:
        return None
    text = (
        f"{received:,} of {format_count(every, 'message', 'messages')} seen at the reader, the "
        f"others are missing: such a gate {gate.missing}"
    )
    return Judgement(gate, subject, "", Outcome.MISSING, None, text)


def _of_too_few(judged: Judgement) -> Judgement:
    """Say that data are missing where so few values decide nothing."""
    if judged.outcome is not Outcome.UNDECIDED:
        return judged
    text = f"less than {FEWEST} values: such a gate {judged.gate.missing}"
    return replace(judged, outcome=Outcome.MISSING, text=text)


def _missing(gate: Gate, subject: Subject, place: str, side: str) -> Judgement:
    return Judgement(gate, subject, place, Outcome.BROKEN, None, f"{side} does not have it")


def _estimate(condition: Condition, values: Sequence[Sequence[Ints]]) -> Estimate:
    """Return the statistic of B; of a relative gate, by how much it is worse than in A.

    In ns, or as a fraction of A. With a bound in percent A is scaled by what it allows before the
    difference is made, so that the interval knows how uncertain A is.
    """
    if not condition.relative:
        return value_of_runs(values[-1], condition.statistic)
    a, b = values
    if min(len(run) for run in (*a, *b)) < FEWEST:
        return Estimate(float("nan"), None, None)
    if condition.unit != "%":
        return quantile_difference(a, b, condition.statistic, seed=SEED)
    allowed = [np.asarray(run * (1 + condition.bound), np.float64) for run in a]
    beyond = quantile_difference(allowed, b, condition.statistic, seed=SEED)
    base = value_of_runs(a, condition.statistic).value

    def fraction(ns: float) -> float:
        if base:
            return ns / base + condition.bound
        return condition.bound + (np.inf * ns if ns else 0.0)

    bounds = [None if ns is None else fraction(ns) for ns in (beyond.low, beyond.high)]
    return Estimate(fraction(beyond.value), *bounds)


def _against(gate: Gate, subject: Subject, place: str, found: Estimate) -> Judgement:
    condition = gate.condition
    bound = condition.bound
    limit = condition.limit or "<="
    low = -np.inf if found.low is None else found.low
    high = np.inf if found.high is None else found.high
    if limit in ("<", "<="):
        inside = high < bound if limit == "<" else high <= bound
        outside = low >= bound if limit == "<" else low > bound
    else:
        inside = low > bound if limit == ">" else low >= bound
        outside = high <= bound if limit == ">" else high < bound
    outcome = Outcome.HOLDS if inside else Outcome.BROKEN if outside else Outcome.UNDECIDED
    text = ""
    if outcome is Outcome.UNDECIDED:
        text = f"the interval holds the bound: an undecided gate {gate.undecided}"
    return Judgement(gate, subject, place, outcome, found, text)
