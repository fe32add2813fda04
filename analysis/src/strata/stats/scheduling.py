# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics and blame of what threads did within layers, where the trace has kernel events.

A layer of `chain_segments` is about one message; only hold is recorded with the message that was
published in it, which is the next one of its chain's instance.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from strata.model.search import sums
from strata.schema import tables
from strata.schema.layers import (
    CALLBACK,
    CLIENT_PUBLISH,
    CLIENT_TAKE,
    DRIVER,
    EXECUTOR_WAIT,
    HOLD,
    TAKE,
    WAKE_UP,
)

STATES = ("running", "preempted", "blocked", "unknown")

_BLAMED = (DRIVER, CLIENT_PUBLISH, WAKE_UP, EXECUTOR_WAIT, TAKE, CLIENT_TAKE, CALLBACK, HOLD)
# A thread that waits for work is blocked by definition: that is what wake-up is. What blocks the
# callbacks that a message waits behind is in their own rows.
_NOT_BLOCKED = (WAKE_UP, EXECUTOR_WAIT)
_WORTH_NS = 50_000
"""Shorter waits of a message's layer are within what the estimate may be off."""
_ALMOST_ALL = 0.9
"""Part of a preemption from which on it is one thread's alone."""


def with_thread_message(segments: pd.DataFrame) -> pd.DataFrame:
    """Add `thread_message_id`: the message under which `layer_scheduling` has a segment."""
    own = segments["message_id"].to_numpy(np.int64)
    held = (segments["layer"] == HOLD.name).to_numpy()
    out = segments.assign(thread_message_id=own)
    if not held.any():
        return out
    out.loc[held, "thread_message_id"] = next_messages(segments, held)
    return out


