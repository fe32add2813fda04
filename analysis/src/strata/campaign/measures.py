# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What can be measured of a campaign's cells, each measure as one long frame over a study.

A frame has one row a value: a column a factor (ordered as in the file), `repetition`, `cell`,
`number` (of the message or sample; null for a value of a whole cell), `value` in the measure's
unit, `origin`, and the measure's own columns. What belongs to the warm-up is not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from strata.campaign import values
from strata.campaign.imports import imported_frame, read_imports
from strata.campaign.measured import Measured
from strata.campaign.results import HERE, Outcome, Results, Study, keeps, level_texts
from strata.errors import CampaignError


@dataclass(frozen=True)
class Measure:
    """A measure: its unit, what it has a value for, and its own columns beside the common ones.

    `each` is message, interval (between two messages), cell, process, or sample (of a time series).
    """

    name: str
    unit: str
    each: str
    text: str
    columns: tuple[str, ...]
    of_cell: Callable[[Measured, values.Context], pd.DataFrame]


_DECLARED = (
    Measure(
        "latency",
        "ms",
        "message",
        "from the sensor's data at this host, or the publish, to callback_start; of a study of "
        "chains along the whole chain",
        ("hop", "t_s"),
        values.latency,
    ),
    Measure(
        "hop_latency",
        "ms",
        "message",
        "of each hop by itself, as latency",
        ("hop", "t_s"),
        values.hop_latency,
    ),
    Measure(
        "whole_latency",
        "ms",
        "message",
        "as latency, to the end of the callback",
        ("hop", "t_s"),
        values.whole_latency,
    ),
    Measure(
        "period",
        "ms",
        "interval",
        "between the starts of two callbacks of a hop, one after the other",
        ("hop", "t_s"),
        values.period,
    ),
    Measure(
        "sent_period",
        "ms",
        "interval",
        "between the stamps of two messages that a perf node took; without one, between two "
        "publishes",
        ("hop", "t_s"),
        values.sent_period,
    ),
    Measure(
        "jitter",
        "ms",
        "interval",
        "|period - nominal period|",
        ("hop", "t_s"),
        values.jitter,
    ),
    Measure(
        "stamp_latency",
        "ms",
        "message",
        "the node's own time of reception less the message's stamp",
        ("hop", "t_s"),
        values.stamp_latency,
    ),
    Measure(
        "loss",
        "%",
        "cell",
        "published and never taken, of what was published meanwhile; one value a hop",
        ("hop", "lost", "expected"),
        values.loss,
    ),
    Measure(
        "grid_loss",
        "%",
        "cell",
        "points of the grid of nominal periods that no stamp of a perf node's messages is of: what "
        "the sensor made and the node never got, wherever it was lost",
        ("hop", "lost", "expected"),
        values.grid_loss,
    ),
    Measure(
        "shortfall",
        "%",
        "cell",
        "what was published less a second than nominal: the producer's; no loss",
        ("hop",),
        values.shortfall,
    ),
    Measure(
        "shortfall_by_second",
        "%",
        "sample",
        "as shortfall, of each whole second by itself; below 0 where one caught up",
        ("hop", "t_s"),
        values.shortfall_by_second,
    ),
    Measure(
        "rate_by_second",
        "Hz",
        "sample",
        "received in each whole second",
        ("hop", "t_s"),
        values.rate_by_second,
    ),
    Measure("rate", "Hz", "cell", "received a second; one value a hop", ("hop",), values.rate),
    Measure(
        "throughput",
        "MB/s",
        "cell",
        "payload received a second, 1 MB = 10^6 bytes; one value a hop",
        ("hop",),
        values.throughput,
    ),
    Measure(
        "cpu",
        "%",
        "process",
        "CPU time of a process, of one CPU: while messages were measured, where it was sampled "
        "then; else over its whole life",
        ("process", "over"),
        values.cpu,
    ),
    Measure(
        "cpu_all",
        "%",
        "cell",
        "CPU time of all processes of the scenario together, of one CPU, as cpu",
        ("over",),
        values.cpu_all,
    ),
    Measure(
        "cpu_by_second",
        "%",
        "sample",
        "CPU time of a process between two samples, of one CPU",
        ("process", "t_s"),
        values.cpu_by_second,
    ),
    Measure(
        "rss",
        "MiB",
        "sample",
        "resident memory of a process, while it ran",
        ("process", "t_s"),
        values.rss,
    ),
    Measure(
        "rss_max",
        "MiB",
        "process",
        "largest resident memory of a process",
        ("process",),
        values.rss_max,
    ),
    Measure(
        "layer",
        "ms",
        "cell",
        "mean of each layer over the cell's messages, 0 where a message has it not; the layers of "
        "a hop (in a study of chains, of the chain) add up to the mean of its latency",
        ("hop", "layer"),
        values.layer,
    ),
    Measure(
        "round_trip",
        "ms",
        "message",
        "from sending a ping until it is back, the whole way; by the node's own clock, without "
        "that along the chain",
        ("hop", "t_s"),
        values.round_trip,
    ),
)
MEASURES: dict[str, Measure] = {measure.name: measure for measure in _DECLARED}

