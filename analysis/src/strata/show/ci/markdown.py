# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison and its gates as Markdown, for the summary of a CI job or a merge request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from strata.comparison.amounts import bounds_ns, percent, signed_ns, subject_text
from strata.comparison.answer import Answer, answer, ordered_rows
from strata.comparison.comparison import Block, Comparison, Figures, Row
from strata.comparison.gates.judge import Judgement, Outcome
from strata.comparison.sentences import further, headline, small_text
from strata.comparison.sides import Side
from strata.printable import printable
from strata.show.words.comparison import (
    doubts_text,
    found_text,
    gates_text,
    layer_text,
    loss_text,
    merged_text,
    notes,
    only_count_text,
    only_text,
    outcome_text,
    quality_text,
    sides_text,
    tail_texts,
    tails_of,
    verdict_text,
)
from strata.units import NOTHING, format_count, format_ns, format_p

_MARKS = {
    Outcome.HOLDS: "holds",
    Outcome.BROKEN: "**broken**",
    Outcome.UNDECIDED: "*undecided*",
    Outcome.MISSING: "**data missing**",
}


def markdown(
    comparison: Comparison | None,
    judgements: Sequence[Judgement],
    a: Side | None = None,
    b: Side | None = None,
    *,
    everything: bool = False,
) -> str:
    """Return the document: what the sides lost, where there are gates; these; the comparison.

    Of the comparison it has the sentences and the relevant differences, the others as a count; with
    `everything` each comparison with its layers, and what the numbers are.
    """
    lines = ["# Strata: B compared with A" if comparison else "# Strata: gates", ""]
    if judgements:
        sides = [(letter, side) for letter, side in (("A", a), ("B", b)) if side is not None]
        lost = [text for letter, side in sides for text in quality_text(side, letter)]
        lines += [*(f"* {_cell(text)}" for text in lost), *([""] if lost else [])]
    if judgements:
        lines += _gates(judgements)
    if comparison:
        lines += _comparison(comparison, everything=everything)
    return "\n".join(lines).rstrip("\n") + "\n"


def _gates(judgements: Sequence[Judgement]) -> Iterator[str]:
    yield from (f"{gates_text(judgements)}", "", "| gate | outcome | |", "| --- | --- | --- |")
    for one in judgements:
        _, _, detail = outcome_text(one).partition(": ")
        yield _row(one.gate.name, _MARKS[one.outcome], detail or one.text, marked=1)
    yield ""


def _comparison(comparison: Comparison, *, everything: bool) -> Iterator[str]:
    answered = answer(comparison)
    texts = (*further(comparison, answered), small_text(comparison, answered))
    yield from (f"**{_cell(headline(comparison, answered))}**", "")
    yield from (f"{_cell(text)}  " for text in texts if text)
    yield ""
    for letter, side in (("A", comparison.a), ("B", comparison.b)):
        yield f"* {letter}: {_cell(sides_text(side))}"
        for text in quality_text(side, letter):
            yield f"* {_cell(text)}"
    yield ""
    yield from _every(comparison) if everything else _relevant(comparison, answered)


def _relevant(comparison: Comparison, answered: Answer) -> Iterator[str]:
    """Yield the relevant differences, those that matter the most first, and count the others."""
    every = ordered_rows(comparison)
    shown = [(block, row) for block, row in every if comparison.is_relevant(block, row)]
    if shown:
        names = ("of", "layer", "A p50", "B p50", "shift", "95 %", "%", "p", "found")
        yield from ("## Relevant differences", "", _row(*names), _rule(len(names), left=2))
        yield from (_difference(block, row) for block, row in shown)
        yield ""
    lost = [loss_text(block.loss) for block in answered.losses if block.loss is not None]
    names_lost = [subject_text(block.subject) for block in answered.losses]
    yield from (f"* {_cell(f'{n}: {t}')}" for n, t in zip(names_lost, lost, strict=True))
    yield from ("",) if lost else ()
    others = format_count(len(every) - len(shown), "latency or layer", "latencies and layers")
    yield f"Not listed: {others} without a relevant difference (`--all`)."
    only = only_count_text(comparison)
    yield from ("", only) if only else ()
    doubts = doubts_text(comparison)
    yield from ("", f"> {doubts}") if doubts else ()


