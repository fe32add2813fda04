# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Columns that many tables have: ids, instants, durations and the statistics of durations."""

from __future__ import annotations

from strata.schema.table import Column

STATISTICS = ("count", "min", "p50", "mad", "p90", "p99", "p999", "max", "mean", "std")
"""Summary statistics of durations; definitions in docs/statistics.md and strata.stats."""

_STATISTIC_DOCS = {
    "count": "number of values",
    "min": "smallest value",
    "p50": "median",
    "mad": "median absolute deviation from the median, unscaled",
    "p90": "90th percentile",
    "p99": "99th percentile",
    "p999": "99.9th percentile; of fewer than 1000 values it lies between the two largest",
    "max": "largest value",
    "mean": "arithmetic mean",
    "std": "sample standard deviation (n - 1); null for one value",
}


def statistic(prefix: str, name: str) -> str:
    """Return the column of one of STATISTICS: its name with a prefix, and the unit of durations."""
    return f"{prefix}{name}" if name == "count" else f"{prefix}{name}_ns"


def statistics(prefix: str, what: str) -> tuple[Column, ...]:
    """Return a column for each of STATISTICS."""
    columns = []
    for name in STATISTICS:
        counted = name == "count"
        columns.append(
            Column(
                statistic(prefix, name),
                "int64" if counted else "float64",
                f"{what}: {_STATISTIC_DOCS[name]}",
                unit="" if counted else "ns",
                null="" if counted else "no values",
            )
        )
    return tuple(columns)


def modality(what: str) -> tuple[Column, ...]:
    """Return the columns that say whether a distribution has several modes."""
    few = "too few messages"
    return (
        Column("dip", "float64", f"{what}: Hartigan's dip of its logarithm", null=few),
        Column(
            "dip_p",
            "float64",
            "p-value of the dip under one mode; 0.0005 means 0.0005 or less",
            null=few,
        ),
        Column("modes", "int64", f"{what}: number of modes (table `modes`)", null=few),
    )


def dense_id(name: str, what: str, null: str = "") -> Column:
    """Return a column of dense numbers."""
    return Column(name, "int64", what, null=null)


def instant(name: str, what: str, null: str = "") -> Column:
    """Return a column of nanoseconds since the epoch."""
    return Column(name, "int64", what, unit="ns since the epoch", null=null)


def duration(name: str, what: str, null: str = "") -> Column:
    """Return a column of nanoseconds."""
    return Column(name, "int64", what, unit="ns", null=null)


def unsynchronised(what: str) -> Column:
    """Return the column that counts what was measured by the clocks of two hosts."""
    return Column(
        "unsynchronised",
        "int64",
        f"of these: {what}, so they contain the offset between the clocks",
    )


HOST = Column("host", "string", "host name")
VPID = Column("vpid", "int64", "process id")
VTID = Column("vtid", "int64", "thread id")
BEGIN = instant("begin_ns", "when its init event was recorded; it lives until its handle is reused")
END = instant(
    "end_ns",
    "when its handle, or its process id, was reused",
    null="to the end of the trace",
)
NO_INIT = "no init event was recorded"
HANDLE = Column("handle", "uint64", "address of the rcl object; reused after it is destroyed")
