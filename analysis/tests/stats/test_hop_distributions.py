# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every hop's own distribution, against the nodes' stamps and against a plain recount."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_analysis import received_only
from message_results import message_results
from scene import Scene

from strata.analysis import Analysis
from strata.pipeline.messages import Wanted
from strata.schema import tables
from strata.schema.layers import HOP_LAYERS
from strata.schema.rows import Rows
from strata.stats.hop_distributions import Way, trace_hops
from strata.stats.hops import hop_tables
from strata.stats.modes import find_modes

AnalysisOf = Callable[[str], Analysis]
NODES = ["/source", "/relay_0", "/relay_1", "/relay_2", "/sink"]


def way(hop: int) -> Way:
    return Way(f"/chain_{hop}", (NODES[hop], NODES[hop + 1]))


@pytest.mark.parametrize("name", ["fast_relay1p_st", "fast_relaymp_st"])
@pytest.mark.parametrize("hop", range(4))
def test_a_hop_is_as_long_as_its_two_nodes_stamped(
    analysis_of: AnalysisOf, sample: Callable[[str], Path], name: str, hop: int
) -> None:
    measured = trace_hops(analysis_of(name), name).hops[way(hop)]
    own = _stamped(sample(name), hop)
    assert len(measured.transfer.values) == len(own) == measured.count == 2_000
    # The sender stamps just before its publish, the receiver at the first line of its callback.
    for q in (0.1, 0.5, 0.9):
        assert 0 < np.quantile(own, q) - np.quantile(measured.transfer.values, q) < 10_000


def _stamped(directory: Path, hop: int) -> np.ndarray:
    """Receiver's cb_start less sender's pub_before, by sequence number."""
    sender, receiver = (NODES[at].removeprefix("/") for at in (hop, hop + 1))
    frames = []
    for node, event in ((sender, "pub_before"), (receiver, "cb_start")):
        rows = pd.read_csv(directory / "truth" / f"{node}.csv")
        frames.append(rows[rows["event"] == event].set_index("seq")["t_mono_ns"])
    return (frames[1] - frames[0]).dropna().to_numpy()


def test_the_mean_over_hops_is_the_quantile_of_no_hop(analysis_of: AnalysisOf) -> None:
    hops = trace_hops(analysis_of("fast_relay1p_st"), "st").hops
    medians = [hops[way(hop)].transfer.statistics["p50"] for hop in range(4)]
    divided = np.mean([hops[way(hop)].transfer.values for hop in range(4)], axis=0)
    assert max(medians) > 3 * min(medians)  # type: ignore[type-var, operator]
    assert min(medians) < 0.7 * np.median(divided) < 0.7 * max(medians)  # type: ignore[type-var, operator]


