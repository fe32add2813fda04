# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Executors, timers, services, lifecycles and kernel events, beside a made relay chain.

Names end with a suffix that the test chooses. Statistics are those of the product.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from made_analysis import BEGIN_NS, HOST
from table_rows import frame_of, rows_of

from strata.analysis import Analysis
from strata.schema import tables
from strata.schema.layers import CALLBACK, CLIENT_TAKE
from strata.schema.rows import Rows
from strata.schema.service_layers import (
    REQUEST_MIDDLEWARE_EXECUTOR_WAIT,
    REQUEST_TAKE,
    RESPOND,
    RESPONSE_MIDDLEWARE,
)
from strata.stats.lifecycle import lifecycle_table
from strata.stats.scheduling import scheduling_table
from strata.stats.segments import Segments
from strata.stats.services import service_tables
from strata.stats.summary import prefixed, summarize

PREFIX = "/robot_7/perception/pointcloud_preprocessing"
RIVAL = 4_321
CALL_NS = {
    REQUEST_MIDDLEWARE_EXECUTOR_WAIT: 400_000,
    REQUEST_TAKE: 30_000,
    CLIENT_TAKE: 20_000,
    CALLBACK: 1_000_000,
    RESPOND: 50_000,
    RESPONSE_MIDDLEWARE: 500_000,
}


def with_sections(analysis: Analysis, suffix: str = "") -> Analysis:
    """`analysis` with something to show in every section of the page."""
    calls = _calls(suffix)
    services, service_layers = service_tables(Rows.of_frame(tables.SERVICE_CALLS, calls))
    states, nodes = _states(suffix)
    executors, threads = _executors(suffix)
    return with_kernel(
        analysis.replaced(
            executors=executors,
            executor_threads=threads,
            service_calls=calls,
            services=services,
            service_layers=service_layers,
            timer_statistics=_timers(suffix),
            lifecycle_states=states,
            lifecycle_statistics=lifecycle_table(
                Rows.of_frame(tables.LIFECYCLE_STATES, states),
                Rows.of_frame(tables.NODES, nodes),
                BEGIN_NS,
                BEGIN_NS + 1_000,
            ),
        ),
        suffix,
    )


def with_kernel(analysis: Analysis, suffix: str = "") -> Analysis:
    """Callbacks ran two parts of three and were preempted the third; a rival had the CPU."""
    messages = analysis.messages
    third = messages["callback_ns"].astype("int64") // 3
    scheduling = pd.DataFrame(
        {
            "message_id": messages["message_id"],
            "layer": CALLBACK.name,
            "vtid": 100,
            "running_ns": messages["callback_ns"].astype("int64") - third,
            "preempted_ns": third,
            "blocked_ns": 0,
            "unknown_ns": 0,
        }
    )
    takes = scheduling.assign(layer=CLIENT_TAKE.name, running_ns=4_000, preempted_ns=0)
    preemptions = pd.DataFrame(
        {
            "message_id": messages["message_id"],
            "layer": CALLBACK.name,
            "tid": RIVAL,
            "comm": f"rival{suffix}",
            "duration_ns": third,
        }
    )
    every = tables.LAYER_SCHEDULING.frame(pd.concat([scheduling, takes]))
    named = tables.PREEMPTIONS.frame(preemptions)
    return analysis.replaced(
        layer_scheduling=every,
        preemptions=named,
        chain_scheduling=frame_of(
            scheduling_table(
                Segments.of_rows(analysis.rows("chain_segments")),
                *(
                    rows_of(table, frame)
                    for table, frame in (
                        (tables.CHAIN_LAYER_STATS, analysis.chain_layers),
                        (tables.LAYER_SCHEDULING, every),
                        (tables.PREEMPTIONS, named),
                    )
                ),
            )
        ),
    )


