# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Takes of loaned messages: 50 messages to three subscriptions, against the nodes' own stamps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from strata.analysis import Analysis
from strata.engine.windows import NO_LOSSES, Windows
from strata.model.build import Model
from strata.model.of_tables import model_of_tables
from strata.read import open_trace
from strata.schema.layers import HOP_LAYERS

Sample = Callable[[str], Path]
Tables = dict[str, pa.Table]
NAME = "loans_jazzy"
SENT, SINKS = 50, 3
EXECUTE = "ros2:rclcpp_executor_execute"
STARTS = ("ros2:callback_start", "ros2:callback_end")


@pytest.fixture
def tables(sample: Sample) -> Tables:
    return dict(open_trace(sample(NAME)).tables())


def without(tables: Tables, *prefixes: str) -> Tables:
    return {name: table for name, table in tables.items() if not name.startswith(prefixes)}


def modelled(tables: Tables, losses: Windows = NO_LOSSES) -> Model:
    return model_of_tables(tables, losses)


def lent(model: Model) -> Counter[str]:
    """How many loaned messages were taken, by topic."""
    took = model.takes.subscription[model.takes.loaned]
    return Counter(model.entities.subscriptions.topic[took].tolist())


def executes(model: Model) -> dict[str, int]:
    uses = [use for use in model.facts.event_uses() if use.event == EXECUTE]
    return {use.text: use.count for use in uses if "subscription" in use.text or not use.used}


def own_stamps(
    directory: Path, node: str, event: str
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Times of a node's own event in the order of messages, by the trace's clock."""
    rows = pd.read_csv(directory / "truth" / f"{node}.csv")
    (offset,) = set(open_trace(directory).clock_offsets_ns.values())
    own = rows[rows["event"] == event].sort_values("seq")["t_mono_ns"]
    return own.to_numpy(np.int64) + offset


def test_every_loaned_message_is_a_hop_with_the_times_of_the_nodes(
    analysis_of: Callable[[str], Analysis], sample: Sample
) -> None:
    analysis, directory = analysis_of(NAME), sample(NAME)
    messages = analysis.messages[analysis.messages["topic"] == "/messages"]
    assert len(messages) == SENT * SINKS
    columns = [layer.column for layer in HOP_LAYERS if layer.column in messages]
    assert (messages[columns].sum(axis=1) == messages["latency_ns"]).all()
    # Lent by the source: nothing is serialized, and what is in the history is the message.
    assert messages["serialize_ns"].isna().all()
    assert messages["serialize_dds_write_ns"].isna().all()
    assert (messages["size"] > 1 << 20).all()
    published = own_stamps(directory, "source", "publish")
    returned = own_stamps(directory, "source", "cb_end")
    for sink in range(SINKS):
        own = messages[messages["subscription_node"] == f"/sink_{sink}"].sort_values("begin_ns")
        begin, start, end = (
            own[name].to_numpy(np.int64)
            for name in ("begin_ns", "callback_start_ns", "callback_end_ns")
        )
        came = own_stamps(directory, f"sink_{sink}", "cb_start")
        assert ((published < begin) & (begin < returned)).all()
        assert ((start < came) & (came < end)).all()
    assert analysis.takes["loaned"].sum() == SENT * SINKS
    quality = analysis.quality.set_index("code")["count"]
    assert quality["loaned_takes"] == SENT * SINKS
    assert not {"unseen_takes", "unexplained_events"} & set(quality.index)


def test_the_pick_or_the_callback_is_enough_to_tell_the_subscription(tables: Tables) -> None:
    model = modelled(without(tables, EXECUTE))
    assert lent(model) == {"/messages": SENT * SINKS}
    # Of a sink's last nothing follows then that would rule out an rmw_take.
    model = modelled(without(tables, *STARTS))
    assert lent(model) == {"/messages": (SENT - 1) * SINKS}


def test_without_either_nobody_is_guessed(tables: Tables) -> None:
    model = modelled(without(tables, EXECUTE, *STARTS))
    assert not model.takes.loaned.any()
    assert "loaned_takes" not in model.findings.counts


def test_a_pick_and_a_callback_of_two_subscriptions_contradict_each_other(tables: Tables) -> None:
    added = tables["ros2:rclcpp_subscription_callback_added"]
    wrong = added["callback"].to_pylist()
    turned = added.set_column(
        added.schema.get_field_index("callback"),
        added.schema.field("callback"),
        pa.array(wrong[1:] + wrong[:1], added.schema.field("callback").type),
    )
    model = modelled(tables | {"ros2:rclcpp_subscription_callback_added": turned})
    assert lent(model)["/messages"] < SENT * SINKS


def test_without_events_of_the_middleware_such_takes_are_counted_and_not_guessed(
    tables: Tables,
) -> None:
    model = modelled(without(tables, "dds:"))
    assert not model.takes.loaned.any()
    assert model.findings.counts["unseen_takes"] == SENT * SINKS
    text = "a subscription was picked whose take has no event (a loaned message)"
    assert executes(model) == {"a subscription was picked": 107, text: SENT * SINKS}


def test_an_rmw_take_that_is_missing_is_no_loan(tables: Tables) -> None:
    table = tables["ros2:rmw_take"]
    told = np.flatnonzero(np.asarray(table["source_timestamp"]) > 0)
    rest = pa.concat_tables([table.slice(0, told[5]), table.slice(told[5] + 1)])
    model = modelled(tables | {"ros2:rmw_take": rest})
    assert lent(model) == {"/messages": SENT * SINKS}
    assert "unseen_takes" not in model.findings.counts
    model = modelled(without(tables, "ros2:rmw_take"))
    assert not model.takes.loaned.any()
    assert "unseen_takes" not in model.findings.counts


def test_a_take_that_is_followed_by_another_got_no_message(tables: Tables) -> None:
    # The middleware takes on when what it got is a sample without data.
    begin, end = tables["dds:take_begin"], tables["dds:take_end"]
    after = end.set_column(0, "timestamp", pa.array(np.asarray(end["timestamp"]) + 1))
    again = pa.concat_tables([begin, after.select(begin.column_names)])
    model = modelled(tables | {"dds:take_begin": again})
    assert not model.takes.loaned.any()


def test_none_reaches_over_lost_events(tables: Tables) -> None:
    model = modelled(tables)
    lost = model.takes.rmw_take_ns[np.flatnonzero(model.takes.loaned)[7:8]]
    model = modelled(tables, (lost, lost))
    assert lent(model) == {"/messages": SENT * SINKS - 1}
    assert "unseen_takes" not in model.findings.counts
