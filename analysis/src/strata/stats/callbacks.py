# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics of callbacks: how long they ran, and how far apart they began."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from strata.engine.groups import sums
from strata.schema import tables
from strata.schema.rows import NONE, Coded, Rows
from strata.stats.partition import partition
from strata.stats.summary import prefixed, summarize
from strata.symbols import is_dotted

if TYPE_CHECKING:
    import pandas as pd

Ints = npt.NDArray[np.int64]

UNKNOWN = "(unknown)"


def callback_table(
    objects: Rows, instances: Rows, cpu: Mapping[str, Sequence[Any]] | None = None
) -> Rows:
    """Return the table `callbacks` from `callback_objects` and `callback_instances`.

    `cpu` has the columns of CPU use, one row a row of `callback_objects`; null where not known.
    A coroutine that was suspended is one execution, that took as long as its pieces ran.
    """
    symbols = symbols_of(objects)
    begun, ran_ns = executions_of(instances)
    used = {} if cpu is None else cpu
    records = []
    for callback_id, own in partition(begun["callback_id"]):
        node = objects.words("node").at(callback_id)
        duration = ran_ns[own]
        period = np.diff(np.sort(begun["start_ns"][own]))
        records.append(
            {
                "callback_id": callback_id,
                "node": UNKNOWN if node is None else node,
                "symbol": symbols.at(callback_id),
                "kind": objects.words("kind").at(callback_id),
                "trigger": objects.words("trigger").at(callback_id),
                "count": len(own),
                **prefixed("duration_", summarize(duration[duration != NONE])),
                **prefixed("period_", summarize(period)),
                **{name: values[callback_id] for name, values in used.items()},
            }
        )
    return Rows.of_records(tables.CALLBACKS, records)


def executions_of(instances: Rows) -> tuple[Rows, Ints]:
    """Return the rows of `callback_instances` that begin an execution, and how long each ran.

    That is how long all its pieces ran, in ns; `NONE` for one that never ended.
    """
    ended = instances["end_ns"] != NONE
    took = np.where(ended, instances["end_ns"] - instances["start_ns"], NONE)
    first = ~instances["is_resumed"]
    if first.all():
        return instances, took
    begun = instances.take(first)
    of_execution, number = np.unique(instances["execution_id"], return_inverse=True)
    whole = sums(number[ended], took[ended], len(of_execution))
    ran = whole[np.searchsorted(of_execution, begun["execution_id"])]
    return begun, np.where(begun["finished_ns"] != NONE, ran, NONE)


def symbols_of(objects: Rows) -> Coded:
    """Return the symbol of each row of `callback_objects`; its address in hex without one."""
    return Coded.of(
        f"0x{address:x}" if symbol is None else symbol
        for symbol, address in zip(
            objects.texts("symbol"), objects["address"].tolist(), strict=True
        )
    )


def symbol_of(callback: Mapping[Any, Any]) -> str:
    """Return a callback's symbol; its address in hex when it was never registered."""
    symbol = callback["symbol"]
    return f"0x{int(callback['address']):x}" if _is_null(symbol) else str(symbol)


def descriptions(objects: Rows | pd.DataFrame) -> pd.Series[str]:
    """Return the description of each row of `callback_objects`, by callback id."""
    import pandas as pd

    return pd.Series({row["callback_id"]: describe(row) for row in _records(objects)}, dtype=object)


def described(objects: Rows) -> Coded:
    """Return the description of each row of `callback_objects` (its row is its callback's id)."""
    return Coded.of(describe(row) for row in objects.records())


def describe(callback: Mapping[Any, Any]) -> str:
    """Return "symbol [trigger] (node)" for a row of `callback_objects`.

    The trigger (topic, period or service) tells apart callbacks of one function.
    """
    node, trigger = callback["node"], callback["trigger"]
    of = "" if _is_null(trigger) else f" [{trigger}]"
    owner = UNKNOWN if _is_null(node) else f"({node})"
    return f"{symbol_of(callback)}{of} {owner}"


def awaited(callback_ids: pd.Series[int], objects: Rows | pd.DataFrame) -> pd.Series[str]:
    """Say what came when a callback began: " until /right came"; empty where that is not known.

    `callback_ids` are rows of `callback_objects`, null for none.
    """
    return callback_ids.map(awaited_words(_records(objects))).astype(object).fillna("")


def awaited_words(objects: Iterable[Mapping[Any, Any]]) -> dict[int, str]:
    """Return what came when a callback began, by its id; without those of which it is not known."""
    return {
        row["callback_id"]: _AWAITED[row["kind"]].format(row["trigger"])
        for row in objects
        if row["kind"] in _AWAITED and not _is_null(row["trigger"])
    }


_AWAITED = {
    "subscription": " until {} came",
    "timer": " until the timer of {} fired",
    "service": " until a request of {} came",
}


def python_nodes(objects: Rows | pd.DataFrame) -> frozenset[str]:
    """Return the nodes whose client library is rclpy, by the names of their callbacks.

    rclcpp names each callback by its C++ symbol, rclpy by module and function. A node of which no
    callback was registered is not told.
    """
    of_python: dict[str, bool] = {}
    for row in _records(objects):
        node, symbol = row["node"], row["symbol"]
        if not (_is_null(node) or _is_null(symbol)):
            of_python[str(node)] = of_python.get(str(node), True) and is_dotted(str(symbol))
    return frozenset(node for node, every in of_python.items() if every)


def _records(objects: Rows | pd.DataFrame) -> Iterable[Mapping[Any, Any]]:
    return objects.records() if isinstance(objects, Rows) else objects.to_dict("records")


def _is_null(text: object) -> bool:
    """Return whether a text of a record or a frame is null."""
    return not isinstance(text, str)
