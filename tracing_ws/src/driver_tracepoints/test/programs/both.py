# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A DDS library reads one socket, a sensor driver another.

usage: both.py LIBRARY PORT RTPS
"""

import ctypes
import socket
import sys

library = ctypes.CDLL(sys.argv[1])
port, rtps = int(sys.argv[2]), bytes.fromhex(sys.argv[3])
sensor, dds = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
sensor.bind(("127.0.0.1", port))
dds.bind(("127.0.0.1", 0))
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
data = ctypes.create_string_buffer(1000)
for _ in range(5):
    sender.sendto(b"scan", ("127.0.0.1", port))
    sender.sendto(rtps, dds.getsockname())
    assert sensor.recvmsg(100)[0] == b"scan"
    assert library.read_one(dds.fileno(), data, 1000) == len(rtps)
    assert data.raw[: len(rtps)] == rtps