def _executors(suffix: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One of four threads with mutex, and one of a kind without events, which is the busiest."""
    nodes = ", ".join(f"{PREFIX}/voxel_grid_filter_component_{at}{suffix}" for at in range(10))
    executors = pd.DataFrame(
        {
            "executor_id": [0, 1],
            "host": HOST,
            "vpid": [100, 101],
            "kind": ["multi-threaded", "without events"],
            "threads": [4, 1],
            "nodes": [nodes, ""],
            "callbacks": [12, 1],
        }
    )
    threads = pd.DataFrame(
        {
            "executor_id": [0, 0, 0, 0, 1],
            "host": HOST,
            "vpid": [100, 100, 100, 100, 101],
            "vtid": [100, 1_000_102, 1_000_103, 1_000_104, 101],
            "begin_ns": BEGIN_NS,
            "end_ns": BEGIN_NS + 1_000_000,
            "executions": [123_456, 20, 30, 40, 50],
            "executing_ns": [400_000, 10_000, 20_000, 0, 990_000],
            "waiting_ns": [300_000, 500_000, 600_000, 1_000_000, None],
            "mutex_ns": [250_000, 400_000, 300_000, 0, None],
            "ready_ns": [50_000, 90_000, 80_000, 0, None],
            "outside_ns": [0, 0, 0, 0, None],
        }
    ).astype(dict.fromkeys(("waiting_ns", "mutex_ns", "ready_ns", "outside_ns"), "Int64"))
    return tables.EXECUTORS.frame(executors), tables.EXECUTOR_THREADS.frame(threads)


def _timers(suffix: str) -> pd.DataFrame:
    """One timer that keeps its setpoint, and one that skipped and was paused."""
    rows = [
        _timer(0, f"{PREFIX}/clock{suffix}", 10_000_000, np.full(999, 10_000_000), 100_000),
        {
            **_timer(
                1, f"{PREFIX}/busy{suffix}", 100_000_000, np.full(3, 2_00_000_000), 99_000_000
            ),
            "skipped": 7,
            "overruns": 2,
            "pauses": 1,
        },
        _timer(2, f"{PREFIX}/once{suffix}", 1_000_000_000, np.empty(0, np.int64), 5),
    ]
    return tables.TIMER_STATISTICS.frame(pd.DataFrame(rows, columns=tables.TIMER_STATISTICS.names))


def _timer(
    number: int, node: str, period_ns: int, intervals: np.ndarray, late_ns: int
) -> dict[str, object]:
    counts = dict.fromkeys(("skipped", "overruns", "undecided", "pauses", "early", "irregular"), 0)
    return {
        "timer_id": number,
        "node": node,
        "symbol": f"{node.rpartition('/')[2]}::Filter<int>::on_timer(int)",
        "period_ns": period_ns,
        "count": len(intervals) + 1,
        **counts,
        **prefixed("interval_", summarize(intervals)),
        **prefixed("jitter_", summarize(np.abs(intervals - period_ns))),
        **prefixed("lateness_", summarize(np.full(len(intervals) + 1, late_ns))),
    }


def _calls(suffix: str) -> pd.DataFrame:
    """Twenty complete calls of one service; three of another that nobody serves."""
    answered = pd.DataFrame({layer.column: [ns] * 20 for layer, ns in CALL_NS.items()})
    latency = sum(CALL_NS.values())
    begin = BEGIN_NS + 10_000_000 * np.arange(23)
    unanswered = pd.DataFrame({"latency_ns": [0] * 3})
    calls = pd.concat([answered.assign(latency_ns=latency), unanswered], ignore_index=True)
    served = np.arange(23) < 20
    calls = calls.astype({layer.column: "Int64" for layer in CALL_NS}).assign(
        call_id=np.arange(23),
        service_id=np.where(served, 0, 1),
        service=np.where(served, f"{PREFIX}/set_the_region{suffix}", f"/mute{suffix}"),
        client_node=f"{PREFIX}/client{suffix}",
        service_node=pd.Series(f"{PREFIX}/server{suffix}", index=calls.index).where(served),
        sequence_number=np.arange(23),
        begin_ns=begin,
        send_request_ns=begin,
        take_response_ns=pd.Series(begin + latency, dtype="Int64").where(served),
        complete=served,
        further=False,
    )
    return tables.SERVICE_CALLS.frame(calls)


def _states(suffix: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A node that was unconfigured, then configured for 300 ns, then inactive to the end."""
    states = pd.DataFrame(
        {
            "lifecycle_node_id": 0,
            "node_id": 0,
            "position": [0, 1, 2],
            "state": ["unconfigured", f"configuring{suffix}", "inactive"],
            "begin_ns": pd.array([None, BEGIN_NS + 200, BEGIN_NS + 500], "Int64"),
            "end_ns": pd.array([BEGIN_NS + 200, BEGIN_NS + 500, None], "Int64"),
        }
    )
    nodes = pd.DataFrame({"node_id": [0], "name": [f"{PREFIX}/managed{suffix}"]}).assign(
        host=HOST, vpid=100, handle=1, begin_ns=BEGIN_NS
    )
    return tables.LIFECYCLE_STATES.frame(states), nodes
