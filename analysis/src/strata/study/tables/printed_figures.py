# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Readers of the published files that ship: each printed figure as measure, statistic and levels.

Printed figures stay the text that they are. Where one is wrong, `right` has what it should be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

SCALES = {("ns", "ms"): 1e-6, ("ns", "us"): 1e-3, ("MB/s", "MiB/s"): 1e6 / 2**20}
"""From a measure's unit to that of a published figure."""

DDS_ANOVA = "dds-anova.csv"
ANOVA_FACTORS = ("middleware", "size")

_SERIES = {
    "recv_stamp": "period",
    "msg_stamp": "sent_period",
    "End-to-end Latency": "stamp_latency",
}
_STATISTICS = {"median": "p50"}
_EXECUTORS = {"multi-threaded": "multi", "single-threaded": "single"}
_OF_RELAY = {"topics": "hop_latency", "services": "request_latency"}
_SIZES = {"256B": "256", "128KB": "131072"}
_MIDDLEWARES = {"connext": "connext", "opensplice": "opensplice", "fastrtps": "fastdds_udp"}
_POOLS = {"256 MB": "zenoh_256m", "512 MB": "zenoh_512m", "1.4 GB": "zenoh_1452m"}
_CONFIGURATIONS = {
    "low": "480p15",
    "640x480_30fps": "480p30",
    "medium": "720p30",
    "1280x720_45fps": "720p45",
    "1280x720_60fps": "720p60",
    "high": "1080p30",
    "1920x1080_45fps": "1080p45",
    "1080p60": "1080p60",
    "2560x1440_30fps": "1440p30",
    "2560x1440_45fps": "1440p45",
    "2560x1440_60fps": "1440p60",
    "extreme": "2160p30",
    "3840x2160_45fps": "2160p45",
    "3840x2160_60fps": "2160p60",
}


@dataclass(frozen=True)
class Further:
    """One more of our measures, beside the printed figures of another; `label` names it.

    With `by_hops` the values of a chain are divided by its hops.
    """

    beside: str
    measure: str
    label: str
    by_hops: bool = False


@dataclass(frozen=True)
class Figures:
    """Printed figures: `frame` has the factors, measure, statistic, unit, printed and right.

    `here` labels the same statistic of ours. `elsewhere` are columns of `frame` with the
    same figure as printed of other machines, by their names.
    """

    factors: tuple[str, ...]
    frame: pd.DataFrame
    notes: tuple[str, ...]
    here: str = "here"
    further: tuple[Further, ...] = ()
    elsewhere: tuple[str, ...] = ()


def _figures(
    factors: tuple[str, ...],
    rows: list[dict[str, Any]],
    *notes: str,
    further_columns: tuple[str, ...] = (),
) -> Figures:
    columns = [*factors, "measure", "statistic", "unit", "printed", "right", *further_columns]
    return Figures(factors, pd.DataFrame(rows, columns=columns), notes)


def ouster_test_cases(path: Path) -> Figures:
    """Read campaign A's tables; its wrong digits are in ouster-corrections.csv beside it."""
    printed = pd.read_csv(path, dtype=str)
    beside = path.with_name("ouster-corrections.csv")
    keys = ["test_case", "series", "statistic"]
    if beside.is_file():
        wrong = pd.read_csv(beside, dtype=str)[[*keys, "right_ms"]]
        printed = printed.merge(wrong, on=keys, how="left")
    rows = [
        {
            "test_case": f"tc{row['test_case']}",
            "measure": _SERIES[row["series"]],
            "statistic": _STATISTICS.get(row["statistic"], row["statistic"]),
            "unit": "" if row["statistic"] == "count" else "ms",
            "printed": row["value_ms"],
            "right": row.get("right_ms"),
        }
        for row in printed.to_dict("records")
    ]
    return _figures(
        ("test_case",),
        rows,
        "What the original calls jitter is the period. Corrected figures are of its own raw data.",
        "Its latencies of test cases 1 to 3 include the sweep of about 100 ms, those of 4 and 5 do "
        "not.",
    )


