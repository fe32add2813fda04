# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of several hosts: clocks that are apart are said, and lose or make up no message."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scene import Scene
from small_trace import write_trace

import strata
from strata.cli.console import make_console
from strata.compare.parts import Part
from strata.compare.runs import measure_run
from strata.layers.blockers import find_blockers
from strata.layers.transfers import cut_layers
from strata.model.build import build_model
from strata.model.columns import filled
from strata.pipeline.messages import Wanted, message_results
from strata.read import open_trace
from strata.read.trace import Trace
from strata.report.html import write_report
from strata.report.text import print_analysis
from strata.schema.layers import HOP_LAYERS
from strata.schema.quality import Ledger

Tables = dict[str, pa.Table]
MS = 1_000_000


def on_another_host(tables: Tables, vpids: Collection[int], ahead_ns: int) -> Tables:
    """Tables in which some processes ran on a host whose clock is ahead."""
    out = {}
    for name, table in tables.items():
        moved = np.isin(table["vpid"].to_numpy(), list(vpids))
        ns = table["timestamp"].to_numpy() + np.where(moved, ahead_ns, 0)
        host = pa.array(np.where(moved, "robot", "base")).dictionary_encode()
        host = host.cast(pa.dictionary(pa.int32(), pa.string()))
        for column, values in (("timestamp", pa.array(ns)), ("host", pa.chunked_array([host]))):
            table = table.set_column(table.column_names.index(column), column, values)
        out[name] = table.take(pa.array(np.argsort(ns, kind="stable")))
    return out


def relayed() -> Tables:
    """Ten messages, each 50 us under way, to an executor that waits for them."""
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.play("100 2.2 wait")
    for number in range(10):
        at = 1000 + number * 20 * MS
        scene.play(
            f"""
            {at} 1.1 rmw_publish /t {at}
            {at + 50_000} 2.2 ready
            {at + 50_100} 2.2 execute on_t
            {at + 50_300} 2.2 rmw_take on_t {at}
            {at + 50_400} 2.2 callback_start on_t
            {at + 51_400} 2.2 callback_end on_t
            {at + 51_500} 2.2 wait
            """
        )
    return scene.tables()


@pytest.mark.parametrize("ahead_ns", [10 * MS, -MS, -50_101])
def test_layers_between_hosts_are_unsynchronised(ahead_ns: int) -> None:
    ledger = Ledger()
    model = build_model(on_another_host(relayed(), [2], ahead_ns), ledger)
    messages = message_results(model, Wanted(), ledger).tables["messages"]
    assert len(messages) == 10
    assert set(messages["confidence"]) == {"unsynchronised"}
    assert (messages["latency_ns"] == 51_400 + ahead_ns).all()
    layers = messages[[layer.column for layer in HOP_LAYERS]]
    assert (layers.sum(axis=1) == messages["latency_ns"]).all()
    # What both clocks are in is one layer; the rest is the reader's own.
    assert set(layers.columns[layers.notna().any()]) <= {
        "middleware_executor_wait_ns",
        "middleware_executor_wait_take_ns",
        "take_ns",
        "client_take_ns",
        "callback_ns",
    }
    assert (messages["callback_ns"] == 1000).all()
    assert ledger.counts["unsynchronised_messages"] == 10
    assert ledger.counts.get("messages_before_publish", 0) == (10 if ahead_ns == -MS else 0)
    assert "out_of_order_matches" not in ledger.counts
    assert not len(find_blockers(model, cut_layers(model, Ledger())).message)
    (said,) = [row["text"] for row in ledger.rows() if row["code"] == "unsynchronised_messages"]
    assert "base -> robot: " in str(said)
    assert "in 10 messages" in str(said)


def test_hosts_of_one_clock_are_synchronised() -> None:
    # Containers of one machine have host names of their own.
    ledger = Ledger()
    clocks = {"base": "boot", "robot": "boot"}
    model = build_model(on_another_host(relayed(), [2], 0), ledger, clocks=clocks)
    messages = message_results(model, Wanted(), ledger).tables["messages"]
    assert set(messages["confidence"]) == {"exact"}
    assert (messages["middleware_ns"] == 50_000).all()
    assert "unsynchronised_messages" not in ledger.counts


def analyzed(path: Path, monkeypatch: pytest.MonkeyPatch, ahead_ns: int | None) -> strata.Analysis:
    """Analyze a sample as if its second process ran on another host."""
    own = Trace.tables
    vpid = strata.analyze(path).trace.processes[1].vpid
    with monkeypatch.context() as patch:
        if ahead_ns is not None:
            patch.setattr(
                Trace, "tables", lambda self: on_another_host(own(self), [vpid], ahead_ns)
            )
        return strata.analyze(path)


