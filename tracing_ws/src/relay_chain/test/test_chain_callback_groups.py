# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Relays whose subscriptions are in a group of their own: exclusive, or reentrant."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest
from chain_process import CLIENTS, JAZZY, Row, finish, stamps, summary, truth

MESSAGES, RATE = 200, 500.0
RELAYS = ["relay_0", "relay_1", "relay_2"]
NODES = ["source", *RELAYS, "sink"]


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def run(client: str, log: Path, group: str, **of_relays: object) -> tuple[int, str]:
    """Run a chain in one process, on an executor of four threads."""
    program = JAZZY.space / "lib/relay_chain" / ("chain_cpp" if client == "rclcpp" else "chain")
    common = {"log": log, "depth": 1000, "executor": "multi", "threads": 4}
    own: dict[str, dict[str, object]] = {
        "source": {"rate": RATE, "messages": MESSAGES, "peers": len(NODES) - 1},
        "sink": {"input": f"/chain_{len(RELAYS)}", "messages": MESSAGES, "quiet_s": 20.0},
    }
    for index, name in enumerate(RELAYS):
        topics = {"input": f"/chain_{index}", "output": f"/chain_{index + 1}"}
        own[name] = {**topics, "callback_group": group, **of_relays}
    words = [
        word
        for name in NODES
        for setting in {**common, **own[name]}.items()
        for word in ("-p", "{}:{}:={}".format(name, *setting))
    ]
    return finish(JAZZY.start(program, *NODES, "--ros-args", *words))


def check(nodes: dict[str, list[Row]]) -> None:
    """Assert that each node saw every message once, with all of its stamps, in a right order.

    In a reentrant group a message may overtake another: rows are of no order of their own.
    """
    sent = stamps(nodes["source"], "publish")
    for name in [*RELAYS, "sink"]:
        rows = nodes[name]
        events = ["cb_start", "cb_end"] if name == "sink" else ["cb_start", "publish", "cb_end"]
        assert Counter((row.seq, row.event) for row in rows) == Counter(
            itertools.product(range(MESSAGES), events)
        ), name
        assert all(row.sent == sent[row.seq] for row in rows), name
        for before, after in itertools.pairwise(events):
            pairs = zip(stamps(rows, before), stamps(rows, after), strict=True)
            assert all(a <= b for a, b in pairs), (name, before)
    for before, after in itertools.pairwise(NODES):
        pairs = zip(stamps(nodes[before], "publish"), stamps(nodes[after], "cb_start"), strict=True)
        assert all(a < b for a, b in pairs), (before, after)


@pytest.mark.parametrize("group", ["exclusive", "reentrant"])
def test_every_message_passes_with_all_of_its_stamps(
    tmp_path: Path, client: str, group: str
) -> None:
    status, errors = run(client, tmp_path, group)
    assert status == 0, errors
    assert f"sink: received {MESSAGES} of {MESSAGES} messages" in errors
    nodes = truth(tmp_path)
    assert set(nodes) == set(NODES)
    check(nodes)
    received = summary(tmp_path, "sink")
    assert (received["lost"], received["duplicates"]) == (0, 0)
    if group == "exclusive":
        assert received["reordered"] == 0
        for name in RELAYS:
            assert overlaps(nodes[name]) == 0


def overlaps(rows: list[Row]) -> int:
    """Count the callbacks that began while another of the node ran."""
    begun = stamps(rows, "cb_start")
    spans = sorted(zip(begun, stamps(rows, "cb_end"), strict=True))
    return sum(after[0] < before[1] for before, after in itertools.pairwise(spans))


def test_callbacks_of_a_reentrant_group_run_at_once(tmp_path: Path, client: str) -> None:
    # Longer than the 2 ms between two messages.
    status, errors = run(client, tmp_path, "reentrant", work_ms=3.0)
    assert status == 0, errors
    nodes = truth(tmp_path)
    check(nodes)
    assert overlaps(nodes["relay_0"]) > 0


@pytest.mark.parametrize("group", ["Reentrant", ""])
def test_another_group_is_refused(tmp_path: Path, client: str, group: str) -> None:
    status, errors = run(client, tmp_path, f"'{group}'")
    assert status == 1
    says = f"Cannot use parameter callback_group: '{group}' is none of exclusive, reentrant."
    assert says in errors
