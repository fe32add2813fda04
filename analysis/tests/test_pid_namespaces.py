# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Two containers of one host name with one process id: told apart by pid_ns, or flagged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from engine.by_tables import read_by_tables
from engine.process_events import in_containers

import strata
from strata.model.of_tables import model_of_tables
from strata.read import open_trace
from strata.read.namespaces import machine_of
from strata.read.trace import Trace

TRACE = "fast_relaymp_st"
Tables = dict[str, pa.Table]


def test_namespaces_of_one_process_id_are_told_apart(
    sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = sample(TRACE)
    before = strata.analyze(path)
    own = Trace.tables
    monkeypatch.setattr(Trace, "tables", lambda self: in_containers(own(self), context=True))
    monkeypatch.setattr("strata.pipeline.run.model_of_trace", read_by_tables)
    after = strata.analyze(path)
    assert len(after.trace.processes) == len(before.trace.processes) == 5
    assert {process.vpid for process in after.trace.processes} == {1}
    assert len({process.host for process in after.trace.processes}) == 5
    assert {machine_of(process.host) for process in after.trace.processes} == {"vm"}
    assert after.chains["count"].tolist() == before.chains["count"].tolist()
    latency = [found.chain_instances["latency_ns"].tolist() for found in (before, after)]
    assert latency[0] == latency[1]
    # They are of one machine and one clock.
    codes = set(after.quality["code"])
    assert "unsynchronised_messages" not in codes
    assert "contradictory_nesting" not in codes


def test_without_the_context_such_processes_are_flagged(sample: Callable[[str], Path]) -> None:
    tables = open_trace(sample(TRACE)).tables()
    model = model_of_tables(in_containers(tables, context=False))
    assert model.findings.counts["contradictory_nesting"] == 1
    assert model.findings.details["contradictory_nesting"] == ["1 on vm"]


@pytest.mark.parametrize(
    "trace", [TRACE, "fast_relay1p_mt", "fast_throws", "fast_relay1p_mt_lossy", "ref_multi_full"]
)
def test_real_threads_do_not_contradict_themselves(
    sample: Callable[[str], Path], trace: str
) -> None:
    model = model_of_tables(open_trace(sample(trace)).tables())
    assert "contradictory_nesting" not in model.findings.counts


def test_namespaces_that_share_no_id_keep_the_host(sample: Callable[[str], Path]) -> None:
    tables = {
        name: table.append_column("pid_ns", pa.array(table["vpid"].to_numpy().astype(np.uint64)))
        for name, table in open_trace(sample(TRACE)).tables().items()
    }
    assert set(model_of_tables(tables).processes.host) == {"vm"}
