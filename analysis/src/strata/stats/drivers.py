# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of what drivers read from their sensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.drivers import CAUSES, DriverLosses, DriverReads, DriverSources
from strata.model.entities import take
from strata.model.frames import Objects, place
from strata.schema import tables
from strata.schema.rows import Coded, Rows, Values
from strata.stats.partition import partition
from strata.stats.summary import summarize

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Published:
    """Publications that were made of frames: one row each, `frame` of the table `driver_frames`.

    `publisher` is a row of the publishers, or `NONE`; `node` and `topic` have the names of these.
    """

    frame: Ints
    publisher: Ints
    node: Objects
    topic: Objects


def driver_sources_table(model: Model, frames: Rows) -> Rows:
    """Return the table `driver_sources`; `frames` is `driver_frames`."""
    publishers, nodes = model.entities.publishers, model.entities.nodes
    frame = model.driver.made_of.frame
    linked = np.flatnonzero(frame != NONE)
    published = Published(
        frame[linked],
        model.publications.publisher[linked],
        take(nodes.name, publishers.node, None),
        publishers.topic,
    )
    sources, reads = model.driver.sources, model.driver.reads
    of = place(model, sources.process)
    return sources_table(sources, reads, model.driver.losses, frames, published, of)


def sources_table(
    sources: DriverSources,
    reads: DriverReads,
    losses: DriverLosses,
    frames: Rows,
    published: Published,
    of: Mapping[str, Values],
) -> Rows:
    """Return the table `driver_sources`; `of` has the columns `host` and `vpid` of each source."""
    count = len(sources)
    full, overflowed, never, unpublished = (losses.of(cause, count) for cause in range(len(CAUSES)))
    of_frame, sweep, conversion = (
        frames[name] for name in ("source_id", "sweep_ns", "conversion_ns")
    )
    of_message = of_frame[frames["publications"] > 0]
    return Rows(
        tables.DRIVER_SOURCES,
        {
            "source_id": np.arange(count),
            **of,
            "source": sources.number,
            "kind": sources.kind,
            "name": sources.name,
            "address": sources.address,
            "place": sources.place,
            **_names(published, of_frame[published.frame], count),
            "reads": sources.reads,
            "bytes": sources.bytes,
            "frames": np.bincount(of_frame, minlength=count),
            "published": np.bincount(of_message, minlength=count),
            "unpublished": unpublished,
            "dropped": full + overflowed,
            "missing": never,
            **_quantiles(reads.source, reads.queue_ns, count, "queue", ("p50", "p99", "max")),
            **_quantiles(of_frame, sweep, count, "sweep", ("p50",)),
            **_quantiles(of_frame, conversion, count, "conversion", ("p50", "p99")),
        },
    )


def _names(published: Published, source: Ints, count: int) -> dict[str, Coded]:
    """Names of the nodes that published from each source, and of their topics."""
    pairs = np.unique(np.stack([source, published.publisher]), axis=1)

    def joined(names: Objects) -> Coded:
        out: list[dict[str, None]] = [{} for _ in range(count)]
        for number, name in zip(pairs[0].tolist(), names, strict=True):
            if name is not None:
                out[number][name] = None
        return Coded.of(", ".join(found) for found in out)

    return {
        "nodes": joined(take(published.node, pairs[1], None)),
        "topics": joined(take(published.topic, pairs[1], None)),
    }


def _quantiles(
    group: Ints, values: Ints, count: int, name: str, wanted: tuple[str, ...]
) -> dict[str, Ints]:
    """Statistics of the values of each group, in whole ns; `NONE` where it has none."""
    known = values != NONE
    columns = {f"{name}_{statistic}_ns": np.full(count, NONE, np.int64) for statistic in wanted}
    for number, rows in partition(group[known]):
        summary = summarize(values[known][rows])
        for statistic in wanted:
            columns[f"{name}_{statistic}_ns"][number] = round(summary[statistic] or 0)
    return columns
