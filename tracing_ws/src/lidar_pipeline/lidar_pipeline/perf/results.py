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

from lidar_pipeline.perf.sample_statistics import summarize


class Samples:
    """What came on one topic."""

    def __init__(self, topic: str, wanted: int) -> None:
        self.topic = topic
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
    for path in files.values():
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
    if "" in files:
        files[""].write_text(json.dumps(summaries, indent=2) + "\n")
    for path in files.values():
        sys.stderr.write(f"perf_node: wrote {path}\n")
    sys.stdout.write(json.dumps(summaries) + "\n")
    sys.stdout.flush()
