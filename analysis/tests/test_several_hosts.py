# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of several hosts: clocks that are apart are said, and lose or make up no message."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection
from pathlib import Path

import pyarrow as pa
import pytest
from engine.by_tables import read_by_tables
from engine.process_events import on_another_host
from message_results import message_results
from scene import Scene
from small_trace import write_trace

import strata
from strata.analysis import Analysis
from strata.cli.console import make_console
from strata.comparison.parts import Part
from strata.comparison.runs import measure_run
from strata.layers.blockers import find_blockers
from strata.layers.service_calls import cut_calls
from strata.layers.service_frames import service_calls_rows
from strata.layers.transfers import cut_layers
from strata.model.columns import filled
from strata.model.of_tables import model_of_tables
from strata.pipeline.messages import Wanted
from strata.read import open_trace
from strata.read.trace import Trace
from strata.schema.layers import HOP_LAYERS
from strata.schema.quality import Findings
from strata.schema.service_layers import BETWEEN_HOSTS, SERVICE_LAYERS
from strata.show.html import write_report
from strata.show.terminal.analysis import print_analysis
from strata.stats.services import service_tables
from strata.study.cell_tables import HopSelection, measure
from strata.study.measure_values import Context, layer

Tables = dict[str, pa.Table]
MS = 1_000_000


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
    model = model_of_tables(on_another_host(relayed(), [2], ahead_ns))
    found = message_results(model, Wanted())
    messages, findings = found.tables["messages"], found.findings
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
    assert findings.counts["unsynchronised_messages"] == 10
    assert findings.counts.get("messages_before_publish", 0) == (10 if ahead_ns == -MS else 0)
    assert "out_of_order_matches" not in findings.counts
    assert not len(find_blockers(model, cut_layers(model)[0]).message)
    (said,) = [row["text"] for row in findings.rows() if row["code"] == "unsynchronised_messages"]
    assert "base -> robot: " in str(said)
    assert "in 10 messages" in str(said)


def test_hosts_of_one_clock_are_synchronised() -> None:
    # Containers of one machine have host names of their own.
    clocks = {"base": "boot", "robot": "boot"}
    model = model_of_tables(on_another_host(relayed(), [2], 0), clocks=clocks)
    found = message_results(model, Wanted())
    messages = found.tables["messages"]
    assert set(messages["confidence"]) == {"exact"}
    assert (messages["middleware_ns"] == 50_000).all()
    assert "unsynchronised_messages" not in found.findings.counts


def analyzed(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ahead_ns: int | None,
    vpids: Collection[int] | None = None,
) -> strata.Analysis:
    """Analyze a sample as if some processes, its second one, ran on another host."""
    own = Trace.tables
    moved = vpids or [strata.analyze(path).trace.processes[1].vpid]
    with monkeypatch.context() as patch:
        if ahead_ns is not None:
            patch.setattr(Trace, "tables", lambda self: on_another_host(own(self), moved, ahead_ns))
            patch.setattr("strata.pipeline.run.model_of_trace", read_by_tables)
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
    assert (found.hops["latency_p50_ns"] < 0).any()
    text = io.StringIO()
    print_analysis(found, make_console(text), everything=True)
    assert "clocks are not synchronised" in " ".join(text.getvalue().split())
    assert write_report(found, tmp_path / "page.html", title="hosts", force=False).is_file()
    for measured in measure_run(found, "run").measured.values():
        if measured.parts:
            total = sum(measured.of(frozenset({part})).sum() for part in measured.parts)
            assert total == measured.latency.sum()
            assert all(isinstance(part, Part) for part in measured.parts)


CALL = """
     50 2.2 wait
    100 1.1 rmw_send_request ana 1
    102 1.1 wait
    120 2.2 ready
    123 2.2 execute on_add
    130 2.2 rmw_take_request on_add ana 1
    135 2.2 callback_start on_add
    200 2.2 callback_end on_add
    202 2.2 rmw_send_response on_add ana 1 202
    230 1.1 ready
    240 1.1 rmw_take_response ana 1 202
    300 2.2 wait
"""


