# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is read of a published result: runs, each with its facts and its values.

What a value stands for is kept apart, as the statistics of intervals are no distribution:

| statistic | the value is |
| --- | --- |
| each | of one message, or between two of them |
| interval | measured over a stretch of time, such as a rate |
| interval_min, interval_mean, interval_max, interval_std | of the messages of such a stretch |
| run, run_min, run_mean, run_max, run_std | of the whole run |
| mean_of_interval_means, max_of_interval_min, interval_worst | what their names say |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

Fact = str | int | float
Values = npt.NDArray[np.float64] | Sequence[float] | pd.Series

UNITS = {
    "latency": "ms",
    "round_trip": "ms",
    "stamp_latency": "ms",
    "period": "ms",
    "sent_period": "ms",
    "grid_loss": "%",
    "loss": "%",
    "late": "%",
    "too_late": "%",
    "shortfall": "%",
    "rate": "Hz",
    "sent_rate": "Hz",
    "throughput": "MB/s",
    "asked_throughput": "MB/s",
    "cpu": "%",
    "cpu_of_machine": "%",
    "rss": "MiB",
}
"""Each measure's unit. MB are 10^6 bytes; `cpu` is of one CPU, `cpu_of_machine` of all of them."""

STATISTICS = (
    "each",
    "interval",
    "interval_min",
    "interval_mean",
    "interval_max",
    "interval_std",
    "run",
    "run_min",
    "run_mean",
    "run_max",
    "run_std",
    "mean_of_interval_means",
    "max_of_interval_min",
    "interval_worst",
)

COLUMNS = {
    "measure": "str",
    "statistic": "str",
    "number": "int64",
    "value": "float64",
    "unit": "str",
    "count": "Int64",
}
"""Columns of a run's samples. `number` counts from 0, for differences that of the later one;
`count` says of how many messages a statistic is, null where the file does not tell."""


@dataclass(frozen=True)
class Finding:
    """What is to be known of a file's values; `count` of what, the text says."""

    code: str
    count: int
    text: str


@dataclass(frozen=True)
class Run:
    """One run: its facts (sizes in B, rates in Hz, what the file names), and its samples."""

    facts: Mapping[str, Fact]
    samples: pd.DataFrame


@dataclass(frozen=True)
class Imported:
    """A file of published results. `says` is what it tells of itself, word by word.

    `conversions` tells which of its columns became which measure, and how.
    """

    path: Path
    form: str
    says: Mapping[str, str]
    runs: list[Run]
    conversions: tuple[str, ...]
    findings: list[Finding] = field(default_factory=list)


class Samples:
    """Collects the values of a run."""

    def __init__(self) -> None:
        self._parts: list[pd.DataFrame] = []

    def add(
        self,
        measure: str,
        statistic: str,
        values: Values,
        *,
        numbers: npt.NDArray[np.int64] | None = None,
        counts: Iterable[int] | None = None,
    ) -> None:
        """Add the values of a measure, in its unit; NaN and infinities are left out."""
        assert statistic in STATISTICS
        value = np.asarray(values, np.float64)
        number = np.arange(len(value)) if numbers is None else numbers
        count = [pd.NA] * len(value) if counts is None else list(counts)
        part = pd.DataFrame(
            {
                "measure": measure,
                "statistic": statistic,
                "number": number,
                "value": value,
                "unit": UNITS[measure],
                "count": pd.array(count, dtype="Int64"),
            }
        )
        self._parts.append(part[np.isfinite(value)].astype(COLUMNS))

    def frame(self) -> pd.DataFrame:
        """Give all that was added; without any value, a frame without rows."""
        if not self._parts:
            return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in COLUMNS.items()})
        return pd.concat(self._parts, ignore_index=True)
