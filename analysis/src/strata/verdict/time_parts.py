# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The time of all messages, divided among executors, topics and hops.

Every nanosecond of a message's latency belongs to one layer, and every layer to one of three:

* the *executor* whose thread took the message: the time in which it waited for that executor. Of
  layers in which that wait is merged with others, what is known to have run meanwhile;
* its *topic*: from the publish to the reader, and whatever is merged with that;
* its *hop*: what the receiving node did with it (wake-up, take, suspended, callback), and sensor
  drivers.
"""

from __future__ import annotations

import pandas as pd

from strata.model.matching import UNSYNCHRONISED
from strata.schema.events import INTERNAL_TOPICS
from strata.schema.layers import (
    CALLBACK,
    CLIENT_TAKE,
    DRIVER_LAYERS,
    EXECUTOR_WAIT,
    EXECUTOR_WAIT_TAKE,
    HOP_LAYERS,
    SUSPENDED,
    TAKE,
    WAKE_UP,
    WITHOUT_WAITS,
)

_OF_EXECUTOR = (EXECUTOR_WAIT, EXECUTOR_WAIT_TAKE)
_OF_HOP = (*DRIVER_LAYERS, WAKE_UP, TAKE, CLIENT_TAKE, SUSPENDED, CALLBACK)


def with_executor(
    messages: pd.DataFrame, takes: pd.DataFrame, threads: pd.DataFrame
) -> pd.DataFrame:
    """Return messages with `executor_id`, that of the thread that took each; null: in none.

    The arguments are the tables `messages`, `takes` and `executor_threads`.
    """
    thread = ["host", "vpid", "vtid"]
    known = threads[[*thread, "executor_id"]].drop_duplicates(thread)
    taken = takes[["take_id", *thread]].merge(known, on=thread, how="left")
    executor = taken.set_index("take_id")["executor_id"].astype("Int64")
    return messages.assign(executor_id=executor.reindex(messages["take_id"]).array)


def finished(messages: pd.DataFrame) -> pd.DataFrame:
    """Return the application's messages that reached the end of their callback.

    Not those of the start-up, as in the verdicts of chains, and not those between hosts without a
    common clock: the difference of the clocks is in their time.
    """
    own = messages["complete"] & ~messages["start_up"] & ~messages["topic"].isin(INTERNAL_TOPICS)
    return messages[own & (messages["confidence"] != UNSYNCHRONISED)]


def time_parts(messages: pd.DataFrame, blockers: pd.DataFrame) -> pd.DataFrame:
    """Return columns kind, message_id, hop_id, topic, executor_id, layer, duration_ns.

    `messages` is of `with_executor` and `finished`. The rows of a message add up to its latency.
    """
    behind = blockers.groupby("message_id")["duration_ns"].sum()
    parts = []
    for layer in HOP_LAYERS:
        rows = messages[messages[layer.column].notna()]
        if rows.empty:
            continue
        ns = rows[layer.column].astype("int64")
        waited = rows["executor_id"].notna()
        if layer in _OF_EXECUTOR:
            parts += [_part("executor", layer.name, rows[waited], ns[waited])]
            parts += [_part("hop", layer.name, rows[~waited], ns[~waited])]
        elif layer in WITHOUT_WAITS:
            known = behind.reindex(rows["message_id"], fill_value=0).to_numpy()
            blocked = pd.Series(known, index=rows.index).where(waited, 0).clip(upper=ns)
            parts += [_part("executor", layer.name, rows, blocked)]
            parts += [_part("topic", layer.name, rows, ns - blocked)]
        else:
            parts += [_part("hop" if layer in _OF_HOP else "topic", layer.name, rows, ns)]
    if not parts:
        return pd.DataFrame(columns=["kind", *_KEPT, "layer", "duration_ns"])
    return pd.concat(parts, ignore_index=True)


_KEPT = ["message_id", "hop_id", "topic", "executor_id"]


def _part(kind: str, layer: str, rows: pd.DataFrame, ns: pd.Series[int]) -> pd.DataFrame:
    return rows[_KEPT].assign(kind=kind, layer=layer, duration_ns=ns)
