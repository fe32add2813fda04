# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes of one id, of several hosts, or left out: every table is that from event tables."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from random import Random

import model.test_process_facts
import numpy as np
import pytest
from against_model import CHUNKS, run_engine
from driver_events import driver_work
from hypothesis import given
from hypothesis import strategies as st
from model.worlds import Recording, record, worlds
from process_events import Tables, in_namespaces, with_restarts
from ring_events import ring_work
from service_events import traffic
from test_pid_namespaces import in_containers
from test_plain_model import assert_same_rows, assert_same_tables, compare
from test_scheduling_machine import TRACED_STEP, machine
from test_scheduling_machine import tables_of as kernel_tables_of
from test_several_hosts import on_another_host
from test_started_processes import FOREIGN, OWN
from work_events import play, scenes_of, work

import strata
from strata.analysis import Analysis
from strata.errors import TraceError
from strata.model.build import build_model
from strata.model.of_trace import model_of_trace
from strata.pipeline import run
from strata.read import open_trace
from strata.schema.quality import Ledger
from strata.schema.tables import TABLES

Sample = Callable[[str], Path]
ANY = st.integers(0, (1 << 32) - 1)
BOOT = b"3638c29e-f7bd-40c5-a0cd"
"""Of both samples' machine."""
BOTH = "fast_relaymp_st_foreign"


def scheduled(chance: Random) -> Tables:
    """Threads that the kernel's scheduler tells of."""
    threads = [TRACED_STEP | {"pause": 1, "vtid": thread} for thread in (1, 2, 3)]
    steps = threads + machine(chance, chance.randint(0, 150))
    return kernel_tables_of(steps, contexts=chance.random() < 0.5)


MADE: dict[str, Callable[[Random], Tables]] = {
    "work": lambda chance: work(chance)[0],
    "ring buffers": lambda chance: ring_work(chance)[0],
    "services": lambda chance: traffic(chance)[0],
    "drivers": lambda chance: driver_work(chance)[0],
    "kernel": scheduled,
}