def called(ahead_ns: int) -> tuple[Tables, dict[str, int | None], dict[str, int], Findings]:
    """One call to a service whose clock is ahead: its statistics, row and layers."""
    made = Scene()
    made.service("/add", node="/server", pid=2, symbol="on_add")
    made.client("ana", "/add", node="/a", pid=1)
    made.play(CALL)
    model = model_of_tables(on_another_host(made.tables(), [2], ahead_ns))
    cut, findings = cut_calls(model)
    calls = service_calls_rows(model, cut)
    (row,) = calls.records()
    layers = {
        layer.name: row[layer.column]
        for layer in SERVICE_LAYERS
        if isinstance(row[layer.column], int)
    }
    return (
        service_tables(calls)[1].frame().set_index("layer"),
        row,
        layers,
        model.findings + findings,
    )


@pytest.mark.parametrize("ahead_ns", [10 * MS, -MS, -3_600_000 * MS, 3_600_000 * MS])
def test_calls_between_hosts_compare_no_clocks(ahead_ns: int) -> None:
    statistics, row, layers, findings = called(ahead_ns)
    assert row["latency_ns"] == sum(layers.values()) == 140
    assert row["complete"]
    assert row["method"] == "gid+sequence"
    assert row["confidence"] == "unsynchronised"
    assert layers == {
        "request middleware + executor wait": 23 + ahead_ns,
        "request take": 7,
        "client take": 5,
        "callback": 65,
        "respond": 2,
        "response middleware + executor wait + take": 38 - ahead_ns,
    }
    assert statistics["unsynchronised"].to_dict() == {
        name: int(name.startswith(("request middleware", "response"))) for name in layers
    }
    assert findings.counts == {"unsynchronised_calls": 1, "calls_before_sending": 1}


@pytest.mark.parametrize("ahead_ns", [-24, -31, -103, 39, 41, 106, 111])
def test_no_layer_of_a_call_between_hosts_is_null_by_chance(ahead_ns: int) -> None:
    # By these offsets request or response would last -1 ns, which stands for null.
    _, row, layers, _ = called(ahead_ns)
    assert row["latency_ns"] == sum(layers.values()) == 140
    assert -1 not in layers.values()


@pytest.mark.parametrize("trace", ["services_kilted", "services_jazzy", "actions_jazzy"])
@pytest.mark.parametrize("ahead_ns", [-10 * MS, 3_600_000 * MS])
def test_calls_and_goals_are_those_of_one_clock(
    sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, trace: str, ahead_ns: int
) -> None:
    def servers(analysis: Analysis) -> set[int]:
        return set(analysis.service_objects["vpid"]) - set(analysis.client_objects["vpid"])

    found = strata.analyze(sample(trace))
    moved = servers(found) or {found.trace.processes[1].vpid}
    before, after = (analyzed(sample(trace), monkeypatch, ns, moved) for ns in (None, ahead_ns))
    key = ["service", "client_node", "sequence_number"]
    one, two = (of.service_calls.sort_values(key) for of in (before, after))
    assert len(one) == len(two) > 0
    apart = two["confidence"].eq("unsynchronised").to_numpy(bool)
    assert apart.any()
    whole = one["complete"].to_numpy(bool)
    assert (two["complete"].to_numpy(bool) == whole).all()
    late = (one["begin_ns"] < one["send_request_ns"]).to_numpy(bool) & one[
        "write_request_ns"
    ].isna().to_numpy(bool)
    same = whole & ~late
    assert (filled(two["latency_ns"])[same] == filled(one["latency_ns"])[same]).all()
    columns = [layer.column for layer in SERVICE_LAYERS]
    assert (two[columns].sum(axis=1) == two["latency_ns"]).all()
    for column in ("callback_ns", "respond_ns", "client_take_ns"):
        assert (filled(two[column]) == filled(one[column])).all()
    between = [layer.column for layer in BETWEEN_HOSTS]
    assert two.loc[apart, between].notna().any(axis=1).all()
    # Goals are numbered by the first event of their call, which may be of either clock.
    key = ["action", "client_node", "begin_ns"]
    one, two = (of.action_goals.sort_values(key) for of in (before, after))
    assert len(one) == len(two)
    whole = one["complete"].to_numpy(bool)
    assert (two["complete"].to_numpy(bool) == whole).all()
    for column in ("latency_ns", "execution_ns", "reply_ns", "feedback"):
        assert (filled(two[column])[whole] == filled(one[column])[whole]).all()


