# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the events that introduce entities and link them: what they name must be known."""

from __future__ import annotations

import numpy as np

from strata.model.columns import NONE, Ints
from strata.model.entities import of_actions
from strata.model.event_uses.cases import Case, Rule
from strata.model.event_uses.evidence import Evidence
from strata.model.joins import Flags
from strata.model.search import GroupedSearch, Lifetimes, pick
from strata.model.timeline import Kind
from strata.schema.events import PROVIDER

_ENTITY = "an entity, or a link between entities"
_GID = "names a GID; {}s are known by their handles"
_MACHINE = "rcl_lifecycle_state_machine_init"
_LIFECYCLE_SERVICES = 5


def _names(event: str) -> str:
    return f"{PROVIDER}:{event}"


def _cases(
    evidence: Evidence, event: str, resolved: Flags, *more: Case, later: bool = False
) -> list[Case]:
    """Cases of an event's name; with `later`, what it names may be introduced after it."""
    ns, process = evidence.events.timestamps(event), evidence.events.process(event)
    lost = evidence.lost_ever(len(ns)) if later else evidence.lost_before(ns)
    return [
        Case(True, _ENTITY, resolved),
        *more,
        Case(False, "names what was made while events were lost", lost),
        Case(False, "names what was made before the trace", evidence.older(process)),
    ]


def _lives(evidence: Evidence, event: str, column: str) -> Lifetimes:
    """Of the handles that an init event introduces."""
    events = evidence.events
    return Lifetimes(events.process(event), events.ints(event, column), events.timestamps(event))


def _rows(evidence: Evidence, event: str, column: str, made: str) -> Ints:
    """The init event `made`, nearest in time, of what each event names in a column of both."""
    events = evidence.events
    return _lives(evidence, made, column).nearest(
        events.process(event),
        events.ints(event, column),
        events.timestamps(event),
        events.timestamps(made),
    )


def _introduces(event: str, handle: str) -> Rule:
    """The rule of an event that names nothing but what it introduces."""

    def rule(evidence: Evidence) -> list[Case]:
        own = evidence.events.ints(event, handle)
        return [Case(True, _ENTITY, (own != NONE) & (own != 0))]

    return rule


def _refers(event: str, *ends: tuple[str, str]) -> Rule:
    """The rule of an event that names others: a column and the event that introduces it, each."""

    def rule(evidence: Evidence) -> list[Case]:
        known = [_rows(evidence, event, column, made) != NONE for column, made in ends]
        later = event == _names("rclcpp_ipb_to_subscription")
        return _cases(evidence, event, np.logical_and.reduce(known), later=later)

    return rule


def _subscription_callbacks(evidence: Evidence) -> list[Case]:
    """The client library's subscription must be known, and be one of rcl's."""
    event, init = _names("rclcpp_subscription_callback_added"), _names("rclcpp_subscription_init")
    bound = _rows(evidence, event, "subscription", init)
    announced = _rows(evidence, init, "subscription_handle", _names("rcl_subscription_init"))
    return _cases(evidence, event, pick(announced, bound) != NONE, later=True)


def _service_callbacks(evidence: Evidence) -> list[Case]:
    """The service must be known, or be one of those that a lifecycle node makes in rcl.

    rclcpp_lifecycle copies their handles: the callbacks of the five copies follow the node's state
    machine on its thread, before any other service is made.
    """
    event, machine = _names("rclcpp_service_callback_added"), _names(_MACHINE)
    thread, ns = evidence.events.thread(event), evidence.events.timestamps(event)
    known = _rows(evidence, event, "service_handle", _names("rcl_service_init")) != NONE
    known |= of_actions(evidence.events.ints(event, "service_handle"))
    made = evidence.before_on_thread(machine, thread, ns)
    made_ns = pick(evidence.events.timestamps(machine), made)

    def since(name: str) -> Ints:
        """How many events of a name came since the state machine, up to each."""
        search = GroupedSearch(evidence.events.thread(name), evidence.events.timestamps(name))
        begin, end = (search.position(thread, t, after_equal=True) for t in (made_ns, ns))
        return end - begin

    near = (since(_names("rcl_service_init")) == 0) & (since(event) <= _LIFECYCLE_SERVICES)
    copied = ~known & (made != NONE) & near
    copy = Case(False, "names a service of a lifecycle node by a copy of its handle", copied)
    return _cases(evidence, event, known, copy)


