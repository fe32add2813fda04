# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of the modes of a measure, one row per mode of a group of cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from strata.campaign.model import Figure, listed
from strata.study.campaign_results import Results, keeps
from strata.study.long_frames import long_frame
from strata.study.measure_definitions import Measure, find_measure
from strata.study.mode_layers import Slower, layers_of_messages, slower_by
from strata.study.mode_origins import MOSTLY_NOTE, mostly_of
from strata.study.tables.statistics import put_together, why_no_rows
from strata.study.tables.table import Column, Rows, Table, groups, label_columns
from strata.study.wording import NANOSECONDS, name_words

_MILLION = 1_000_000


def modes(results: Results, study: str, figure: Figure) -> Table:
    """Return how many modes a measure has in each group, where they lie, and why.

    Of latencies, why is the layer that makes a mode slower than the next faster one.
    """
    from strata.stats.modes import MIN_COUNT

    measure = find_measure(figure.of or "latency")
    rows = listed(figure.rows)
    frame = long_frame(results, study, measure.name, where=figure.where)
    columns = _mode_columns(label_columns(rows, frame), measure.unit)
    out = Rows(columns)
    found = results.study(study)
    cells = [one for one in found.finished if keeps(figure.where, one.cell.levels)]
    layers = layers_of_messages(results, cells, measure.name, of_chains=found.stated.chain)
    for levels, own in groups(frame, rows):
        out.rows += [{**levels, **row} for row in _modes(own, measure, layers)]
    notes = (
        "Hartigan's dip test of the logarithm, and valleys of its density: docs/method.md. With "
        f"fewer than {MIN_COUNT} values, modes are not searched for.",
        "What makes a mode slower than the one before is judged by the middle half of each.",
        MOSTLY_NOTE,
        *put_together(results, study, figure, frame),
    )
    return Table(
        "modes",
        f"modes of {name_words(measure.name)} ({measure.shown_unit})",
        columns,
        out.frame(),
        notes,
        why_no_rows(results, study, figure, frame),
        measure.name,
    )


def _mode_columns(labels: Sequence[Column], unit: str) -> tuple[Column, ...]:
    """Return what a mode has, beside what tells its group."""
    return (
        *labels,
        Column("count", "n", form="count"),
        Column("dip_p", "dip test p", form="p", text="if there were one mode; least is 0.0005"),
        Column("modes", "modes", form="count"),
        Column("mode", "mode", form="count", text="from 1, the fastest first"),
        Column("share", "share", form="share"),
        Column("p50", "median", unit, "number"),
        Column("low", "from", unit, "number"),
        Column("high", "to", unit, "number"),
        Column("mostly", "mostly of", text="runs or hops that most of its values are of"),
        Column(
            "slower_layer", "slower in", text="the layer that differs most from the mode before"
        ),
        Column("slower_by", "by", unit, "number", text="of that layer's mean"),
        Column("slower_share", "of the difference", form="share"),
    )


def _modes(
    own: pd.DataFrame, measure: Measure, layers: pd.DataFrame | None
) -> list[dict[str, Any]]:
    """Return the modes of a group's values; one row of all where none are found."""
    from strata.stats.modes import find_modes

    values = own["value"]
    # The search is of whole positive numbers: ns, or millionths of another unit.
    parts_of_unit = 1 if measure.unit == NANOSECONDS else _MILLION
    whole = np.round(values.to_numpy(np.float64) * parts_of_unit).astype(np.int64)
    found = find_modes(whole[whole > 0])
    number = found.number(whole)
    slower = slower_by(own, number, layers)
    parts = [(mode, whole[number == mode] / parts_of_unit) for mode in range(found.count or 1)]
    return [
        {
            "count": len(whole),
            "dip_p": found.p_value,
            "modes": found.count,
            "mode": mode + 1,
            "share": len(part) / len(whole),
            "p50": float(np.median(part)),
            "low": float(part.min()),
            "high": float(part.max()),
            "mostly": mostly_of(own, number == mode) if len(parts) > 1 else None,
            **_slower(slower.get(mode)),
        }
        for mode, part in parts
        if len(part)
    ]


def _slower(found: Slower | None) -> dict[str, Any]:
    if found is None:
        return {}
    return {
        "slower_layer": found.layer,
        "slower_by": found.by_ns,
        "slower_share": found.share,
    }
