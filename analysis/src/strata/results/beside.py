# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What runs beside `strata record --results`: analyzes each chunk once it is complete.

Run as a module by the recorder (strata.record.companion): beside SESSION RESULTS. What is left when
the recording ends, `strata record` analyzes itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

from strata.errors import StrataError
from strata.printable import printable
from strata.record.companion import wait_for_end
from strata.results.growing import Growing

_EVERY_S = 1.0
_NICE = 10


def say(line: str) -> None:
    """Say something, on stderr."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"strata: {printable(line)}\n")
        sys.stderr.flush()


def main() -> None:
    """Run beside a recorder until it ends."""
    # A terminal's Ctrl-C is the recorder's; its end is ours.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    session, target = (Path(word) for word in sys.argv[1:3])
    with contextlib.suppress(OSError):
        os.nice(_NICE)
    try:
        growing = Growing(session, target)
        while not wait_for_end(_EVERY_S):
            grown = growing.step()
            if grown is not None and grown.unread:
                say(f"chunk {grown.chunk} could not be analyzed: {grown.unread}")
    except StrataError as error:
        say(str(error))
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
