# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The tracepoints of a sensor driver; without a recording session they do next to nothing.

`receive` reads a datagram and tells how long it lay in the socket's queue (-1: not known), and what
the socket has dropped since it was prepared, whether anything is recorded or not.
"""

from driver_tracepoints._emit import (
    buffer_pulled,
    cloud_ready,
    copy_done,
    frame_boundary,
    packet_received,
    prepare,
    receive,
    source_init,
)

__all__ = [
    "buffer_pulled",
    "cloud_ready",
    "copy_done",
    "frame_boundary",
    "packet_received",
    "prepare",
    "receive",
    "source_init",
]
