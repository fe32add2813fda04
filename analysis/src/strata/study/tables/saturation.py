# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of saturation: is an executor able to do what is asked of it, one row per group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from strata.campaign.model import Figure, listed
from strata.study import executor_saturation as rules
from strata.study.campaign_results import Outcome, Results
from strata.study.executor_saturation import Saturation, saturations
from strata.study.long_frames import long_frame
from strata.study.tables.loss_evidence import cell_groups
from strata.study.tables.table import Column, Rows, Table, factor_columns, first_ones

_NO_VALUES = pd.DataFrame({"value": [], "t_ns": []})
_COLUMNS = (
    Column("nodes", "executor of", text="the nodes whose callbacks it runs"),
    Column("threads", "threads", form="count", text="that ran its callbacks"),
    Column("work", "work of a message", "ns", "number", "callbacks, takes, own sender, summed"),
    Column("demanded", "asked of one thread", form="share", text="at the stated rate"),
    Column("of_threads", "of those that can run", form="share", text="asked of them all"),
    Column("of_cpus", "of all CPUs", form="share", text="asked of the machine"),
    Column("busiest_node", "busiest node"),
    Column("busiest", "asked of it", form="share", text="it has one thread at most"),
    Column("busy", "threads busy", form="share", text="measured: all but waiting for work"),
    Column("cpus_busy", "CPUs busy", form="share", text="of all processes of the scenario"),
    Column("nominal", "stated", "Hz", "number"),
    Column("received", "received", "Hz", "number", "of the hop that got the least"),
    Column("loss", "loss", form="share", text="of messages, and of calls that were not served"),
    Column("slope", "latency grows per second", "ns", "number"),
    Column("slope_low", "from", "ns", "number", "interval of 95 %"),
    Column("slope_high", "to", "ns", "number"),
    Column("largest", "largest rate", "Hz", "number", "that the measured callbacks would allow"),
    Column("verdict", "saturated?"),
)


def saturation(results: Results, study: str, figure: Figure) -> Table:
    """Return how much is asked of each executor, what it did, and the verdict."""
    rows = listed(figure.rows)
    found = results.study(study)
    columns = (*factor_columns(rows), *_COLUMNS)
    out = Rows(columns)
    busy = long_frame(results, study, "cpu_all", where=figure.where, imports=False)
    cpus = cpu_count(results)
    for levels, cells in cell_groups(found, rows, figure):
        for nodes, own in _by_nodes(executors_of(results, study), cells).items():
            used = busy[busy["cell"].isin([cell.id for cell in cells])]["value"]
            hz = [cell.cell.nominal_hz for cell in cells if cell.cell.nominal_hz]
            row = _row(own, cpus)
            row["cpus_busy"] = float(used.mean()) / 100 / cpus if len(used) and cpus else None
            row["nominal"] = sum(hz) / len(hz) if hz else None
            out.rows.append({**levels, "nodes": first_ones(nodes.split(", ")), **row})
    empty = "" if out.rows else _why(found.why_empty(figure.where), found.finished)
    return Table("saturation", "saturation", columns, out.frame(), _notes(cpus), empty)


def executors_of(results: Results, study: str) -> Mapping[str, list[Saturation]]:
    """Return the executors of each finished cell, by its id; none where no rate is stated.

    They are found once: the table and the answer have the same.
    """
    return results.once("executors", study, lambda: _executors_of(results, study))


def _executors_of(results: Results, study: str) -> dict[str, list[Saturation]]:
    latencies: dict[str, dict[str, pd.DataFrame]] = {}
    cpus = cpu_count(results)
    out = {}
    for one in results.study(study).finished:
        hz = one.cell.nominal_hz
        if not hz:
            continue
        measured = results.measured(one)
        name = "latency" if len(measured.read("hops", ["hop"])) else "call_chain_latency"
        if name not in latencies:
            latencies[name] = _by_cell(long_frame(results, study, name, imports=False))
        own = latencies[name].get(one.id, _NO_VALUES)
        out[one.id] = saturations(measured, own, hz, cpus)
    return out


