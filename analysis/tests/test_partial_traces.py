# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Real traces of which a part is missing, through the whole pipeline: it answers, sums are exact.

What is missing: the events of a kind, of a process, or most of the time. Whoever records chooses
events, starts late and stops early, so every table of every stage may be empty.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from engine.by_tables import read_by_tables
from kernel_scene import kernel_tables
from scene import Scene
from small_trace import write_trace
from thread_samples import samples

import strata
from strata.analysis import Analysis
from strata.cli.console import make_console
from strata.comparison.comparison import Comparison, compare_sides
from strata.comparison.runs import measure_run
from strata.comparison.sides import Side
from strata.errors import TraceError
from strata.read import open_trace
from strata.schema.action_phases import ACTION_PHASES
from strata.schema.layer import Layer
from strata.schema.layers import HOP_LAYERS
from strata.schema.service_layers import SERVICE_LAYERS
from strata.show.ci.markdown import markdown
from strata.show.document.analysis import document
from strata.show.document.comparison import document as compare_document
from strata.show.document.hops import hop_document
from strata.show.document.rectangle import rectangle
from strata.show.html import write_report
from strata.show.terminal.analysis import print_analysis
from strata.show.terminal.comparison import print_comparison
from strata.show.terminal.hops import print_hops
from strata.show.terminal.path import path_section, paths_document
from strata.show.words.hop_selection import Selection
from strata.show.words.links import links_file
from strata.show.words.sections import SECTIONS
from strata.stats.hop_distributions import trace_hops
from strata.stats.path import critical_path
from strata.stats.transfers import End
from strata.timeline import Embedding, Timelines
from strata.timeline import documents as timeline_documents

Tables = dict[str, pa.Table]
Cut = Callable[[Tables], Tables]

_EXECUTOR = "rclcpp_executor"
_INIT = ("_init", "callback_added", "callback_register", "link_node", "rclcpp_construct")


def without(*words: str) -> Cut:
    """No event that has one of the words in its name."""
    return lambda tables: {
        name: table for name, table in tables.items() if not any(word in name for word in words)
    }


def only(*words: str) -> Cut:
    """No event but those that have one of the words in their name."""
    return lambda tables: {
        name: table for name, table in tables.items() if any(word in name for word in words)
    }


def rows(chosen: Callable[[pa.Table], pa.Table]) -> Cut:
    """Some events of each name."""
    return lambda tables: {
        name: left for name, table in tables.items() if len(left := chosen(table))
    }


def of_time(begin: float, end: float) -> Cut:
    """The events of a part of the trace's time, from 0 to 1."""

    def cut(tables: Tables) -> Tables:
        ns = [table["timestamp"].to_numpy() for table in tables.values()]
        first, last = min(one[0] for one in ns), max(one[-1] for one in ns)
        low, high = (int(first + (last - first) * part) for part in (begin, end))
        time = pc.field("timestamp")
        inside = (time >= low) & (time <= high)
        return rows(lambda table: table.filter(inside))(tables)

    return cut


def without_process(number: int, *words: str) -> Cut:
    """None of the events of a process; with words, of those that have one of them in their name."""

    def cut(tables: Tables) -> Tables:
        every = sorted({vpid for table in tables.values() for vpid in table["vpid"].to_pylist()})
        vpid = every[number % len(every)]
        kept = {
            name: table.filter(pc.not_equal(table["vpid"], vpid))
            if not words or any(word in name for word in words)
            else table
            for name, table in tables.items()
        }
        return {name: table for name, table in kept.items() if len(table)}

    return cut


CUTS: dict[str, Cut] = {
    "no init events": without(*_INIT),
    "init events only": only(*_INIT),
    "no init events of a process": without_process(0, *_INIT),
    "no publications": without("publish", "dds:write"),
    "no status or feedback was published": without("ros2:rmw_publish"),
    "no takes": without("take"),
    "no callbacks": without("callback_start", "callback_end"),
    "no ends of callbacks": without("callback_end"),
    "no events of executors": without(_EXECUTOR),
    "no events of the middleware": without("dds:"),
    "the middleware and one event": lambda tables: {
        **only("dds:")(tables),
        "ros2:rcl_init": tables["ros2:rcl_init"],
    },
    "rmw events only": only("rmw_"),
    "no rmw events": without("rmw_"),
    "one event of each": rows(lambda table: table.slice(0, 1)),
    "the last event of each": rows(lambda table: table.slice(len(table) - 1, 1)),
    "one event": lambda tables: {"ros2:rcl_init": tables["ros2:rcl_init"].slice(0, 1)},
    "the first 1 %": of_time(0, 0.01),
    "the first 10 %": of_time(0, 0.1),
    "the last half": of_time(0.5, 1),
    "the last 1 %": of_time(0.99, 1),
    "no first process": without_process(0),
    "no last process": without_process(-1),
}
CASES = [
    *(("throws_rclpy", what) for what in CUTS),
    *(
        ("actions_jazzy", what)
        for what in (
            *("no publications", "no status or feedback was published", "no takes", "no callbacks"),
            *("one event of each", "the first 10 %", "no first process"),
        )
    ),
    *(
        ("driver_polled", what)
        for what in ("init events only", "no callbacks", "no rmw events", "the first 1 %")
    ),
    *(
        ("intra_jazzy", what)
        for what in ("no publications", "no callbacks", "the last event of each", "the last 1 %")
    ),
]


