# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which messages are typical and slowest: within a mode, and without the start-up."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scene import Scene
from verdict_scene import Ints, healthy, judge

from strata.layers.readiness import find_readiness
from strata.layers.transfers import cut_layers
from strata.model.columns import NONE
from strata.stats.groups import TAIL, TYPICAL, members, outliers, settled

BASE = 1_700_000_000_000_000_000


def two_modes(fast: int, slow: int) -> dict[tuple[int, str, str], Ints]:
    """Messages of about 3.6 ms and of about 19.6 ms, by turns as far as they go."""
    random = np.random.default_rng(3)
    order = random.permutation(np.repeat([False, True], [fast, slow]))
    wait = np.where(order, 16_000_000, 100_000)
    spread = random.normal(0, 100_000, fast + slow).astype(np.int64)
    return {
        (0, "executor wait", "/n1"): wait,
        (0, "callback", "work [/t0] (/n1)"): 3_500_000 + spread,
    }


def test_typical_is_a_latency_that_messages_have() -> None:
    found = judge(two_modes(300, 302))
    # Half of the messages on either side: the median of all lies where no message is.
    assert "executor wait of /n1: 16.0 ms of the typical 19.5 ms" in found.text
    assert "in the mode of 50% of the messages)" in found.text
    found = judge(two_modes(400, 200))
    assert "callback of work [/t0] (/n1): 3.5" in found.text
    assert "of the typical 3.60 ms (97%, in the mode of 67% of the messages)" in found.text
    # The slowest messages are of the slowest mode.
    assert (found.tail_layer, found.tail_where) == ("executor wait", "/n1")


def frame(latency: list[int], **columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame({"latency_ns": latency, **columns})


def test_of_modes_that_are_as_frequent_the_fastest_is_typical() -> None:
    instances = frame([1, 2, 3, 11, 12, 13], mode=[0, 0, 0, 1, 1, 1])
    assert members(instances, TYPICAL)["latency_ns"].tolist() == [2]
    assert members(instances, TAIL)["latency_ns"].tolist() == [13]


def test_messages_of_the_start_up_are_in_no_group() -> None:
    instances = frame([900, 1, 2, 3], start_up=[True, False, False, False])
    assert members(instances, TAIL)["latency_ns"].tolist() == [3]
    assert members(instances, TYPICAL)["latency_ns"].tolist() == [2]
    early = frame([900, 1, 2, 3], start_up=[True] * 4)
    assert len(settled(early)) == 4
    assert members(early, TAIL)["latency_ns"].tolist() == [900]


def test_outliers_are_far_above_the_typical_mode() -> None:
    ms = 1_000_000
    latency = [ms] * 50 + [4 * ms, 5 * ms, 7 * ms]
    assert outliers(frame(latency))["latency_ns"].tolist() == [7 * ms]
    slower = [10 * ms] * 50 + [40 * ms, 51 * ms]
    assert outliers(frame(slower))["latency_ns"].tolist() == [51 * ms]


def test_the_start_up_is_counted_and_named_and_does_not_count() -> None:
    parts = healthy(300)
    parts[0, "transport", "/t0 over SHM"][:3] += 592_000_000
    usual, started = judge(parts), judge(parts, early=3)
    assert usual.tail_ns > 500_000_000
    assert started.tail_ns < 1_000_000
    assert started.start_up_count == 3
    assert started.text.startswith("Nothing stands out: ")
    assert started.text.endswith(
        "Start-up: 3 messages, up to 594 ms (100% of it transport), before /n1 was ready; "
        "excluded from this verdict."
    )


def test_where_all_is_start_up_there_is_a_verdict() -> None:
    parts = healthy(60)
    parts[1, "hold", "relay.Relay.on_message [/t1] (/n2)"] += 5_000_000
    found = judge(parts, early=60)
    assert found.text.startswith("hold of relay.Relay.on_message [/t1] (/n2): 5.03 ms of the typ")
    assert "before /n1 was ready; there are no others." in found.text


RELAY = """
    2000 1.1 rmw_publish /t 2000            before the reader's executor spins
    {spin} 2.2 wait
    {spin}1 2.2 ready
    60020 2.2 execute on_t
    60030 2.2 rmw_take on_t 2000
    60040 2.2 callback_start on_t
    60050 2.2 callback_end on_t
    60060 2.2 wait
    70000 1.1 rmw_publish /t 70000
    70010 2.2 ready
    70020 2.2 execute on_t
    70030 2.2 rmw_take on_t 70000
    70040 2.2 callback_start on_t
    70050 2.2 callback_end on_t
"""


def ready_of(scene: Scene) -> list[int]:
    model = scene.model()
    ready = find_readiness(model, cut_layers(model)[0]).ready_ns
    return [int(ns) - BASE if ns != NONE else NONE for ns in ready]


def test_a_hop_is_ready_when_the_taking_executor_spins() -> None:
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.play(RELAY.format(spin=6000))
    assert ready_of(scene) == [6000, 6000]


def test_a_hop_is_ready_when_its_subscription_is_made() -> None:
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.clock = 30_000
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.play(RELAY.format(spin=1))
    (first, second) = ready_of(scene)
    assert first == second > 30_000


def test_of_what_was_made_before_the_trace_nothing_is_known() -> None:
    scene = Scene()
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    scene.play(RELAY.replace("rmw_publish /t", "rmw_publish unknown").format(spin=6000))
    assert ready_of(scene) == [NONE, NONE]
