# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the nodes of a recorded relay chain wrote down themselves, and what holds of every trace."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.analysis import Analysis, Bottleneck
from strata.read import open_trace
from strata.schema.layers import HOP_LAYERS
from strata.stats.groups import Group, members

CHAIN = "/chain_0 -> /chain_1 -> /chain_2 -> /chain_3"
NODES = "/source -> /relay_0 -> /relay_1 -> /relay_2 -> /sink"


def clock_offset_ns(session: Path) -> int:
    """The trace's clock less CLOCK_MONOTONIC."""
    (offset,) = set(open_trace(session).clock_offsets_ns.values())
    return offset


def truth(session: Path, node: str, event: str) -> pd.DataFrame:
    """A node's own stamps of an event by sequence number, on the clock of the trace."""
    rows = pd.read_csv(session / "truth" / f"{node}.csv")
    rows = rows[rows["event"] == event].set_index("seq").sort_index()
    return rows[["t_mono_ns", "src_mono_ns"]] + clock_offset_ns(session)


def own_latency(session: Path, sender: str, receiver: str) -> pd.Series:
    """From just before a node's publish to the first line of the next one's callback, ns."""
    sent = truth(session, sender, "publish")["t_mono_ns"]
    return truth(session, receiver, "cb_start")["t_mono_ns"] - sent


def of_topic(analysis: Analysis, topic: str) -> pd.DataFrame:
    """The matched messages of a topic, in the order of their publication."""
    messages = analysis.messages[analysis.messages["topic"] == topic]
    return messages.sort_values("publish_ns", ignore_index=True)


def ns(values: pd.Series) -> npt.NDArray[np.int64]:
    """A column without nulls."""
    return values.to_numpy(np.int64)


def the_bottleneck(analysis: Analysis, chain: str) -> Bottleneck:
    (found,) = (b for b in analysis.bottlenecks if b.chain == chain)
    return found


def mean_of(analysis: Analysis, chain: str, group: Group, planted_ns: npt.ArrayLike) -> float:
    """The mean, over the messages that blame looks at, of what is told for each of the chain."""
    chain_id = the_bottleneck(analysis, chain).chain_id
    instances = analysis.chain_instances
    instances = instances[instances["chain_id"] == chain_id].sort_values("begin_ns")
    planted = pd.Series(np.asarray(planted_ns, float), index=instances.index)
    return float(planted[members(instances, group).index].mean())


class InexactError(AssertionError):
    """What must hold to the nanosecond does not: no busy machine excuses it."""


def check_sums(analysis: Analysis) -> None:
    """Raise `InexactError` where layers do not add up."""
    layers = analysis.messages[[layer.column for layer in HOP_LAYERS]]
    sums = analysis.chain_segments.groupby("chain_instance_id")["duration_ns"].sum()
    latencies = analysis.chain_instances.set_index("chain_instance_id")["latency_ns"]
    if not (
        (layers.sum(axis=1) == analysis.messages["latency_ns"]).all()
        and not (layers < 0).any(axis=None)
        and (sums == latencies).all()
    ):
        raise InexactError("layers do not add up to the latency")
