# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads a UDP port after a while, so that datagrams lie in its queue and some are dropped.

usage: queue.py PORT hooks|api
Waits for a line, then reads what is there; waits for another, then reads one datagram. Prints
what the kernel granted, and what was read: size, queue_ns, dropped, sequence (null: not told).
"""

import json
import socket
import sys

port, way = int(sys.argv[1]), sys.argv[2]
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
source, told = 0, []
if way == "api":
    import driver_tracepoints

    source = driver_tracepoints.source_init("udp", "lidar", f"0.0.0.0:{port}")
    driver_tracepoints.prepare(sock)
sock.bind(("0.0.0.0", port))
sock.setblocking(False)
buffer = bytearray(2000)


def read_all():
    while True:
        try:
            if way == "hooks":
                told.append([sock.recv_into(buffer), None, None, None])
            else:
                told.append(driver_tracepoints.receive(sock, buffer, source))
        except BlockingIOError:
            return


print("ready", flush=True)
for _ in range(2):
    sys.stdin.readline()
    read_all()
    print("read", flush=True)
print(json.dumps(told))
