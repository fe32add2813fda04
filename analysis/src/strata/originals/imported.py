# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What is read of a published result: runs, each with its facts and its values.

What a value stands for is kept apart, as the statistics of intervals are no distribution:

| statistic | the value is |
| --- | --- |
| each | of one message, or between two of them |
| interval | measured over a stretch of time, such as a rate |
| interval_min, interval_mean, interval_max, interval_std | of the messages of such a stretch |
| interval_rms, interval_max_abs | root mean square and largest absolute value of such a stretch |
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
    "clock_offset": "ns",
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
    "interval_rms",
    "interval_max_abs",
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
    "series": "str",
    "t_ns": "Int64",
    "state": "Int64",
}
"""Columns of a run's samples. `number` counts from 0, for differences that of the later one;
`count` says of how many messages a statistic is, null where the file does not say. Of logs of
clocks alone: `series` names the clocks (else empty), `t_ns` is CLOCK_MONOTONIC, `state` that of the
servo (0 unlocked, 1 jump, 2 locked, 3 locked stable); null where the file does not say."""


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
        self._names: list[tuple[str, str, str]] = []
        self._columns: list[
            tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], list[list[int]]]
        ] = []

    def add(
        self,
        measure: str,
        statistic: str,
        values: Values,
        *,
        numbers: npt.NDArray[np.int64] | None = None,
        counts: Iterable[int] | None = None,
        series: str = "",
        times: Iterable[int] | None = None,
        states: Iterable[int] | None = None,
    ) -> None:
        """Add the values of a measure, in its unit; NaN and infinities are left out."""
        assert statistic in STATISTICS
        value = np.asarray(values, np.float64)
        number = np.arange(len(value)) if numbers is None else numbers
        kept = np.isfinite(value)
        self._names.append((measure, statistic, series))
        told = [
            [one for one, keep in zip(_told(column, len(value)), kept, strict=True) if keep]
            for column in (counts, times, states)
        ]
        self._columns.append((number[kept], value[kept], told))

    def frame(self) -> pd.DataFrame:
        """Give all that was added; without any value, a frame without rows."""
        repeats = [len(value) for _, value, _ in self._columns]
        measures, statistics, series = (
            np.repeat([names[at] for names in self._names], repeats) for at in range(3)
        )
        counts, times, states = (
            [one for _, _, told in self._columns for one in told[at]] for at in range(3)
        )
        made = pd.DataFrame(
            {
                "measure": measures,
                "statistic": statistics,
                "number": _joined([number for number, _, _ in self._columns], np.int64),
                "value": _joined([value for _, value, _ in self._columns], np.float64),
                "unit": [UNITS[measure] for measure in measures],
                "count": _known(counts),
                "series": series,
                "t_ns": _known(times),
                "state": _known(states),
            }
        )
        return made.astype(COLUMNS)


_UNKNOWN = -1


def _told(column: Iterable[int] | None, length: int) -> list[int]:
    return [_UNKNOWN] * length if column is None else list(column)


def _known(column: list[int]) -> pd.Series[int]:
    return pd.Series([pd.NA if one < 0 else one for one in column], dtype="Int64")


def _joined(parts: list[Any], kind: type[np.generic]) -> npt.NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, kind)