def relay(path: Path) -> Figures:
    """Read campaign B's tables: of topics and, from its later page, of services and machines."""
    printed = pd.read_csv(path, dtype=str)
    first = printed["machine"].iloc[0]
    key = ["communication", "executor", "rate_hz"]
    rows = [
        {
            "rate": str(float(row["rate_hz"])),
            "executor": _EXECUTORS[row["executor"]],
            "measure": _OF_RELAY[row["communication"]],
            "statistic": statistic,
            "unit": "us",
            "printed": row[f"{statistic}_us"],
            **{
                machine: _elsewhere(printed, machine, [row[name] for name in key], statistic)
                for machine in _machines(printed)
            },
        }
        for row in printed[printed["machine"] == first].to_dict("records")
        for statistic in ("p50", "p90")
    ]
    figures = _figures(
        ("rate", "executor"),
        rows,
        "Printed: quantiles of the chain's latency divided by its 21 hops, which are quantiles of "
        "no hop. Here: of the hops themselves (of services: each request to the start of the "
        "service's callback), of the whole chain, and for comparison as printed.",
        "ERROR is what the original prints: its chain of services lost messages at that rate.",
        further_columns=_machines(printed),
    )
    further = tuple(
        one
        for hop, chain in (("hop_latency", "latency"), ("request_latency", "call_chain_latency"))
        for one in (
            Further(hop, chain, "chain, here"),
            Further(hop, chain, "chain / {hops}, the original's definition", True),
        )
    )
    return replace(figures, here="hop, here", further=further, elsewhere=_machines(printed))


def _machines(printed: pd.DataFrame) -> tuple[str, ...]:
    """Name the machines of a file but the first."""
    return tuple(printed["machine"].unique()[1:])


def _elsewhere(printed: pd.DataFrame, machine: str, key: list[str], statistic: str) -> str | None:
    """Return the figure that is printed of another machine; null without one."""
    rows = printed[printed["machine"] == machine]
    for name, value in zip(("communication", "executor", "rate_hz"), key, strict=True):
        rows = rows[rows[name] == value]
    found = rows[f"{statistic}_us"].dropna()
    return str(found.iloc[0]) if len(found) else None


def dds_groups(path: Path) -> Figures:
    """Read campaign D's table of groups."""
    names = {
        "n": ("count", ""),
        "mean_ms": ("mean", "ms"),
        "sd_ms": ("std", "ms"),
        "se_ms": ("se", "ms"),
        "ci95_low_ms": ("mean, low, 0.95", "ms"),
        "ci95_high_ms": ("mean, high, 0.95", "ms"),
    }
    rows = [
        {
            "middleware": _MIDDLEWARES[row["dds"]],
            "size": _SIZES[row["size"]],
            "measure": "latency",
            "statistic": statistic,
            "unit": unit,
            "printed": row[column],
        }
        for row in pd.read_csv(path, dtype=str).to_dict("records")
        for column, (statistic, unit) in names.items()
    ]
    return _figures(
        ("middleware", "size"),
        rows,
        "The original's FastRTPS of 2019 is compared with Fast DDS over UDP. Intervals here "
        "allow for messages that follow each other; the printed ones do not.",
    )


def ci_of_mean(path: Path) -> Figures:
    """Read campaign D's intervals of the mean; its unit is 0.1 ms."""
    rows = []
    for row in pd.read_csv(path, dtype=str).to_dict("records"):
        confidence = f"{float(row['confidence']):g}"
        for column, statistic in (("lower", "low"), ("upper", "high")):
            rows.append(_of_mean(f"mean, {statistic}, {confidence}", row[column]))
    last = pd.read_csv(path, dtype=str).iloc[-1]
    rows += [_of_mean("mean", last["mean"]), _of_mean("std", last["sd"])]
    rows.append({**_of_mean("count", last["n"]), "unit": "", "printed": last["n"]})
    return _figures(
        (),
        rows,
        "Printed without a unit; the bounds were computed with the root of n, which the printed "
        "formula lacks. t(98 %, 120) is 2.3578, not 2.5378 as printed.",
    )


