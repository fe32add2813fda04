# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes, publishers, subscriptions and callbacks, each with its lifetime, from the init events."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.columns import NONE, EventColumns, Ints
from strata.model.demangling import demangled
from strata.model.rows import joined
from strata.model.search import Lifetimes, pick
from strata.model.timers import Timers, find_timers
from strata.schema.rclpy_events import RCLPY_IDS
from strata.units import format_ns

UNKNOWN = "(unknown)"
"""Name of a node or topic whose init event was not recorded."""


@dataclass(frozen=True)
class Endpoints:
    """Publishers or subscriptions: one row an entity and life, `node` is a row of the nodes."""

    process: Ints
    handle: Ints
    rmw_handle: Ints
    node: Ints
    topic: npt.NDArray[np.object_]
    queue_depth: Ints
    begin_ns: Ints
    by_handle: Lifetimes

    def __len__(self) -> int:
        return len(self.handle)


@dataclass(frozen=True)
class Nodes:
    """One row a node and life."""

    process: Ints
    handle: Ints
    name: npt.NDArray[np.object_]
    begin_ns: Ints
    by_handle: Lifetimes


@dataclass(frozen=True)
class Callbacks:
    """One row a callback and life; `subscription`, `timer` and `node` are rows, or `NONE`."""

    process: Ints
    address: Ints
    symbol: npt.NDArray[np.object_]
    kind: npt.NDArray[np.object_]
    trigger: npt.NDArray[np.object_]
    subscription: Ints
    timer: Ints
    node: Ints
    begin_ns: Ints


@dataclass(frozen=True)
class Entities:
    """All entities of a trace."""

    nodes: Nodes
    publishers: Endpoints
    subscriptions: Endpoints
    timers: Timers
    callbacks: Callbacks


def take(values: npt.NDArray[np.object_], rows: Ints, missing: object) -> npt.NDArray[np.object_]:
    """Return `values[rows]`, with `missing` where the row is `NONE`."""
    out = np.full(len(rows), missing, dtype=object)
    known = rows != NONE
    out[known] = values[rows[known]]
    return out


def at_topics(topics: npt.NDArray[np.object_], rows: Ints, suffix: str) -> npt.NDArray[np.bool_]:
    """Tell of each row of endpoints whether its topic ends so; of `NONE` it does not."""
    own = np.array([str(text).endswith(suffix) for text in topics], bool)
    return np.asarray(np.append(own, False)[rows])


def build_entities(events: EventColumns) -> Entities:
    """Make every entity from the init events; callbacks that only ran are there too, unnamed."""
    nodes = _nodes(events)
    publishers = _endpoints(events, nodes, "publisher")
    subscriptions = _endpoints(events, nodes, "subscription")
    timers = find_timers(events, nodes.by_handle)
    callbacks = _callbacks(events, nodes, subscriptions, timers)
    return Entities(nodes, publishers, subscriptions, timers, callbacks)


def _nodes(events: EventColumns) -> Nodes:
    event = "ros2:rcl_node_init"
    process, begin_ns = events.process(event), events.timestamps(event)
    handle = events.ints(event, "node_handle")
    names = [
        f"{str(space).rstrip('/')}/{name}"
        for space, name in zip(
            events.text(event, "namespace"), events.text(event, "node_name"), strict=True
        )
    ]
    return Nodes(
        process,
        handle,
        np.asarray(names, dtype=object),
        begin_ns,
        Lifetimes(process, handle, begin_ns),
    )


def _endpoints(events: EventColumns, nodes: Nodes, what: str) -> Endpoints:
    event = f"ros2:rcl_{what}_init"
    process, begin_ns = events.process(event), events.timestamps(event)
    handle = events.ints(event, f"{what}_handle")
    return Endpoints(
        process,
        handle,
        events.ints(event, f"rmw_{what}_handle"),
        nodes.by_handle.find(process, events.ints(event, "node_handle"), begin_ns),
        events.text(event, "topic_name"),
        events.ints(event, "queue_depth"),
        begin_ns,
        Lifetimes(process, handle, begin_ns),
    )


_Links = tuple[Ints, Ints, Ints]
"""Callbacks: process, address and since when, one row each."""


@dataclass(frozen=True)
class _Owners:
    """What a callback address was given to: one row a link."""

    process: Ints
    address: Ints
    begin_ns: Ints
    kind: npt.NDArray[np.object_]
    trigger: npt.NDArray[np.object_]
    subscription: Ints
    node: Ints
    timer: Ints


def _callbacks(
    events: EventColumns, nodes: Nodes, subscriptions: Endpoints, timers: Timers
) -> Callbacks:
    owners = joined(
        _subscription_owners(events, subscriptions),
        _timer_owners(events, nodes, timers),
        _service_owners(events, nodes),
    )
    event = "ros2:rclcpp_callback_register"
    registered = (events.process(event), events.ints(event, "callback"), events.timestamps(event))
    unregistered = _unregistered(events, registered, owners)
    process, address, begin_ns = map(np.concatenate, zip(registered, unregistered, strict=True))
    nameless = np.full(len(unregistered[0]), None, dtype=object)
    symbol = np.concatenate([events.text(event, "symbol"), nameless])
    # Over all kinds at once: an address that was a subscription's callback may become a timer's.
    lives = Lifetimes(owners.process, owners.address, owners.begin_ns)
    owner = lives.nearest(process, address, begin_ns, owners.begin_ns)
    return Callbacks(
        process,
        address,
        demangled(symbol),
        take(owners.kind, owner, "unknown"),
        take(owners.trigger, owner, None),
        pick(owners.subscription, owner),
        pick(owners.timer, owner),
        pick(owners.node, owner),
        begin_ns,
    )


