# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Which formats there are, and which one a file has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from strata.errors import OriginalError
from strata.originals import (
    gscam_stress,
    linuxptp,
    perf_node,
    performance_test,
    performance_test_json,
    ros2_performance,
    transport_time,
)
from strata.originals.imported import Imported
from strata.originals.text import Text


@dataclass(frozen=True)
class Format:
    """A format: what it is, how it is known by its first lines, and how it is read."""

    text: str
    matches: Callable[[Text], bool]
    read: Callable[[Text], Imported]


FORMATS = {
    perf_node.NAME: Format(
        "stamps of messages, by ros2-ouster-tools' perf_node", perf_node.matches, perf_node.read
    ),
    performance_test.NAME: Format(
        "CSV log of ApexAI's performance_test", performance_test.matches, performance_test.read
    ),
    performance_test_json.NAME: Format(
        "JSON log of performance_test", performance_test_json.matches, performance_test_json.read
    ),
    gscam_stress.NAME: Format(
        "a run of rmw_benchmark's gscam_stress", gscam_stress.matches, gscam_stress.read
    ),
    gscam_stress.SUMMARY_NAME: Format(
        "its summary.csv", gscam_stress.matches_summary, gscam_stress.read_summary
    ),
    ros2_performance.NAME: Format(
        "latency_all.txt, latency_total.txt, resources.txt of irobot's ros2-performance",
        ros2_performance.matches,
        ros2_performance.read,
    ),
    transport_time.NAME: Format(
        "one latency per line, in seconds, by ros2_evaluation",
        transport_time.matches,
        transport_time.read,
    ),
    linuxptp.PTP4L: Format(
        "log of linuxptp's ptp4l", partial(linuxptp.matches, linuxptp.PTP4L), linuxptp.read
    ),
    linuxptp.PHC2SYS: Format(
        "log of linuxptp's phc2sys", partial(linuxptp.matches, linuxptp.PHC2SYS), linuxptp.read
    ),
}


def read_original(path: Path, form: str | None = None) -> Imported:
    """Read a file of published results, of the format that is named or else found.

    Raises OriginalError, with the line, when it cannot be read or is of no known format.
    """
    text = Text(path)
    if form is not None:
        return FORMATS[form].read(text)
    for one in FORMATS.values():
        if one.matches(text):
            return one.read(text)
    first = (text.lines[0] if text.lines else text.cut).text.strip()[:60]  # type: ignore[union-attr]
    raise OriginalError(
        f"Cannot read {path}: it begins with {first!r}, which matches no known format. The "
        f"formats are {', '.join(FORMATS)}; --format names one."
    )
