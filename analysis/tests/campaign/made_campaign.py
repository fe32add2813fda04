# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Made-up campaigns for the report: long frames of known values, without any session."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from strata.show.html.campaign.page import render_page
from strata.study.campaign_results import Factor
from strata.study.report_answers import answer
from strata.study.report_contents import (
    FAILED,
    FINISHED,
    HERE,
    SKIPPED,
    CellRow,
    Chart,
    Contents,
    Environment,
    Finding,
    Measure,
    Original,
    Request,
    Study,
    StudyPart,
)
from strata.study.tables.table import Column, Table

MS = 1_000_000
LATENCY = Measure("latency", "ns", "message", "publish to the callback's start")
LOSS = Measure("loss", "%", "cell", "published messages that were never received")
CPU = Measure("cpu", "% of one CPU", "process", "")
RSS = Measure("rss", "MiB", "sample", "")
LAYER = Measure("layer", "ns", "cell", "")
LAYERS = ("client publish", "serialize", "dds write", "transport", "take", "callback")

SIZE = Factor("size", ("1024", "65536", "1048576"), "B", (1024.0, 65536.0, 1048576.0))
TRANSPORT = Factor(
    "transport", ("shm", "udp", "zenoh"), texts={"udp": "UDP on loopback", "zenoh": "Zenoh"}
)
NO_ZENOH = "rmw_zenoh_cpp is not installed"


def cells(factors: Sequence[Factor], repetitions: int = 2, study: str = "latency") -> list[CellRow]:
    """Cells of all combinations; those of zenoh are skipped."""
    out = []
    for number in range(1, repetitions + 1):
        for levels in product(*(factor.levels for factor in factors)):
            named = dict(zip((f.name for f in factors), levels, strict=True))
            skipped = "zenoh" in levels
            out.append(
                CellRow(
                    cell_id=f"{study}/{'+'.join(levels) or 'all'}/r{number}",
                    study=study,
                    levels=named,
                    repetition=number,
                    status=SKIPPED if skipped else FINISHED,
                    reason=NO_ZENOH if skipped else "",
                    duration_s=None if skipped else 12.5,
                    load=None if skipped else 0.4,
                    measured="" if skipped else "100 messages",
                )
            )
    return out


def study(factors: Sequence[Factor] = (TRANSPORT, SIZE), repetitions: int = 2, **kwargs) -> Study:
    name = kwargs.pop("name", "latency")
    return Study(
        name=name,
        question=kwargs.pop("question", "What does the size do to latency?"),
        scenario="messages",
        factors=tuple(factors),
        cells=tuple(kwargs.pop("cells", cells(factors, repetitions, name))),
        warm_up=5,
        repetitions=repetitions,
        duration="100 messages",
        **kwargs,
    )


def long(of: Study, count: int = 100, origin: str = HERE, seed: int = 1) -> pd.DataFrame:
    """Latencies in ns, larger for larger sizes and for udp; `count` messages a cell."""
    random = np.random.default_rng(seed)
    parts = []
    for cell in of.cells:
        if cell.status != FINISHED:
            continue
        at = 0.1 + float(cell.levels.get("size", "1000")) / 1e6
        at *= 1.8 if cell.levels.get("transport") == "udp" else 1.0
        frame = pd.DataFrame(
            {
                **{name: [level] * count for name, level in cell.levels.items()},
                "repetition": cell.repetition,
                "cell": cell.cell_id,
                "number": np.arange(5, 5 + count),
                "value": np.rint(at * random.lognormal(0, 0.25, count) * MS).astype(np.int64),
                "origin": origin,
            }
        )
        parts.append(frame)
    frame = pd.concat(parts, ignore_index=True)
    for factor in of.factors:
        frame[factor.name] = pd.Categorical(frame[factor.name], factor.levels, ordered=True)
    return frame


def layered(of: Study) -> pd.DataFrame:
    """The mean of each layer of each cell's hop: transport has half of 1 ms, the others a tenth."""
    base = long(of, 1).drop(columns=["number"]).assign(hop="/a: /x -> /y", value=MS)
    parts = [
        base.assign(layer=layer, number=at, value=(0.5 if layer == "transport" else 0.1) * MS)
        for at, layer in enumerate(LAYERS)
    ]
    return pd.concat(parts, ignore_index=True)


def per_cell(of: Study, values: Sequence[float], processes: Sequence[str] = ()) -> pd.DataFrame:
    """One value a cell (and process), taken in turn."""
    base = long(of, 1).drop(columns=["number"])
    if processes:
        base = base.merge(pd.DataFrame({"process": list(processes)}), how="cross")
    return base.assign(number=0, value=[values[at % len(values)] for at in range(len(base))])


