# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Files of the published campaigns' formats, written by hand after the programs that write them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

T0 = 1_587_228_153_000_000_000
"""A time of day in ns, of April 2020."""

MS = 1_000_000

PERFORMANCE_HEADER = (
    "Experiment id: 5f7f0f0e-0001",
    "Performance Test Version: 1.3.3",
    "Logfile name: log_Array1k",
    "Communication mean: rclcpp-single-threaded-executor",
    "RMW Implementation: rmw_cyclonedds_cpp",
    "DDS domain id: 0",
    "QOS: Reliability: RELIABLE Durability: VOLATILE History kind: KEEP_LAST History depth: 16 "
    "Sync. pub/sub: 0",
    "Publishing rate: 100",
    "Topic name: test_topic",
    "Msg name: Array1k",
    "Maximum runtime (sec): 5",
    "Number of publishers: 1",
    "Number of subscribers: 2",
    "Roundtrip Mode: NONE",
)

_TRACKED = ("latency", "pub_loop_res", "sub_loop_res")
LOOPS = tuple(
    f"{name}_{statistic} (ms)"
    for name in _TRACKED
    for statistic in ("min", "max", "mean", "variance")
)
RUSAGE = ("ru_utime", "ru_stime", "ru_maxrss", "ru_ixrss", "ru_minflt")
COUNTS = ("T_experiment", "T_loop", "received", "sent", "lost", "relative_loss", "data_received")

NEWER = (*COUNTS, *LOOPS, *RUSAGE, "cpu_usage (%)")
CRYSTAL = (*COUNTS, *LOOPS, *RUSAGE)
"""2019: without cpu_usage, a comma at the end of each line."""
IRON = (*COUNTS, *LOOPS[:4], *RUSAGE, "cpu_usage (%)")
"""2023: without the loops' reserves."""


def performance_row(columns: Sequence[str], second: int, **values: str | float) -> list[str]:
    """A second's row: 200 messages of 1 KiB, latencies 0.1 to 0.9 ms."""
    row: dict[str, str | float] = {
        "T_experiment": float(second),
        "T_loop": 1.0,
        "received": 200,
        "sent": 100,
        "lost": 0,
        "relative_loss": 0.0,
        "data_received": 204800,
        "latency_min (ms)": 0.1,
        "latency_max (ms)": 0.9,
        "latency_mean (ms)": 0.25,
        "latency_variance (ms)": 4e-05,
        "ru_utime": 0.5 * second,
        "ru_stime": 0.25 * second,
        "ru_maxrss": 20480 + 1024 * second,
        "cpu_usage (%)": 9.5,
    }
    row |= {name.replace("__", " "): value for name, value in values.items()}
    return [str(row.get(name, 0)) for name in columns]


def performance_log(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    header: Sequence[str] = PERFORMANCE_HEADER,
    end: str = "",
) -> str:
    """A log; `end` is what stands after the last field of a line."""
    lines = [*header, "", "", "---EXPERIMENT-START---"]
    lines += [",\t\t".join(row) + end for row in [columns, *rows]]
    return "\n".join(lines) + "\n"


GSCAM_COLUMNS = (
    "timestamp,width,height,fps,byte_rate,message_rate,frame_loss_pct,latency_avg_ms,"
    "latency_min_ms,latency_max_ms"
)
GSCAM = f"""{GSCAM_COLUMNS}
2025-10-22_14-32-07,3840,2160,60,1045094400.00,42.00,30.00,36.139,23.470,65.059
2025-10-22_14-32-08,3840,2160,60,1617408000.00,65.00,-8.33,27.303,23.355,31.536
2025-10-22_14-32-09,3840,2160,60,0.00,0.00,100.00,0.000,0.000,0.000
"""
GSCAM_SUMMARY = """\
rmw_type,config,resolution,fps,data_rate_mbps,avg_frame_loss_pct,max_frame_loss_pct,avg_latency_ms,\
max_latency_ms,avg_message_rate,test_duration_sec,timestamp
cyclonedds,low,640x480,15,13.1,-0.00,0.13,0.623,1.011,15.00,60,2025-10-22_14-01-17
zenoh,3840x2160_60fps,3840x2160,60,1423.8,22.62,43.33,27.348,26.197,46.43,60,2025-10-22_14-32-05
"""

_LATENCY_ROWS = (
    "node topic size[b] received[#] late[#] too_late[#] lost[#] mean[us] sd[us] min[us] max[us] "
    "freq[hz] duration[s]",
    "lyon amazon 36 12000 12 6 0 602 145 345 4300 100 120",
    "arequipa arkansas 16 900 1 2 100 810 1079 379 37064 10 120",
    "source amazon 36 0 0 0 0 188 154 61 2645 100 120",
)
LATENCY_ALL = "".join(
    "".join(word.ljust(15) for word in row.split()) + "\n" for row in _LATENCY_ROWS
)
"""Two subscriptions and a publisher, whose row has no message."""

RESOURCES = """\
time[ms]       cpu[%]    arena[KB]      in_use[KB]     mmap[KB]       rss[KB]        vsz[KB]
0              0         0              0              0              0              0
500            27        61080          60712          0              24576          305212
1000           51        167860         167539         0              47104          544012
"""


def write(path: Path, text: str) -> Path:
    """Write a file as it is, line ends too."""
    path.write_bytes(text.encode())
    return path


def perf_lines(pairs: Sequence[tuple[int, int]]) -> str:
    """A perf_node file of stamps in ns after T0."""
    lines = [f"{T0 + received},{T0 + sent}" for received, sent in pairs]
    return "\n".join(["recv_stamp,msg_stamp", *lines]) + "\n"
