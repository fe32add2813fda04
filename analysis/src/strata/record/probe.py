# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A tiny process that only loads libtracetools, to see which events LTTng gets from it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping

from strata.errors import SessionError
from strata.record.lttng import Lttng

# Ours brings its events with the first call of any of its functions; ROS 2's own has no such one
# before Iron, and needs none.
_LOADER = """
import ctypes, sys
library = ctypes.CDLL("libtracetools.so")
getattr(library, "ros_trace_enabled_rcl_init", int)()
print(flush=True)
sys.stdin.read()
"""
_REGISTER_TIMEOUT_S = 10.0
_POLL_S = 0.1


def offered_events(lttng: Lttng, environment: Mapping[str, str]) -> set[str]:
    """Give the events that a process in this environment offers to the running session daemon.

    Empty when it offers none within some seconds. Raises SessionError when libtracetools cannot
    be loaded at all; the text carries the loader's words.
    """
    with subprocess.Popen(
        # -S: neither site packages nor a sitecustomize may get in the way of the library.
        [sys.executable, "-S", "-c", _LOADER],
        env=dict(environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        if not process.stdout.readline():
            words = process.communicate()[1].decode(errors="replace").strip().splitlines()
            raise SessionError(
                f"Cannot load libtracetools.so: {words[-1] if words else 'no reason given'}. "
                "Run `make setup`."
            )
        try:
            return _wait_for_events(lttng, process.pid)
        finally:
            process.kill()


def _wait_for_events(lttng: Lttng, pid: int) -> set[str]:
    deadline = time.monotonic() + _REGISTER_TIMEOUT_S
    while time.monotonic() < deadline:
        events = lttng.userspace_events().get(pid, set())
        if any(event.startswith("ros2:") for event in events):
            return events
        time.sleep(_POLL_S)
    return set()
