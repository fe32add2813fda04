# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Shows what a driver that takes one packet a tick does at the packets' own rate, and at twice it.

In campaign A's first test case 2048x10 sends 1280 packets a second, and the timer ticked
as often, so that each stall lost ticks for good: packets queue up until the socket's buffer is
full.
Then they are lost. 2560 ticks a second empty the queue again. Without a poll, threads read.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "test"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from lidar_process import counts, emulator, finish, start, start_driver
from traced_ros import free_domain

MS = 1e-6


def run(poll_hz: float, scans: int, mode: str) -> dict[str, Any]:
    """Run emulator, driver and performance node; give what each told."""
    domain = free_domain()
    with emulator("--mode", mode, "--scans", str(scans)) as sensor:
        # More samples than can come: it ends when no more do, with those that came.
        perf = start(domain, "perf_node", n_samples=2 * scans, quiet_s=4.0)
        driver = start_driver(
            domain,
            sensor.port,
            lidar_mode=mode,
            timestamp_mode="TIME_FROM_PTP_1588",
            poll_hz=poll_hz,
            closing="next" if poll_hz else "complete",
            listeners=1,
        )
        sent = sensor.sent()
        _, out, _ = finish(perf)
        _, _, told = finish(driver, end=True)
    return {"sent": sent, "driver": counts(told), "perf": json.loads(out)[0]}


def main() -> None:
    """Print a line a poll rate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scans", type=int, default=300)
    parser.add_argument("--mode", default="2048x10")
    parser.add_argument("--poll", type=float, nargs="+", default=[1280.0, 2560.0, 0.0])
    given = parser.parse_args()
    sys.stdout.write(
        "poll Hz  scans  published  received  packets dropped  missing  e2e ms: min  p50  max\n"
    )
    for poll_hz in given.poll:
        found = run(poll_hz, given.scans, given.mode)
        driver, latency = found["driver"], found["perf"]["latency_ns"]
        figures = [
            latency[name] * MS if latency["count"] else 0 for name in ("min", "median", "max")
        ]
        sys.stdout.write(
            f"{poll_hz:7.0f} {found['sent']['scans']:6} {driver['published_scans']:10} "
            f"{found['perf']['samples']:9} {driver['lidar_dropped']:16} "
            f"{driver['missing_packets']:8}          "
            + " ".join(f"{value:6.0f}" for value in figures)
            + "\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
