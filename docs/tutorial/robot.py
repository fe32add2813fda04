# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot of the tutorial: sensors, and a node that detects obstacles and brakes.

usage: python3 docs/tutorial/robot.py

It runs for ten seconds: a process with the sensors, and one with the node `detector`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Start both processes, and wait until they end."""
    programs = [HERE / "detector.py", HERE / "sensors.py"]
    processes = [subprocess.Popen([sys.executable, program]) for program in programs]
    sys.exit(max(process.wait() for process in processes))


if __name__ == "__main__":
    main()
