# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The robot of the tutorial: sensors, and a node that detects obstacles and brakes.

usage: python3 docs/tutorial/robot.py

A process with the nodes `detector` and `brake`, and, as soon as these are ready, one with the
sensors, which publish for ten seconds.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Start both processes, and wait until they end."""
    detector = subprocess.Popen([sys.executable, HERE / "detector.py"])
    time.sleep(2)
    sensors = subprocess.Popen([sys.executable, HERE / "sensors.py"])
    sys.exit(max(detector.wait(), sensors.wait()))


if __name__ == "__main__":
    main()