@dataclass(frozen=True)
class Pipeline:
    """All that is made of a trace, of given tables in place of its own."""

    place: Path
    monkeypatch: pytest.MonkeyPatch

    def analyze(self, path: Path, tables: Tables) -> Analysis:
        """Analyze the tables as those of the trace at a path."""
        trace = open_trace(path)
        self.monkeypatch.setattr(trace, "tables", lambda: dict(tables))
        self.monkeypatch.setattr("strata.pipeline.run.model_of_trace", read_by_tables)
        self.monkeypatch.setattr("strata.pipeline.run.open_trace", lambda *_, **__: trace)
        return strata.analyze(path)

    def run(self, path: Path, tables: Tables) -> Analysis:
        """Analyze the tables, add everything up, and make every report."""
        analysis = self.analyze(path, tables)
        add_up(analysis)
        text = "".join(self.texts(analysis))
        assert "<NA>" not in text and "NaN" not in text
        for found in documents(analysis):
            json.dumps(found, allow_nan=False)
        rectangle(analysis)
        write_report(analysis, self.place / "report.html", title="t", force=True)
        return analysis

    def texts(self, analysis: Analysis) -> Iterator[str]:
        """Give all that is told in words."""
        file = io.StringIO()
        console = make_console(file)
        print_analysis(analysis, console, everything=True)
        print_analysis(analysis, console, sections=tuple(SECTIONS))
        print_hops([trace_hops(analysis, "t")], console, until=End.START, selection=EVERY_HOP)
        compared = self_compared(analysis)[1]
        print_comparison(compared, console)
        for message in analysis.messages["message_id"].tail(1):
            console.print(path_section(analysis, critical_path(analysis, int(message))))
        yield from (file.getvalue(), markdown(compared, ()))
        yield markdown(compared, (), everything=True)
        yield links_file(analysis.rows("link_proposals"), "t")


EVERY_HOP = Selection((), (), True)


def self_compared(analysis: Analysis) -> tuple[Side, Comparison]:
    """Compare a run with itself: nothing shifts."""
    side = Side("t", (measure_run(analysis, "t"),))
    return side, compare_sides(side, side, wanted=lambda _: True)


def documents(analysis: Analysis) -> Iterator[object]:
    """Give all that is made for machines."""
    yield document(analysis)
    yield hop_document([trace_hops(analysis, "t")], EVERY_HOP)
    side, compared = self_compared(analysis)
    yield compare_document(compared, (), side, side)
    for message in analysis.messages["message_id"].tail(1):
        yield paths_document(analysis, [critical_path(analysis, int(message))])
    timelines, embedding = Timelines(analysis), Embedding(analysis)
    for chain in analysis.chains["chain_id"].head(3):
        chosen = embedding.of(int(chain), slowest=2, sample=3, moments=3)
        yield timeline_documents(timelines.of_instance(one.chain_instance_id) for one in chosen)


def add_up(analysis: Analysis) -> None:
    """Hold parts against their wholes, to the nanosecond."""
    messages, calls, goals = analysis.messages, analysis.service_calls, analysis.action_goals
    assert (parts(messages, HOP_LAYERS) == messages["latency_ns"]).all()
    assert (parts(calls, SERVICE_LAYERS) == calls["latency_ns"])[calls["complete"]].all()
    assert (parts(goals, ACTION_PHASES) == goals["latency_ns"]).all()
    timelines = Timelines(analysis)
    for message in range(0, len(messages), max(1, len(messages) // 20)):
        own_ns = sum(span.duration_ns for span in timelines.of(message).own)
        assert own_ns == timelines.of(message).latency_ns
    ways = analysis.chain_segments.groupby("chain_instance_id")["duration_ns"].sum()
    latency = analysis.chain_instances.set_index("chain_instance_id")["latency_ns"]
    assert (ways.reindex(latency.index) == latency).all()
    for share in ("share_p50", "share_p99"):
        assert np.allclose(analysis.blame.groupby("chain_id")[share].sum(), 1)
    threads = analysis.executor_threads
    spent = threads[["executing_ns", "waiting_ns", "mutex_ns", "ready_ns"]].astype("float64")
    whole = (threads["end_ns"] - threads["begin_ns"]).astype("float64")
    known = threads["ready_ns"].notna()
    assert (spent.sum(axis=1) == whole)[known].all()


def parts(table: pd.DataFrame, layers: Iterable[Layer]) -> pd.Series[int]:
    columns = [layer.column for layer in layers]
    return table[columns].astype("Int64").fillna(0).sum(axis=1).astype("int64")


@pytest.mark.parametrize(("name", "what"), CASES)
def test_whatever_is_missing_there_is_an_answer(
    sample: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    what: str,
) -> None:
    tables = CUTS[what](open_trace(sample(name)).tables())
    assert tables
    Pipeline(tmp_path, monkeypatch).run(sample(name), tables)


def test_samples_of_threads_and_nothing_but_the_begin_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    kernel = kernel_tables("0 cpu0 0 S 1\n50000000 cpu0 1 S 0", {1: (1, 1)})
    samples(tmp_path, "0 1.1 cpu 5 wait 1 slices 3\n100 2.2 cpu 9 wait 2 slices 4")
    path = write_trace(tmp_path / "trace", [])
    analysis = Pipeline(tmp_path, monkeypatch).run(path, scene.tables() | kernel)
    assert len(analysis.thread_cpu) == 2
    assert analysis.thread_cpu["traffic_on_cpu_ns"].sum() == 0
    assert analysis.messages.empty
    assert analysis.system.text == ""


@pytest.mark.parametrize(
    ("events", "why"),
    [("", "the trace contains no events"), ("0 cpu0 0 S 1", "none of its 1 events is a ros2:")],
)
def test_samples_or_the_kernel_alone_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, events: str, why: str
) -> None:
    samples(tmp_path, "0 1.1 cpu 5 wait 1 slices 3")
    path = write_trace(tmp_path / "trace", [])
    with pytest.raises(TraceError, match=why):
        Pipeline(tmp_path, monkeypatch).analyze(path, kernel_tables(events))
