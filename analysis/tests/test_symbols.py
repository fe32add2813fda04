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
    assert shorten_place("/chain_0") == "/chain_0"
