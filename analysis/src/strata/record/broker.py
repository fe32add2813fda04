# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Brokers, which a middleware needs beside the processes: Zenoh's router, iceoryx' RouDi.

Imports the standard library only.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass

_TIMEOUT_S = 1.0


@dataclass(frozen=True)
class Broker:
    """A program that must run before any node starts.

    It is in lib/`package` of a prefix, or on PATH. What `environment` says holds where the caller's
    says nothing, what `fixed` says in any case. It serves when something answers at `address`.
    """

    program: str
    package: str
    address: str
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    fixed: tuple[tuple[str, str], ...] = ()


def answers(address: str) -> bool:
    """Return whether a process listens there: tcp/HOST:PORT, or unix/PATH, of a datagram socket."""
    kind, _, place = address.partition("/")
    try:
        if kind == "unix":
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
                end.connect(place)
        else:
            host, _, port = place.rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), _TIMEOUT_S).close()
    except OSError:
        return False
    return True
