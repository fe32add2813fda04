# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the results of a trace are made of, and the results, each made when it is asked for."""

from __future__ import annotations

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
from strata.pipeline.stages import FINDINGS, LEDGER, Made, stage
from strata.pipeline.summary import summarize_trace
from strata.read import Trace
from strata.schema import tables
from strata.schema.quality import Ledger
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


def _counts(model: Model, found: Ledger) -> MessageCounts:
    matches = model.matches
    return MessageCounts(
        len(model.publications),
        int((~model.takes.duplicate).sum()),
        len(matches.take),
        found.counts.get("untaken_publications", 0),
        matches.unmatched_take_count,
        matches.ambiguous_count,
    )


def _quantiles(
    messages: Rows, instances: Rows, segments: Rows, executions: Rows, wanted: Wanted
) -> Rows:
    return quantile_rows(messages, instances, segments, executions, wanted.quantiles)


def _facts(model: Model, ledger: Ledger) -> ProcessFacts:
    return model.facts.process_facts(ledger)


def _event_uses(model: Model, ledger: Ledger) -> Rows:
    uses = event_uses_rows(model)
    for row in uses.take(uses.words("use").are(UNEXPLAINED)).records():
        ledger.add("unexplained_events", row["count"], place=row["event"])
    return uses


def _losses(trace: Trace) -> Rows:
    rows = [{**row, "place": row["where"]} for row in trace.loss_rows()]
    return Rows.of_records(tables.LOSSES, rows)


def _quality(found: Ledger, counted: Ledger, trace: Trace, summary: TraceSummary) -> Rows:
    """What was found before and while the model was built, by the stages, and by the reader."""
    ledger = Ledger()
    for one in (found, counted, trace.ledger):
        ledger.merge(one)
    return quality_rows(ledger, summary.begin_ns)


def _nameless(model: Model, ledger: Ledger) -> None:
    """Processes that publish or take through handles which no init event introduced."""
    processes = model.processes
    nameless = np.concatenate(
        [
            model.publications.thread[model.publications.publisher == -1],
            model.takes.thread[model.takes.subscription == -1],
        ]
    )
    ledger.add("no_init_events", len(np.unique(processes.thread_process[nameless])))


STAGES = (
    stage("facts", _facts, "model", LEDGER),
    stage("trace", summarize_trace, "read", "model", "facts"),
    *MESSAGE_STAGES,
    *CHAIN_STAGES,
    *ENTITY_STAGES,
    stage(
        "quantiles",
        _quantiles,
        "messages",
        "chain_instances",
        "chain_segments",
        "callback_instances",
        "wanted",
    ),
    stage("nameless", _nameless, "model", LEDGER),
    stage("event_uses", _event_uses, "model", LEDGER),
    stage("counts", _counts, "model", "found"),
    stage("losses", _losses, "read"),
    stage(
        ("system", *(table.name for table in _VERDICTS)),
        _verdict,
        *(table.name for table in JUDGED),
    ),
    stage("quality", _quality, "found", FINDINGS, "read", "trace"),
)
"""What makes the results of a trace, from what. `read` is the trace, `found` was counted before."""


class ModelResults:
    """The results of a model, each made when it is first asked for (strata.analysis.Results)."""

    def __init__(
        self,
        trace: Trace,
        model: Model,
        wanted: Wanted,
        found: Ledger,
    ) -> None:
        """Take what the model was built of, and what was found until then."""
        given = {} if wanted.quantiles else {"quantiles": Rows.none(tables.QUANTILES)}
        self._made = Made(STAGES, read=trace, model=model, wanted=wanted, found=found, **given)

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
