# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a comparison found, in words and numbers for people."""

from __future__ import annotations

import math
from collections.abc import Sequence

from strata.comparison.amounts import (
    LEVEL,
    bounds_ns,
    p_text,
    percent,
    signed,
    signed_ns,
    subject_text,
)
from strata.comparison.comparison import SIGNIFICANT, Comparison, LossRow, Row, Verdict
from strata.comparison.difference import TAILS, Difference, Estimate
from strata.comparison.gates.grammar import LOSS
from strata.comparison.gates.judge import Judgement, Outcome
from strata.comparison.losses import Loss
from strata.comparison.places import PlacedTime, Split, is_in_callback
from strata.comparison.runs import Subject
from strata.comparison.sides import TRANSFER, Side
from strata.stats.dependence import FEW
from strata.stats.groups import TAIL
from strata.symbols import shorten
from strata.units import NOTHING, format_count, format_ns, format_number


def doubt_text(found: Difference) -> str:
    """Say why a p is not to be trusted: ``not to be trusted: ...``; empty where it is."""
    if not found.is_doubtful or found.effective_counts is None:
        return ""
    counts = " and ".join(format_number(count) for count in found.effective_counts)
    return f"not to be trusted: messages depend on each other and count as {counts}"


def doubts_text(comparison: Comparison) -> str:
    """Say how many p of a comparison are not to be trusted, and what to do; empty for none."""
    rows = [row for block in comparison.blocks for row in block.rows if row.difference]
    doubtful = sum(row.difference.is_doubtful for row in rows if row.difference)
    if not doubtful:
        return ""
    return (
        f"{doubtful} of {format_count(len(rows), 'shift', 'shifts')} (marked ~) are of messages "
        f"that depend on each other so much that they count as fewer than {FEW}: their p is too "
        "small and their interval too narrow, although both allow for it. Compare several runs of "
        "each side."
    )


def layer_text(row: Row) -> str:
    """Name a row: its layer, with the node where the node is part of it."""
    if row.layer is None:
        return "latency"
    if row.layer == TRANSFER:
        return "transfer (publish to callback_start)"
    return f"{row.layer} ({row.place})" if row.place else row.layer


def verdict_text(row: Row) -> str:
    """Say what a row found, with estimate, interval and corrected p."""
    found = row.difference
    if found is None or row.p is None:
        return row.verdict.value
    if row.verdict is Verdict.NONE_FOUND:
        text = f"{row.verdict.value} ({bound_text(found.shift)}; {p_text(row.p)})"
    else:
        by = format_ns(abs(found.shift.value))
        text = (
            f"{row.verdict.value} by {by} ({percent(row.relative)}; {LEVEL}: "
            f"{bounds_ns(found.shift)}; {p_text(row.p)}; delta {found.effect:+.2f})"
        )
    doubt = doubt_text(found)
    return f"{text}; p is {doubt}" if doubt else text


def tails_of(comparison: Comparison) -> tuple[str, ...]:
    """Return the names of the quantiles whose differences are told beside the shifts."""
    return comparison.quantiles or TAILS


def tail_texts(row: Row, names: Sequence[str]) -> list[str]:
    """Say how some quantiles moved, of p99 the slowest messages, each with its interval."""
    if row.difference is None:
        return []
    return [f"{name} {tail_text(row.difference.quantiles[name])}" for name in names]


def tail_text(tail: Estimate) -> str:
    """Say how a quantile moved, with its interval."""
    if tail.low is None and tail.high is None:
        return f"{signed_ns(tail.value)} (too few values for an interval)"
    return f"{signed_ns(tail.value)} ({LEVEL}: {bounds_ns(tail)})"


def bound_text(shift: Estimate) -> str:
    """Say how large a difference that was not found may be."""
    furthest = shift.furthest
    if furthest is None:
        return "too few values to bound it"
    return f"at most +-{format_ns(furthest)} at {LEVEL}"


def losses_text(loss: Loss) -> str:
    """Tell what was lost: ``12 of 2,000 (0.6 %)``."""
    unknown = f", {loss.unknown:,} more not known" if loss.unknown else ""
    return f"{loss.lost:,} of {loss.published:,} ({percent(loss.share, sign=False)}){unknown}"


def loss_text(row: LossRow) -> str:
    """Tell both sides' losses and what their difference is."""
    text = f"lost: A {losses_text(row.a)}, B {losses_text(row.b)}"
    if row.difference is None or row.p is None:
        return text
    share = row.difference.share
    points = [NOTHING if one is None else signed(100 * one) for one in (share.low, share.high)]
    interval = f"{LEVEL}: {points[0]}..{points[1]} percentage points; {p_text(row.p)}"
    return f"{text}: {row.verdict.value} ({interval})"


def sides_text(side: Side) -> str:
    """Say what runs a side has."""
    runs = format_count(len(side.runs), "run", "runs")
    names = ", ".join(run.name for run in side.runs)
    left_out = max(run.warm_up for run in side.runs)
    warm_up = f", without a warm-up of {left_out} messages each" if left_out else ""
    own = "" if names == side.name else f" ({names})"
    return f"{side.name}: {runs}{own}{warm_up}"


def found_text(comparison: Comparison) -> str:
    """Say how many of the tests found a difference."""
    found = sum(row.verdict.found for block in comparison.blocks for row in block.rows)
    found += sum(block.loss.verdict.found for block in comparison.blocks if block.loss)
    return (
        f"{found} of {format_count(comparison.tests, 'comparison', 'comparisons')} found a "
        f"difference (corrected p < {SIGNIFICANT:g})"
    )


