# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Critical paths of single messages of real traces."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from strata_command import strata as run_strata

import strata
from strata.analysis import Analysis
from strata.errors import TraceError
from strata.schema.links import MessageLink
from strata.stats.path import critical_path

Sample = Callable[[str], Path]
LINK = MessageLink("/fusion", ("/fast", "/slow"), ("/fused",), "periodic_async")


def test_the_path_of_a_chains_last_message_is_its_instance(
    analysis_of: Callable[[str], Analysis],
) -> None:
    analysis = analysis_of("fast_relay1p_st")
    instances = analysis.chain_instances[analysis.chain_instances["chain_id"] == 0]
    for row in instances.iloc[[0, 777, 1999]].itertuples():
        path = critical_path(analysis, int(row.message_id))
        own = analysis.chain_segments
        own = own[own["chain_instance_id"] == row.chain_instance_id]
        assert [step.layer for step in path.steps] == own["layer"].tolist()
        assert [step.duration_ns for step in path.steps] == own["duration_ns"].tolist()
        assert sum(step.duration_ns for step in path.steps) == path.latency_ns == row.latency_ns
        assert path.begin_ns == row.begin_ns


def test_at_a_fan_in_the_path_follows_the_input_that_came_last(sample: Sample) -> None:
    analysis = strata.analyze(sample("fast_fusion"), links=[LINK])
    fused = analysis.messages[analysis.messages["topic"] == "/fused"]["message_id"]
    ended = analysis.messages["callback_end_ns"]
    links = analysis.links[analysis.links["kind"] == "periodic_async"]
    first_topics = set()
    for message in fused.iloc[::20]:
        path = critical_path(analysis, int(message))
        parents = links.loc[links["child_id"] == message, "parent_id"]
        assert path.messages == (ended[parents].idxmax(), message)
        assert sum(step.duration_ns for step in path.steps) == path.latency_ns
        first_topics.add(analysis.messages["topic"][path.messages[0]])
    assert first_topics == {"/fast", "/slow"}


def test_what_a_message_waited_behind_is_named_with_its_time(
    analysis_of: Callable[[str], Analysis],
) -> None:
    analysis = analysis_of("fast_relay1p_overload")
    path = critical_path(analysis, int(analysis.chain_instances["message_id"].iloc[400]))
    waits = [step for step in path.steps if step.layer == "executor wait"]
    assert len(waits) == 4
    for step in waits:
        total = sum(ns for _, ns in step.behind)
        assert total <= step.duration_ns
        assert total > 0.99 * step.duration_ns
        assert [ns for _, ns in step.behind] == sorted((ns for _, ns in step.behind), reverse=True)


@pytest.mark.parametrize("number", [-1, 10**6])
def test_a_message_that_is_not_there_is_refused(
    analysis_of: Callable[[str], Analysis], number: int
) -> None:
    with pytest.raises(TraceError, match="matched messages, numbered from 0"):
        critical_path(analysis_of("fast_blocked_st"), number)


def test_the_command_shows_the_slowest_message(sample: Sample, tmp_path: Path, root: Path) -> None:
    run = run_strata("path", sample("fast_blocked_st"), "--chain", "/fast")
    assert run.returncode == 0, run.stderr
    assert max(map(len, run.stdout.partition("more of them")[0].splitlines())) <= 80
    (hint,) = (line for line in run.stdout.splitlines() if line.startswith("more of them: "))
    trace = str(sample("fast_blocked_st"))
    assert shlex.split(hint)[3:] == ["strata", "path", trace, "--chain", "/fast", "--slowest", "5"]
    assert "executor wait" in run.stdout
    assert "[/slow] (/subs)" in " ".join(run.stdout.split())
    links = tmp_path / "links.yaml"
    links.write_text(
        "links:\n- {node: /fusion, inputs: [/fast, /slow], outputs: [/fused], kind: periodic_async}"
    )
    run = run_strata(
        "path", sample("fast_fusion"), "--links", links, "--slowest", "2", "--format", "json"
    )
    document = json.loads(run.stdout)
    assert (document["schema"], document["trace"]["path"]) == (1, str(sample("fast_fusion")))
    first, second = document["paths"]
    assert first["latency_ns"] >= second["latency_ns"]
    assert sum(step["duration_ns"] for step in first["steps"]) == first["latency_ns"]
    assert {step["topic"] for step in first["steps"]} == {"/slow", "/fused"}
    page = (root / "docs/json.md").read_text().partition("## `strata path")[2]
    fields = {*document, *first, *first["steps"][0]}
    assert [name for name in sorted(fields) if f"`{name}`" not in page] == []


def test_a_stored_message_ages_until_it_is_used(sample: Sample) -> None:
    analysis = strata.analyze(sample("fast_fusion"), links=[LINK], chain=["/slow", "/fused"])
    (chain,) = analysis.chains.to_dict("records")
    assert (chain["name"], chain["count"]) == ("/slow -> /fused", 228)
    stored = analysis.chain_segments[analysis.chain_segments["layer"] == "stored"]
    # A 20 Hz timer reads what a 5 Hz publisher wrote: as long as that runs, ages are below 200 ms.
    assert np.median(stored["duration_ns"]) == pytest.approx(100e6, rel=0.5)
    (bottleneck,) = analysis.bottlenecks
    until = "until the timer of 50.0 ms fired"
    assert bottleneck.text.startswith(f"stored: /slow in /fusion {until}: ")
    assert isinstance(analysis.links, pd.DataFrame)
