# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Contexts, and the client library's own subscriptions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.entities import Entities
from strata.model.search import Lifetimes

_CONTEXT = "ros2:rcl_init"
_INIT = "ros2:rclcpp_subscription_init"
_ADDED = "ros2:rclcpp_subscription_callback_added"
_INTRA = "ros2:rclcpp_ipb_to_subscription"


@dataclass(frozen=True)
class Contexts:
    """One row a context and life."""

    process: Ints
    handle: Ints
    version: npt.NDArray[np.object_]
    begin_ns: Ints


@dataclass(frozen=True)
class SubscriptionObjects:
    """One row an rclcpp subscription and life; `subscription`, `callback`: rows, or `NONE`."""

    process: Ints
    address: Ints
    subscription: Ints
    callback: Ints
    is_intra_process: npt.NDArray[np.bool_]
    begin_ns: Ints


def find_contexts(events: EventColumns) -> Contexts:
    """Return the contexts by their init events."""
    return Contexts(
        events.process(_CONTEXT),
        events.ints(_CONTEXT, "context_handle"),
        events.text(_CONTEXT, "version"),
        events.timestamps(_CONTEXT),
    )


def find_subscription_objects(events: EventColumns, entities: Entities) -> SubscriptionObjects:
    """Return the subscriptions of the client library.

    Links are to the nearest init event in time, as an intra-process subscription gets its callback
    and its buffer before it is announced.
    """
    process, begin_ns = events.process(_INIT), events.timestamps(_INIT)
    address = events.ints(_INIT, "subscription")
    subscriptions, callbacks = entities.subscriptions, entities.callbacks
    lives = Lifetimes(process, address, begin_ns)
    added_ns = events.timestamps(_ADDED)
    added_process = events.process(_ADDED)
    of_added = lives.nearest(added_process, events.ints(_ADDED, "subscription"), added_ns, begin_ns)
    named = Lifetimes(callbacks.process, callbacks.address, callbacks.begin_ns).nearest(
        added_process, events.ints(_ADDED, "callback"), added_ns, callbacks.begin_ns
    )
    callback = np.full(len(address), NONE, np.int64)
    callback[of_added[of_added != NONE]] = named[of_added != NONE]
    intra = np.zeros(len(address), bool)
    of_buffer = lives.nearest(
        events.process(_INTRA),
        events.ints(_INTRA, "subscription"),
        events.timestamps(_INTRA),
        begin_ns,
    )
    intra[of_buffer[of_buffer != NONE]] = True
    return SubscriptionObjects(
        process,
        address,
        subscriptions.by_handle.find(process, events.ints(_INIT, "subscription_handle"), begin_ns),
        callback,
        intra,
        begin_ns,
    )
