# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which events name things, so that later events can be read without those in between.

A recording that drops its oldest part keeps these (`strata.read.names`): without them the handles
of runtime events have no node, topic or callback.
"""

from __future__ import annotations

from strata.schema.event import Event, Phase
from strata.schema.events import CATALOGUE

# Runtime events that set something lasting: the state of a lifecycle node.
_LASTING = frozenset({"ros2:rcl_lifecycle_transition"})

# The fields that identify what a naming event is about, where that is not the first field alone.
_IDENTITIES: dict[str, tuple[str, ...]] = {
    # With intra-process messages a handle has two.
    "ros2:rclcpp_subscription_init": ("subscription_handle", "subscription"),
    "ros2:message_link_periodic_async": ("subs", "pubs"),
    "ros2:message_link_partial_sync": ("subs", "pubs"),
}


def _is_naming(event: Event) -> bool:
    return event.phase is Phase.INIT or event.full_name in _LASTING


def _identity(event: Event) -> tuple[str, ...]:
    return _IDENTITIES.get(event.full_name, (event.fields[0].name,))


NAMING_EVENTS: dict[str, tuple[str, ...]] = {
    name: _identity(event) for name, event in CATALOGUE.items() if _is_naming(event)
}
"""Full name of each naming event, with the payload fields that identify what it is about.

A later event with the same values in the same process is about something that replaced the earlier
one: handles are reused once their owner is gone.
"""
