# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is seen of a system while it runs is what an analysis says afterwards."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from lttng_world import World
from relay_daemon import relay_daemon
from watched_system import CHAIN, ENDLESS, program, ready_environment, watched

import strata
from strata.analysis import Analysis
from strata.live.following import Follower
from strata.live.quantile_sketch import ACCURACY
from strata.live.sources import follow_relayed
from strata.live.tally import OTHERS, Counts
from strata.record.config import load_config

pytestmark = pytest.mark.live

MESSAGES, BUSY_AT, BUSY_MS = 400, 250, 300


@pytest.fixture
def environment(world: World) -> dict[str, str]:
    return ready_environment(world)


def follow_to_its_end(
    world: World, environment: dict[str, str], url: str, session: str
) -> Follower:
    """Follow a session, whose system ends meanwhile; it is destroyed then."""
    with follow_relayed(url) as windows:
        follower = Follower(windows)
        system = program(MESSAGES, busy_at=BUSY_AT, busy_ms=BUSY_MS, depth=1)
        with watched(world, environment, system) as running:
            while running.poll() is None:
                follower.step()
                time.sleep(0.1)
        world.lttng("destroy", session)
        while not windows.ended:
            follower.step()
            time.sleep(0.1)
    return follower


def test_a_session_seen_live_equals_its_analysis(
    world: World, environment: dict[str, str], tmp_path: Path
) -> None:
    events = load_config("full").ust
    with relay_daemon(world, tmp_path / "relay") as relay:
        relay.create("seen", events=events)
        url = f"net://127.0.0.1:{relay.ports[2]}/seen"
        follower = follow_to_its_end(world, environment, url, "seen")
        whole = strata.analyze(relay.output)
    tally, total = follower.tally, follower.tally.total
    assert tally.windows > 5
    assert (tally.unread, tally.discarded, tally.unseen_ns) == (0, 0, 0)
    assert sum(total.published.values()) == whole.counts.published >= 2 * MESSAGES
    assert (total.taken, total.matched) == (whole.counts.taken, whole.counts.matched)
    compare_chain(total, whole)
    compare_losses(total, whole)


def compare_chain(total: Counts, whole: Analysis) -> None:
    (chain_id,) = whole.chains.loc[whole.chains["name"] == CHAIN, "chain_id"]
    own = whole.chain_instances[whole.chain_instances["chain_id"] == chain_id]
    (seen,) = [one for (name, _), one in total.chains.items() if name == CHAIN]
    assert seen.latency.count == len(own) > MESSAGES / 2
    assert seen.latency.sum_ns == own["latency_ns"].sum() == sum(seen.layers_ns.values())
    assert seen.latency.max_ns == own["latency_ns"].max()
    for fraction in (0.5, 0.9, 0.99):
        exact = np.quantile(own["latency_ns"], fraction, method="lower")
        assert seen.latency.quantile_ns(fraction) == pytest.approx(exact, rel=ACCURACY)


def compare_losses(total: Counts, whole: Analysis) -> None:
    hops = whole.hops.set_index("hop_id")
    lost: Counter[tuple[str, str]] = Counter()
    for row in whole.hop_losses.itertuples():
        if row.outcome == "lost":
            lost[hops.loc[row.hop_id, "topic"], row.cause] += row.count
    found: Counter[tuple[str, str]] = Counter()
    for (topic, _, _), hop in total.hops.items():
        assert topic != OTHERS
        for cause, count in hop.lost.items():
            found[topic, cause] += count
    assert found == lost
    # The sink keeps one message, and is busy for 15 periods.
    assert found["/b", "overwritten"] >= 10


def test_what_runs_is_watched_by_ring_buffers(world: World, environment: dict[str, str]) -> None:
    with watched(world, environment, program(ENDLESS)):
        time.sleep(4)
        options = ("--once", "--duration", "6s", "--format", "json", "-c", "full")
        done = world.strata("live", *options, env=environment)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["windows"] >= 3
    assert (document["unread"], document["unseen_ns"], document["discarded_events"]) == (0, 0, 0)
    total = document["total"]
    (chain,) = [one for one in total["chains"] if one["name"] == CHAIN]
    rate = chain["count"] / (total["span_ns"] / 1e9)
    assert rate == pytest.approx(50, rel=0.15)
    assert total["lost"] == 0
    assert total["taken"] == total["matched"] > 300
    assert {one["nodes"] for one in document["executors"]} == {"/source", "/worker", "/sink"}
    assert world.daemon_pid() is None


def test_a_view_whose_relay_daemon_is_killed_shows_what_was_seen(
    world: World, environment: dict[str, str], tmp_path: Path
) -> None:
    with relay_daemon(world, tmp_path / "relay") as relay:
        relay.create("seen", events=load_config("ros2").ust)
        url = f"net://127.0.0.1:{relay.ports[2]}/seen"
        with watched(world, environment, program(ENDLESS)) as running:
            view = world.popen(sys.executable, "-m", "strata", "live", url, env=environment)
            time.sleep(8)
            relay.process.kill()
            out, errors = view.communicate(timeout=60)
            assert running.poll() is None
    assert view.returncode == 125
    assert CHAIN in out
    assert "Lost lttng-relayd" in errors
    assert "Traceback" not in errors
