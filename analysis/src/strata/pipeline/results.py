# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the results of a trace are made of, and the results, each made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from strata.analysis import Bottleneck, MessageCounts, SystemVerdict, TraceSummary
from strata.model.build import Model
from strata.model.event_uses import UNEXPLAINED
from strata.model.frames import event_uses_rows
from strata.model.processes import ProcessFacts
from strata.pipeline.chains import CHAIN_STAGES
from strata.pipeline.entities import ENTITY_STAGES
from strata.pipeline.messages import MESSAGE_STAGES, Wanted
from strata.pipeline.stages import FINDINGS, Made, shown_as, stage
from strata.pipeline.summary import summarize_trace
from strata.pipeline.trend import TREND_STAGES
from strata.read import Trace
from strata.schema import tables
from strata.schema.quality import Finding, Findings
from strata.schema.rows import Rows
from strata.stats.findings import quality_rows
from strata.stats.quantiles import quantile_rows
from strata.verdict.system import JUDGED, judge_system

_VERDICTS = (
    tables.SYSTEM_CAUSES,
    tables.EXECUTOR_LOAD,
    tables.CHAIN_GROUPS,
    tables.CHAIN_GROUP_MEMBERS,
)


def _verdict(*judged: Rows) -> tuple[Any, ...]:
    system, verdicts = judge_system({rows.table.name: rows for rows in judged})
    return (system, *(verdicts[table.name] for table in _VERDICTS))


def _counts(model: Model) -> MessageCounts:
    matches = model.matches
    return MessageCounts(
        len(model.publications),
        int((~model.takes.duplicate).sum()),
        len(matches.take),
        model.findings.counts.get("untaken_publications", 0),
        matches.unmatched_take_count,
        matches.ambiguous_count,
    )


def _quantiles(
    messages: Rows, instances: Rows, segments: Rows, executions: Rows, wanted: Wanted
) -> Rows:
    return quantile_rows(messages, instances, segments, executions, wanted.quantiles)


def _facts(model: Model) -> tuple[ProcessFacts, Findings]:
    return model.facts.process_facts()


def _event_uses(model: Model) -> tuple[Rows, Findings]:
    uses = event_uses_rows(model)
    unexplained = uses.take(uses.words("use").are(UNEXPLAINED)).records()
    return uses, Findings(
        *(Finding("unexplained_events", row["count"], place=row["event"]) for row in unexplained)
    )


def _losses(trace: Trace) -> Rows:
    rows = [{**row, "place": row["where"]} for row in trace.loss_rows()]
    return Rows.of_records(tables.LOSSES, rows)


def _quality(model: Model, of_stages: Findings, trace: Trace, summary: TraceSummary) -> Rows:
    """What was found before and while the model was built, by the stages, and by the reader."""
    return quality_rows(model.findings + of_stages + trace.findings, summary.begin_ns)


def _nameless(model: Model) -> Findings:
    """Processes that publish or take through handles which no init event introduced."""
    processes = model.processes
    nameless = np.concatenate(
        [
            model.publications.thread[model.publications.publisher == -1],
            model.takes.thread[model.takes.subscription == -1],
        ]
    )
    count = len(np.unique(processes.thread_process[nameless]))
    return Findings(Finding("no_init_events", count))


STAGES = (
    stage(("facts", FINDINGS), _facts, "model"),
    stage("trace", summarize_trace, "read", "model", "facts"),
    *shown_as("following messages", MESSAGE_STAGES),
    *shown_as("following chains", CHAIN_STAGES),
    *shown_as("statistics", ENTITY_STAGES),
    *shown_as("statistics", TREND_STAGES),
    stage(
        "quantiles",
        _quantiles,
        "messages",
        "chain_instances",
        "chain_segments",
        "callback_instances",
        "wanted",
    ),
    stage(FINDINGS, _nameless, "model"),
    stage(("event_uses", FINDINGS), _event_uses, "model"),
    stage("counts", _counts, "model"),
    stage("losses", _losses, "read"),
    stage(
        ("system", *(table.name for table in _VERDICTS)),
        _verdict,
        *(table.name for table in JUDGED),
    ),
    stage("quality", _quality, "model", FINDINGS, "read", "trace"),
)
"""What makes the results of a trace, from what. `read` is the trace."""


class MadeResults:
    """Results that stages make, each when it is first asked for (strata.analysis.Results)."""

    def __init__(self, made: Made) -> None:
        self._made = made

    @property
    def trace(self) -> TraceSummary:
        """What was read."""
        trace: TraceSummary = self._made["trace"]
        return trace

    @property
    def counts(self) -> MessageCounts:
        """Messages of the application."""
        counts: MessageCounts = self._made["counts"]
        return counts

    @property
    def bottlenecks(self) -> tuple[Bottleneck, ...]:
        """What stands out of each chain."""
        bottlenecks: tuple[Bottleneck, ...] = self._made["bottlenecks"]
        return bottlenecks

    @property
    def system(self) -> SystemVerdict:
        """What stands out over the whole system."""
        system: SystemVerdict = self._made["system"]
        return system

    def rows(self, name: str) -> Rows:
        """Return a declared table by its name."""
        rows: Rows = self._made[name]
        return rows


class ModelResults(MadeResults):
    """The results of a model."""

    def __init__(
        self,
        trace: Trace,
        model: Model,
        wanted: Wanted,
        on_part: Callable[[str], None] | None = None,
    ) -> None:
        """Take the model, and the trace that it was built of.

        `on_part` is called with what is made, in a few words, when it is made.
        """
        given = {} if wanted.quantiles else {"quantiles": Rows.none(tables.QUANTILES)}
        super().__init__(
            Made(STAGES, on_part=on_part, read=trace, model=model, wanted=wanted, **given)
        )