def _timers(evidence: Evidence) -> list[Case]:
    event, timers = _names("rcl_timer_init"), evidence.model.entities.timers
    at = evidence.at(Kind.EXECUTE)
    row = timers.by_handle.find(
        evidence.process(at), evidence.column(Kind.EXECUTE, "handle"), evidence.timeline.ns[at]
    )
    picked = np.zeros(len(timers.row), bool)
    picked[row[row != NONE]] = True
    spin = Case(
        False,
        "has no callback and was never picked (rclpy: a spin with a timeout)",
        (timers.row == NONE) & ~picked,
    )
    return _cases(evidence, event, timers.row != NONE, spin)


def _callbacks(evidence: Evidence) -> list[Case]:
    """A registered callback must have been given to somebody."""
    event, callbacks = _names("rclcpp_callback_register"), evidence.model.entities.callbacks
    # The callbacks begin with those that were registered.
    given = np.asarray(callbacks.kind[: evidence.events.count(event)] != "unknown", bool)
    return _cases(evidence, event, given, later=True)


def _gids(what: str) -> Rule:
    """The rule of the middleware's publishers or subscriptions."""

    def rule(evidence: Evidence) -> list[Case]:
        event = _names(f"rmw_{what}_init")
        thread, ns = evidence.events.thread(event), evidence.events.timestamps(event)
        announced = evidence.announced(what)
        return [
            Case(False, _GID.format(what), announced),
            Case(
                False,
                "of the middleware itself (graph topics)",
                ~announced & evidence.before_node(thread, ns),
            ),
            Case(False, "its rcl init event was lost", ~announced & evidence.lost_after(ns)),
            Case(
                False,
                "the trace ends before its rcl init event",
                ~announced & evidence.announces_no_more(thread, ns),
            ),
        ]

    return rule


def _links(event: str) -> Rule:
    """The rule of links between messages: all their ends must be known."""

    def rule(evidence: Evidence) -> list[Case]:
        entities = evidence.model.entities
        resolved = np.ones(evidence.events.count(event), bool)
        for column, ends in (("subs", entities.subscriptions), ("pubs", entities.publishers)):
            handles = evidence.events.lists(event, column)
            of = np.repeat(np.arange(len(handles)), [len(part) for part in handles])
            row = ends.by_handle.find(
                evidence.events.process(event)[of],
                np.concatenate([*handles, np.empty(0, np.int64)]),
                evidence.events.timestamps(event)[of],
            )
            resolved[of[row == NONE]] = False
            resolved &= np.isin(np.arange(len(handles)), of)
        return _cases(evidence, event, resolved)

    return rule


def _transitions(evidence: Evidence) -> list[Case]:
    event, init = _names("rcl_lifecycle_transition"), _names(_MACHINE)
    ns, process = evidence.events.timestamps(event), evidence.events.process(event)
    known = _rows(evidence, event, "state_machine", init) != NONE
    older = evidence.lost_before(ns) | evidence.older(process)
    return [
        Case(True, "a state of a node", known),
        Case(True, "a state of a node that is not known", older),
    ]


_NODE = ("node_handle", _names("rcl_node_init"))
_TIMER = ("timer_handle", _names("rcl_timer_init"))
_INTRODUCE = {
    "rcl_init": "context_handle",
    "rcl_node_init": "node_handle",
    "rmw_client_init": "rmw_client_handle",
    "rclcpp_construct_ring_buffer": "buffer",
}
_REFER = {
    "rcl_publisher_init": (_NODE,),
    "rcl_subscription_init": (_NODE,),
    "rcl_service_init": (_NODE,),
    "rcl_client_init": (_NODE,),
    _MACHINE: (_NODE,),
    "rclcpp_subscription_init": (("subscription_handle", _names("rcl_subscription_init")),),
    "rclcpp_timer_callback_added": (_TIMER,),
    "rclcpp_timer_link_node": (_TIMER, _NODE),
    "rclcpp_buffer_to_ipb": (("buffer", _names("rclcpp_construct_ring_buffer")),),
    "rclcpp_ipb_to_subscription": (
        ("ipb", _names("rclcpp_buffer_to_ipb")),
        ("subscription", _names("rclcpp_subscription_init")),
    ),
}
ENTITY_RULES: dict[str, Rule] = {
    **{_names(event): _introduces(_names(event), column) for event, column in _INTRODUCE.items()},
    **{_names(event): _refers(_names(event), *ends) for event, ends in _REFER.items()},
    _names("rclcpp_subscription_callback_added"): _subscription_callbacks,
    _names("rclcpp_service_callback_added"): _service_callbacks,
    _names("rcl_timer_init"): _timers,
    _names("rclcpp_callback_register"): _callbacks,
    **{_names(f"rmw_{what}_init"): _gids(what) for what in ("publisher", "subscription")},
    **{
        _names(event): _links(_names(event))
        for event in ("message_link_periodic_async", "message_link_partial_sync")
    },
    _names("rcl_lifecycle_transition"): _transitions,
}
