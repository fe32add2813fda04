# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Announces timers, and one node at an address after another node; then waits for stdin's end.

usage: many_announcements.py TIMERS
"""

import ctypes
import sys

library = ctypes.CDLL(None)
timer = library.ros_trace_rcl_timer_init
timer.argtypes = [ctypes.c_void_p, ctypes.c_int64]
node = library.ros_trace_rcl_node_init
node.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
for number in range(int(sys.argv[1])):
    timer(16 * (number + 1), number)
node(1 << 40, 2, b"former", b"/")
node(1 << 40, 2, b"present", None)
print("made", flush=True)
sys.stdin.read()
