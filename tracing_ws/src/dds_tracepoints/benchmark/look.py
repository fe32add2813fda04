# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`look.py SESSION OUTPUT EVERY_NS SUBBUF_SIZE`: analyze windows of ring buffers until stdin ends.

Prints a line once it has looked.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from strata.live.following import Follower
from strata.live.ring_windows import RingWindows
from strata.record.companion import wait_for_end
from strata.record.lttng import Lttng


def main() -> None:
    """Look until the benchmark has run."""
    session, output, every_ns, subbuf_size = sys.argv[1:]
    lttng = Lttng(dict(os.environ) | {"LC_ALL": "C"})
    windows = RingWindows(lttng, session, Path(output) / "look", int(subbuf_size), int(every_ns))
    follower = Follower(windows)
    follower.step()
    sys.stdout.write("looked\n")
    sys.stdout.flush()
    while not wait_for_end(windows.wait_s):
        follower.step()


if __name__ == "__main__":
    main()
