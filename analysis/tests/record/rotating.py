# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Record a command with rotation, in a session daemon that runs: TRACE LIMITS COMMAND...

LIMITS are those of `strata.record.rotation`, as JSON. Prints, as JSON: what the manifest would say,
`problems`, `failed`, and what was said. Where the session daemon's process id is in
`STRATA_TEST_DAEMON`, its consumers are killed after a second.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from strata.errors import SessionError
from strata.record.config import Channel
from strata.record.lttng import UST, Lttng, tool_environment
from strata.record.rotation import Limits, Rotation

CHANNEL = Channel(subbuf_size=1 << 16, num_subbuf=8, switch_timer=400_000, read_timer=200_000)
PATIENCE_S = 30.0


def kill_consumer(daemon: int) -> None:
    children = Path(f"/proc/{daemon}/task/{daemon}/children").read_text().split()
    for task in Path(f"/proc/{daemon}/task").iterdir():
        children += (task / "children").read_text().split()
    for child in {int(pid) for pid in children}:
        name = Path(f"/proc/{child}/cmdline").read_bytes()
        if b"consumer" in name:
            os.kill(child, signal.SIGKILL)


def main() -> None:
    trace, limits, command = Path(sys.argv[1]), Limits(**json.loads(sys.argv[2])), sys.argv[3:]
    daemon = int(os.environ.get("STRATA_TEST_DAEMON", "0"))
    lttng = Lttng(tool_environment(os.environ))
    said: list[str] = []
    lttng.create("rotating", trace)
    lttng.enable_channel("rotating", UST, CHANNEL)
    lttng.enable_event("rotating", UST, "ros2:*")
    lttng.add_contexts("rotating", UST, ["vpid", "vtid", "procname", "pid_ns"])
    lttng.start("rotating")
    # A program of one thread never fills those of more.
    buffers = CHANNEL.bytes_on(2)
    rotation = Rotation(lttng, "rotating", trace, limits, said.append, buffer_bytes=buffers)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    begin = time.monotonic()
    while process.poll() is None and not rotation.failed:
        if daemon and time.monotonic() - begin > 1:
            kill_consumer(daemon)
            daemon = 0
        rotation.look()
        time.sleep(0.1)
    if rotation.failed:
        process.kill()
    output, _ = process.communicate()
    if not rotation.failed:
        lttng.stop("rotating", PATIENCE_S)
    rotation.end()
    with contextlib.suppress(SessionError):
        lttng.destroy("rotating", wait=not rotation.failed)
    found = {"problems": rotation.problems, "failed": rotation.failed, "said": said}
    print(json.dumps({**found, "rotation": rotation.as_json(), "output": output}))


main()
