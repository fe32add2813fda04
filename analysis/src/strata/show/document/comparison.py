# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison as the JSON document of `strata compare`.

The document is a contract, described in docs/compare.md: fields are added, never renamed or
removed, while `schema` stays the same. Times are ns, shares fractions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from strata.comparison.answer import Change, answer
from strata.comparison.comparison import Block, Comparison, Figures, LossRow, Row
from strata.comparison.difference import CONFIDENCE, Difference, Estimate
from strata.comparison.gates.judge import Judgement
from strata.comparison.losses import Loss
from strata.comparison.runs import Subject
from strata.comparison.sentences import further, headline
from strata.comparison.sides import Side
from strata.show.words.comparison import notes, outcome_text

SCHEMA = 1


def document(
    comparison: Comparison | None, judgements: Sequence[Judgement], a: Side | None, b: Side
) -> dict[str, Any]:
    """Return the document; without an A there is no comparison, only gates."""
    return {
        "schema": SCHEMA,
        "confidence": CONFIDENCE,
        "a": None if a is None else _side(a),
        "b": _side(b),
        "comparison": None if comparison is None else _comparison(comparison),
        "gates": [_judgement(one) for one in judgements],
        "broken": sum(one.broken for one in judgements),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "runs": [
            {
                "name": run.name,
                "path": run.path,
                "losses": list(run.losses),
                "incomplete": run.incomplete,
                "warm_up": run.warm_up,
            }
            for run in side.runs
        ],
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "tests": comparison.tests,
        "unit": "runs" if comparison.runs_are_the_unit else "messages",
        "least": {
            "relative": comparison.least.relative,
            "absolute_ns": comparison.least.absolute_ns,
        },
        "answer": _answer(comparison),
        "subjects": [_block(comparison, block) for block in comparison.blocks],
        "only_a": [_subject(subject) for subject in comparison.only_a],
        "only_b": [_subject(subject) for subject in comparison.only_b],
        "notes": notes(comparison),
    }


def _answer(comparison: Comparison) -> dict[str, Any]:
    found = answer(comparison)
    return {
        "sentence": headline(comparison, found),
        "further": further(comparison, found),
        "median": None if found.median is None else _change(found.median),
        "tail": None if found.tail is None else _change(found.tail),
        "slower": found.slower,
        "faster": found.faster,
        "losses": [_subject(block.subject) for block in found.losses],
        "small": found.small,
        "open": [_subject(block.subject) for block in found.open],
    }


def _change(change: Change) -> dict[str, Any]:
    places = change.split.places if change.split is not None else ()
    whole = change.split.difference_ns if change.split is not None else 0.0
    return {
        "subject": _subject(change.block.subject),
        "at": change.at,
        "difference_ns": _estimate(change.estimate),
        "base_ns": change.base_ns,
        "p_corrected": change.p,
        "places": [
            {
                "layer": place.layer,
                "topic": place.stop.topic,
                "publisher_node": place.stop.publisher,
                "subscription_node": place.stop.subscription,
                "symbol": place.stop.symbol,
                "a_ns": place.a_ns,
                "b_ns": place.b_ns,
                "share": place.difference_ns / whole,
            }
            for place in places
        ],
    }


def _block(comparison: Comparison, block: Block) -> dict[str, Any]:
    def row(one: Row) -> dict[str, Any]:
        return {**_row(one), "relevant": comparison.is_relevant(block, one)}

    return {
        **_subject(block.subject),
        "latency": row(block.whole),
        "transfer": None if block.transfer is None else row(block.transfer),
        "layers": [{"layer": one.layer, "place": one.place, **row(one)} for one in block.layers],
        "loss": None if block.loss is None else _loss(block.loss),
    }


def _subject(subject: Subject) -> dict[str, Any]:
    return {"kind": subject.kind, "name": subject.name, "where": subject.where}


def _row(row: Row) -> dict[str, Any]:
    return {
        "a": _figures(row.a),
        "b": _figures(row.b),
        "mean_difference_ns": row.mean_ns,
        "difference": None if row.difference is None else _difference(row.difference, row),
        "verdict": row.verdict.value,
    }


def _figures(figures: Figures | None) -> dict[str, Any] | None:
    if figures is None:
        return None
    return {
        "runs": figures.runs,
        "count": figures.count,
        "of": figures.of,
        "sum_ns": figures.sum_ns,
        "p50_ns": figures.p50,
        "p99_ns": figures.p99,
        **({"quantiles_ns": dict(figures.quantiles)} if figures.quantiles else {}),
        "layers": list(figures.layers),
    }


def _difference(found: Difference, row: Row) -> dict[str, Any]:
    return {
        "shift_ns": _estimate(found.shift),
        "relative": row.relative,
        "quantiles_ns": {name: _estimate(one) for name, one in found.quantiles.items()},
        "p": found.p,
        "p_corrected": row.p,
        "effect": found.effect,
        "method": found.method,
        "effective_counts": found.effective_counts and list(found.effective_counts),
        "doubtful": found.is_doubtful,
    }


def _loss(row: LossRow) -> dict[str, Any]:
    found = row.difference
    return {
        "a": _lost(row.a),
        "b": _lost(row.b),
        "difference": None
        if found is None
        else {
            "share": _estimate(found.share),
            "p": found.p,
            "p_corrected": row.p,
            "method": found.method,
        },
        "verdict": row.verdict.value,
    }


def _lost(loss: Loss) -> dict[str, Any]:
    return {
        "published": loss.published,
        "lost": loss.lost,
        "share": loss.share,
        "unknown": loss.unknown,
    }


def _judgement(one: Judgement) -> dict[str, Any]:
    return {
        "name": one.gate.name,
        "gate": str(one.gate.condition),
        "line": one.gate.line,
        "kind": one.gate.kind,
        "pattern": one.gate.pattern,
        "subject": None if one.subject is None else _subject(one.subject),
        "place": one.place,
        "outcome": one.outcome.value,
        "broken": one.broken,
        "undecided": one.gate.undecided,
        "missing": one.gate.missing,
        "found": None if one.found is None else _estimate(one.found),
        "text": outcome_text(one),
    }


def _estimate(estimate: Estimate) -> dict[str, float | None]:
    values = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {
        name: None if value is None or not math.isfinite(value) else float(value)
        for name, value in values.items()
    }