def _by_cell(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {str(cell): own for cell, own in frame.groupby("cell", observed=True)}


def cpu_count(results: Results) -> int | None:
    """Return how many CPUs the machine lets the campaign use; null where nothing tells."""
    environments = results.directory.document.get("environments") or ()
    cpus = environments[-1].get("cpus") if environments else None
    return len(cpus) if cpus else None


def _by_nodes(
    executors: Mapping[str, list[Saturation]], cells: Sequence[Outcome]
) -> dict[str, list[Saturation]]:
    """Return the executors of cells: those with the same nodes are of one row."""
    out: dict[str, list[Saturation]] = {}
    for cell in cells:
        for one in executors.get(cell.id, ()):
            out.setdefault(one.nodes, []).append(one)
    return out


def _mean(values: Sequence[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else None


def _row(own: Sequence[Saturation], cpus: int | None) -> dict[str, Any]:
    """Return the means over repetitions; the slope is that of the run that grows the most."""
    demanded = _mean([one.demanded for one in own])
    grown = [one.growth for one in own if one.growth is not None]
    most = max(grown, key=lambda one: one.slope, default=None)
    return {
        "threads": max(one.threads for one in own),
        "work": _mean([one.work_ns for one in own]),
        "demanded": demanded,
        "of_threads": _mean([one.demanded / one.parallel for one in own]),
        "of_cpus": demanded / cpus if demanded is not None and cpus else None,
        "busiest_node": own[0].busiest_node,
        "busiest": _mean([one.busiest for one in own]),
        "busy": _mean([one.busy for one in own]),
        "received": _mean([one.received_hz for one in own]),
        "loss": _mean([one.loss for one in own]),
        "slope": most.slope if most else None,
        "slope_low": most.low if most else None,
        "slope_high": most.high if most else None,
        "largest": _mean([one.largest_hz for one in own]),
        "verdict": verdict_words([one.verdict for one in own]),
    }


def verdict_words(verdicts: Sequence[str]) -> str:
    """Return the verdict of repetitions; where they differ, how many have which."""
    counts = Counter(verdicts)
    if len(counts) == 1:
        return verdicts[0]
    return ", ".join(f"{one} in {counts[one]}" for one in rules.VERDICTS if one in counts)


def _why(reason: str, finished: Sequence[Outcome]) -> str:
    if finished and not any(one.cell.nominal_hz for one in finished):
        return "the study states no rate (nominal_hz)"
    return reason


def _notes(cpus: int | None) -> tuple[str, ...]:
    known = f" The machine has {cpus} CPUs for it." if cpus else ""
    return (
        "Asked: the mean time of each callback and of the take before it, and of the timer that "
        "sends where the sender has the same executor, as often as the stated rate has it; 100 % "
        "is one thread all the time. What clients do with responses is in how busy threads were "
        "alone. Measured times have what a thread waited for a CPU in them."
        f"{known}",
        "Threads that can run: in rclpy one, as Python runs on one thread at a time; the time in "
        "which callbacks of several threads were open counts once. In rclcpp those that the "
        "executor has, and not more than CPUs.",
        "The largest rate: threads that can run by the work of a message, and not above what the "
        "busiest node allows: the callbacks of a node exclude each other. The executor's own work "
        "comes on top, so a real one is lower.",
        f"Load: the largest of what is asked of the threads, what is asked of the busiest node, "
        f"and how busy the threads were. Saturated: the load is {rules.SATURATED:.0%} or more, and "
        f"the executor does not keep up: it takes less than {rules.LEAST_RECEIVED:.0%} of what is "
        "sent to it, or the latency grows over the run (the interval of its slope is above 0, and "
        "it grows by 1 ms and by half of its median or more). "
        f"Near: the load is {rules.NEAR:.0%} or more.",
    )