def test_the_whole_hop_is_that_of_the_table(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_throws")
    measured = trace_hops(analysis, "throws")
    for row in analysis.hops.to_dict("records"):
        hop = measured.hops[Way(row["topic"], (row["publisher_node"], row["subscription_node"]))]
        assert hop.whole.statistics["p50"] == row["latency_p50_ns"]
        assert hop.whole.modes.dip == (None if pd.isna(row["dip"]) else row["dip"])


@pytest.mark.parametrize("name", ["fast_relay1p_st", "fast_blocked_st", "fast_throws"])
def test_modes_of_the_tables_are_those_of_the_values(analysis_of: AnalysisOf, name: str) -> None:
    measured = trace_hops(analysis_of(name), name)
    found = [hop.whole for hop in measured.hops.values()] + list(measured.chains.values())
    assert [one.modes for one in found] == [find_modes(one.values) for one in found]


def test_what_ends_no_callback_has_a_transfer_all_the_same(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_throws")
    (found,) = (hop for of, hop in trace_hops(analysis, "t").hops.items() if of.name == "/fast")
    # Every tenth of its callbacks throws.
    assert len(found.transfer.values) - len(found.whole.values) == 40


def test_the_largest_layer_is_one_of_those_measured(analysis_of: AnalysisOf) -> None:
    for name in ("fast_relay1p_st", "fast_blocked_st", "fast_relay1p_events"):
        for hop in trace_hops(analysis_of(name), name).hops.values():
            assert hop.transfer.typical.layer != "callback"
            for measure in (hop.transfer, hop.whole):
                assert 0 < measure.typical.share <= 1
                assert 0 < measure.tail.share <= 1
    blocked = trace_hops(analysis_of("fast_blocked_st"), "blocked").hops
    fast, slow = (blocked[Way(topic, ("/pubs", "/subs"))] for topic in ("/fast", "/slow"))
    assert (fast.transfer.typical.layer, fast.transfer.tail.layer) == (
        "middleware",
        "executor wait",
    )
    assert slow.whole.typical.layer == "callback"


def test_chains_are_there_from_end_to_end(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relay1p_st")
    chain = trace_hops(analysis, "st").chains[
        Way("/chain_0 -> /chain_1 -> /chain_2 -> /chain_3", tuple(NODES))
    ]
    assert chain.statistics["p99"] == analysis.chains["latency_p99_ns"].iloc[0]


@st.composite
def traffic(draw: st.DrawFn) -> pd.DataFrame:
    """Messages over a few hops of two subscriptions each."""
    count = draw(st.integers(1, 30))
    publisher = draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
    taken = draw(
        st.lists(
            st.tuples(st.integers(0, count - 1), st.integers(0, 5), st.booleans()), max_size=40
        )
    )
    rows = [
        {
            "message_id": at,
            "hop_id": 3 * publisher[publication] + subscription // 2,
            "publication_id": publication,
            "take_id": at,
            "topic": "/t",
            "publisher_node": f"/from_{publisher[publication]}",
            "subscription_node": f"/to_{subscription // 2}",
            "method": "topic+timestamp",
            "confidence": "exact",
            "begin_ns": 0,
            "publish_ns": 0,
            "rmw_publish_ns": 0,
            "rmw_take_ns": 10 + at,
            "take_ns": 10 + at,
            "callback_end_ns": 10 + at if complete else None,
            "latency_ns": 10 + at,
            "complete": complete,
            "reader_silent": False,
            "reader_silent_ns": 0,
            "start_up": False,
        }
        for at, (publication, subscription, complete) in enumerate(taken)
    ]
    return tables.MESSAGES.frame(pd.DataFrame(rows, columns=tables.MESSAGES.names))


@given(traffic())
def test_hops_are_those_of_a_plain_recount(messages: pd.DataFrame) -> None:
    # Hops are numbered without gaps.
    messages["hop_id"] = np.unique(messages["hop_id"], return_inverse=True)[1]
    rows = Rows.of_frame(tables.MESSAGES, messages)
    hops, layers = (found.frame() for found in hop_tables(rows, received_only(rows)))
    assert hops["hop_id"].tolist() == sorted(set(messages["hop_id"]))
    for row in hops.to_dict("records"):
        every = messages[messages["hop_id"] == row["hop_id"]]
        rows = every[every["complete"]] if every["complete"].any() else every
        assert row["count"] == len(every)
        assert row["latency_count"] == len(rows)
        assert row["latency_p50_ns"] == np.median(rows["latency_ns"])
        (layer,) = layers[layers["hop_id"] == row["hop_id"]].to_dict("records")
        assert (layer["layer"], layer["share"]) == ("take", 1.0)


def test_of_two_subscriptions_of_a_node_one_may_lose_what_the_other_takes() -> None:
    made = Scene()
    made.publisher("/t", node="/source", pid=1)
    for symbol in ("on_a", "on_b"):
        made.subscription("/t", node="/sink", pid=2, symbol=symbol)
    for at in range(1000, 11000, 1000):
        made.play(f"{at} 1.1 rmw_publish /t {at}\n{at + 100} 2.2 rmw_take on_a {at}")
        if at in (1000, 10000):
            made.play(f"{at + 200} 2.2 rmw_take on_b {at}")
    model = made.model()
    (hop,) = message_results(model, Wanted()).tables["hops"].to_dict("records")
    assert (hop["count"], hop["lost"]) == (12, 8)


def test_layers_of_a_hop_add_up_to_its_mean(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relaymp_st")
    names = {layer.name for layer in HOP_LAYERS}
    for hop in trace_hops(analysis, "mp").hops.values():
        assert {part.layer for part in hop.layers} <= names
        assert sum(part.share for part in hop.layers) == pytest.approx(1)
