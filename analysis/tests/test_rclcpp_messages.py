# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every message of every rclcpp trace, one by one, against what the nodes wrote down themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from node_stamps import (
    UPSTREAM,
    executions,
    expected_messages,
    found_messages,
    publications,
    stamps,
)

import strata
from strata.analysis import Analysis
from strata.model.event_uses import UNEXPLAINED
from strata.read import open_trace
from strata.schema.layers import HOP_LAYERS
from strata.schema.links import MessageLink

AnalysisOf = Callable[[str], Analysis]
Sample = Callable[[str], Path]

# Traces from the nodes' begin to their end, without losses: executions that the nodes logged,
# messages between them that both sides logged, and publications.
WHOLE = {
    "cyc_img720p30": (1143, 543, 600),
    "cyc_relay1p_st": (10000, 8000, 8000),
    "fast_blocked_st": (601, 601, 605),
    "fast_fanout": (3000, 1000, 2000),
    "fast_fusion": (755, 755, 778),
    "fast_img720p30": (1200, 600, 600),
    "fast_pc2": (400, 200, 200),
    "fast_relay1p_events": (10000, 8000, 8000),
    "fast_relay1p_ipcmixed": (5751, 4751, 4000),
    "fast_relay1p_mt": (10000, 8000, 8000),
    "fast_relay1p_overload": (5000, 4000, 4000),
    "fast_relay1p_st": (10000, 8000, 8000),
    "fast_relay1p_st_ipc": (10000, 8000, 8000),
    "fast_relaymp_st": (10000, 8000, 8000),
    "fast_relaymp_st_foreign": (10000, 8000, 8000),
    "fast_throws": (396, 396, 440),
}
# Beside them, traces whose nodes logged no publish, or that lack something.
OTHERS = (
    "fast_generic_relay",
    "fast_gscam720p30",
    "fast_lifecycle",
    "fast_relay1p_mt_lossy",
    "fast_relay1p_st_latestart",
    "fast_svc",
    "launch_gscam_composed",
    "ros2trace_chain",
)
MIXED = ("fast_relay1p_ipcmixed", "launch_gscam_composed")
EVERY = (*WHOLE, *OTHERS)
COUNTED = sorted(set(EVERY) - {"launch_gscam_composed", "ros2trace_chain"})
LAYER_COLUMNS = [layer.column for layer in HOP_LAYERS]


def pairs(rows: pd.DataFrame) -> set[tuple[int, int]]:
    return set(
        zip(rows["publication_id"].astype(int), rows["instance_id"].astype(int), strict=True)
    )


def naive_counts(path: Path) -> tuple[int, int, int]:
    """Count published, taken and matched with plain loops over the events."""
    tables = {name: table.to_pylist() for name, table in open_trace(path).tables().items()}

    def rows(name: str) -> list[dict[str, Any]]:
        return tables.get(f"ros2:{name}", [])

    topic = {
        (row["vpid"], row[f"rmw_{side}_handle"]): row["topic_name"]
        for side in ("publisher", "subscription")
        for row in rows(f"rcl_{side}_init")
    }
    own = {(row["vpid"], row["message"]) for row in rows("rcl_publish")}
    published = []
    for row in rows("rmw_publish"):
        key = (row["vpid"], row["rmw_publisher_handle"])
        if key in topic or (row["vpid"], row["message"]) in own:
            published.append((topic.get(key), row["source_timestamp"]))
    taken = []
    for row in rows("rmw_take"):
        if row["taken"] and row["source_timestamp"]:
            key = (row["vpid"], row["rmw_subscription_handle"])
            taken.append((topic.get(key), row["source_timestamp"]))
    return len(published), len(taken), sum(message in set(published) for message in taken)


@pytest.mark.parametrize("name", sorted(set(EVERY) - {"fast_relay1p_st_ipc", *MIXED}))
def test_published_taken_and_matched_are_counted_exactly(
    analysis_of: AnalysisOf, sample: Sample, name: str
) -> None:
    counts = analysis_of(name).counts
    assert (counts.published, counts.taken, counts.matched) == naive_counts(sample(name))
    assert counts.unmatched_take == counts.taken - counts.matched
    assert counts.ambiguous == 0


@pytest.mark.parametrize("name", EVERY)
def test_layers_add_up_to_the_latency_to_the_nanosecond(analysis_of: AnalysisOf, name: str) -> None:
    analysis = analysis_of(name)
    messages = analysis.messages
    layers = messages[LAYER_COLUMNS]
    assert (layers.sum(axis=1) == messages["latency_ns"]).all()
    assert not (layers < 0).any(axis=None)
    sums = analysis.chain_segments.groupby("chain_instance_id")["duration_ns"].sum()
    latencies = analysis.chain_instances.set_index("chain_instance_id")["latency_ns"]
    assert (sums == latencies).all()
    # What a message waited behind is a part of what it waited.
    blocked = analysis.executor_blockers.groupby("message_id")["duration_ns"].sum()
    waits = messages[[column for column in LAYER_COLUMNS if "executor_wait" in column]]
    assert (blocked <= waits.sum(axis=1).loc[blocked.index]).all()


