# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The driver's tracepoints; no-ops where the package driver_tracepoints is not built."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

try:
    import driver_tracepoints as _provider
except ImportError:
    _provider = None

_numbers = itertools.count(1)


def _nothing(*_: Any) -> None:
    """Emit nothing."""


def _own_number(_kind: str, _name: str, _address: str) -> int:
    return next(_numbers)


source_init: Callable[[str, str, str], int] = getattr(_provider, "source_init", _own_number)
prepare: Callable[[Any], None] = getattr(_provider, "prepare", _nothing)
frame_boundary: Callable[[int, int, int, int, int, int], None] = getattr(
    _provider, "frame_boundary", _nothing
)
cloud_ready: Callable[[int, int, int], None] = getattr(_provider, "cloud_ready", _nothing)
receive: Callable[[Any, Any, int], tuple[int, int, int, int]] | None = getattr(
    _provider, "receive", None
)
"""Reads a datagram and emits packet_received; gives bytes, queue_ns, dropped, sequence."""
