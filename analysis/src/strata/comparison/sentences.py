# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a comparison in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence

from strata.comparison.amounts import LEVEL, bounds_ns, p_text, percent, subject_text
from strata.comparison.answer import Answer, Change
from strata.comparison.comparison import Block, Comparison, Verdict
from strata.comparison.places import Cause, against, causes_of, is_in_callback
from strata.comparison.runs import CALLBACK, CHAIN, HOP, Subject
from strata.schema.layer import Place
from strata.schema.layers import BY_NAME
from strata.stats.relevance import Least
from strata.symbols import shorten
from strata.units import format_count, format_ns, format_number, format_tick

_AT_PUBLISHER = (Place.SOURCE, Place.PUBLISHER, Place.WRITER)
_AT_READER = (Place.NODE, Place.CALLBACK, Place.STORE, Place.LINKED_CALLBACK)
_WHOLE, _OVER = 0.95, 1.05
"""Shares between which a cause is all of a change."""
_LONGEST = 60
_MANY = 9
_NAMED_LOSSES = 2


def headline(comparison: Comparison, found: Answer) -> str:
    """Return the one sentence that answers: what changed the most, how surely, and where."""
    if not comparison.blocks:
        return "A and B have no chain, hop, service or callback in common: nothing was compared."
    if found.median is not None:
        return change_sentence(comparison, found.median)
    if found.losses and found.losses[0].loss is not None:
        return loss_sentence(found.losses)
    if found.tail is not None:
        return change_sentence(comparison, found.tail)
    return _nothing(comparison, found)


def further(comparison: Comparison, found: Answer) -> list[str]:
    """Return the sentences after the first: further subjects, losses, the slowest messages."""
    texts = []
    if found.slower or found.faster:
        kind = found.median.block.subject.kind if found.median else CHAIN
        texts.append(_others(kind, found.slower, found.faster))
    if found.median is not None and found.losses:
        texts.append(loss_sentence(found.losses))
    if found.tail is not None and (found.median is not None or found.losses):
        texts.append(change_sentence(comparison, found.tail))
    if found.median is None and found.differs:
        bounds = least_text(comparison.least)
        texts.append(f"No relevant difference at the median (relevant: {bounds}).")
    return texts


def change_sentence(comparison: Comparison, change: Change) -> str:
    """Say by how much a latency changed, where that is, and how sure it is."""
    ns, verb = abs(change.estimate.value), "slower" if change.slower else "faster"
    subject = change.block.subject
    sure = f"({_relative(change)}; {LEVEL}: {bounds_ns(change.estimate)}; {p_text(change.p)})"
    of = _of(comparison, subject)
    doubt = change.block.whole.difference
    doubtful = change.at != "p99" and doubt is not None and doubt.is_doubtful
    trust = " p is too small: these messages depend on each other." if doubtful else ""
    where = where_text(change)
    if change.at == "p99":
        return f"B's slowest 1 % are {format_ns(ns)} {verb}{of}{where} {sure}."
    at = "at the median" if change.at == "p50" else "in the median of all differences"
    return f"B is {format_ns(ns)} {verb} {at}{of}{where} {sure}.{trust}"


def where_text(change: Change) -> str:
    """Say where a change is: ``, all of it in Filter.cb of /detector``; empty where not known."""
    if change.split is None:
        return ""
    causes = causes_of(change.split)
    if not causes:
        return ""
    first = causes[0]
    if len(causes) == 1 and _WHOLE <= first.share <= _OVER:
        return f", all of it in {cause_text(first)}"
    if len(causes) == 1 and first.share < _WHOLE:
        return f", {percent(first.share, sign=False)} of it in {cause_text(first)}"
    if len(causes) == 1:
        return f", more than all of it in {cause_text(first)}{_but(change)}"
    named = [f"{cause_text(cause)} ({percent(cause.share, sign=False)})" for cause in causes]
    return f", the largest parts in {', '.join(named[:-1])} and {named[-1]}{_but(change)}"


def cause_text(cause: Cause) -> str:
    """Name a cause: ``Filter.cb of /detector``, ``executor wait of /detector``."""
    count = len(cause.stops)
    if count > 1:
        layer = "the callbacks" if is_in_callback(cause.layer) else cause.layer
        return f"{layer} of {count} hops"
    stop, layer = cause.stops[0], cause.layer
    if is_in_callback(layer):
        return f"{shorten(stop.symbol) or 'the callback'} of {stop.subscription}"
    known = BY_NAME.get(layer)
    if known is not None and known.place in _AT_PUBLISHER:
        return f"{layer} of {stop.publisher}"
    if known is not None and known.place in _AT_READER:
        return f"{layer} of {stop.subscription}"
    return f"{layer} of {stop.topic}"


