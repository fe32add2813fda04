# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Who is to blame for a chain's latency: each cause's share of the median and of the tail.

A cause's share is its summed duration over the summed latency of a group of messages: the *typical*
ones (latency between the 40th and 60th percentile of the chain, or of its most frequent mode) and
the *slowest* (at or above the 99th; strata.stats.groups). Shares are conditional on the messages of
the group; differences of quantiles are not used, as quantiles of parts do not add up. Shares of one
group add up to 1. Outliers are counted by their largest cause.

Executor wait is split by what the taking thread ran meanwhile: one cause a callback, and the rest
is the executor itself. A message that waits for the callback which it is for waits behind earlier
messages: the callback is its own queue ("behind itself, ..."). Dds receive is split into the wait
for what had to be sent again, and the rest. Stored says what the node waited for. Where the trace
has kernel events, the time in which a layer's thread was blocked or preempted is split off it
(strata.stats.scheduling). What is only estimated splits nothing: beside each cause it is told how
much of it a thread waited for a CPU by samples, and for how much no thread of the reader ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.columns import NONE, Ints
from strata.model.search import first_rows, sums
from strata.schema import tables
from strata.schema.layers import (
    DDS_RECEIVE,
    EXECUTOR_WAIT,
    EXECUTOR_WAIT_TAKE,
    MIDDLEWARE_EXECUTOR_WAIT,
    MIDDLEWARE_EXECUTOR_WAIT_TAKE,
    STORED,
    TRANSPORT,
    WAKE_UP_EXECUTOR_WAIT,
    WAKE_UP_EXECUTOR_WAIT_TAKE,
    Layer,
)
from strata.stats.chains import between_hosts
from strata.stats.groups import TAIL, TYPICAL, members, outliers
from strata.stats.partition import partition
from strata.stats.places import takes_of
from strata.stats.scheduling import next_messages, split_by_thread, waited_for_cpu

Flags = npt.NDArray[np.bool_]

# Layers that contain executor wait: what the thread ran then is a cause of its own.
_WAITING = (
    EXECUTOR_WAIT,
    EXECUTOR_WAIT_TAKE,
    WAKE_UP_EXECUTOR_WAIT,
    WAKE_UP_EXECUTOR_WAIT_TAKE,
    MIDDLEWARE_EXECUTOR_WAIT,
    MIDDLEWARE_EXECUTOR_WAIT_TAKE,
)

ITSELF = "behind itself, "
"""What a message waited behind that waited for earlier ones in its own callback."""

_SUMMED = ["duration_ns", "cpu_wait_ns", "silent_ns", "unsynchronised"]

OTHERS = "other callbacks"
"""What a message in a backlog waited behind, beside the callbacks that ran longest."""


