# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded programs of rclcpp with the events of the middleware, against their own counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from strata.analysis import Analysis
from strata.model.event_uses import UNEXPLAINED
from strata.schema.layers import HOP_LAYERS

ENDS, INTRA = "ends_jazzy", "intra_jazzy"
Analyze = Callable[[str], Analysis]
Sample = Callable[[str], Path]


def counted(analysis: Analysis) -> dict[str, int]:
    return dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))


def used(analysis: Analysis, event: str, text: str) -> int:
    uses = analysis.event_uses
    own = uses[(uses["event"] == f"ros2:{event}") & uses["use"].str.contains(text, regex=False)]
    return int(own["count"].sum())


@pytest.mark.parametrize("name", [ENDS, INTRA])
def test_every_event_is_explained_and_no_hook_is_said_to_be_missing(
    analysis_of: Analyze, name: str
) -> None:
    analysis = analysis_of(name)
    assert UNEXPLAINED not in set(analysis.event_uses["use"])
    assert not counted(analysis).keys() & {
        "unexplained_events",
        "messages_without_notification",
        "messages_with_merged_dds_layers",
        "disordered_dds_checkpoints",
        "enqueues_without_publication",
        "unseen_takes",
    }
    messages = analysis.messages
    layers = [layer.column for layer in HOP_LAYERS if layer.column in messages]
    assert (messages[layers].sum(axis=1) == messages["latency_ns"]).all()


def test_what_is_published_after_ctrl_c_is_refused(analysis_of: Analyze, sample: Sample) -> None:
    analysis = analysis_of(ENDS)
    truth = json.loads((sample(ENDS) / "truth.json").read_text())
    own = analysis.messages[analysis.messages["topic"] == "/chatter"]
    assert len(own) == truth["received"]
    assert used(analysis, "rclcpp_publish", "refused") == truth["refused"]
    # Five times spin_some for a nanosecond, twice, and spin_all after it.
    assert used(analysis, "rclcpp_executor_wait_for_work", "stopped spinning") == 10


def test_messages_within_the_process_are_those_that_the_callbacks_counted(
    analysis_of: Analyze, sample: Sample
) -> None:
    analysis = analysis_of(INTRA)
    truth = json.loads((sample(INTRA) / "truth.json").read_text())
    messages = analysis.messages
    within = messages["enqueue_ns"].notna()
    count = messages[within].groupby("topic").size()
    through = messages[~within].groupby("topic").size()
    assert count["/unique"] == truth["unique"]
    assert count["/shared"] == sum(truth["shared"])
    assert [count["/mixed"], through["/mixed"]] == truth["mixed"]
    kept, late, elsewhere = truth["latched"]
    replayed = counted(analysis)["replayed_messages"]
    assert count["/latched"] == kept + late - replayed
    assert through["/latched"] == elsewhere
    # Nothing of the copy that went through the middleware.
    passed = ("serialize_begin_ns", "sent_ns", "received_ns", "notified_ns", "size")
    assert messages[within][[*passed]].isna().all(axis=None)
    assert set(messages[within]["transport"]) == {"ring buffer"}
    assert messages[~within][[*passed]].notna().all(axis=None)
