# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Timelines of made traces: kernel events, coroutines, several hosts, and what is not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from engine.by_tables import read_by_tables
from engine.process_events import on_another_host
from kernel_scene import kernel_tables
from made_analysis import Relay, make, nothing
from scene import BASE, Scene
from small_trace import write_trace

import strata
from strata.analysis import Analysis
from strata.errors import TraceError
from strata.read import open_trace
from strata.schema.rclpy_events import RCLPY_IDS
from strata.timeline import Embedding, Timeline, Timelines, documents

MS = 1_000_000
Tables = dict[str, pa.Table]
Analyze = Callable[[Tables], Analysis]


@pytest.fixture
def analyze(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Analyze:
    """Analyze tables as those of a trace."""

    def run(tables: Tables) -> Analysis:
        path = write_trace(tmp_path / "trace", [])
        trace = open_trace(path)
        monkeypatch.setattr(trace, "tables", lambda: dict(tables))
        monkeypatch.setattr("strata.pipeline.run.model_of_trace", read_by_tables)
        monkeypatch.setattr("strata.pipeline.run.open_trace", lambda *_, **__: trace)
        return strata.analyze(path)

    return run


def own_spans(timeline: Timeline) -> list[tuple[str | None, int, int, int]]:
    """Layer, lane, begin and end of the own spans, from the scene's begin on."""
    return [
        (span.layer, span.lane, span.begin_ns - BASE, span.end_ns - BASE) for span in timeline.own
    ]


def relayed() -> Tables:
    """/source sends to /sink, whose thread works for /other when the message comes."""
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.subscription("/u", node="/other", pid=2, symbol="on_u")
    scene.play(
        """
        100000 2.2 wait
        150000 2.2 ready
        150100 2.2 callback_start on_u
        199000 1.1 rcl_publish /t
        200000 1.1 rmw_publish /t 200000
        400000 2.2 callback_end on_u
        400500 2.2 wait
        401500 2.2 ready
        401600 2.2 execute on_t
        401700 2.2 rmw_take on_t 200000
        401800 2.2 callback_start on_t
        451800 2.2 callback_end on_t
        452000 2.2 wait
        """
    )
    return scene.tables()


def test_a_wait_is_laid_out_by_what_the_thread_did(analyze: Analyze) -> None:
    timeline = Timelines(analyze(relayed())).of(0)
    assert [lane.role for lane in timeline.lanes] == [
        "publishing thread of /t",
        "in transit or waiting: /t",
        "executor of /sink",
    ]
    # Busy until it waits, 1 us of waiting, then the pick.
    assert own_spans(timeline) == [
        ("client publish", 0, 199_000, 200_000),
        ("executor wait", 1, 200_000, 400_500),
        ("middleware", 1, 400_500, 401_500),
        ("executor wait", 1, 401_500, 401_600),
        ("take", 2, 401_600, 401_700),
        ("client take", 2, 401_700, 401_800),
        ("callback", 2, 401_800, 451_800),
    ]
    (other,) = (span for span in timeline.spans if not span.own)
    assert (other.lane, other.begin_ns - BASE, other.end_ns - BASE) == (2, 150_100, 400_000)
    assert (other.kind, other.label) == ("other callback", "on_u [/u] (/other)")
    assert (other.waited_ns, other.waiting_id) == (200_000, 0)
    (behind,) = timeline.behind
    assert (behind.label, behind.work, behind.duration_ns) == (
        "on_u [/u] (/other)",
        "callback",
        200_000,
    )


def test_kernel_events_say_who_had_the_cpu(analyze: Analyze) -> None:
    kernel = kernel_tables(
        """
        100000 cpu0 0 S 2
        410000 cpu0 2 R 77
        430000 cpu0 77 S 2
        460000 cpu0 2 S 0
        """,
        {2: (2, 2)},
    )
    timeline = Timelines(analyze(relayed() | kernel)).of(0)
    found = {(one.hop, one.layer): one for one in timeline.scheduling}
    callback = found[0, "callback"]
    assert callback.lane == 2
    assert (callback.running_ns, callback.preempted_ns) == (30_000, 20_000)
    assert (callback.blocked_ns, callback.unknown_ns) == (0, 0)
    assert [(one.tid, one.comm, one.duration_ns) for one in callback.by] == [(77, "t77", 20_000)]
    assert found[0, "take"].by == ()
    document = timeline.document()
    words = document["strings"]
    (row,) = (row for row in document["scheduling"] if words[row[1]] == "callback")
    assert row[2:] == [30_000, 20_000, 0, 0, -1, [[words.index("t77"), 77, 20_000]]]


SUSPENDED = """
    100 1.1 rmw_publish /in 100
    110 2.2 rmw_take on_in 100
    120 2.2 callback_start on_in
    130 2.2 callback_suspend on_in 1
    131 2.2 callback_end on_in
    135 1.1 rmw_publish /other 135
    140 2.2 rmw_take on_other 135
    145 2.2 callback_start on_other
    155 2.2 callback_end on_other
    200 2.7 callback_resume on_in 1
    201 2.7 callback_start on_in
    206 2.7 rmw_publish /out 206
    216 2.7 callback_suspend on_in 1
    217 2.7 callback_end on_in
    300 2.2 callback_resume on_in 1
    301 2.2 callback_start on_in
    308 2.2 callback_end on_in
    310 3.3 rmw_take on_out 206
    311 3.3 callback_start on_out
    312 3.3 callback_end on_out
"""


def test_a_coroutine_is_shown_on_the_threads_that_ran_its_pieces(analyze: Analyze) -> None:
    made = Scene(handle=RCLPY_IDS.start)
    made.publisher("/in", node="/source", pid=1)
    made.publisher("/other", node="/source", pid=1)
    made.publisher("/out", node="/relay", pid=2)
    made.subscription("/in", node="/relay", pid=2, symbol="on_in")
    made.subscription("/other", node="/relay", pid=2, symbol="on_other")
    made.subscription("/out", node="/sink", pid=3, symbol="on_out")
    made.play(SUSPENDED)
    analysis = analyze(made.tables())
    (last,) = analysis.messages.loc[analysis.messages["topic"] == "/out", "message_id"]
    timeline = Timelines(analysis).of(int(last))
    vtid = [lane.vtid for lane in timeline.lanes]
    run = [
        (span.layer, vtid[span.lane], span.begin_ns - BASE, span.end_ns - BASE, span.placed)
        for span in timeline.own
        if span.layer in ("hold", "suspended")
    ]
    assert run == [
        ("hold", 2, 120, 131, False),
        ("suspended", None, 131, 201, False),
        ("hold", 7, 201, 206, False),
    ]
    others = {
        (span.kind, vtid[span.lane], span.begin_ns - BASE, span.end_ns - BASE)
        for span in timeline.spans
        if not span.own
    }
    assert {
        ("other callback", 2, 145, 155),
        ("rest of callback", 7, 206, 217),
        ("rest of callback", 2, 301, 308),
    } <= others


@pytest.mark.parametrize("ahead_ns", [10 * MS, -MS])
def test_hosts_whose_clocks_are_apart_are_said(analyze: Analyze, ahead_ns: int) -> None:
    analysis = analyze(on_another_host(relayed(), [2], ahead_ns))
    timeline = Timelines(analysis).of(0)
    assert sum(span.duration_ns for span in timeline.own) == timeline.latency_ns
    assert timeline.latency_ns == analysis.rows("messages")["latency_ns"][0]
    apart = [span for span in timeline.own if span.unsynchronised]
    assert len(apart) == 1
    assert (apart[0].duration_ns < 0) == (ahead_ns < 0)
    assert len({lane.host for lane in timeline.lanes if lane.host}) == 2
    assert timeline.window_begin_ns <= min(span.begin_ns for span in timeline.own)
    assert timeline.window_end_ns >= max(span.end_ns for span in timeline.own)
    documents([timeline])


def test_results_without_threads_and_executions_are_shown_by_node() -> None:
    made = make(Relay(hops=3, messages=50))
    bare = Analysis.of(
        made.trace,
        made.counts,
        **{
            name: made.rows(name)
            for name in (
                "messages",
                "links",
                "chains",
                "chain_instances",
                "chain_segments",
                "callback_objects",
            )
        },
    )
    for analysis in (made, bare):
        timelines = Timelines(analysis)
        for row in range(len(analysis.rows("chain_instances"))):
            timeline = timelines.of_instance(row)
            assert sum(span.duration_ns for span in timeline.own) == timeline.latency_ns
            assert len(timeline.lanes) == 7
        for one in Embedding(analysis).of(0, slowest=3, sample=5):
            assert timelines.of_instance(one.chain_instance_id).latency_ns == one.latency_ns


def test_nothing_at_all() -> None:
    assert len(nothing().rows("chains")) == 0
    with pytest.raises(TraceError, match="the trace has 0 chains"):
        Embedding(nothing()).of(0, slowest=1, sample=1)
    with pytest.raises(TraceError, match="the trace has 0 matched messages"):
        Timelines(nothing()).of(0)
