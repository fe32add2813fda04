# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict over the whole system, from the tables of an analysis."""

from __future__ import annotations

from collections.abc import Mapping

from strata.analysis import SystemVerdict
from strata.schema import tables as declared
from strata.schema.rows import Rows
from strata.verdict.causes import Results, find_causes
from strata.verdict.executor_load import executor_load
from strata.verdict.groups import group_chains
from strata.verdict.sentences import Executors, cause_sentences, system_sentence
from strata.verdict.threads import executors_of
from strata.verdict.time_parts import finished

JUDGED = (
    declared.MESSAGES,
    declared.PUBLICATIONS,
    declared.TAKES,
    declared.HOPS,
    declared.CHAINS,
    declared.CALLBACK_INSTANCES,
    declared.CALLBACK_OBJECTS,
    declared.EXECUTORS,
    declared.EXECUTOR_THREADS,
    declared.EXECUTOR_BLOCKERS,
    declared.THREAD_CPU,
)
"""The tables that a system is judged by."""


def judge_system(tables: Mapping[str, Rows]) -> tuple[SystemVerdict, dict[str, Rows]]:
    """Return the sentence for the system and the tables of the verdict, by name.

    `tables` are those of `JUDGED` by name.
    """
    messages, takes = tables["messages"], tables["takes"]
    threads, blockers = tables["executor_threads"], tables["executor_blockers"]
    executor = executors_of(messages, takes, threads)
    instances, objects = tables["callback_instances"], tables["callback_objects"]
    load = executor_load(messages, executor, instances, objects, threads, blockers)
    causes = find_causes(
        Results(
            messages,
            finished(messages),
            executor,
            blockers,
            tables["publications"],
            takes,
            tables["hops"],
            tables["executors"],
            threads,
            tables["thread_cpu"],
        )
    )
    executors = Executors(tables["executors"], threads, load, tables["thread_cpu"])
    texts = cause_sentences(causes, executors)
    causes = [{**cause, "text": text} for cause, text in zip(causes, texts, strict=True)]
    groups, members = group_chains(tables["chains"])
    verdict = SystemVerdict(system_sentence(causes), any(cause["stands_out"] for cause in causes))
    return verdict, {
        "system_causes": Rows.of_records(declared.SYSTEM_CAUSES, causes),
        "executor_load": load,
        "chain_groups": groups,
        "chain_group_members": members,
    }
