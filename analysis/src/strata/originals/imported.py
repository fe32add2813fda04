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
from typing import Any

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
`count` says of how many messages a statistic is, null where the file does not say."""


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
        self._names: list[tuple[str, str]] = []
        self._columns: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], list[int]]] = []

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
        count = [_UNKNOWN] * len(value) if counts is None else list(counts)
        kept = np.isfinite(value)
        self._names.append((measure, statistic))
        known = [one for one, keep in zip(count, kept, strict=True) if keep]
        self._columns.append((number[kept], value[kept], known))

    def frame(self) -> pd.DataFrame:
        """Give all that was added; without any value, a frame without rows."""
        repeats = [len(value) for _, value, _ in self._columns]
        counts = [one for _, _, count in self._columns for one in count]
        measures = np.repeat([measure for measure, _ in self._names], repeats)
        made = pd.DataFrame(
            {
                "measure": measures,
                "statistic": np.repeat([statistic for _, statistic in self._names], repeats),
                "number": _joined([number for number, _, _ in self._columns], np.int64),
                "value": _joined([value for _, value, _ in self._columns], np.float64),
                "unit": np.repeat([UNITS[measure] for measure, _ in self._names], repeats),
                "count": pd.array([pd.NA if one < 0 else one for one in counts], dtype="Int64"),
            }
        )
        return made.astype(COLUMNS)


_UNKNOWN = -1


def _joined(parts: list[Any], kind: type[np.generic]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)
