# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The results that the perf node in C++ has made of its samples; needs no ROS."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
MS = 1_000_000


def run(lines: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lidar_pipeline.perf.recorded"],
        input="".join(f"{line}\n" for line in lines),
        env={**os.environ, "PYTHONPATH": str(PACKAGE)},
        capture_output=True,
        text=True,
        check=True,
    )


def test_samples_of_two_topics_become_files_and_a_summary(tmp_path: Path) -> None:
    # Scan 3 of 0..5 is missing; the first is warm-up.
    scans = [0, 1, 2, 4, 5]
    points = [(scan * 100 * MS + 7 * MS, scan * 100 * MS, scan + 1) for scan in scans]
    lines = [
        "warm_up\t1",
        "out_file\t",
        f"log\t{tmp_path / 'results'}",
        "topic\t/points",
        *("sample\t" + "\t".join(map(str, sample)) for sample in points),
        "topic\t/a/imu",
        "sample\t20\t10\t0",
    ]
    done = run(lines)
    clouds, imu = json.loads(done.stdout)
    assert (clouds["topic"], clouds["samples"], clouds["warm_up"]) == ("/points", 4, 1)
    assert (clouds["lost_by_sequence"], clouds["lost_by_stamp"]) == (1, 1)
    assert clouds["latency_ns"]["median"] == 7 * MS
    assert (imu["samples"], imu["latency_ns"]) == (0, {"count": 0})
    assert json.loads((tmp_path / "results/perf.json").read_text()) == [clouds, imu]
    rows = (tmp_path / "results/perf_points.csv").read_text().split()
    assert rows == ["recv_stamp,msg_stamp", *(f"{at},{stamp}" for at, stamp, _ in points)]
    assert (tmp_path / "results/perf_a_imu.csv").read_text().split()[1:] == ["20,10"]


def test_one_file_is_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "samples.csv"
    run(["warm_up\t0", f"out_file\t{out}", "log\t", "topic\t/points", "sample\t5\t3\t1"])
    assert out.read_text().split() == ["recv_stamp,msg_stamp", "5,3"]
    assert list(tmp_path.iterdir()) == [out]