@pytest.mark.parametrize("name", WHOLE)
def test_every_callback_that_a_node_logged_is_one_execution(
    analysis_of: AnalysisOf, sample: Sample, name: str
) -> None:
    analysis = analysis_of(name)
    rows = stamps(sample(name))
    ran = executions(analysis, rows)
    assert len(ran) == WHOLE[name][0] == ran["instance_id"].nunique()
    # The node's first line comes after callback_start, its last before callback_end.
    entered = ran["ns"] - ran["start_ns"]
    assert (entered > 0).all()
    assert 100 < entered.median() < 2_000
    ended = rows[rows["event"] == "cb_end"].set_index(["pid", "node", "src_ns"])["ns"]
    own_end = ran.set_index(["pid", "node", "src_ns"])["end_ns"].dropna()
    both = ended.index.intersection(own_end.index)
    assert len(both) == len(ended)
    left = own_end.loc[both].astype("int64") - ended.loc[both]
    assert (left > 0).all()
    assert left.median() < 100_000


@pytest.mark.parametrize("name", WHOLE)
def test_every_message_that_the_nodes_logged_is_matched_and_no_other(
    analysis_of: AnalysisOf, sample: Sample, name: str
) -> None:
    analysis = analysis_of(name)
    rows = stamps(sample(name))
    expected = expected_messages(analysis, rows)
    known = expected[expected["publication_id"].notna()]
    found = found_messages(analysis)
    assert len(known) == WHOLE[name][1]
    mine = found[found["instance_id"].isin(known["instance_id"])]
    assert pairs(mine) == pairs(known)
    sent = publications(analysis, rows)
    assert len(sent) == WHOLE[name][2] == sent["publication_id"].nunique()
    assert (sent["begin_ns"] > sent["ns"]).all()


@pytest.mark.parametrize("name", WHOLE)
def test_latencies_agree_with_the_nodes_own_stamps(
    analysis_of: AnalysisOf, sample: Sample, name: str
) -> None:
    analysis = analysis_of(name)
    expected = expected_messages(analysis, stamps(sample(name)))
    expected = expected[expected["publication_id"].notna()]
    messages = found_messages(analysis).set_index(["publication_id", "instance_id"])
    row = messages.loc[list(zip(expected["publication_id"], expected["instance_id"], strict=True))]
    traced = (row["callback_start_ns"] - row["publish_ns"]).to_numpy(np.int64)
    own = (expected["ns"] - expected["ns_published"]).to_numpy(np.int64)
    # A node stamps before it calls publish and at the first line of its callback. Between, traced
    # and logged latency differ by these two steps only.
    assert (own > traced).all()
    assert np.median(own - traced) < 12_000


@pytest.mark.parametrize("name", WHOLE)
def test_lost_messages_are_those_that_the_taker_did_not_log(
    analysis_of: AnalysisOf, sample: Sample, name: str
) -> None:
    analysis = analysis_of(name)
    rows = stamps(sample(name))
    taken = executions(analysis, rows)
    sent = publications(analysis, rows)
    hops = analysis.hops
    for node, source in UPSTREAM.items():
        mine, theirs = taken[taken["node"] == node], sent[sent["node"] == source]
        if name == "fast_fanout" or mine.empty or theirs.empty:
            continue
        got = theirs["src_ns"].isin(mine["src_ns"]).to_numpy()
        between = got[got.argmax() : len(got) - got[::-1].argmax()]
        topic = theirs["topic"].iloc[0]
        hop = hops[
            (hops["topic"] == topic) & hops["subscription_node"].str.startswith(reader(mine))
        ]
        own = hop[hop["count"] >= got.sum()].iloc[0]
        assert own["lost"] == (~between).sum(), (topic, node)


def reader(rows: pd.DataFrame) -> str:
    return "/" + str(rows["node"].iloc[0]).split("/")[0]


@pytest.mark.parametrize("name", EVERY)
def test_every_event_is_used_or_ignored_for_a_reason(
    analysis_of: AnalysisOf, sample: Sample, name: str
) -> None:
    uses = analysis_of(name).event_uses
    assert (uses["use"] != UNEXPLAINED).all()
    counted = (sample(name) / "counts.txt").read_text() if name in COUNTED else ""
    found = uses.groupby("event")["count"].sum()
    # The counts of babeltrace2, of another run of another program.
    for line in counted.splitlines():
        count, event = line.split()[:2] if line.split()[0].isdigit() else line.split()[:2][::-1]
        if event.startswith("ros2:"):
            assert found[event] == int(count), event


