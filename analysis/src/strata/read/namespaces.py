# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes of one id on one host: in two pid namespaces (containers), which the context tells.

A process is known by host and vpid, its id within its own namespace. Where two namespaces of a host
have a process of one id, all events of one of them are put under a host name of their own.
"""

from __future__ import annotations

CONTEXT = "pid_ns"
_MARK = f" ({CONTEXT} "


def machine_of(host: str) -> str:
    """Return the host's name without the namespace that `name_of` gave it."""
    return host.partition(_MARK)[0]


def name_of(host: str, number: int) -> str:
    """Return what events of a namespace get in place of the host's name."""
    return f"{host}{_MARK}{number})"
