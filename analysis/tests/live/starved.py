# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""How long the threads of a recorded command waited for a CPU, by the kernel's own count.

A live test plants something and asks what Strata says of it. On a machine that does other things
too, threads wait for a CPU wherever they are, and that is true as well. The samples beside the
trace bound how much; they are read here apart from the analysis.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from chain_truth import clock_offset_ns, the_bottleneck

from strata.analysis import Analysis
from strata.stats.groups import TYPICAL, Group, members

Ints = npt.NDArray[np.int64]

STARVED = 0.1
"""Part of the time in which threads wanted a CPU from which on the machine is called busy."""


@dataclass(frozen=True)
class CpuWaits:
    """Windows between samples of the threads of a command, on the clock of the trace.

    Columns of `windows`: thread, begin_ns, end_ns, cpu_ns, wait_ns.
    """

    windows: pd.DataFrame

    @classmethod
    def of(cls, session: Path, process: int | None = None) -> CpuWaits:
        """Read the samples of a session: those of all its threads, or of one process (its id)."""
        rows = pd.read_csv(session / "thread_cpu/samples.csv")
        if process is not None:
            threads = pd.read_csv(session / "thread_cpu/threads.csv").set_index("thread")
            own = threads.index[threads["pid"] == process].append(pd.Index([0]))
            rows = rows[rows["thread"].isin(own)]
        # The sampler is none of them.
        instants = np.sort(rows.loc[rows["thread"] == 0, "monotonic_ns"].to_numpy(np.int64))
        rows = rows[rows["thread"] != 0].sort_values(["thread", "monotonic_ns"])
        end_ns = rows["monotonic_ns"].to_numpy(np.int64)
        sample = np.searchsorted(instants, end_ns, side="right") - 1
        growth = rows.groupby("thread")[["cpu_ns", "wait_ns"]].diff()
        # What a thread did before its first sample is not known in time.
        known = growth["wait_ns"].notna().to_numpy()
        begin_ns = instants[np.maximum(sample - 1, 0)]
        wait_ns = growth["wait_ns"].fillna(0).to_numpy(np.int64)
        offset = clock_offset_ns(session)
        found = pd.DataFrame(
            {
                "thread": rows["thread"].to_numpy(np.int64),
                # A long wait is counted when it ends.
                "begin_ns": np.minimum(begin_ns, end_ns - wait_ns) + offset,
                "end_ns": end_ns + rows["read_ns"].to_numpy(np.int64) + offset,
                "cpu_ns": growth["cpu_ns"].fillna(0).to_numpy(np.int64),
                "wait_ns": wait_ns,
            }
        )
        return cls(found[known].reset_index(drop=True))

    def share(self, begin_ns: int, end_ns: int) -> float:
        """Of the time in which threads wanted a CPU between two instants, the part without one."""
        own = self.windows
        own = own[(own["begin_ns"] < end_ns) & (own["end_ns"] > begin_ns)]
        waited, ran = int(own["wait_ns"].sum()), int(own["cpu_ns"].sum())
        return waited / max(waited + ran, 1)

    def most(self, begin_ns: Ints, end_ns: Ints) -> Ints:
        """The most that all threads together may have waited in each of some intervals."""
        own = self.windows[self.windows["wait_ns"] > 0]
        out = np.zeros(len(begin_ns), np.int64)
        for window in own.itertuples():
            inside = np.minimum(end_ns, window.end_ns) - np.maximum(begin_ns, window.begin_ns)
            out += np.clip(inside, 0, window.wait_ns)
        return out


def was_starved(session: Path, analysis: Analysis) -> bool:
    """Tell whether threads of a command lacked CPUs while it exchanged messages."""
    messages = analysis.messages
    if not len(messages):
        return CpuWaits.of(session).share(0, np.iinfo(np.int64).max) > STARVED
    begin_ns = int(messages["publish_ns"].min())
    end_ns = int((messages["begin_ns"] + messages["latency_ns"]).max())
    return CpuWaits.of(session).share(begin_ns, end_ns) > STARVED


def waits_of(session: Path, messages: pd.DataFrame) -> Ints:
    """The most that threads may have waited for a CPU during each of some messages."""
    begin_ns = messages["begin_ns"].to_numpy(np.int64)
    return CpuWaits.of(session).most(begin_ns, begin_ns + messages["latency_ns"].to_numpy(np.int64))


def chain_waits(session: Path, analysis: Analysis, chain: str, group: Group) -> float:
    """The mean of the most that threads waited for a CPU during the messages of a chain's group."""
    chain_id = the_bottleneck(analysis, chain).chain_id
    instances = analysis.chain_instances
    rows = members(instances[instances["chain_id"] == chain_id], group)
    waited = CpuWaits.of(session).most(
        rows["begin_ns"].to_numpy(np.int64), rows["end_ns"].to_numpy(np.int64)
    )
    return float(waited.mean())


def largest(
    session: Path,
    analysis: Analysis,
    chain: str,
    layer: str,
    where: str,
    group: Group = TYPICAL,
) -> float:
    """Assert that a cause is the largest of a chain, and return its mean, ns.

    Another cause may be larger by no more than
    threads waited for a CPU meanwhile; where they did not, the sentence has to name this one.
    """
    bottleneck = the_bottleneck(analysis, chain)
    rows = analysis.blame[analysis.blame["chain_id"] == bottleneck.chain_id]
    column = "typical_ns" if group is TYPICAL else "tail_ns"
    causes = rows.set_index(["layer", "where"])[column]
    assert (layer, where) in causes.index, causes
    own = float(causes[layer, where])
    waited = chain_waits(session, analysis, chain, group)
    others = causes.drop((layer, where))
    assert others.max() - waited <= own, (causes, waited)
    assert own > 0
    if waited < 0.05 * own:
        named = bottleneck.where if group is TYPICAL else bottleneck.tail_where
        named_layer = bottleneck.layer if group is TYPICAL else bottleneck.tail_layer
        assert named_layer == layer
        assert named.startswith(where)
    return own