def next_messages(segments: pd.DataFrame, chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return, for the chosen segments, the message of the next hop of their instance, or -1."""
    hops = segments.drop_duplicates(["chain_instance_id", "hop"])
    following = pd.Series(
        hops["message_id"].to_numpy(np.int64),
        index=pd.MultiIndex.from_arrays([hops["chain_instance_id"], hops["hop"] - 1]),
    )
    key = pd.MultiIndex.from_frame(segments.loc[chosen, ["chain_instance_id", "hop"]])
    return following.reindex(key, fill_value=-1).to_numpy(np.int64)


def estimated_waits(scheduling: pd.DataFrame, cpu_waits: pd.DataFrame) -> pd.DataFrame:
    """Return waits for a CPU by samples: thread_message_id, layer, about_ns (`_WORTH_NS` or more).

    Only of layers that kernel events (`scheduling`) do not tell of.
    """
    key = ["message_id", "layer"]
    told = pd.MultiIndex.from_frame(cpu_waits[key]).isin(pd.MultiIndex.from_frame(scheduling[key]))
    found = cpu_waits[~told & (cpu_waits["about_ns"] >= _WORTH_NS).to_numpy()]
    return found[[*key, "about_ns"]].rename(columns={"message_id": "thread_message_id"})


def waited_for_cpu(
    causes: pd.DataFrame, segments: pd.DataFrame, waits: pd.DataFrame
) -> npt.NDArray[np.int64]:
    """Return for how long the thread of each cause waited for a CPU, no longer than the cause, ns.

    `causes` has the rows of `segments`, `waits` is of `estimated_waits`.
    """
    key = ["thread_message_id", "layer"]
    about = waits.set_index(key)["about_ns"]
    rows = pd.MultiIndex.from_frame(with_thread_message(segments)[key])
    found = about.reindex(rows, fill_value=0).to_numpy(np.int64)
    return np.asarray(np.minimum(found, causes["duration_ns"].to_numpy(np.int64)))


def thread_causes(scheduling: pd.DataFrame, preemptions: pd.DataFrame) -> pd.DataFrame:
    """Return what held threads up: thread_message_id, layer, part (words for it), duration_ns."""
    blamed = [layer.name for layer in _BLAMED]
    by_definition = scheduling["layer"].isin([layer.name for layer in _NOT_BLOCKED])
    asleep = scheduling["layer"].isin(blamed) & ~by_definition
    blocked = scheduling[asleep & (scheduling["blocked_ns"] > 0)]
    taken = preemptions[preemptions["layer"].isin(blamed)]
    parts = [
        blocked.assign(part="blocked", duration_ns=blocked["blocked_ns"]),
        _by_the_longest(taken),
    ]
    causes = pd.concat(
        [part[["message_id", "layer", "part", "duration_ns"]] for part in parts], ignore_index=True
    )
    return causes.rename(columns={"message_id": "thread_message_id"})


def _by_the_longest(preemptions: pd.DataFrame) -> pd.DataFrame:
    """Add up who preempted the thread of each layer; who ran longest meanwhile is named."""
    layer = ["message_id", "layer"]
    total = preemptions.groupby(layer)["duration_ns"].transform("sum")
    longest = preemptions.sort_values("duration_ns", ascending=False, kind="stable")
    longest = longest.drop_duplicates(layer)
    whole = total[longest.index]
    alone = (longest["duration_ns"] >= _ALMOST_ALL * whole) | longest["tid"].isna()
    words = preemptor(longest)
    named = longest["tid"].fillna(0) != 0
    return longest.assign(part=words.mask(named & ~alone, words + " and others"), duration_ns=whole)


def preemptor(preemptions: pd.DataFrame) -> pd.Series[str]:
    """Say who had the CPU: "preempted by stress-ng (1234)", "leaving idle"."""
    tid = preemptions["tid"].astype("Int64")
    named = "preempted by " + preemptions["comm"].astype(str) + " (" + tid.astype("string") + ")"
    return named.mask(tid == 0, "leaving idle").mask(tid.isna(), "preempted").astype(str)


def split_by_thread(
    causes: pd.DataFrame, segments: pd.DataFrame, parts: pd.DataFrame
) -> pd.DataFrame:
    """Split causes by what held their threads up; sums stay.

    `causes` has the rows of `segments`, `parts` is of `thread_causes`. A part's place is its words,
    "in" and the cause's place.
    """
    if parts.empty:
        return causes
    rows = causes[["layer", "where"]].assign(
        row=np.arange(len(causes)),
        thread_message_id=with_thread_message(segments)["thread_message_id"].to_numpy(),
    )
    renamed = parts.rename(columns={"duration_ns": "part_ns"})
    split = rows.merge(renamed, on=["thread_message_id", "layer"])
    split_off = sums(split["row"].to_numpy(), split["part_ns"].to_numpy(np.int64), len(causes))
    whole = causes.assign(duration_ns=causes["duration_ns"].to_numpy(np.int64) - split_off)
    new = causes.iloc[split["row"].to_numpy()].assign(
        duration_ns=split["part_ns"].to_numpy(np.int64),
        where=(split["part"] + " in " + split["where"].astype(str)).to_numpy(),
    )
    return pd.concat([whole, new], ignore_index=True)


def scheduling_table(
    segments: pd.DataFrame,
    layers: pd.DataFrame,
    scheduling: pd.DataFrame,
    preemptions: pd.DataFrame,
) -> pd.DataFrame:
    """Return the table `chain_scheduling`; `layers` is `chain_layers`."""
    if scheduling.empty or segments.empty:
        return tables.SCHEDULING_STATS.empty()
    place = ["chain_id", "position"]
    times = scheduling.rename(columns={"message_id": "thread_message_id"})
    rows = with_thread_message(segments).merge(times, on=["thread_message_id", "layer"])
    if rows.empty:
        return tables.SCHEDULING_STATS.empty()
    grouped = rows.groupby(place)
    frame = pd.DataFrame({"count": grouped.size()})
    for state in STATES:
        frame[f"{state}_mean"] = grouped[f"{state}_ns"].mean()
        frame[f"{state}_p99"] = grouped[f"{state}_ns"].quantile(0.99)
    who = _who(rows[[*place, "thread_message_id", "layer"]], preemptions, place)
    frame = frame.join(who).reset_index()
    named = layers[[*place, "hop", "layer", "where"]]
    return tables.SCHEDULING_STATS.frame(named.merge(frame, on=place))


def _who(rows: pd.DataFrame, preemptions: pd.DataFrame, place: list[str]) -> pd.DataFrame:
    """Return who preempted longest, by place of the chain."""
    taken = preemptions.assign(preempted_by=preemptor(preemptions)).rename(
        columns={"message_id": "thread_message_id", "duration_ns": "preempted_by_ns"}
    )
    found = rows.merge(taken, on=["thread_message_id", "layer"])
    sums = found.groupby([*place, "preempted_by"])["preempted_by_ns"].sum().reset_index()
    longest = sums.sort_values("preempted_by_ns", ascending=False).drop_duplicates(place)
    longest["preempted_by_ns"] = longest["preempted_by_ns"].astype("Int64")
    return longest.set_index(place)
