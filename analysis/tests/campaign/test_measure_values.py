# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Values of measures, of tables that are small enough to be counted by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from strata.schema.tables.measured import MEASURED_TABLES
from strata.study import measure_values as values
from strata.study import resource_values as resources
from strata.study.cell_tables import SUBDIRECTORY, CellTables, HopSelection
from strata.study.measure_definitions import find_measure

MS = 1_000_000
S = 1_000_000_000
EPOCH = 1_795_319_579_187_882_787
AT_10_HZ = values.Context(nominal_hz=10.0)
CHAINS = values.Context(is_of_chains=True)

Tables = Callable[..., CellTables]


@pytest.fixture
def tables(tmp_path: Path) -> Tables:
    """Write tables of a cell, each by its columns; columns and tables that are not told are null
    or empty.
    """

    def made(**stated: dict[str, Any]) -> CellTables:
        (tmp_path / SUBDIRECTORY).mkdir(exist_ok=True)
        for table in MEASURED_TABLES:
            name = table.name.removeprefix("measured_")
            own = stated.get(name, {})
            count = len(next(iter(own.values()), ()))
            columns = {}
            for column in table.columns:
                # A column that cannot be null gets what counts as nothing.
                nothing = {"bool": False, "int64": 0, "string": ""}.get(str(column.pandas_dtype))
                cells = own.get(column.name, [nothing] * count)
                columns[column.name] = pd.Series(cells, dtype=column.pandas_dtype)
            frame = pd.DataFrame(columns)
            frame.to_parquet(tmp_path / SUBDIRECTORY / f"{name}.parquet", index=False)
        return CellTables(tmp_path, HopSelection(), {})

    return made


def hop(ends: list[int], warm_up: int = 1, **further: Any) -> dict[str, Any]:
    """Transfers of one hop that arrived at these ns; message k took k + 1 ms."""
    count = len(ends)
    return {
        "hop": ["/a: /x -> /y"] * count,
        "number": range(count),
        "end_ns": [EPOCH + end for end in ends],
        "latency_ns": [(one + 1) * MS for one in range(count)],
        "warm_up": [one < warm_up for one in range(count)],
        **further,
    }


