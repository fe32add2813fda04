# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of what drivers read from their sensors."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.driver.losses import CAUSES
from strata.model.entities import take
from strata.model.frames import Objects, place
from strata.model.search import pick, sums
from strata.schema import tables
from strata.schema.rows import Coded, Rows
from strata.stats.partition import partition
from strata.stats.summary import summarize

Ints = npt.NDArray[np.int64]


def driver_sources_table(model: Model, frames: Rows) -> Rows:
    """Return the table `driver_sources`; `frames` is `driver_frames`."""
    sources, reads, losses = model.driver.sources, model.driver.reads, model.driver.losses
    count = len(sources)
    full, overflowed, never, unpublished = (losses.of(cause, count) for cause in range(len(CAUSES)))
    of_frame, sweep, conversion = (
        frames[name] for name in ("source_id", "sweep_ns", "conversion_ns")
    )
    published = frames["publications"] > 0
    return Rows(
        tables.DRIVER_SOURCES,
        {
            "source_id": np.arange(count),
            **place(model, sources.process),
            "source": sources.number,
            "kind": sources.kind,
            "name": sources.name,
            "address": sources.address,
            "place": sources.place,
            **_published(model, count),
            "reads": np.bincount(reads.source, minlength=count),
            "bytes": sums(reads.source, reads.bytes, count),
            "frames": np.bincount(of_frame, minlength=count),
            "published": np.bincount(of_frame[published], minlength=count),
            "unpublished": unpublished,
            "dropped": full + overflowed,
            "missing": never,
            **_quantiles(reads.source, reads.queue_ns, count, "queue", ("p50", "p99", "max")),
            **_quantiles(of_frame, sweep, count, "sweep", ("p50",)),
            **_quantiles(of_frame, conversion, count, "conversion", ("p50", "p99")),
        },
    )


def _published(model: Model, count: int) -> dict[str, Coded]:
    """Names of the nodes that published from each source, and of their topics."""
    publishers, nodes = model.entities.publishers, model.entities.nodes
    linked = np.flatnonzero(model.driver.frame != NONE)
    source = model.driver.frames.source[model.driver.frame[linked]]
    publisher = model.publications.publisher[linked]
    pairs = np.unique(np.stack([source, publisher]), axis=1)

    def joined(names: Objects) -> Coded:
        out: list[dict[str, None]] = [{} for _ in range(count)]
        for number, name in zip(pairs[0].tolist(), names, strict=True):
            if name is not None:
                out[number][name] = None
        return Coded.of(", ".join(found) for found in out)

    return {
        "nodes": joined(take(nodes.name, pick(publishers.node, pairs[1]), None)),
        "topics": joined(take(publishers.topic, pairs[1], None)),
    }


def _quantiles(
    group: Ints, values: Ints, count: int, name: str, wanted: tuple[str, ...]
) -> dict[str, Ints]:
    """Statistics of the values of each group, in whole ns; `NONE` where it has none."""
    known = values != NONE
    columns = {f"{name}_{statistic}": np.full(count, NONE, np.int64) for statistic in wanted}
    for number, rows in partition(group[known]):
        summary = summarize(values[known][rows])
        for statistic in wanted:
            columns[f"{name}_{statistic}"][number] = round(summary[statistic] or 0)
    return columns
