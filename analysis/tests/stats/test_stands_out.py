# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Nothing wrong is sayable, and what is wrong is named: chains whose every duration is known."""

from __future__ import annotations

import numpy as np
import pytest
from verdict_scene import HEALTHY_NS, Ints, healthy, judge, place

from strata.schema.layers import BY_NAME
from strata.schema.rows import Coded
from strata.stats.places import base_place
from strata.stats.scheduling import HeldUp
from strata.stats.stands_out import MERGED_NS, allowance

RELAY = place(1, "hold")


def planted(
    layer: str, ns: int, *, count: int = 300, hop: int = 1, every: int = 1
) -> dict[tuple[int, str, str], Ints]:
    """A healthy chain in which a layer of one hop takes `ns` more, in every so many messages."""
    parts = healthy(count)
    key = next(key for key in parts if key[:2] == (hop, layer))
    parts[key][every // 2 :: every] += ns
    return parts


@pytest.mark.parametrize("seed", range(5))
def test_of_a_healthy_chain_nothing_stands_out(seed: int) -> None:
    found = judge(healthy(300, seed=seed))
    assert (found.stands_out, found.reasons) == (False, ())
    assert found.text.startswith("Nothing stands out: the largest part is wake-up of /n")
    assert "and a healthy hop may need 500 us for that." in found.text
    assert "Bottleneck" not in found.text


def test_one_slow_message_is_no_verdict() -> None:
    for slow in (1, 4):
        parts = healthy(300)
        parts[1, "wake-up", "/n2"][100 : 100 + slow] += 10_000_000
        found = judge(parts)
        assert not found.stands_out
        # 1 % of 300 are 3: too few to judge, and the text says how many.
        assert "(3 messages from" in found.text
        assert "too few to judge" in found.text


def test_noise_that_is_spread_over_layers_is_no_verdict() -> None:
    parts = healthy(1_000)
    keys = [key for key in parts if key[1] in ("wake-up", "transport", "take")]
    for at in range(12):
        parts[keys[at % len(keys)]][50 * at] += 8_000_000
    assert not judge(parts).stands_out


@pytest.mark.parametrize("layer", [*HEALTHY_NS])
def test_a_millisecond_in_any_layer_is_named(layer: str) -> None:
    found = judge(planted(layer, 1_000_000))
    assert (found.layer, found.where) == (layer, place(1, layer))
    assert found.reasons == ("typical",)
    assert found.typical_ns == pytest.approx(1_000_000 + HEALTHY_NS[layer], rel=0.1)
    assert f"{layer} " in found.text.split(":")[0]


@pytest.mark.parametrize("layer", ["dds write", "take", "client take", "hold"])
def test_less_is_named_in_a_layer_that_is_short_when_healthy(layer: str) -> None:
    found = judge(planted(layer, 400_000))
    assert found.stands_out
    assert found.layer == layer


def test_work_that_is_most_of_the_latency_is_named() -> None:
    found = judge(planted("hold", 5_000_000))
    assert found.text.startswith("hold of relay.Relay.on_message [/t1] (/n2): 5.03 ms of the ")


def test_a_layer_that_is_long_at_every_hop_is_named() -> None:
    parts = healthy(300, hops=8)
    for key, ns in parts.items():
        if key[1] == "wake-up":
            ns += 500_000
    found = judge(parts)
    assert found.layer == "wake-up"
    # Each is less than what is worth naming by itself.
    assert (found.share_p50 < 0.15, found.reasons) == (True, ("all hops",))
    assert "; wake-up of all hops together is 56%" in found.text


@pytest.mark.parametrize("every", [50, 40])
def test_a_rare_fault_is_named_when_it_is_always_the_same(every: int) -> None:
    found = judge(planted("hold", 30_000_000, every=every))
    many = 300 // every
    assert found.reasons == ("outliers",)
    assert (found.tail_layer, found.tail_where) == ("hold", RELAY)
    assert f"{many} of 300 messages took more than" in found.text
    outlying = f"; in all the largest part is hold of {RELAY}; over all of them that is 30.0 ms on"
    assert outlying in found.text
    assert "In the typical messages nothing stands out: " in found.text


def test_what_parts_two_modes_is_named() -> None:
    found = judge(planted("take", 2_000_000, count=1_000, every=4))
    assert found.reasons == ("modes",)
    assert "of it take of /n2. " in found.text


def test_a_small_difference_of_modes_is_none() -> None:
    parts = healthy(1_000)
    for ns in parts.values():
        ns[::2] = ns[::2] * 2 // 3
    found = judge({key: ns // 3 for key, ns in parts.items()})
    assert "2 modes" in found.text
    assert not found.stands_out


def test_a_hold_that_is_split_is_told_altogether() -> None:
    parts = planted("hold", 4_000_000)
    # The scheduler's part of hop 1 is recorded under the message of hop 2.
    held_up = HeldUp(
        600 + np.arange(300),
        Coded.of(["hold"] * 300),
        Coded.of(["preempted by stress (71)"] * 300),
        np.full(300, 1_500_000),
    )
    found = judge(parts, held_up=held_up)
    assert f"; hold of {RELAY} altogether is 4.03 ms (65%)" in found.text
    assert "of all hops together" not in found.text


def test_wake_up_of_rclpy_says_what_is_in_it() -> None:
    inside = "(rclpy: waiting for the GIL is part of it)"
    assert f"wake-up of /n2 {inside}: " in judge(planted("wake-up", 2_000_000)).text
    # /n3 is not of rclpy.
    assert inside not in judge(planted("wake-up", 2_000_000, hop=2)).text


def test_every_layer_has_an_allowance_and_merged_ones_no_more_than_the_middleware() -> None:
    for name in BY_NAME:
        assert 0 < allowance(name) <= MERGED_NS
    assert allowance("executor wait + take") == allowance("executor wait") + allowance("take")


@pytest.mark.parametrize(
    "words",
    [
        "",
        "blocked in ",
        "leaving idle in ",
        "preempted in ",
        "preempted by stress-ng (71) in ",
        "preempted by stress-ng (71) and others in ",
    ],
)
def test_what_held_a_thread_up_is_at_the_place_where_it_was(words: str) -> None:
    assert base_place(f"{words}f [/t] (/n)") == "f [/t] (/n)"


def test_a_callback_that_was_waited_for_is_a_place_of_its_own() -> None:
    for where in ("behind f [/t] (/n)", "behind itself, f [/t] (/n)"):
        assert base_place(where) == where
