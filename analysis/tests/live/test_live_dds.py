# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The middleware's own events of real chains: every message whole, and two ways to match it agree.

The pairs of publications and takes are joined here from the raw events, apart from the model, and
the model's are held against them.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from chain_truth import CHAIN, check_sums, ns, truth
from recorder import Recorder

from strata.read import open_trace
from strata.schema.layers import DDS_LAYERS, HOP_LAYERS, MIDDLEWARE, WAKE_UP

pytestmark = pytest.mark.live

MESSAGES = 300
HOPS = 4
TWO = ("--processes", "two", "--messages", str(MESSAGES))

Tables = dict[str, pd.DataFrame]


def raw_tables(session: Path) -> Tables:
    wanted = [
        "ros2:rcl_publisher_init",
        "ros2:rmw_publish",
        "ros2:rmw_take",
        "dds:written",
        "dds:taken",
    ]
    tables = open_trace(session).tables(wanted)
    return {name: table.to_pandas(ignore_metadata=True) for name, table in tables.items()}


def chain_publications(tables: Tables) -> pd.DataFrame:
    """Every rmw_publish on the chain's topics."""
    made = tables["ros2:rcl_publisher_init"]
    made = made[made["topic_name"].astype(str).str.fullmatch(r"/chain_\d")]
    key = ["vpid", "rmw_publisher_handle"]
    return tables["ros2:rmw_publish"].merge(made[[*key, "topic_name"]], on=key)


def followed_by(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """Each event with the next of another kind on its thread, whose columns end in _next."""
    second = second.assign(next_ns=second["timestamp"])
    return pd.merge_asof(
        first.sort_values("timestamp"),
        second.sort_values("timestamp"),
        on="timestamp",
        by="vtid",
        direction="forward",
        suffixes=("", "_next"),
    )


def pairs_by_guid(tables: Tables) -> set[tuple[int, int]]:
    """(rmw_publish, rmw_take) instants: write and take of one GUID and sequence number."""
    published = followed_by(chain_publications(tables), tables["dds:written"])
    taken = tables["dds:taken"]
    taken = followed_by(taken[taken["taken"] > 0], tables["ros2:rmw_take"])
    # The middleware puts the value where the client library wants it.
    assert (taken["buffer"] == taken["message"]).all()
    key = ["writer_guid", "sequence_number"]
    both = published.merge(taken, on=key, suffixes=("_published", "_taken"))
    assert both["sequence_number"].gt(0).all()
    return set(zip(both["timestamp_published"], both["next_ns_taken"].astype(int), strict=True))


def pairs_by_stamp(tables: Tables) -> set[tuple[int, int]]:
    """(rmw_publish, rmw_take) instants: one source timestamp."""
    taken = tables["ros2:rmw_take"]
    both = chain_publications(tables).merge(
        taken[taken["taken"] > 0], on="source_timestamp", suffixes=("_published", "_taken")
    )
    return set(zip(both["timestamp_published"], both["timestamp_taken"], strict=True))


@pytest.mark.parametrize("distro", ["jazzy", "kilted"])
@pytest.mark.parametrize(("profile", "transport"), [("shm", "SHM"), ("udp", "UDPv4")])
def test_every_message_has_all_layers_and_both_identities_agree(
    recorded: Recorder, distro: str, profile: str, transport: str
) -> None:
    session, analysis = recorded(*TWO, config="full", profile=f"fastdds_{profile}", distro=distro)
    messages = analysis.messages[analysis.messages["topic"].str.fullmatch(r"/chain_\d")]
    assert len(messages) == HOPS * MESSAGES
    assert (messages["transport"] == transport).all()

    check_sums(analysis)
    dds = [layer.column for layer in (*DDS_LAYERS, WAKE_UP)]
    whole = messages["complete"] & messages[dds].notna().all(axis=1)
    assert whole.mean() >= 0.999
    merged = messages[[layer.column for layer in HOP_LAYERS if "+" in layer.name]]
    assert not merged[whole].notna().any(axis=None)

    tables = raw_tables(session)
    by_guid, by_stamp = pairs_by_guid(tables), pairs_by_stamp(tables)
    assert by_guid == by_stamp
    assert len(by_guid) == HOPS * MESSAGES
    matched = zip(ns(messages["rmw_publish_ns"]), ns(messages["rmw_take_ns"]), strict=True)
    assert set(matched) == by_guid

    (count,) = analysis.chains.loc[analysis.chains["name"] == CHAIN, "count"]
    assert count == len(truth(session, "sink", "cb_start")) == MESSAGES


def test_without_events_of_the_middleware_it_is_one_layer(recorded: Recorder) -> None:
    _, analysis = recorded(*TWO, config="ros2", profile="fastdds_udp")
    messages = analysis.messages[analysis.messages["topic"].str.fullmatch(r"/chain_\d")]
    assert len(messages) == HOPS * MESSAGES
    check_sums(analysis)
    assert messages["complete"].all()
    assert messages[MIDDLEWARE.column].notna().all()
    parts = [layer.column for layer in (*DDS_LAYERS, WAKE_UP)]
    assert not messages[parts].notna().any(axis=None)
    assert not messages["transport"].notna().any()
