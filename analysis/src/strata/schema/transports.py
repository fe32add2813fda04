# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of what carries messages, as column `transport` of the tables has them."""

from __future__ import annotations

UDP_V4, UDP_V6 = "UDPv4", "UDPv6"
TCP_V4, TCP_V6 = "TCPv4", "TCPv6"
SHM = "SHM"
DATA_SHARING = "data sharing"
ICEORYX = "iceoryx"
INTRA_PROCESS = "intra-process"
RING_BUFFER = "ring buffer"
ZENOH_SHM = "shared memory of Zenoh"
"""In no trace, as nothing of Zenoh is hooked: what a profile is meant to use."""

WITHIN_A_PROCESS = frozenset({INTRA_PROCESS, RING_BUFFER})
"""Of messages that leave no process, whatever a profile says."""