@pytest.mark.parametrize("test", scenes_of(model.test_process_facts))
def test_scenes(test: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    play(test, monkeypatch, compare)


@pytest.mark.parametrize("kind", MADE)
@given(seed=ANY, chunk_rows=st.sampled_from(CHUNKS))
def test_ids_that_are_used_again(kind: str, seed: int, chunk_rows: int) -> None:
    chance = Random(seed)
    assert_same_tables(with_restarts(chance, MADE[kind](chance)), chunk_rows)


@given(worlds().map(record), ANY, st.sampled_from(CHUNKS))
def test_worlds_of_ids_that_are_used_again(
    recording: Recording, seed: int, chunk_rows: int
) -> None:
    assert_same_tables(with_restarts(Random(seed), recording.tables()), chunk_rows)


@pytest.mark.parametrize("kind", MADE)
@given(seed=ANY, chunk_rows=st.sampled_from(CHUNKS), left_out=st.sets(st.integers(1, 3)))
def test_namespaces_that_share_ids(
    kind: str, seed: int, chunk_rows: int, left_out: set[int]
) -> None:
    chance = Random(seed)
    tables = in_namespaces(chance, with_restarts(chance, MADE[kind](chance)))
    assert_same_tables(tables, chunk_rows, left_out=left_out)


def test_what_is_made_up_has_all_that_decides() -> None:
    found: dict[str, int] = {}
    for seed in range(200):
        chance = Random(seed)
        made = with_restarts(chance, MADE["work"](chance))
        ledger = Ledger()
        build_model(made, ledger)
        for code in ("reused_process_ids", "repeated_contexts"):
            found[code] = found.get(code, 0) + (code in ledger.counts)
    assert min(found.values()) > 40


@pytest.mark.parametrize("ahead_ns", [0, 10_000_000])
@pytest.mark.parametrize("clocks", [{}, {"base": "boot", "robot": "boot"}])
@pytest.mark.parametrize("name", ["dds_jazzy_udp_resends", "services_kilted", "actions_jazzy"])
def test_several_hosts(name: str, clocks: dict[str, str], ahead_ns: int, sample: Sample) -> None:
    tables = open_trace(sample(name)).tables()
    vpids = sorted({vpid for table in tables.values() for vpid in table["vpid"].to_pylist()})
    moved = on_another_host(tables, vpids[1:2], ahead_ns)
    assert_same_tables(moved, 1 << 20, clocks=clocks)


@given(seed=ANY, ahead_ns=st.sampled_from((0, 3, -100)), is_one=st.booleans())
def test_calls_between_hosts(seed: int, ahead_ns: int, is_one: bool) -> None:
    tables = on_another_host(MADE["services"](Random(seed)), [2], ahead_ns)
    clocks = {"base": "boot", "robot": "boot"} if is_one else {}
    assert_same_tables(tables, 7, clocks=clocks)


@pytest.mark.parametrize("context", [True, False])
@pytest.mark.parametrize("name", ["dds_jazzy_udp_resends", "services_jazzy", "cell_lidar"])
def test_containers(name: str, context: bool, sample: Sample) -> None:
    tables = in_containers(open_trace(sample(name)).tables(), context=context)
    assert_same_tables(tables, 1 << 20)
    hosts = run_engine(tables).rows["processes"]["host"]
    assert len(np.unique(hosts)) == len(hosts) > 1 or not context


def compared(
    path: Path, monkeypatch: pytest.MonkeyPatch, *, without: Collection[int] = (), every: bool
) -> Analysis:
    """Analyze a trace by the engine, which all of it has to be read by, and by event tables."""
    models = []

    def kept(*given: object) -> object:
        models.append(model_of_trace(*given))  # type: ignore[arg-type]
        return models[-1]

    monkeypatch.setattr(run, "model_of_trace", kept)
    found = strata.analyze(path, without=without, all_processes=every)
    assert models[0] is not None
    monkeypatch.setattr(run, "model_of_trace", lambda *_: None)
    wanted = strata.analyze(path, without=without, all_processes=every)
    for table in TABLES:
        assert_same_rows(found.rows(table.name), wanted.rows(table.name))
    for of in ("trace", "counts", "bottlenecks", "system"):
        assert getattr(found, of) == getattr(wanted, of), of
    return found


@pytest.mark.parametrize(
    ("others", "without", "code"),
    [
        ([1, FOREIGN], [], "processes_left_out"),
        ([FOREIGN], [OWN[0], FOREIGN], "foreign_processes"),
        (OWN[2:], [OWN[0]], "processes_left_out"),
        ([1, *OWN, FOREIGN], [], "only_other_processes"),
        ([1, *OWN], [FOREIGN], "only_other_processes"),
        ([], [], None),
    ],
)
def test_processes_left_out(
    others: Sequence[int],
    without: Sequence[int],
    code: str | None,
    own_sample: Sample,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = own_sample(BOTH)
    (path / "manifest.json").write_text(json.dumps({"processes": {"others": others}}))
    found = compared(path, monkeypatch, without=without, every=False)
    codes = {"processes_left_out", "foreign_processes", "only_other_processes"}
    assert code is None or code in set(found.quality["code"])
    assert bool(codes & set(found.quality["code"])) == (code is not None)


def test_what_is_left_out_is_there_on_request(
    own_sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = own_sample(BOTH)
    (path / "manifest.json").write_text(json.dumps({"processes": {"others": OWN}}))
    found = compared(path, monkeypatch, every=True)
    assert len(found.trace.processes) == len(OWN) + 1


def test_nothing_is_left_when_all_is_left_out(own_sample: Sample) -> None:
    path = own_sample(BOTH)
    with pytest.raises(TraceError, match="holds no event"):
        strata.analyze(path, without=[*OWN, FOREIGN])


@pytest.mark.parametrize("one_boot", [True, False])
def test_a_trace_of_two_machines(
    one_boot: bool, sample: Sample, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(sample("services_jazzy"), tmp_path / "one")
    shutil.copytree(sample("actions_jazzy"), tmp_path / "other")
    (metadata,) = (tmp_path / "other").rglob("metadata")
    text = metadata.read_bytes()
    assert b'"vm"' in text
    if not one_boot:
        assert text.count(BOOT) == 1
        text = text.replace(BOOT, b"0" * 8 + BOOT[8:])
    metadata.write_bytes(text.replace(b'"vm"', b'"wm"'))
    assert len(set(open_trace(tmp_path).clocks.values())) == (1 if one_boot else 2)
    found = compared(tmp_path, monkeypatch, every=True)
    assert len({process.host for process in found.trace.processes}) == 2
