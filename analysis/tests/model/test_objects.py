# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The client library's subscriptions, and the names of callbacks."""

from __future__ import annotations

import numpy as np
from scene import Scene

from strata.model.demangling import demangled
from strata.model.entity_frames import subscription_objects_rows
from strata.model.frames import callback_objects_rows


def test_one_rcl_subscription_has_two_objects_with_intra_process_communication() -> None:
    made = Scene()
    made.subscription("/t", node="/n", pid=1, symbol="f")
    handle = made.entities["f"]["handle"]
    # The intra-process one gets its buffer and callback before it is announced.
    made._row("rclcpp_ipb_to_subscription", 1, 1, 1, {"ipb": 60, "subscription": 61})
    callback_added = {"subscription": 61, "callback": 62}
    made._row("rclcpp_subscription_callback_added", 2, 1, 1, callback_added)
    made._row("rclcpp_callback_register", 3, 1, 1, {"callback": 62, "symbol": "g"})
    init = {"subscription_handle": handle, "subscription": 61}
    made._row("rclcpp_subscription_init", 4, 1, 1, init)
    model = made.model()
    frame = subscription_objects_rows(model).frame()
    assert frame["subscription_id"].tolist() == [0, 0]
    assert frame["is_intra_process"].tolist() == [False, True]
    assert model.entities.callbacks.symbol[frame["callback_id"]].tolist() == ["f", "g"]


def test_mangled_names_are_demangled_and_others_stay() -> None:
    symbols = np.array(
        ["_ZN5Relay10on_messageEi", "_Znothing", "_private", "Relay::f(int)", "(null)", "", None],
        dtype=object,
    )
    assert demangled(symbols).tolist() == [
        "Relay::on_message(int)",
        "_Znothing",
        "_private",
        "Relay::f(int)",
        None,
        None,
        None,
    ]


def test_a_callback_without_a_name_is_called_by_its_address() -> None:
    made = Scene()
    made.subscription("/t", node="/n", pid=1, symbol="(null)")
    model = made.model()
    assert model.entities.callbacks.symbol.tolist() == [None]


def test_an_address_that_another_kind_of_callback_gets_is_another_callback() -> None:
    made = Scene()
    made.publisher("/t", node="/n", pid=1)
    made.subscription("/t", node="/n", pid=1, symbol="on_t")
    address = made.entities["on_t"]["callback"]
    made.play("100 1.1 callback_start on_t\n120 1.1 callback_end on_t")
    timer = {"timer_handle": 70, "callback": address}
    made._row("rcl_timer_init", 1000, 1, 1, {"timer_handle": 70, "period": 1_000_000})
    made._row("rclcpp_timer_callback_added", 1001, 1, 1, timer)
    made._row("rclcpp_callback_register", 1002, 1, 1, {"callback": address, "symbol": "on_timer"})
    made.play("2000 1.1 callback_start on_t\n2100 1.1 callback_end on_t")
    model = made.model()
    frame = callback_objects_rows(model).frame()
    assert frame["symbol"].tolist() == ["on_t", "on_timer"]
    assert frame["kind"].tolist() == ["subscription", "timer"]
    assert frame["trigger"].tolist() == ["/t", "1.00 ms"]
    assert frame["subscription_id"].fillna(-1).tolist() == [0, -1]
    assert frame["timer_id"].fillna(-1).tolist() == [-1, 0]
    assert model.executions.callback.tolist() == [0, 1]
