# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`python3 -m camera_pipeline.recorded < LINES`: the results of the image subscriber in C++.

Lines have fields separated by tabs, times being ns since the epoch: `node NAME`,
`topic NAME` (both full names), `expected_fps HZ`, `csv PATH`, `summary PATH` (paths may be empty),
then in order of arrival `info AT STAMP` and
`image AT STAMP SEQUENCE BYTES WIDTH HEIGHT STEP ENCODING`, and last `end AT GAVE_UP`.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from camera_pipeline.metrics import Image, Metrics, Window
from camera_pipeline.results import Results

_SETTINGS = 5


def measure(metrics: Metrics, lines: Iterable[list[str]]) -> Iterator[Window]:
    """Measure what was noted as if it came now; yields each window that ended."""
    for key, at, *fields in lines:
        yield from metrics.roll(int(at))
        if key == "image":
            *numbers, encoding = fields
            stamp_ns, sequence, *sizes = map(int, numbers)
            yield from metrics.add(Image(int(at), stamp_ns, sequence or None, *sizes, encoding))
        elif key == "info":
            metrics.add_info(int(fields[0]))
        elif fields == ["1"]:
            metrics.give_up()


def main() -> None:
    """Write the results of what standard input holds."""
    lines = (line.rstrip("\n").split("\t") for line in sys.stdin)
    settings = dict(itertools.islice(lines, _SETTINGS))
    paths = (Path(settings[name]) if settings[name] else None for name in ("csv", "summary"))
    results = Results(*paths, float(settings["expected_fps"]))
    metrics = Metrics()
    for window in measure(metrics, lines):
        results.add(window, metrics)
    text = results.close(metrics, settings["node"], settings["topic"])
    sys.stderr.write(f"image_subscriber: {text}\n")


if __name__ == "__main__":
    main()