def test_layers_between_hosts_are_marked_and_do_not_stand_out(
    sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = analyzed(sample("fast_relaymp_st"), monkeypatch, 10 * MS)
    apart = found.messages["confidence"] == "unsynchronised"
    between = found.hop_layers["unsynchronised"]
    own = found.messages[apart & found.messages["complete"]]
    assert 0 < between.sum() == len(own)
    assert found.hops["unsynchronised"].sum() == apart.sum()
    assert (between <= found.hop_layers["count"]).all()
    marked = found.chain_layers[found.chain_layers["unsynchronised"] > 0]
    assert len(marked)
    assert not set(marked["layer"]) & {"callback", "hold", "client take", "client publish"}
    longest = found.chains["hop_count"].idxmax()
    assert (
        found.chains.loc[longest, "unsynchronised"]
        == found.chain_instances.loc[
            found.chain_instances["chain_id"] == longest, "unsynchronised"
        ].sum()
    )
    blamed = found.blame[found.blame["unsynchronised"]]
    assert (blamed["typical_ns"].abs() > 5 * MS).any()
    for bottleneck in found.bottlenecks:
        assert "typical" not in bottleneck.reasons
        assert "outliers" not in bottleneck.reasons
    text = io.StringIO()
    print_analysis(found, make_console(text), everything=True)
    assert "(unsynchronised)" in text.getvalue()
    page = write_report(found, tmp_path / "page.html", title="hosts", force=False).read_text()
    assert "(unsynchronised)" in page
    whole = strata.analyze(sample("fast_relaymp_st"))
    text = io.StringIO()
    print_analysis(whole, make_console(text), everything=True)
    assert "unsynchronised" not in text.getvalue()


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
        found = message_results(model_of_tables(tables), Wanted()).tables
        hop = found["hops"].iloc[0]
        assert found["chain_instances"]["start_up"].sum() == 0
        told.append([hop[name] for name in ("published", "received", "lost", "in_flight")])
        (lost,) = found["hop_losses"].to_dict("records")
        told[-1] += [lost["cause"], lost["count"]]
    assert told[0] == told[1] == [10, 8, 2, 0, "lost on the way or overwritten", 2]


@pytest.mark.parametrize("ahead_ns", [None, 10 * MS])
def test_a_cell_keeps_which_of_its_messages_compare_clocks(
    own_sample: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, ahead_ns: int | None
) -> None:
    directory = own_sample("cell_relay")
    own, moved = Trace.tables, [strata.analyze(directory).trace.processes[1].vpid]
    if ahead_ns is not None:
        monkeypatch.setattr(
            Trace, "tables", lambda self: on_another_host(own(self), moved, ahead_ns)
        )
        monkeypatch.setattr("strata.pipeline.run.model_of_trace", read_by_tables)
    measured = measure(directory, HopSelection("/chain_*", warm_up=5))
    for table in ("transfers", "chains"):
        assert measured.read(table)["unsynchronised"].any() == (ahead_ns is not None)
    for context in (Context(), Context(is_of_chains=True)):
        assert layer(measured, context)["unsynchronised"].any() == (ahead_ns is not None)
