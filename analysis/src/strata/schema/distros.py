# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which ROS 2 distribution has which events and fields, and how a process's distribution is found.

A process reports its version of tracetools in `rcl_init`. Changes, by the changelog and the tags of
ros2_tracing: 6.1 brought the intra-process events, 8.0 publisher and timestamp of `rmw_publish`,
8.4 GIDs of 16 bytes, 8.5 the events of services in rmw, 8.10 the declared message links. Releases
between those of two distributions are from Rolling; they count as the distribution whose events
they have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from strata.schema.event import Event, Field
from strata.schema.ros2_events import ROS2_EVENTS

Version = tuple[int, int]
"""Major and minor number of tracetools; patches change no event."""


@dataclass(frozen=True)
class Distro:
    """One set of events: tracetools from `first` on has it, and the distribution `released`."""

    name: str
    first: Version
    released: Version


DISTROS: tuple[Distro, ...] = (
    Distro("humble", (3, 1), (4, 1)),
    Distro("iron", (6, 1), (6, 3)),
    Distro("jazzy", (8, 0), (8, 2)),
    Distro("kilted", (8, 5), (8, 6)),
    Distro("lyrical", (8, 10), (8, 10)),
)
"""Oldest first."""

NEWER: Version = (9, 0)
"""The first version that may have events which the catalogue does not know; read as the newest."""

SHORT_GID: Version = (8, 4)
"""The first version whose GIDs have 16 bytes; before they have 24, of which 16 are valid."""

_NAMES = tuple(distro.name for distro in DISTROS)
_NUMBERS = re.compile(r"(\d+)\.(\d+)(?:\.|$)")


def parse_version(text: str) -> Version | None:
    """Return major and minor number of a version such as ``8.2.2``; None if it is not a version."""
    found = _NUMBERS.match(text)
    return (int(found.group(1)), int(found.group(2))) if found else None


def distro_of(version: Version) -> Distro | None:
    """Return the distribution whose events a version has; None for one older than all."""
    return next((item for item in reversed(DISTROS) if version >= item.first), None)


def first_version(name: str) -> Version:
    """Return the first version with the events of a distribution; raises KeyError."""
    return {item.name: item.first for item in DISTROS}[name]


def released_between(low: Version, high: Version) -> Distro | None:
    """Return the oldest distribution released with `low` <= version < `high`; None if none was."""
    return next((item for item in DISTROS if low <= item.released < high), None)


def events_of(distro: str) -> dict[str, tuple[Field, ...]]:
    """Return the `ros2` events of a distribution by full name, with the fields that each has."""
    return {
        event.full_name: tuple(field for field in event.fields if has(distro, field.since))
        for event in ROS2_EVENTS
        if has(distro, event.since)
    }


def has(distro: str, since: str) -> bool:
    """Return whether a distribution has something introduced in `since`; raises ValueError."""
    return _NAMES.index(since) <= _NAMES.index(distro)


def younger_parts(event: Event) -> tuple[tuple[str, Version], ...]:
    """Return the columns of an event that are younger than Humble, with their first version."""
    return tuple(
        (field.column or field.name, first_version(field.since))
        for field in event.fields
        if field.since != _NAMES[0]
    )