def _unregistered(events: EventColumns, registered: _Links, owners: _Owners) -> _Links:
    """Callbacks that ran before, or were given to an owner without, any registration."""
    lives = Lifetimes(*registered)
    event = "ros2:callback_start"
    started = (events.process(event), events.ints(event, "callback"), events.timestamps(event))
    ran_before = lives.find(*started) == NONE
    given = (owners.process, owners.address, owners.begin_ns)
    # An owner may get its callback before the callback is registered: any registration counts.
    far = np.full(len(given[0]), np.iinfo(np.int64).max)
    never = lives.find(given[0], given[1], far) == NONE
    process, address, begin_ns = (
        np.concatenate([one[ran_before], other[never]])
        for one, other in zip(started, given, strict=True)
    )
    order = np.lexsort((begin_ns, address, process))
    process, address, begin_ns = process[order], address[order], begin_ns[order]
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(process) != 0) | (np.diff(address) != 0)
    return process[first], address[first], begin_ns[first]


def of_actions(handle: Ints) -> npt.NDArray[np.bool_]:
    """Return which handles stand for goals of actions, or for the callbacks of actions."""
    return np.asarray((handle >= RCLPY_IDS.start) & (handle < RCLPY_IDS.stop), bool)


def _kind(name: str, process: Ints) -> npt.NDArray[np.object_]:
    return np.full(len(process), name, dtype=object)


def _subscription_owners(events: EventColumns, subscriptions: Endpoints) -> _Owners:
    init, added = "ros2:rclcpp_subscription_init", "ros2:rclcpp_subscription_callback_added"
    init_ns = events.timestamps(init)
    objects = Lifetimes(events.process(init), events.ints(init, "subscription"), init_ns)
    process, begin_ns = events.process(added), events.timestamps(added)
    link = objects.nearest(process, events.ints(added, "subscription"), begin_ns, init_ns)
    of_init = subscriptions.by_handle.find(
        events.process(init), events.ints(init, "subscription_handle"), init_ns
    )
    subscription = np.where(link != NONE, of_init[link], NONE) if len(of_init) else link
    node = (
        np.where(subscription != NONE, subscriptions.node[subscription], NONE)
        if len(subscriptions)
        else np.full(len(subscription), NONE, np.int64)
    )
    return _Owners(
        process,
        events.ints(added, "callback"),
        begin_ns,
        _kind("subscription", process),
        take(subscriptions.topic, subscription, None),
        subscription,
        node,
        np.full(len(process), NONE, np.int64),
    )


def _timer_owners(events: EventColumns, nodes: Nodes, timers: Timers) -> _Owners:
    added, linked = "ros2:rclcpp_timer_callback_added", "ros2:rclcpp_timer_link_node"
    process, begin_ns = events.process(added), events.timestamps(added)
    handle = events.ints(added, "timer_handle")
    timer = timers.find(process, handle, begin_ns)
    periods = np.asarray([format_ns(v) for v in timers.period_ns], dtype=object)
    # By the link itself, not by way of the timer, whose init event may be missing.
    link_ns = events.timestamps(linked)
    links = Lifetimes(events.process(linked), events.ints(linked, "timer_handle"), link_ns)
    link = links.nearest(process, handle, begin_ns, link_ns)
    of_link = nodes.by_handle.find(
        events.process(linked), events.ints(linked, "node_handle"), link_ns
    )
    node = np.where(link != NONE, of_link[link], NONE) if len(of_link) else link
    return _Owners(
        process,
        events.ints(added, "callback"),
        begin_ns,
        _kind("timer", process),
        take(periods, timer, None),
        np.full(len(process), NONE, np.int64),
        node,
        timer,
    )


def _service_owners(events: EventColumns, nodes: Nodes) -> _Owners:
    init, added = "ros2:rcl_service_init", "ros2:rclcpp_service_callback_added"
    process, begin_ns = events.process(added), events.timestamps(added)
    init_ns = events.timestamps(init)
    inits = Lifetimes(events.process(init), events.ints(init, "service_handle"), init_ns)
    service = inits.find(process, events.ints(added, "service_handle"), begin_ns)
    of_init = nodes.by_handle.find(events.process(init), events.ints(init, "node_handle"), init_ns)
    node = np.where(service != NONE, of_init[service], NONE) if len(of_init) else service
    return _Owners(
        process,
        events.ints(added, "callback"),
        begin_ns,
        np.where(of_actions(events.ints(added, "service_handle")), "action", "service"),
        take(events.text(init, "service_name"), service, None),
        np.full(len(process), NONE, np.int64),
        node,
        np.full(len(process), NONE, np.int64),
    )
