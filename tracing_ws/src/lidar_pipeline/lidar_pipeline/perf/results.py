# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a perf node writes, in Python or C++. Importing this needs no ROS."""

from __future__ import annotations

import json
import sys
from array import array
from pathlib import Path
from typing import Any

import numpy as np

from lidar_pipeline.perf.column_times import NAMES, ColumnTimes
from lidar_pipeline.perf.sample_statistics import summarize


class Samples:
    """What came on one topic."""

    def __init__(self, topic: str, wanted: int, column_step: int = 0) -> None:
        self.topic = topic
        self.column_times = ColumnTimes(column_step)
        self._wanted = wanted
        self.received, self.stamps, self.sequences = array("q"), array("q"), array("q")

    @property
    def complete(self) -> bool:
        """True when all that was wanted has come."""
        return len(self.received) >= self._wanted

    def add(self, at_ns: int, stamp_ns: int, sequence: int) -> None:
        """Add a sample; those past the wanted ones are left out."""
        if not self.complete:
            self.received.append(at_ns)
            self.stamps.append(stamp_ns)
            self.sequences.append(sequence)

    def add_columns(self, message: Any) -> None:
        """Add the times of the columns of a cloud, whose sample is to be added next."""
        if not self.complete:
            self.column_times.take(len(self.received), message)

    def summary(self, warm_up: int) -> dict[str, Any]:
        """Summarize."""
        columns = (
            np.asarray(column, np.int64) for column in (self.received, self.stamps, self.sequences)
        )
        return {"topic": self.topic, **summarize(*columns, warm_up=warm_up)}

    def write(self, path: Path) -> None:
        """Write a CSV of all samples, those of the warm-up too."""
        lines = ["recv_stamp,msg_stamp", *map("{},{}".format, self.received, self.stamps)]
        path.write_text("\n".join(lines) + "\n")

    def write_columns(self, path: Path) -> None:
        """Write a CSV of the times of columns; no file without any."""
        rows = [",".join(map(str, row)) for row in self.column_times.rows()]
        if rows:
            path.write_text("\n".join([",".join(NAMES), *rows]) + "\n")


def columns_file(path: Path) -> Path:
    """Give the file of the times of columns that lies beside one of samples."""
    return path.with_name(f"{path.stem}_columns.csv")


def result_files(topics: list[Samples], out_file: str, log: str, *, force: bool) -> dict[str, Path]:
    """Give the files to write, by topic, and the summary's by an empty name; makes directories.

    Raises FileExistsError when one is there already and `force` is not set.
    """
    files: dict[str, Path] = {}
    if out_file:
        files[topics[0].topic] = Path(out_file)
    if log:
        for samples in topics:
            name = samples.topic.strip("/").replace("/", "_")
            files[samples.topic] = Path(log) / f"perf_{name}.csv"
        files[""] = Path(log) / "perf.json"
    beside = [columns_file(path) for name, path in files.items() if name]
    for path in [*files.values(), *beside]:
        if path.exists() and not force:
            raise FileExistsError(f"Cannot write samples to {path}: it is there already.")
        path.parent.mkdir(parents=True, exist_ok=True)
    return files


def write_results(topics: list[Samples], files: dict[str, Path], warm_up: int) -> None:
    """Write the files, and the summary to stdout as JSON."""
    summaries = [samples.summary(warm_up) for samples in topics]
    for samples in topics:
        if samples.topic in files:
            samples.write(files[samples.topic])
            samples.write_columns(columns_file(files[samples.topic]))
    if "" in files:
        files[""].write_text(json.dumps(summaries, indent=2) + "\n")
    for path in files.values():
        sys.stderr.write(f"perf_node: wrote {path}\n")
    sys.stdout.write(json.dumps(summaries) + "\n")
    sys.stdout.flush()