def blame_table(
    instances: pd.DataFrame,
    segments: pd.DataFrame,
    where: pd.DataFrame,
    blockers: pd.DataFrame,
    callbacks: pd.Series[str],
    messages: pd.DataFrame,
    of_threads: pd.DataFrame | None = None,
    until: pd.Series[str] | None = None,
    cpu_waits: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the table `blame`.

    `where` names the place of each message (row) and layer (column); `callbacks` describes each
    callback id. `messages` tells the waits for resends, `of_threads` what held threads up
    (strata.stats.scheduling.thread_causes), `until` what the publisher of each message waited for
    when it had stored others (strata.stats.callbacks.awaited). `cpu_waits` are estimated
    (strata.stats.scheduling.estimated_waits).
    """
    chains = [
        instances[instances["chain_id"] == chain_id]
        for chain_id in instances["chain_id"].unique().tolist()
    ]
    groups = [(members(cut, TYPICAL), members(cut, TAIL), outliers(cut)) for cut in chains]
    # Only messages of some group are looked at: a fifth of them all.
    looked_at = [group["chain_instance_id"] for of_chain in groups for group in of_chain]
    wanted = segments["chain_instance_id"].isin(pd.concat(looked_at) if looked_at else [])
    causes = find_causes(
        segments[wanted].reset_index(drop=True),
        where,
        blockers,
        callbacks,
        messages,
        of_threads,
        until,
        cpu_waits,
    )
    if not chains:
        return tables.BLAME.empty()
    rows_of = dict(partition(causes["chain_id"].to_numpy(np.int64)))
    every, parts = _Causes.of(causes), []
    for cut, of_chain in zip(chains, groups, strict=True):
        chain_id = int(cut["chain_id"].iloc[0])
        parts.append(_chain_blame(chain_id, *of_chain, every.rows(rows_of[chain_id])))
    return tables.BLAME.frame(pd.concat(parts, ignore_index=True))


def find_causes(
    segments: pd.DataFrame,
    where: pd.DataFrame,
    blockers: pd.DataFrame,
    callbacks: pd.Series[str],
    messages: pd.DataFrame,
    of_threads: pd.DataFrame | None = None,
    until: pd.Series[str] | None = None,
    cpu_waits: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return segments with their place; what waits for something of its own is split off.

    Columns are chain_id, chain_instance_id, message_id, layer, where, duration_ns, cpu_wait_ns,
    silent_ns and unsynchronised; the rows of an instance add up to its latency. `segments` has to
    be numbered from 0.
    """
    causes = segments[
        ["chain_id", "chain_instance_id", "message_id", "layer", "duration_ns"]
    ].assign(where="", cpu_wait_ns=0, silent_ns=0, unsynchronised=between_hosts(segments, messages))
    for name, rows in causes.groupby("layer").groups.items():
        places = where[str(name)].to_numpy()
        causes.loc[rows, "where"] = places[causes.loc[rows, "message_id"].to_numpy(np.int64)]
    causes["silent_ns"] = _silent(causes, messages)
    stored = (causes["layer"] == STORED.name).to_numpy()
    if until is not None and stored.any():
        following = next_messages(segments, stored)
        causes.loc[stored, "where"] += until.reindex(following, fill_value="").to_numpy(object)
    causes = _split(causes, _WAITING, _behind(blockers, callbacks, messages))
    again = messages[messages["resend_ns"].notna()]
    resends = pd.DataFrame(
        {
            "message_id": again["message_id"],
            "duration_ns": again["resend_ns"].astype("int64"),
            "where": "resends of " + again["topic"].astype(str),
        }
    )
    causes = _split(causes, (DDS_RECEIVE,), resends)
    # What is left of the segments comes first.
    rest = causes.iloc[: len(segments)]
    if cpu_waits is not None:
        rest = rest.assign(cpu_wait_ns=waited_for_cpu(rest, segments, cpu_waits))
    if of_threads is not None:
        rest = split_by_thread(rest, segments, of_threads)
    return pd.concat([rest, causes.iloc[len(segments) :]], ignore_index=True)


def _silent(causes: pd.DataFrame, messages: pd.DataFrame) -> pd.Series[int]:
    """Return for how long the reader's process did not run during each cause, ns."""
    rows = causes["message_id"].to_numpy(np.int64)
    silent_ns = messages["reader_silent_ns"].to_numpy(np.int64)[rows]
    transport = (causes["layer"] == TRANSPORT.name).to_numpy()
    return causes["duration_ns"].where(transport, 0).clip(upper=silent_ns)


def _behind(
    blockers: pd.DataFrame, callbacks: pd.Series[str], messages: pd.DataFrame
) -> pd.DataFrame:
    """Return blockers with the place of the wait: behind a callback, takes for it, or itself."""
    names = blockers["callback_id"].map(callbacks).astype(object)
    taken = names.notna() & (blockers["work"] == "take")
    names = names.mask(taken, blockers["callback_id"].map(callbacks.map(takes_of)))
    own = blockers["message_id"].map(messages.set_index("message_id")["callback_id"])
    itself = (own == blockers["callback_id"]).fillna(False).to_numpy(bool)
    words = np.where(itself, ITSELF, "behind ").astype(object)
    return blockers.assign(where=words + names.where(names.notna(), OTHERS))


def _split(causes: pd.DataFrame, layers: tuple[Layer, ...], parts: pd.DataFrame) -> pd.DataFrame:
    """Split layers into parts that have a place of their own (message_id, where, duration_ns)."""
    whole = causes["layer"].isin([layer.name for layer in layers])
    renamed = parts[["message_id", "where", "duration_ns"]].rename(
        columns={"where": "part", "duration_ns": "part_ns"}
    )
    split = causes[whole].merge(renamed, on="message_id")
    if split.empty:
        return causes
    taken = split.groupby(["chain_instance_id", "message_id"])["part_ns"].sum()
    key = pd.MultiIndex.from_frame(causes[["chain_instance_id", "message_id"]])
    out = taken.reindex(key, fill_value=0).to_numpy(np.int64)
    causes.loc[whole, "duration_ns"] -= out[whole.to_numpy()]
    split = split.assign(
        duration_ns=split["part_ns"], where=split["part"], cpu_wait_ns=0, silent_ns=0
    )
    return pd.concat([causes, split[causes.columns]], ignore_index=True)


@dataclass(frozen=True)
class _Causes:
    """Causes in columns: `cause` is a row of `names`, layers and places in order.

    `summed` has the columns of `_SUMMED`.
    """

    instance: Ints
    cause: Ints
    summed: Mapping[str, Ints]
    names: pd.DataFrame

    @classmethod
    def of(cls, causes: pd.DataFrame) -> _Causes:
        """Number the causes of a frame as `find_causes` returns it."""
        key = ["layer", "where"]
        number = np.asarray(causes.groupby(key).ngroup(), np.int64)
        first = first_rows(number, int(number.max(initial=NONE)) + 1)
        instance = causes["chain_instance_id"].to_numpy(np.int64)
        summed = {name: causes[name].to_numpy(np.int64) for name in _SUMMED}
        return cls(instance, number, summed, causes[key].iloc[first].reset_index(drop=True))

    def rows(self, rows: Ints | Flags) -> _Causes:
        """Return some of the rows."""
        summed = {name: values[rows] for name, values in self.summed.items()}
        return _Causes(self.instance[rows], self.cause[rows], summed, self.names)

    def within(self, cut: pd.DataFrame) -> _Causes:
        """Return the causes of the messages of a group."""
        return self.rows(np.isin(self.instance, cut["chain_instance_id"].to_numpy(np.int64)))

    def total(self, name: str) -> Ints:
        """Return the sum of each cause."""
        return sums(self.cause, self.summed[name], len(self.names))

    def largest(self) -> Ints:
        """Count, for each cause, the messages of which it is the largest one."""
        pairs, pair = np.unique(self.instance * len(self.names) + self.cause, return_inverse=True)
        instance, cause = np.divmod(pairs, len(self.names))
        ns = sums(pair, self.summed["duration_ns"], len(pairs))
        order = np.lexsort((cause, -ns, instance))
        first = order[np.unique(instance[order], return_index=True)[1]]
        return np.bincount(cause[first], minlength=len(self.names)).astype(np.int64)


def _chain_blame(
    chain_id: int,
    typical: pd.DataFrame,
    slowest: pd.DataFrame,
    far: pd.DataFrame,
    causes: _Causes,
) -> pd.DataFrame:
    of_typical, of_slowest, of_far = (causes.within(cut) for cut in (typical, slowest, far))
    bands = (("typical", of_typical, typical), ("tail", of_slowest, slowest))
    totals = [max(int(cut["latency_ns"].sum()), 1) for cut in (typical, slowest)]
    frame = pd.DataFrame(
        {
            "chain_id": chain_id,
            "layer": causes.names["layer"],
            "where": causes.names["where"],
            "share_p50": of_typical.total("duration_ns") / totals[0],
            "share_p99": of_slowest.total("duration_ns") / totals[1],
            "typical_ns": of_typical.total("duration_ns") / len(typical),
            "tail_ns": of_slowest.total("duration_ns") / len(slowest),
            "outlier_ns": of_far.total("duration_ns") / len(far) if len(far) else None,
            "outliers": of_far.largest(),
            **{
                f"{told}_{name}": band.total(name) / len(cut)
                for told, band, cut in bands
                for name in ("cpu_wait_ns", "silent_ns")
            },
            "unsynchronised": causes.total("unsynchronised") > 0,
        }
    ).iloc[np.unique(causes.cause)]
    return frame.sort_values(["share_p50", "share_p99"], ascending=False, ignore_index=True)
