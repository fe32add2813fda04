# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a reader of a campaign's report must know of its cells: losses, warnings, and gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from strata.schema.quality import SAID_FIRST
from strata.study.beside_campaigns import different_cells
from strata.study.campaign_results import FAILED, FINISHED, OPEN, SKIPPED, Results
from strata.study.clock_findings import clock_findings
from strata.study.report_contents import Finding
from strata.study.transport_findings import transport_findings

_SEVERITIES = ("loss", "warning")


def report_findings(results: Results) -> tuple[Finding, ...]:
    """Return what the traces of all cells report, then how they ran, then the machines beside."""
    return (
        *_of_traces(results),
        *_of_runs(results),
        *clock_findings(results),
        *transport_findings(results),
        *_of_machines(results),
        *_unknown(results),
    )


def _of_traces(results: Results) -> Iterator[Finding]:
    """Gather the findings of loss and the warnings of all cells, by code: that of most cases."""
    most: dict[tuple[str, str], tuple[int, str, str]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for study in results.studies.values():
        for outcome in study.finished:
            rows = results.measured(outcome).read("findings")
            for row in rows.to_dict("records"):
                key = (str(row["severity"]), str(row["code"]))
                if key[0] not in _SEVERITIES:
                    continue
                counts[key] += 1
                number = int(row["count"])
                if key not in most or number > most[key][0]:
                    most[key] = (number, str(row["text"]), outcome.id)
    for key in sorted(counts, key=lambda k: (k[1] not in SAID_FIRST, _SEVERITIES.index(k[0]))):
        yield Finding(key[0], most[key][1], counts[key], most[key][2], key[1])


def _of_runs(results: Results) -> Iterator[Finding]:
    unmet = sum(bool(one.state and one.state.unmet) for one in results.outcomes)
    if unmet:
        text = (
            "messages or files that the scenario expects are missing; the loss of messages is "
            "measured"
        )
        yield Finding("warning", text, unmet, code="unmet_expectations")
    busy = sum(bool(one.state and one.state.busy) for one in results.outcomes)
    if busy:
        text = "other programs used much of the machine when the cell began"
        yield Finding("warning", text, busy, code="busy_machine")


def _of_machines(results: Results) -> Iterator[Finding]:
    """Give what keeps the machines beside from being compared with this one."""
    for name, (number, first) in different_cells(results).items():
        text = (
            f"cells of {name} ran in another way than those here (their digests differ: another "
            "scenario, setting or duration), so more than the machine differs"
        )
        yield Finding("warning", text, number, first, code="other_cells_beside")
    for name, other in results.beside:
        found = _unfinished(results, name, other)
        if found is not None:
            yield found


def _unfinished(results: Results, name: str, other: Results) -> Finding | None:
    """Count the cells of a machine that have no values, and name one with its reason."""
    gaps = [
        one
        for study in results.studies
        if study in other.studies
        for one in other.studies[study].outcomes
        if one.status != FINISHED
    ]
    if not gaps:
        return None
    counts = Counter(one.status for one in gaps)
    told = ", ".join(
        f"{counts[status]:,} {status}" for status in (FAILED, SKIPPED, OPEN) if counts[status]
    )
    # What failed says more than what has not run.
    first = min(gaps, key=lambda one: (FAILED, SKIPPED, OPEN).index(one.status))
    why = f" (the one named here: {first.reason.rstrip('.')})" if first.reason else ""
    text = f"cells of {name} have no values: {told}{why}"
    return Finding("warning", text, len(gaps), first.id, code="unfinished_beside")


def _unknown(results: Results) -> Iterator[Finding]:
    if results.unknown:
        text = "the campaign's file has no such study or level any more, so they are left out"
        count, first = len(results.unknown), results.unknown[0]
        yield Finding("warning", text, count, first, code="unknown_cells")
