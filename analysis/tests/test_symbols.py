# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from strata.symbols import shorten, shorten_place


@pytest.mark.parametrize(
    ("symbol", "short"),
    [
        ("relay_chain.nodes.Relay.on_message", "relay_chain.nodes.Relay.on_message"),
        (
            "Relay<sensor_msgs::msg::Image_<std::allocator<void> > >::Relay(int)"
            "::{lambda(auto)#2}",
            "Relay::Relay::{lambda#2}",
        ),
        ("f(std::function<void (int)>)::{lambda(int)#1}::operator()(int) const::{lambda()#2}",
         "f::{lambda#1}::operator()::{lambda#2}"),
        ("Node::operator<(Node const&)", "Node::operator<(Node const&)"),
        (
            "std::_Bind<void (GSCam::*(GSCam*, std::_Placeholder<1>))(std::shared_ptr<int>)>",
            "std::bind(GSCam::*)",
        ),
        ("chain.main.<locals>.on_scan", "chain.main.<locals>.on_scan"),
        ("__main__.<lambda> (talker.py:12)", "__main__.<lambda> (talker.py:12)"),
        ("a.f.<locals>.<lambda> (my node.py:7)", "a.f.<locals>.<lambda> (my node.py:7)"),
        ("<b>.<b>", "<b>.<b>"),
        ("Relay<int>", "Relay"),
        ("relay<std::array<int, 3ul> >(int) [clone .part.0]", "relay [clone .part.0]"),
        ("f(int).g<int>", "f.g"),
        ("odd)name", "odd)name"),
        ("open(", "open("),
        ("", ""),
    ],
)  # fmt: skip
def test_arguments_are_left_out(symbol: str, short: str) -> None:
    assert shorten(symbol) == short


def test_a_place_keeps_its_trigger_and_node() -> None:
    assert shorten_place("behind f(int, long) [/slow] (/subs)") == "behind f [/slow] (/subs)"
    assert shorten_place("f<int>(long) (/subs)") == "f (/subs)"
    place = "behind a.<locals>.<lambda> (a.py:7) [/slow] (/subs)"
    assert shorten_place(place) == place
    assert shorten_place("a.<lambda> (a.py:7) (/subs)") == "a.<lambda> (a.py:7) (/subs)"
    assert shorten_place("/chain_0") == "/chain_0"
