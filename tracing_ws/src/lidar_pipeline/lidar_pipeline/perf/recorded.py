# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""`python3 -m lidar_pipeline.perf.recorded < LINES`: the results of the perf node in C++.

Lines have fields separated by tabs: `warm_up N`, `out_file PATH`, `log DIRECTORY`
(PATH and DIRECTORY may be empty), `topic NAME`, and after it `sample RECEIVED STAMP SEQUENCE`, in
ns since the epoch, and `column SCAN COLUMN TIME`, of the SCAN-th sample, in ns since its first
column.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from lidar_pipeline.perf.results import Samples, result_files, write_results


def read(lines: Iterable[str]) -> tuple[dict[str, str], list[Samples]]:
    """Read the settings and the samples of every topic."""
    settings: dict[str, str] = {}
    topics: list[Samples] = []
    for line in lines:
        key, *fields = line.rstrip("\n").split("\t")
        if key == "sample":
            topics[-1].add(*map(int, fields))
        elif key == "column":
            topics[-1].column_times.add(*map(int, fields))
        elif key == "topic":
            topics.append(Samples(fields[0], sys.maxsize))
        else:
            settings[key] = fields[0]
    return settings, topics


def main() -> None:
    """Write what standard input holds."""
    settings, topics = read(sys.stdin)
    # The node refused to replace files, before it measured.
    files = result_files(topics, settings["out_file"], settings["log"], force=True)
    write_results(topics, files, int(settings["warm_up"]))


if __name__ == "__main__":
    main()