@pytest.mark.parametrize("trace", ["dds_jazzy_udp_resends", "fast_blocked_st"])
@pytest.mark.parametrize("ahead_ns", [10 * MS, -10 * MS])
def test_nothing_but_the_layer_between_hosts_changes(
    sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, trace: str, ahead_ns: int
) -> None:
    # Takes are numbered in order of time, which is the same within a node only.
    order = ["subscription_node", "take_id"]
    before = analyzed(sample(trace), monkeypatch, None).messages.sort_values(order)
    found = analyzed(sample(trace), monkeypatch, ahead_ns)
    after = found.messages.sort_values(order)
    assert len(after) == len(before) > 0
    apart = after["confidence"] == "unsynchronised"
    assert apart.any()
    columns = [layer.column for layer in HOP_LAYERS]
    assert (after[columns].sum(axis=1) == after["latency_ns"]).all()
    for column in ("callback_ns", "client_take_ns", "client_publish_ns"):
        assert (filled(after[column]) == filled(before[column])).all()
    quality = found.quality.set_index("code")
    assert quality.loc["unsynchronised_messages", "count"] == apart.sum()
    if ahead_ns > 0:
        assert "disordered_dds_checkpoints" not in quality.index


def test_negative_layers_are_shown_and_compared(
    sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = analyzed(sample("fast_relaymp_st"), monkeypatch, -10 * MS)
    assert (found.hops["latency_p50"] < 0).any()
    text = io.StringIO()
    print_analysis(found, make_console(text), everything=True)
    assert "clocks are not synchronised" in " ".join(text.getvalue().split())
    assert write_report(found, tmp_path / "page.html", title="hosts", force=False).is_file()
    for measured in measure_run(found, "run").measured.values():
        if measured.parts:
            total = sum(measured.of(frozenset({part})).sum() for part in measured.parts)
            assert total == measured.latency.sum()
            assert all(isinstance(part, Part) for part in measured.parts)


def clocked(directory: Path, uuid: str, offset: int, host: str = "vm") -> Path:
    """A trace of three events whose metadata state a clock's id and offset."""
    path = write_trace(directory, [b""] * 3, host=host)
    metadata = path / "metadata"
    clock = f'clock {{ name = c; uuid = "{uuid}"; freq = 1000000000; offset = {offset}; }};'
    text = metadata.read_text()
    begin = text.index("clock {")
    metadata.write_text(text[:begin] + clock + text[text.index("};", begin) + 2 :])
    return path


def test_directories_of_one_boot_have_one_offset(tmp_path: Path) -> None:
    for name, offset in (("a", 5_000_300), ("b", 5_000_000), ("c", 5_000_900)):
        clocked(tmp_path / name, "585afdc6-9ea5-4a66-b4e9-eebaabf46cf9", offset)
    clocked(tmp_path / "d", "fe6558eb-2d24-4e7f-8776-52402f4db5a1", 7_000_000, "other")
    trace = open_trace(tmp_path)
    offsets = {Path(place).name: ns for place, ns in trace.clock_offsets_ns.items()}
    assert offsets == {"a": 5_000_300, "b": 5_000_300, "c": 5_000_300, "d": 7_000_000}
    ns = trace.tables()["made:event"]["timestamp"].to_pylist()
    assert ns == sorted(
        [5_000_300 + 1000 * n for n in range(3)] * 3 + [7_000_000, 7_001_000, 7_002_000]
    )
    assert len(set(trace.clocks.values())) == 2


def test_machines_of_one_name_are_told_apart(tmp_path: Path) -> None:
    clocked(tmp_path / "a", "585afdc6-9ea5-4a66-b4e9-eebaabf46cf9", 0, "robot")
    clocked(tmp_path / "b", "fe6558eb-2d24-4e7f-8776-52402f4db5a1", 0, "robot")
    trace = open_trace(tmp_path)
    hosts = set(trace.tables()["made:event"]["host"].to_pylist())
    assert hosts == {"robot (585afdc6)", "robot (fe6558eb)"} == set(trace.clocks)


@pytest.mark.parametrize("ahead_ns", [3_600_000 * MS, -3_600_000 * MS])
def test_losses_and_start_up_are_those_of_one_clock(ahead_ns: int) -> None:
    # The trace is 200 ms long, the clocks are an hour apart.
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.play("100 2.2 wait")
    for number in range(10):
        at = 1000 + number * 20 * MS
        scene.play(f"{at} 1.1 rmw_publish /t {at}")
        if number in (3, 4):
            continue
        scene.play(
            f"""
            {at + 50_300} 2.2 rmw_take on_t {at}
            {at + 50_400} 2.2 callback_start on_t
            {at + 51_400} 2.2 callback_end on_t
            """
        )
    told = []
    for tables in (scene.tables(), on_another_host(scene.tables(), [2], ahead_ns)):
        found = message_results(build_model(tables, Ledger()), Wanted(), Ledger()).tables
        hop = found["hops"].iloc[0]
        assert found["chain_instances"]["start_up"].sum() == 0
        told.append([hop[name] for name in ("published", "received", "lost", "in_flight")])
        (lost,) = found["hop_losses"].to_dict("records")
        told[-1] += [lost["cause"], lost["count"]]
    assert told[0] == told[1] == [10, 8, 2, 0, "lost on the way or overwritten", 2]
