# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The tracepoints of a sensor driver; without a recording session they do next to nothing.

`receive` reads a datagram and tells how long it lay in the socket's queue (-1: not known), and what
the socket has dropped since it was prepared, whether anything is recorded or not. Where the
extension is not built (`emits` is False), nothing is emitted and `receive` does the same in Python.
"""

from __future__ import annotations

try:
    from driver_tracepoints import _emit as _functions

    emits = True
except ImportError:
    from driver_tracepoints import plain as _functions

    emits = False

source_init = _functions.source_init
packet_received = _functions.packet_received
frame_boundary = _functions.frame_boundary
buffer_pulled = _functions.buffer_pulled
cloud_ready = _functions.cloud_ready
copy_done = _functions.copy_done
prepare = _functions.prepare
receive = _functions.receive
