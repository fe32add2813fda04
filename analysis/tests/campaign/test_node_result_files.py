# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a cell wrote themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from strata.study.hop_selection import HopSelection
from strata.study.node_result_files import read_own_files


@pytest.mark.parametrize("lost", [None, 0, 3])
def test_a_loss_that_a_perf_node_cannot_count_is_unknown_and_not_none(
    tmp_path: Path, lost: int | None
) -> None:
    results = tmp_path / "scenario/results"
    results.mkdir(parents=True)
    document = {
        "topic": "/points",
        "samples": 150,
        "warm_up": 10,
        "lost_by_sequence": lost,
        "lost_by_stamp": 162,
    }
    (results / "perf.json").write_text(json.dumps([document]))
    own, findings = read_own_files(tmp_path, HopSelection("*", "*", 10))
    assert findings.counts == {}
    counts = own.of("/perf_node", "/points")
    assert counts is not None
    assert (counts.received, counts.lost, counts.begin, counts.end) == (150, lost, 10, 160)


def test_subscribers_of_one_topic_have_counts_of_their_own(tmp_path: Path) -> None:
    results = tmp_path / "scenario/results"
    results.mkdir(parents=True)
    topic = "/camera/image_raw"
    nodes = {"images": ("/image_subscriber", 0), "images_1": ("/eye/image_subscriber_1", 7)}
    for stem, (node, lost) in nodes.items():
        document = {"node": node, "topic": topic, "received": 100 - lost, "lost": lost}
        (results / f"{stem}.json").write_text(json.dumps(document))
    own, findings = read_own_files(tmp_path, HopSelection("*", "*", 10))
    assert findings.counts == {}
    for node, lost in nodes.values():
        counts = own.of(node, topic)
        assert counts is not None
        assert (counts.received, counts.lost) == (100 - lost, lost)
    # Of the same name in another namespace, or of another topic: it is another subscriber.
    assert own.of("/other/image_subscriber", topic) is None
    assert own.of("/image_subscriber", "/other") is None


def test_a_summary_without_a_node_is_of_every_subscriber_of_its_topic(tmp_path: Path) -> None:
    results = tmp_path / "scenario/results"
    results.mkdir(parents=True)
    (results / "images.json").write_text(json.dumps({"topic": "/a", "received": 5, "lost": 1}))
    own, _ = read_own_files(tmp_path, HopSelection("*", "*", 10))
    counts = own.of("/image_subscriber", "/a")
    assert counts is not None
    assert (counts.received, counts.lost) == (5, 1)
