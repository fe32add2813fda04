# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""An event in the catalogue: where it is emitted, when, and what it carries."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a field is; `arrow` names the Arrow type that holds it."""

    HANDLE = "handle"
    HANDLES = "handles"
    INT = "integer"
    UINT = "unsigned"
    FLAG = "flag"
    STRING = "string"
    BYTES = "bytes"

    @property
    def arrow(self) -> str:
        """Name of the Arrow type that holds the field."""
        return _ARROW_TYPES[self]


_ARROW_TYPES = {
    Kind.HANDLE: "uint64",
    Kind.HANDLES: "list<uint64>",
    Kind.INT: "int64",
    Kind.UINT: "uint64",
    Kind.FLAG: "int64",
    Kind.STRING: "dictionary",
    Kind.BYTES: "binary",
}


_MESSAGES = frozenset({"message", "request", "response", "data"})
"""Addresses of messages: heap addresses, reused by anything."""


class Phase(StrEnum):
    """When an event fires: once an entity is created, or each time that something happens."""

    INIT = "init"
    RUNTIME = "runtime"


@dataclass(frozen=True)
class Field:
    """One payload field of an event, with its unit where it has one."""

    name: str
    kind: Kind
    doc: str
    column: str = ""
    """Name in event tables where it differs from the field's own."""
    since: str = "humble"
    """The ROS 2 distribution that first had it (its event may be older)."""

    @property
    def is_of_object(self) -> bool:
        """Return whether it is the address of an object other than a message."""
        return self.kind is Kind.HANDLE and self.name not in _MESSAGES


@dataclass(frozen=True)
class Event:
    """One tracepoint: where it is emitted, when, and what it carries."""

    name: str
    phase: Phase
    fields: tuple[Field, ...]
    doc: str
    since: str = "humble"
    provider: str = "ros2"
    step_of: str = ""
    """The operation that it is a step of, by its event: hooks no longer emit the step itself."""

    @property
    def full_name(self) -> str:
        """Name in a trace, with the provider; the kernel's events have none."""
        return f"{self.provider}:{self.name}" if self.provider else self.name


def handle(name: str, doc: str, since: str = "humble") -> Field:
    """Return a field that holds the address of an object in its process."""
    return Field(name, Kind.HANDLE, doc, since=since)