def over_time(of: Study, count: int = 60, slope: float = 0.01) -> pd.DataFrame:
    """Resident memory of two processes, a value a second; that of `sink` grows."""
    cell = next(cell for cell in of.cells if cell.status == FINISHED)
    at = np.arange(count, dtype=np.float64)
    noise = np.random.default_rng(3).normal(0, 0.02, count)
    rows = {"source": 40 + noise, "sink": 50 + slope * at + noise}
    return pd.concat(
        [
            pd.DataFrame(
                {
                    **dict.fromkeys(cell.levels),
                    **{name: [level] * count for name, level in cell.levels.items()},
                    "repetition": 1,
                    "cell": cell.cell_id,
                    "number": np.arange(count),
                    "t_ns": (at * 1e9).astype(np.int64),
                    "value": values,
                    "process": process,
                    "origin": HERE,
                }
            )
            for process, values in rows.items()
        ],
        ignore_index=True,
    )


def summary_table(rows: int = 4) -> Table:
    columns = (
        Column("transport", "transport"),
        Column("count", "n", form="count"),
        Column("p50", "median", "ns", "number"),
        Column("p", "p", form="p"),
        Column("loss", "lost", "%", "percent"),
    )
    frame = pd.DataFrame(
        {
            "transport": [f"udp <{at}>" for at in range(rows)],
            "count": [1000 + at for at in range(rows)],
            "p50": [0.1234 * MS * (at + 1) for at in range(rows)],
            "p": [0.0, 2e-70, 0.04, None][:rows] + [0.5] * max(0, rows - 4),
            "loss": [0.0, 0.04, 7.7, None][:rows] + [1.0] * max(0, rows - 4),
        }
    )
    return Table("summary", "Summary of latency", columns, frame, ("std with n - 1",))


def every_chart(of: Study) -> tuple[Chart, ...]:
    """A figure of every kind."""
    values, layers = long(of), layered(of)
    asked = [
        Request("samples", "latency", panels=("transport",)),
        Request("quantiles", "latency", by="transport"),
        Request("boxplot", "latency", x="size", by="transport"),
        Request("histogram", "latency", panels=("transport", "size")),
        Request("curve", "latency", x="size", by="transport", statistic="p50"),
    ]
    charts = [Chart(request, LATENCY, values) for request in asked]
    charts.append(
        Chart(
            Request("curve", "cpu", x="size", by="transport", statistic="mean"),
            CPU,
            per_cell(of, [3.0, 4.0, 5.5], ["source", "sink"]),
        )
    )
    charts.append(Chart(Request("bars", "layer", x="size", panels=("transport",)), LAYER, layers))
    charts.append(Chart(Request("timeline", "rss"), RSS, over_time(of)))
    return tuple(charts)


def contents(*parts: StudyPart, **kwargs) -> Contents:
    every = tuple(cell for part in parts for cell in part.study.cells)
    return Contents(
        name=kwargs.pop("name", "sizes"),
        question=kwargs.pop("question", "What does the size of a message cost?"),
        file="trace_configs/campaigns/sizes.yaml",
        digest="ab" * 32,
        made_utc="2026-11-22 02:33:08 UTC",
        is_quick=True,
        seed=7,
        cells=kwargs.pop("cells", every),
        studies=parts,
        environments=kwargs.pop(
            "environments",
            (
                Environment("2026-11-22T02:33:08Z", {"machine": "AMD EPYC", "governor": None}),
                Environment(
                    "2026-11-22T03:00:00Z", {"machine": "AMD EPYC", "governor": "powersave"}
                ),
            ),
        ),
        original=Original("A, README (2025)", "a laptop", ("p = 0.000000 is no probability",)),
        findings=(Finding("warning", "3 cells began on a busy machine", 3),),
        commands=("strata campaign run sizes -o DIR --quick", "strata campaign report DIR"),
        **kwargs,
    )


@cache
def whole_page() -> str:
    return render_page(whole())


@cache
def whole() -> Contents:
    """A campaign with every kind of figure, a table, a skipped transport, and a failed cell."""
    one = study()
    failed = list(one.cells)
    failed[0] = CellRow(
        failed[0].cell_id,
        "latency",
        failed[0].levels,
        1,
        FAILED,
        "process sink ended with status 1",
    )
    one = study(cells=failed)
    charts = every_chart(one)
    layers = layered(one)
    loss = Chart(Request("curve", "loss"), LOSS, per_cell(one, [0.0, 0.0, 7.7]))
    said = answer(one, [charts[0], loss], layers)
    empty = Chart(
        Request("boxplot", "latency", x="size", where={"transport": ("zenoh",)}), LATENCY, long(one)
    )
    return contents(StudyPart(one, said, (*charts, empty, summary_table()), LAYERS))