def _of_mean(statistic: str, tenths: str) -> dict[str, Any]:
    milliseconds = f"{float(tenths) / 10:.5f}"
    return {"measure": "latency", "statistic": statistic, "unit": "ms", "printed": milliseconds}


def camera_rmw(path: Path) -> Figures:
    """Read campaign E's main table; its MB/s are MiB/s, its loss is a deficit of the rate."""
    rows: list[dict[str, Any]] = []
    for row in pd.read_csv(path, dtype=str).to_dict("records"):
        for middleware in ("cyclonedds", "zenoh"):
            printed = {
                ("shortfall", "%"): row[f"{middleware}_loss_pct"],
                ("latency", "ms"): row[f"{middleware}_latency_ms"],
                ("throughput", "MiB/s"): row["data_rate_MiB_s"],
            }
            rows += [
                {
                    "configuration": _CONFIGURATIONS[row["config"]],
                    "middleware": middleware,
                    "measure": measure,
                    "statistic": "mean",
                    "unit": unit,
                    "printed": text,
                }
                for (measure, unit), text in printed.items()
            ]
    figures = _figures(
        ("configuration", "middleware"),
        rows,
        "What the original calls loss is configured rate x time less received: it has what the "
        "camera did not make, so it is compared with our shortfall; what was published and not "
        "taken is the loss.",
        "What it calls MB/s are MiB/s, of what was configured, not of what came.",
    )
    return replace(figures, further=(Further("shortfall", "loss", "loss, here"),))


def camera_pools(path: Path) -> Figures:
    """Read campaign E's second table, of the loss at 4K by the size of Zenoh's pool."""
    rows = [
        {
            "configuration": _CONFIGURATIONS[row["config"]],
            "pool": _POOLS[row["pool"]],
            "measure": "shortfall",
            "statistic": "mean",
            "unit": "%",
            "printed": row["zenoh_loss_pct"],
        }
        for row in pd.read_csv(path, dtype=str).to_dict("records")
    ]
    figures = _figures(
        ("configuration", "pool"),
        rows,
        "What the original calls loss is configured rate x time less received, as in its main "
        "table, of which 512 MB are the run.",
        "Zenoh's shared memory was very probably never on, so the sizes compare runs of one thing.",
    )
    return replace(figures, further=(Further("shortfall", "loss", "loss, here"),))


def anova_terms(path: Path) -> dict[str, dict[str, float | None]]:
    """Read campaign D's analysis of variance, by the terms of ours, with eta squared added."""
    printed = pd.read_csv(path).set_index("term")
    first, second = ANOVA_FACTORS
    names = {
        "C(DDS)": first,
        "C(size)": second,
        "C(DDS):C(size)": f"{first}:{second}",
        "Residual": "Residual",
    }
    total = float(printed["sum_sq"].sum())
    out: dict[str, dict[str, float | None]] = {}
    for term, row in printed.iterrows():
        known = {str(key): None if pd.isna(value) else float(value) for key, value in row.items()}
        of_all = None if str(term) == "Residual" else float(row["sum_sq"]) / total
        out[names[str(term)]] = {**known, "eta_sq": of_all}
    return out


READERS: dict[str, Callable[[Path], Figures]] = {
    "ouster-test-cases.csv": ouster_test_cases,
    "relay.csv": relay,
    "dds-groups.csv": dds_groups,
    "ci-of-mean.csv": ci_of_mean,
    "camera-rmw.csv": camera_rmw,
    "camera-pools.csv": camera_pools,
}
"""Of the files that ship, by name."""