def _difference(block: Block, row: Row) -> str:
    found = row.difference
    cells = [f"{block.subject.kind} {subject_text(block.subject)}", layer_text(row)]
    cells += [NOTHING if side is None else format_ns(side.p50) for side in (row.a, row.b)]
    if found is None or row.p is None:
        return _row(*cells, signed_ns(row.mean_ns), *[NOTHING] * 3, row.verdict.value)
    p = f"{'~' if found.is_doubtful else ''}{format_p(row.p)}"
    shift, interval = signed_ns(found.shift.value), bounds_ns(found.shift)
    return _row(*cells, shift, interval, percent(row.relative), p, row.verdict.value)


def _every(comparison: Comparison) -> Iterator[str]:
    yield from (found_text(comparison), "")
    for block in comparison.blocks:
        yield from _block(block, comparison)
    only = only_text(comparison)
    if only:
        yield from ("## Only on one side", "", *(f"* {_cell(text)}" for text in only), "")
    yield from (f"> {text}  " for text in notes(comparison))


def _block(block: Block, comparison: Comparison) -> Iterator[str]:
    values, tails = comparison.quantiles or ("p50", "p99"), tails_of(comparison)
    yield from (f"## {block.subject.kind} {_cell(subject_text(block.subject))}", "")
    yield f"* {verdict_text(block.whole)}"
    yield from (f"* {text}" for text in tail_texts(block.whole, tails))
    if block.loss is not None:
        yield f"* {loss_text(block.loss)}"
    yield ""
    names = ["", "A n", "B n", *(f"{side} {name}" for name in values for side in "AB")]
    names += ["mean B - A", "shift", "95 %", "%", "p", "delta"]
    names += [text for name in tails for text in (f"{name} shift", "95 %")]
    yield from (_row(*names, "found"), _rule(len(names) + 1))
    for row in block.rows:
        yield _figures(row, values, tails)
    yield ""
    merged = [merged_text(row) for row in block.layers if merged_text(row)]
    if merged:
        yield from (*(f"* {_cell(text)}" for text in merged), "")


def _figures(row: Row, values: Sequence[str], tails: Sequence[str]) -> str:
    sides = (row.a, row.b)
    cells = [layer_text(row)]
    cells += [NOTHING if side is None else f"{side.count:,}" for side in sides]
    cells += [_ns(side, name) for name in values for side in sides]
    cells.append(signed_ns(row.mean_ns))
    found = row.difference
    if found is None or row.p is None:
        return _row(*cells, *[NOTHING] * (5 + 2 * len(tails)), row.verdict.value)
    shifts = [found.quantiles[name] for name in tails]
    return _row(
        *cells,
        signed_ns(found.shift.value),
        bounds_ns(found.shift),
        percent(row.relative),
        f"{'~' if found.is_doubtful else ''}{format_p(row.p)}",
        f"{found.effect:+.2f}",
        *(text for one in shifts for text in (signed_ns(one.value), bounds_ns(one))),
        row.verdict.value,
    )


def _ns(side: Figures | None, name: str) -> str:
    return NOTHING if side is None else format_ns(side.quantile(name))


def _rule(columns: int, left: int = 1) -> str:
    return f"|{' --- |' * left}{' ---: |' * (columns - left - 1)} --- |"


def _row(*cells: str, marked: int | None = None) -> str:
    """Return a row; the cell `marked` is Markdown already."""
    shown = [cell if at == marked else _cell(cell) for at, cell in enumerate(cells)]
    return f"| {' | '.join(shown)} |"


def _cell(text: str) -> str:
    """Return text that Markdown shows as it is."""
    shown = printable(text)
    for character in "\\`*_[]<>|#":
        shown = shown.replace(character, f"\\{character}")
    return shown