def loss_sentence(losses: Sequence[Block]) -> str:
    """Say whose messages are lost more, or less, in B."""
    parts = []
    for block in losses[:_NAMED_LOSSES]:
        loss = block.loss
        if loss is None or loss.difference is None or loss.p is None:
            continue
        shares = [f"{100 * side.share:.3g} %" for side in (loss.a, loss.b)]
        parts.append(
            f"{shares[1]} on {subject_text(block.subject)}, {shares[0]} in A ({p_text(loss.p)})"
        )
    more = [block.loss and block.loss.verdict is Verdict.LOSES_MORE for block in losses]
    verb = (
        "more" if all(more) else "more on some topics and less on others" if any(more) else "less"
    )
    rest = len(losses) - len(parts)
    also = f"; and of {format_count(rest, 'further hop or service', 'further')}" if rest > 0 else ""
    return f"B loses {verb}: {'; '.join(parts)}{also}."


def least_text(least: Least) -> str:
    """Say what a relevant difference is: ``5 % and 20 us or more``."""
    share = format_number(100 * least.relative, whole=True)
    return f"{share} % and {format_tick(least.absolute_ns)} or more"


def small_text(comparison: Comparison, found: Answer) -> str:
    """Count the differences that are found and too small to matter; empty for none."""
    if not found.small:
        return ""
    differences = format_count(found.small, "further difference is", "further differences are")
    return (
        f"{differences} found and too small to be relevant (relevant: "
        f"{least_text(comparison.least)})."
    )


def _nothing(comparison: Comparison, found: Answer) -> str:
    kind = comparison.blocks[0].subject.kind if comparison.blocks else CHAIN
    count = sum(block.subject.kind == kind for block in comparison.blocks)
    bounds = least_text(comparison.least)
    every = f"the {count} {kind}s" if count > 1 else f"the {kind}"
    if not found.open:
        return f"No relevant difference in {every}, at {LEVEL} confidence (relevant: {bounds})."
    number = f"{len(found.open)} of them have" if count > 1 else "it has"
    text = f"No relevant difference was found in {every} (relevant: {bounds}), but"
    bounded = [_furthest(block) for block in found.open]
    largest = max((ns for ns in bounded if ns is not None), default=None)
    if largest is None or None in bounded:
        return f"{text} {number} too few messages to exclude one."
    of_them = f" in {len(found.open)} of them" if count > 1 else ""
    return f"{text} up to {format_ns(largest)}{of_them} cannot be excluded at {LEVEL}."


def _relative(change: Change) -> str:
    """Say the change as a part of A, or as how many times A it is where that is shorter."""
    if not change.base_ns:
        return "of 0 ns"
    share = change.estimate.value / change.base_ns
    return percent(share) if share < _MANY else f"{1 + share:,.0f} times as long"


def _furthest(block: Block) -> float | None:
    found = block.whole.difference
    return found.shift.furthest if found is not None else None


def _others(kind: str, slower: int, faster: int) -> str:
    """Say how many further subjects changed."""
    parts: list[str] = []
    for number, verb in ((slower, "slower"), (faster, "faster")):
        if number:
            noun = f"further {kind} is" if number == 1 else f"further {kind}s are"
            parts.append(
                f"{number} {noun if not parts else ('is' if number == 1 else 'are')} {verb}"
            )
    return f"{', '.join(parts)}."


def _of(comparison: Comparison, subject: Subject) -> str:
    """Name the subject where there are several of its kind, as short as it can be."""
    alike = [block.subject for block in comparison.blocks if block.subject.kind == subject.kind]
    if subject.kind == CALLBACK:
        return f" in {subject_text(subject)}"
    if len(alike) == 1 and subject.kind == CHAIN:
        return ""
    if subject.kind != CHAIN:
        over = "on" if subject.kind == HOP else "in calls of"
        return f" {over} {subject_text(subject)}"
    ends = subject.where.split(" -> ")
    named = f" from {ends[0]} to {ends[-1]}"
    same = [
        one for one in alike if one.where.split(" -> ")[:: len(ends) - 1] == [ends[0], ends[-1]]
    ]
    if len(same) == 1:
        return named
    topics = " > ".join(subject.name.split(" -> "))
    return f"{named} over {topics}" if len(topics) <= _LONGEST else named


def _but(change: Change) -> str:
    other = against(change.split) if change.split is not None else None
    if other is None:
        return ""
    return f" ({cause_text(other)} takes {'less' if change.slower else 'longer'})"
