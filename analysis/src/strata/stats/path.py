# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The critical path of one message: back along the cause that was there last, to the first publish.

What is not on this path did not delay the message: had it been faster, the message would have come
no earlier. (The term is that of project planning: Kelley and Walker, "Critical-path planning and
scheduling", 1959.)
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from strata.analysis import Analysis
from strata.errors import TraceError
from strata.lazy import pandas as pd
from strata.schema import tables
from strata.schema.layers import CALLBACK, HOLD, LINK_HOLD, STORED, SUSPENDED, transfer_layers
from strata.schema.rows import Coded, Rows
from strata.stats.callbacks import awaited, descriptions
from strata.stats.causes import OTHERS
from strata.stats.layer_places import place_of_layer
from strata.stats.places import takes_of

Row = Mapping[Hashable, Any]


@dataclass(frozen=True)
class Step:
    """One layer of one hop on the path; `behind` are the callbacks that it waited behind, and ns.

    `message_id` is the message of that hop.
    """

    hop: int
    message_id: int
    layer: str
    where: str
    duration_ns: int
    behind: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class CriticalPath:
    """Steps from the first publish to the end of the last callback; they add up to the latency."""

    begin_ns: int
    latency_ns: int
    steps: tuple[Step, ...]

    @property
    def messages(self) -> tuple[int, ...]:
        """The messages on the path, the first published first."""
        return tuple(dict.fromkeys(step.message_id for step in self.steps))


def critical_path(analysis: Analysis, message_id: int) -> CriticalPath:
    """Return the critical path of a message; raises TraceError for one that is not there."""
    messages = analysis.messages
    if not 0 <= message_id < len(messages):
        raise TraceError(
            f"Cannot follow message {message_id}: the trace has {len(messages)} matched messages, "
            "numbered from 0 (table messages)."
        )
    critical = analysis.links[analysis.links["critical"]]
    row_of = pd.Series(np.arange(len(critical)), index=critical["child_id"])
    # A few causes back: a loop over the path, not over events.
    path, links = [message_id], list[Row]()
    while path[-1] in row_of.index:
        links += critical.iloc[[row_of[path[-1]]]].to_dict("records")
        path.append(int(links[-1]["parent_id"]))
        if len(path) > len(set(messages["hop_id"].iloc[path])):
            # Back at a hop of the path (a cycle): chains begin there too.
            path.pop()
            links.pop()
            break
    return _path(analysis, path[::-1], links[::-1])


def _path(analysis: Analysis, path: list[int], links: list[Row]) -> CriticalPath:
    rows = analysis.messages.iloc[path].reset_index(drop=True)
    objects = analysis.rows("callback_objects")
    callbacks = descriptions(objects)
    described = Coded.of(callbacks)
    steps: list[Step] = []
    for hop in range(len(path)):
        row = rows.iloc[[hop]]
        wanted = [(layer, row, row[layer.column].iloc[0]) for layer in transfer_layers(hop)]
        if hop == len(path) - 1:
            wanted += [(layer, row, row[layer.column].iloc[0]) for layer in (SUSPENDED, CALLBACK)]
        elif links[hop]["kind"] == "callback":
            wanted += [
                (HOLD, row, links[hop]["hold_ns"]),
                (SUSPENDED, row, links[hop]["suspended_ns"]),
            ]
        else:
            following = rows.iloc[[hop + 1]]
            wanted += [
                (CALLBACK, row, links[hop]["callback_ns"]),
                (SUSPENDED, row, links[hop]["suspended_ns"]),
                (STORED, row, links[hop]["stored_ns"]),
                (LINK_HOLD, following, links[hop]["hold_ns"]),
            ]
        for layer, at, ns in wanted:
            if not pd.isna(ns):
                row_at = Rows.of_frame(tables.MESSAGES, at)
                where = str(place_of_layer(layer, row_at, described).at(0))
                if layer is STORED:
                    began = rows.iloc[[hop + 1]]["publisher_callback_id"]
                    where += str(awaited(began, objects).iloc[0])
                behind = _behind(analysis, path[hop], layer.name, callbacks)
                steps.append(Step(hop, path[hop], layer.name, where, int(ns), behind))
    begin_ns = int(rows["begin_ns"].iloc[0])
    end_ns = int(rows["begin_ns"].iloc[-1] + rows["latency_ns"].iloc[-1])
    return CriticalPath(begin_ns, end_ns - begin_ns, tuple(steps))


def _behind(
    analysis: Analysis, message_id: int, layer: str, callbacks: pd.Series[str]
) -> tuple[tuple[str, int], ...]:
    if "executor wait" not in layer:
        return ()
    blockers = analysis.executor_blockers
    own = blockers[blockers["message_id"] == message_id]
    own = own.sort_values("duration_ns", ascending=False)
    return tuple(
        (_work(callback, work, callbacks), int(ns))
        for callback, work, ns in zip(
            own["callback_id"], own["work"], own["duration_ns"], strict=True
        )
    )


def _work(callback: object, work: str, callbacks: pd.Series[str]) -> str:
    if not isinstance(callback, (int, np.integer)):
        return OTHERS
    described = str(callbacks[int(callback)])
    return takes_of(described) if work == "take" else described