def notes(comparison: Comparison) -> list[str]:
    """Say what the numbers are and what they cannot know."""
    texts = [
        f"Shifts are B - A (Hodges and Lehmann) with their interval at {LEVEL} each; p is "
        f"corrected (Holm) over all {comparison.tests} comparisons. Intervals of "
        f"{', '.join(tails_of(comparison))} are not.",
        "mean: what a layer adds to the mean latency of all messages, B less A. Over the layers it "
        "adds up to the difference of the mean latencies exactly (sums are integers of ns).",
    ]
    if doubts := doubts_text(comparison):
        texts.append(doubts)
    texts.append(unit_text(comparison))
    return texts


def only_count_text(comparison: Comparison) -> str:
    """Count what only one side has; empty for nothing."""
    texts = [
        f"only in {letter}: {_counted(subjects)}"
        for letter, subjects in (("A", comparison.only_a), ("B", comparison.only_b))
        if subjects
    ]
    return f"Not compared, {'; '.join(texts)} (--all)." if texts else ""


def _counted(subjects: Sequence[Subject]) -> str:
    kinds = [subject.kind for subject in subjects]
    counts = [format_count(kinds.count(kind), kind, f"{kind}s") for kind in dict.fromkeys(kinds)]
    return ", ".join(counts)


def unit_text(comparison: Comparison) -> str:
    """Say whether the differences between runs are in the intervals."""
    few = min(len(comparison.a.runs), len(comparison.b.runs))
    if not comparison.runs_are_the_unit:
        return "One run a side: differences between runs are not in these intervals."
    if few == 1:
        return (
            "Runs are the unit. One side has one run only: it is supposed to vary as the other's."
        )
    return "Runs are the unit: differences between runs are in the intervals."


def place_text(place: PlacedTime) -> str:
    """Name a layer at a hop: ``/image: middleware``, ``/detector: Filter.cb``."""
    if is_in_callback(place.layer):
        own = shorten(place.stop.symbol) or place.layer
        return f"{place.stop.subscription}: {own}"
    return f"{place.stop.topic}: {place.layer}"


def group_text(split: Split) -> str:
    """Say of which messages the times of a split are means."""
    if split.group == TAIL.key:
        return "means of the slowest 1 %"
    return "means of the messages about the median (p40 to p60)"


def only_text(comparison: Comparison) -> list[str]:
    """Name what one side has and the other has not: subjects, and layers of common ones."""
    texts = [
        f"only in {letter}: {subject.kind} {subject_text(subject)}"
        for letter, subjects in (("A", comparison.only_a), ("B", comparison.only_b))
        for subject in subjects
    ]
    layers = [
        f"{row.verdict.value}: {layer_text(row)} of {block.subject.kind} "
        f"{subject_text(block.subject)}"
        for block in comparison.blocks
        for row in block.rows
        if row.verdict in (Verdict.ONLY_A, Verdict.ONLY_B)
    ]
    return texts + layers


def merged_text(row: Row) -> str:
    """Say which layers of each side a merged row is made of; empty where they are the same."""
    if row.a is None or row.b is None or row.a.layers == row.b.layers:
        return ""
    return f"{row.layer}: A has {', '.join(row.a.layers)}; B has {', '.join(row.b.layers)}"


def quality_text(side: Side, letter: str) -> list[str]:
    """Return the findings of loss of a side's runs."""
    return [f"{letter}, {run.name}: {text}" for run in side.runs for text in run.losses]


def outcome_text(judgement: Judgement) -> str:
    """Say what a gate came to for one subject."""
    parts = [judgement.outcome.value]
    if judgement.subject is not None:
        place = f", {judgement.place}" if judgement.place else ""
        parts.append(f"{subject_text(judgement.subject)}{place}")
    if judgement.found is not None:
        parts.append(_found(judgement, judgement.found))
    if judgement.text:
        parts.append(judgement.text)
    return ": ".join(parts[:2]) + "".join(f"; {part}" for part in parts[2:])


def _found(judgement: Judgement, found: Estimate) -> str:
    condition = judgement.gate.condition
    if math.isnan(found.value):
        return "too few values"
    if any(one is not None and math.isinf(one) for one in (found.value, found.low, found.high)):
        return "there is no percentage of the 0 ns of A"
    if condition.subject == LOSS or condition.unit == "%":
        value = percent(found.value, sign=condition.relative)
        low, high = (
            "?" if one is None else format_number(100 * one) for one in (found.low, found.high)
        )
        return f"{value} ({LEVEL}: {low}..{high} %)"
    if condition.relative:
        return f"{signed_ns(found.value)} ({LEVEL}: {bounds_ns(found)})"
    if found.low == found.high == found.value:
        return format_ns(found.value)
    return f"{format_ns(found.value)} ({LEVEL}: {bounds_ns(found).replace('+', '')})"


def gates_text(judgements: Sequence[Judgement]) -> str:
    """Count what became of the gates."""
    counts = {outcome: sum(one.outcome is outcome for one in judgements) for outcome in Outcome}
    texts = [f"{count:,} {outcome.value}" for outcome, count in counts.items() if count]
    broken = sum(one.broken for one in judgements)
    verdict = "broken" if broken else "no gate is broken"
    return f"gates: {', '.join(texts)}: {verdict}"