def test_a_latency_is_in_ns_and_begins_with_the_cells_first_message(tables: Tables) -> None:
    found = values.latency(tables(transfers=hop([0, S // 2, S])), values.Context())
    assert found["number"].tolist() == [1, 2]
    assert found["value"].tolist() == [2 * MS, 3 * MS]
    assert found["value"].dtype == found["t_ns"].dtype == np.int64
    assert found["t_ns"].tolist() == [S // 2, S]


def test_a_callback_without_an_end_has_no_whole_latency(tables: Tables) -> None:
    made = tables(transfers=hop([0, 1, 2], whole_ns=[5 * MS, None, 7 * MS]))
    found = values.whole_latency(made, values.Context())
    assert (found["number"].tolist(), found["value"].tolist()) == ([2], [7 * MS])


def chain(**further: Any) -> dict[str, Any]:
    """Three instances of the chain of two hops, and one of its first hop alone."""
    return {
        "chain": ["/a -> /b"] * 3 + ["/a"],
        "hops": [2, 2, 2, 1],
        "number": [0, 1, 2, 3],
        "end_ns": [EPOCH, EPOCH + S, EPOCH + 2 * S, EPOCH],
        "latency_ns": [10 * MS, 20 * MS, 30 * MS, 99 * MS],
        "whole_ns": [11 * MS, 21 * MS, 31 * MS, 99 * MS],
        "warm_up": [True, False, False, False],
        **further,
    }


def test_the_latency_of_chains_is_of_the_longest(tables: Tables) -> None:
    made = tables(chains=chain())
    assert values.latency(made, CHAINS)["value"].tolist() == [20 * MS, 30 * MS]
    assert values.whole_latency(made, CHAINS)["value"].tolist() == [21 * MS, 31 * MS]
    # Without the pinger's own clock a round trip is the chain there and back, and no single hop.
    assert values.round_trip(made, values.Context())["value"].tolist() == [20 * MS, 30 * MS]
    single = tables(chains={name: column[3:] for name, column in chain().items()})
    assert values.round_trip(single, values.Context()).empty


def test_a_layer_is_a_mean_over_all_messages(tables: Tables) -> None:
    layers: dict[str, Any] = {"transport_ns": [9 * MS, 4 * MS, None], "callback_ns": [MS, MS, MS]}
    found = values.layer(tables(transfers=hop([0, 1, 2], **layers)), values.Context())
    # Of two messages one has it.
    assert found[["layer", "value"]].to_numpy().tolist() == [["transport", 2.0 * MS]]
    held = chain(hold_ns=[MS, 2 * MS, 4 * MS, 99 * MS])
    found = values.layer(tables(chains=held), CHAINS)
    assert found[["layer", "value"]].to_numpy().tolist() == [["hold", 3.0 * MS]]


def test_a_period_has_no_warm_up_at_either_end(tables: Tables) -> None:
    made = tables(transfers=hop([0, 100 * MS, 190 * MS, 310 * MS]))
    found = values.period(made, values.Context())
    assert found["number"].tolist() == [2, 3]
    assert found["value"].tolist() == [90 * MS, 120 * MS]
    assert found["t_ns"].tolist() == [190 * MS, 310 * MS]
    assert values.jitter(made, AT_10_HZ)["value"].tolist() == [10 * MS, 20 * MS]
    assert values.jitter(made, values.Context()).empty


def test_a_second_counts_when_it_is_whole(tables: Tables) -> None:
    ends = [0, *(S + each * 400 * MS for each in range(7))]
    publishes = {
        "topic": ["/a"] * 8,
        "publisher_node": ["/x"] * 8,
        "number": range(8),
        "publish_ns": [EPOCH + end for end in ends],
        "warm_up": [True] + [False] * 7,
    }
    made = tables(transfers=hop(ends), publications=publishes)
    found = values.rate_by_second(made, values.Context())
    # At 0, 0.4, .. 2.4 s after the first that counts: 3 and 2, and the rest of a third second.
    assert found["value"].tolist() == [3, 2]
    assert found["t_ns"].tolist() == [0, S]
    short = values.shortfall_by_second(made, AT_10_HZ)
    assert short["value"].tolist() == pytest.approx([70.0, 80.0])
    assert values.shortfall(made, AT_10_HZ)["value"].tolist() == pytest.approx([75.0])
    assert values.shortfall_by_second(made, values.Context()).empty
    assert values.sent_period(made, values.Context())["value"].tolist() == [400 * MS] * 6


def test_where_all_take_something_all_are_sources(tables: Tables) -> None:
    publishes = {
        "topic": ["/ping", "/ping", "/pong", "/pong"],
        "publisher_node": ["/one", "/one", "/other", "/other"],
        "publish_ns": [EPOCH, EPOCH + 50 * MS, EPOCH, EPOCH + 100 * MS],
    }
    both = tables(publications=publishes, hops={"subscription_node": ["/one", "/other"]})
    assert values.sent_period(both, values.Context())["value"].tolist() == [50 * MS, 100 * MS]
    one = tables(publications=publishes, hops={"subscription_node": ["/other"]})
    assert values.sent_period(one, values.Context())["value"].tolist() == [50 * MS]


def test_stamps_are_the_nodes_own(tables: Tables) -> None:
    sent = [0, 100 * MS, 200 * MS, 400 * MS]
    stamps = {
        "topic": ["/points"] * 4,
        "number": range(4),
        "msg_ns": [EPOCH + each for each in sent],
        "recv_ns": [EPOCH + each + 5 * MS + at * MS for at, each in enumerate(sent)],
        "warm_up": [True, False, False, False],
    }
    made = tables(stamps=stamps)
    found = values.stamp_latency(made, values.Context())
    assert found["value"].tolist() == [6 * MS, 7 * MS, 8 * MS]
    assert found["t_ns"].tolist() == [101 * MS, 202 * MS, 403 * MS]
    assert values.sent_period(made, values.Context())["value"].tolist() == [100 * MS, 200 * MS]
    (grid,) = values.grid_loss(made, AT_10_HZ).to_dict("records")
    assert (grid["lost"], grid["expected"], grid["value"]) == (1, 4, 25.0)
    assert values.grid_loss(made, values.Context()).empty


HOPS = {
    "hop": ["/a: /x -> /y", "/b: /x -> /y", "/c: /x -> /y"],
    "received": [5, 1, 0],
    "lost": [3, 0, 0],
    "first_ns": [EPOCH, EPOCH, None],
    "last_ns": [EPOCH + 2 * S, EPOCH, None],
    "payload_bytes": [1_000_000, None, None],
}


def test_rates_have_one_interval_less_than_messages(tables: Tables) -> None:
    made = tables(hops=HOPS)
    assert values.rate(made, values.Context())["value"].tolist() == [2.0]
    assert values.throughput(made, values.Context())["value"].tolist() == [2.0]
    found = values.loss(made, values.Context())
    # Of a hop over which nothing was published there is no loss to tell.
    assert found["value"].tolist() == [37.5, 0.0]
    assert (found["lost"].tolist(), found["expected"].tolist()) == ([3, 0], [8, 1])


def test_cpu_is_of_the_messages_time_or_of_a_whole_life(tables: Tables) -> None:
    seconds = [-1, 0, 1, 2, 4]
    samples = {
        "process": ["sink"] * 5,
        "t_ns": [(each + 1) * S for each in seconds],
        "at_ns": [EPOCH + each * S for each in seconds],
        "cpu_ns": [0, 500 * MS, 600 * MS, 800 * MS, 1800 * MS],
        "rss_bytes": [2**20, 2**21, 2**21, 2**21, None],
    }
    processes = {
        "process": ["sink", "source"],
        "cpu_ns": [1800 * MS, 300 * MS],
        "wall_ns": [4 * S, 2 * S],
        "rss_max_bytes": [3 * 2**20, None],
    }
    made = tables(hops=HOPS, resources=samples, processes=processes)
    found = resources.cpu(made, values.Context())
    assert found[["process", "value", "over"]].to_numpy().tolist() == [
        ["sink", 15.0, "measured messages"],
        ["source", 15.0, "whole life"],
    ]
    (every,) = resources.cpu_all(made, values.Context()).to_dict("records")
    assert (every["value"], every["over"]) == (30.0, "measured messages and whole life")
    by_second = resources.cpu_by_second(made, values.Context())
    assert by_second["value"].tolist() == pytest.approx([50.0, 10.0, 20.0, 50.0])
    assert by_second["t_ns"].tolist() == [S, 2 * S, 3 * S, 5 * S]
    assert resources.rss(made, values.Context())["value"].tolist() == [1.0, 2.0, 2.0, 2.0]
    assert resources.rss_max(made, values.Context())["value"].tolist() == [3.0]


def test_a_round_trip_is_never_halved(tables: Tables) -> None:
    trips = {
        "number": [0, 1, 2],
        "begin_ns": [EPOCH, EPOCH + S, EPOCH + 2 * S],
        "round_trip_ns": [9 * MS, 2 * MS, 4 * MS],
        "warm_up": [True, False, False],
    }
    found = values.round_trip(tables(round_trips=trips, chains=chain()), values.Context())
    assert found["value"].tolist() == [2 * MS, 4 * MS]
    assert found["t_ns"].tolist() == [S, 2 * S]


@pytest.mark.parametrize("measure", ["latency", "period", "loss", "cpu", "rss", "layer", "rate"])
def test_nothing_measured_is_no_value(tables: Tables, measure: str) -> None:
    of_cell = find_measure(measure).of_cell
    found = of_cell(tables(), values.Context())
    assert found.empty
    assert "value" in found.columns
    assert not np.isin(found.columns, ["index"]).any()
