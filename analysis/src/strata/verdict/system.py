# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict over the whole system, from the tables of an analysis."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from strata.analysis import SystemVerdict
from strata.verdict.causes import Results, find_causes
from strata.verdict.executor_load import executor_load
from strata.verdict.groups import group_chains
from strata.verdict.sentences import Executors, cause_sentences, system_sentence
from strata.verdict.time_parts import finished, time_parts, with_executor


def judge_system(
    tables: Mapping[str, pd.DataFrame],
) -> tuple[SystemVerdict, dict[str, pd.DataFrame]]:
    """Return the sentence for the system and the tables of the verdict, by name.

    `tables` are the tables of an analysis by name.
    """
    threads = tables["executor_threads"]
    messages = with_executor(tables["messages"], tables["takes"], threads)
    blockers = tables["executor_blockers"]
    load = executor_load(
        messages, tables["callback_instances"], tables["callback_objects"], threads, blockers
    )
    own = finished(messages)
    causes = find_causes(
        Results(
            time_parts(own, blockers),
            own,
            tables["publications"],
            tables["takes"],
            tables["hops"],
            tables["executors"],
            threads,
            tables["thread_cpu"],
        )
    )
    causes["text"] = cause_sentences(
        causes, Executors(tables["executors"], threads, load, tables["thread_cpu"])
    )
    groups, members = group_chains(tables["chains"])
    verdict = SystemVerdict(system_sentence(causes), bool(causes["stands_out"].any()))
    return verdict, {
        "system_causes": causes,
        "executor_load": load,
        "chain_groups": groups,
        "chain_group_members": members,
    }