def test_intra_process_messages_are_counted_as_the_nodes_logged_them(
    analysis_of: AnalysisOf,
) -> None:
    analysis = analysis_of("fast_relay1p_st_ipc")
    messages = analysis.messages
    own = messages[messages["topic"].str.startswith("/chain_")]
    assert own["topic"].astype(str).value_counts().to_dict() == {
        f"/chain_{n}": 2000 for n in range(4)
    }
    assert set(own["method"]) == {"ring buffer"}
    assert own["rmw_publish_ns"].isna().all()
    assert own["rmw_take_ns"].isna().all()
    assert own["middleware_ns"].isna().all()
    assert analysis.chains["count"].iloc[0] == 2000
    assert (analysis.hops["lost"] == 0).all()


def test_a_copy_through_the_middleware_is_no_message_of_its_own(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relay1p_ipcmixed")
    messages = analysis.messages
    last = messages[messages["topic"] == "/chain_3"]
    ways = last.groupby(["subscription_node", "method"]).size()
    # From message 249 on a sink in another process takes part, and the path changes.
    assert sorted(ways.tolist()) == [751, 1000]
    duplicates = analysis.takes[analysis.takes["duplicate"]]
    assert len(duplicates) == 751
    assert duplicates["instance_id"].isna().all()
    assert not messages["take_id"].isin(duplicates["take_id"]).any()
    counts = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert counts["intra_process_duplicates"] == 751
    assert "takes_without_callback" not in counts
    # One call of publish() is one publication, whichever ways it goes.
    both = last.groupby("publication_id")["method"].nunique()
    assert (both == 2).sum() == 751


def test_runs_of_two_domains_are_not_put_together(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_relaymp_st_foreign")
    chains = analysis.chains
    assert chains["count"].tolist() == [2000, 100]
    assert (chains["name"] == "/chain_0 -> /chain_1 -> /chain_2 -> /chain_3").all()
    nodes = analysis.nodes.set_index(["name", "vpid"])
    for row in chains["nodes"]:
        pids = {int(label.split("pid ")[1].rstrip(")")) for label in row.split(" -> ")}
        assert {("/source", pid) for pid in pids} & set(nodes.index)


def test_generic_publishers_and_subscriptions_relay(analysis_of: AnalysisOf) -> None:
    analysis = analysis_of("fast_generic_relay")
    chain = analysis.chains.iloc[0]
    assert chain["name"] == "/fast -> /relayed"
    assert chain["count"] == 366
    relayed = analysis.messages[analysis.messages["topic"] == "/relayed"]
    assert relayed["parent_id"].notna().all()
    assert relayed["client_publish_ns"].notna().all()


def test_a_fan_in_publishes_from_the_newest_of_each_input(sample: Sample) -> None:
    link = MessageLink("/fusion", ("/fast", "/slow"), ("/fused",), "periodic_async")
    analysis = strata.analyze(sample("fast_fusion"), links=[link])
    rows = pd.read_csv(sample("fast_fusion") / "truth/fusion.csv")
    used = rows[rows["event"].str.startswith("pub_before")]
    truth = used["event"].str.extract(r"a=(\d+) b=(\d+)").astype(int)
    expected = dict(zip(used["seq"], truth.itertuples(index=False, name=None), strict=True))

    topic = analysis.publishers.set_index("publisher_id")["topic"]
    published = analysis.publications.assign(topic=analysis.publications["publisher_id"].map(topic))
    number = published.groupby("topic").cumcount()
    messages = analysis.messages.assign(number=analysis.messages["publication_id"].map(number))
    links = analysis.links[analysis.links["kind"] == "periodic_async"]
    found: dict[int, dict[str, int]] = {}
    for link_row in links.itertuples():
        parent = messages.loc[link_row.parent_id]
        found.setdefault(messages["number"][link_row.child_id], {})[parent["topic"]] = parent[
            "number"
        ]
    assert {seq: (of["/fast"], of["/slow"]) for seq, of in found.items()} == expected
    assert len(expected) == 228
    assert sorted(analysis.chains["name"]) == ["/fast -> /fused", "/slow -> /fused"]
    # Of two causes, the one that was there last is critical.
    by_child = links.merge(messages, left_on="parent_id", right_on="message_id")
    last = by_child.sort_values("callback_end_ns").groupby("child_id").tail(1)
    assert last["critical"].all()
    assert links["critical"].sum() == 228
