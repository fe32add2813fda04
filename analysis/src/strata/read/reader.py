# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a reader of CTF traces does; babeltrace.py is the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from strata.read.columns import EventColumns
from strata.read.discover import CtfTrace
from strata.read.packets import StreamFile


class Reader(Protocol):
    """Decodes one CTF trace into columns, one set an event type, ordered by time."""

    name: str

    def read(
        self, trace: CtfTrace, files: list[StreamFile] | None, progress: Callable[[int], None]
    ) -> list[EventColumns]:
        """Decode a trace.

        `files` are its streams as walked by packets.py: cut ones are read up to their last whole
        packet; null when the trace has another packet layout. `progress` is called with numbers of
        events read since its last call. Raises TraceError.
        """