OVER_TIME = {
    "cpu": "cpu_by_second",
    "rate": "rate_by_second",
    "shortfall": "shortfall_by_second",
}
"""Of measures that have one value a cell or process: the measure of its course in time."""


def long_frame(
    results: Results,
    study: str,
    measure: str,
    *,
    where: Mapping[str, object] | None = None,
    imports: bool = True,
) -> pd.DataFrame:
    """Return all values of a measure in a study, of the finished cells and, last, of imports.

    `where` keeps the cells of one level a factor, or of one of several. Raises CampaignError for an
    unknown measure or study.
    """
    declared = find_measure(measure)
    found = results.study(study)
    parts = [_of_cells(results, found, declared, where)]
    if imports:
        parts.append(_imported(results, found, declared, where))
    return _joined(found, declared, parts)


def find_measure(name: str) -> Measure:
    """Return a measure; raises CampaignError when there is none of that name."""
    if name not in MEASURES:
        raise CampaignError(f"Cannot measure {name}: known are {', '.join(MEASURES)}.")
    return MEASURES[name]


def _imported(
    results: Results, study: Study, measure: Measure, where: Mapping[str, object] | None
) -> pd.DataFrame:
    """Return imported values; of statistics, only what a cell has one of here, too."""
    imports = read_imports(results.directory.path)
    rows = imported_frame(imports, results.campaign, study.name, measure.name)
    kinds = ("each", "run") if measure.each in ("cell", "process") else ("each",)
    kept = rows["statistic"].isin(kinds)
    for name, level in (where or {}).items():
        kept &= rows[name].astype(str).isin(level_texts(level))
    return rows[kept]


def _context(study: Study, outcome: Outcome) -> values.Context:
    return values.Context(study.stated.chain, outcome.cell.nominal_hz)


def _of_cells(
    results: Results, study: Study, measure: Measure, where: Mapping[str, object] | None
) -> pd.DataFrame:
    """Return the values of finished cells; what they are is found once for a study."""
    known = results.values_of(study.name)
    if measure.name not in known:
        measured = [results.measured(one) for one in study.finished]
        pairs = zip(measured, study.finished, strict=True)
        frames = [measure.of_cell(tables, _context(study, one)) for tables, one in pairs]
        known[measure.name] = _labelled(study, study.finished, frames)
    every = known[measure.name]
    if not where or every.empty:
        return every
    kept = [one.id for one in study.finished if keeps(where, one.cell.levels)]
    return every[every["cell"].isin(kept)]


def _labelled(
    study: Study, outcomes: Sequence[Outcome], frames: Sequence[pd.DataFrame]
) -> pd.DataFrame:
    """Put the values of cells below each other, with what is said of their cells."""
    pairs = [(one.cell, frame) for one, frame in zip(outcomes, frames, strict=True) if len(frame)]
    if not pairs:
        return pd.DataFrame()
    cells, counts = [cell for cell, _ in pairs], [len(frame) for _, frame in pairs]

    def repeated(labels: Iterable[object]) -> pd.Series[Any]:
        return pd.Series(np.repeat(np.array([*labels], object), counts)).infer_objects()

    said = {
        factor.name: repeated(cell.levels.get(factor.name) for cell in cells)
        for factor in study.factors
    }
    said["repetition"] = repeated(cell.repetition for cell in cells)
    said["cell"] = repeated(cell.id for cell in cells)
    return pd.concat([frame for _, frame in pairs], ignore_index=True).assign(**said, origin=HERE)


def _joined(study: Study, measure: Measure, parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Join parts, with factors as ordered categories: a campaign has few names and many rows."""
    names = [factor.name for factor in study.factors]
    columns = [*names, "repetition", "cell", "number", "value", "origin", *measure.columns]
    parts = [part.reindex(columns=columns) for part in parts if len(part)]
    empty = pd.DataFrame(columns=columns)
    frame = pd.concat(parts, ignore_index=True) if parts else empty
    for factor in study.factors:
        further = [str(one) for one in frame[factor.name].dropna().unique()]
        order = list(dict.fromkeys([*factor.levels, *further]))
        frame[factor.name] = pd.Categorical(frame[factor.name], order, ordered=True)
    for name in ("cell", "hop", "layer", "process", "over"):
        if name in columns:
            frame[name] = _as_found(frame[name])
    origins = [HERE, *sorted(set(frame["origin"].dropna()) - {HERE})]
    frame["origin"] = pd.Categorical(frame["origin"], origins, ordered=True)
    frame["number"] = frame["number"].astype("Int64")
    frame["repetition"] = frame["repetition"].astype("Int64")
    return frame.astype({"value": "float64"} | ({"t_s": "float64"} if "t_s" in columns else {}))


def _as_found(column: pd.Series[str]) -> pd.Categorical[str]:
    codes, found = pd.factorize(column)
    return pd.Categorical.from_codes(codes, found, ordered=True)
