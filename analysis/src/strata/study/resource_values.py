# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The values of CPU time and memory of the processes of one cell, as those of measure_values."""

from __future__ import annotations

import numpy as np
import pandas as pd

from strata.study.cell_tables import CellTables
from strata.study.measure_values import Context, joined

_MIB = 2**20
_LEAST_SAMPLES = 2
"""Of a process's samples while messages were measured, for its CPU time of that while."""


def cpu(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of CPU time, in percent of one CPU, one per process."""
    samples = measured.read("resources")
    hops = measured.read("hops", ["first_ns", "last_ns"])
    begin, end = hops["first_ns"].min(), hops["last_ns"].max()
    processes = measured.read("processes", ["process", "cpu_ns", "wall_ns"])
    out = []
    for row in processes.to_dict("records"):
        own = samples[samples["process"] == row["process"]]
        during = None if pd.isna(begin) else _busy(own, int(begin), int(end))
        over = "measured messages"
        if during is None and not (pd.isna(row["cpu_ns"]) or pd.isna(row["wall_ns"])):
            during, over = 100.0 * int(row["cpu_ns"]) / int(row["wall_ns"]), "whole life"
        if during is not None:
            out.append({"process": row["process"], "number": None, "value": during, "over": over})
    return pd.DataFrame(out, columns=["process", "number", "value", "over"])


def _busy(samples: pd.DataFrame, begin_ns: int, end_ns: int) -> float | None:
    """Return the CPU time between two samples within a while; null where there are not two."""
    within = samples[samples["at_ns"].between(begin_ns, end_ns) & samples["cpu_ns"].notna()]
    if len(within) < _LEAST_SAMPLES:
        return None
    took = int(within["cpu_ns"].iloc[-1] - within["cpu_ns"].iloc[0])
    return 100.0 * took / int(within["t_ns"].iloc[-1] - within["t_ns"].iloc[0])


def cpu_all(measured: CellTables, context: Context) -> pd.DataFrame:
    """The CPU time of all processes together."""
    each = cpu(measured, context)
    if each.empty:
        return pd.DataFrame(columns=["number", "value", "over"])
    # Processes may have been sampled for different whiles; one word for all says so.
    over = " and ".join(sorted(set(each["over"])))
    return pd.DataFrame([{"number": None, "value": each["value"].sum(), "over": over}])


def cpu_by_second(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of CPU time between two samples of a process, in percent of one CPU."""
    rows = measured.read("resources", ["process", "t_ns", "cpu_ns"]).dropna()
    parts = []
    for process, own in rows.groupby("process", sort=False):
        at, used = own["t_ns"].to_numpy(np.int64), own["cpu_ns"].to_numpy(np.int64)
        took = np.diff(at)
        there = took > 0
        parts.append(
            pd.DataFrame(
                {
                    "process": str(process),
                    "number": np.arange(len(took))[there],
                    "value": 100.0 * np.diff(used)[there] / took[there],
                    "t_ns": at[1:][there],
                }
            )
        )
    return joined(parts, ("process", "number", "value", "t_ns"))


def rss(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of resident memory in MiB, at each sample of a process."""
    rows = measured.read("resources", ["process", "t_ns", "rss_bytes"]).dropna()
    return pd.DataFrame(
        {
            "process": rows["process"],
            "number": rows.groupby("process").cumcount(),
            "value": rows["rss_bytes"].astype("float64") / _MIB,
            "t_ns": rows["t_ns"],
        }
    )


def rss_max(measured: CellTables, _: Context) -> pd.DataFrame:
    """Values of the largest resident memory in MiB, one per process."""
    rows = measured.read("processes", ["process", "rss_max_bytes"]).dropna()
    size = rows["rss_max_bytes"].astype("float64") / _MIB
    return pd.DataFrame({"process": rows["process"], "number": None, "value": size})
