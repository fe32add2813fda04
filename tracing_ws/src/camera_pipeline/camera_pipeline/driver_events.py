# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The events of the provider `driver`; functions that do nothing where it is not built."""

from __future__ import annotations

try:
    from driver_tracepoints import buffer_pulled, copy_done, source_init
except ImportError:

    def source_init(kind: str, name: str, address: str) -> int:
        """Do nothing."""
        del kind, name, address
        return 0

    def buffer_pulled(
        source: int,
        frame: int,
        size: int,
        pts_ns: int,
        queue_ns: int,
        dropped: int,
    ) -> None:
        """Do nothing."""
        del source, frame, size, pts_ns, queue_ns, dropped

    def copy_done(source: int, frame: int, size: int) -> None:
        """Do nothing."""
        del source, frame, size


__all__ = ["buffer_pulled", "copy_done", "source_init"]
