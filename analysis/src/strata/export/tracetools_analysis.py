# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The frames of tracetools_analysis' data model of ROS 2, from a trace and its analysis.

Names, indexes and columns are those of `Ros2DataModel` of tracetools_analysis 3.0 and 3.1 (Jazzy
to Rolling). docs/export.md says in what the values differ from those that its own handler makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from strata.errors import TraceError
from strata.export.chosen import Chosen
from strata.export.chosen_events import ChosenEvents
from strata.export.table_directory import write_directory
from strata.export.written import Written
from strata.read import open_trace
from strata.schema.rows import NONE

if TYPE_CHECKING:
    import pandas as pd

    from strata.analysis import Analysis


@dataclass(frozen=True)
class _Frame:
    """A frame made from events: its columns with the fields they are taken from.

    The first column is the index where there is one. `runtime` events are single publishes and
    takes, the others are of the creation of objects.
    """

    events: tuple[tuple[str, Mapping[str, str]], ...]
    index: bool = True
    runtime: bool = False


def _columns(text: str) -> Mapping[str, str]:
    """Read columns: `name`, or `name=field` where the field of the event has another name."""
    pairs = (word.partition("=") for word in text.split())
    return {name: field or name for name, _, field in pairs}


def _objects(*events: tuple[str, str]) -> _Frame:
    return _Frame(tuple((f"ros2:{event}", _columns(text)) for event, text in events))


def _instances(event: str, text: str, *, runtime: bool = True) -> _Frame:
    return _Frame(((f"ros2:{event}", _columns(text)),), index=False, runtime=runtime)


_ENDPOINT = "timestamp node_handle rmw_handle"

_FRAMES: Mapping[str, _Frame] = {
    "contexts": _objects(("rcl_init", "context_handle timestamp pid=vpid version")),
    "nodes": _objects(
        (
            "rcl_node_init",
            "node_handle timestamp tid=vtid rmw_handle name=node_name namespace",
        )
    ),
    "rmw_publishers": _objects(
        ("rmw_publisher_init", "publisher_handle=rmw_publisher_handle timestamp gid")
    ),
    "rcl_publishers": _objects(
        (
            "rcl_publisher_init",
            f"publisher_handle {_ENDPOINT}=rmw_publisher_handle topic_name depth=queue_depth",
        )
    ),
    "rmw_subscriptions": _objects(
        ("rmw_subscription_init", "subscription_handle=rmw_subscription_handle timestamp gid")
    ),
    "rcl_subscriptions": _objects(
        (
            "rcl_subscription_init",
            f"subscription_handle {_ENDPOINT}=rmw_subscription_handle topic_name depth=queue_depth",
        )
    ),
    "subscription_objects": _objects(
        ("rclcpp_subscription_init", "subscription timestamp subscription_handle")
    ),
    "services": _objects(
        ("rcl_service_init", f"service_handle {_ENDPOINT}=rmw_service_handle service_name")
    ),
    "clients": _objects(
        ("rcl_client_init", f"client_handle {_ENDPOINT}=rmw_client_handle service_name")
    ),
    "timers": _objects(("rcl_timer_init", "timer_handle timestamp period tid=vtid")),
    "timer_node_links": _objects(("rclcpp_timer_link_node", "timer_handle timestamp node_handle")),
    "callback_objects": _objects(
        *(
            (
                f"rclcpp_{kind}_callback_added",
                f"reference={field} timestamp callback_object=callback",
            )
            for kind, field in (
                ("subscription", "subscription"),
                ("service", "service_handle"),
                ("timer", "timer_handle"),
            )
        )
    ),
    "callback_symbols": _objects(
        ("rclcpp_callback_register", "callback_object=callback timestamp symbol")
    ),
    "lifecycle_state_machines": _objects(
        ("rcl_lifecycle_state_machine_init", "state_machine_handle=state_machine node_handle")
    ),
    "rclcpp_publish_instances": _instances("rclcpp_publish", "timestamp message"),
    "rcl_publish_instances": _instances("rcl_publish", "publisher_handle timestamp message"),
    "rmw_publish_instances": _instances("rmw_publish", "timestamp message"),
    "rmw_take_instances": _instances(
        "rmw_take",
        "subscription_handle=rmw_subscription_handle timestamp message source_timestamp taken",
    ),
    "rcl_take_instances": _instances("rcl_take", "timestamp message"),
    "rclcpp_take_instances": _instances("rclcpp_take", "timestamp message"),
    "lifecycle_transitions": _instances(
        "rcl_lifecycle_transition",
        "state_machine_handle=state_machine start_label goal_label timestamp",
        runtime=False,
    ),
}

_TEXT = ("version", "name", "namespace", "topic_name", "service_name", "symbol")
_LABELS = ("start_label", "goal_label")

NAMES = (*_FRAMES, "callback_instances")
"""The names of the frames: attributes of a data model."""


class DataModel(SimpleNamespace):
    """The frames as attributes: what `Ros2DataModelUtil` of tracetools_analysis takes."""


def frames(analysis: Analysis) -> dict[str, pd.DataFrame]:
    """Return the frames of an analysis' trace by name; they are in order of time.

    Times are ns since the epoch, but in `callback_instances`, where `timestamp` is a datetime64[ns]
    and `duration` a timedelta64[ns]. Handles and addresses are int64, `gid` a list of its bytes. A
    frame without rows has its columns. The trace is read again: raises TraceError where it is gone.
    """
    return _frames(Chosen(analysis))


def data_model(analysis: Analysis) -> DataModel:
    """Return the frames of `frames` as attributes. Raises TraceError where the trace is gone."""
    return DataModel(**frames(analysis))


def read(directory: str | Path) -> DataModel:
    """Read what `strata export --to tracetools-analysis` wrote. Raises TraceError."""
    found = {}
    for name in NAMES:
        path = Path(directory) / f"{name}.parquet"
        try:
            # Opened here: pyarrow takes no path that is not UTF-8.
            with path.open("rb") as file:
                found[name] = pq.read_table(file).to_pandas()
        except (OSError, pa.ArrowException) as error:
            raise TraceError(
                f"Cannot read {path}: {error}. Export the trace again with "
                "strata export --to tracetools-analysis."
            ) from error
    return DataModel(**found)


def write(chosen: Chosen, target: Path, *, force: bool = False) -> Written:
    """Write the frames as Parquet, one file each, into the directory `target`, all or nothing.

    Raises OutputError, and TraceError where the trace is gone.
    """
    tables = ((name, pa.Table.from_pandas(frame)) for name, frame in _frames(chosen).items())
    return write_directory(chosen, target, tables, ".parquet", _write_table, force=force)


def _write_table(table: pa.Table, file: BinaryIO) -> None:
    pq.write_table(table, file, compression="zstd")


def _frames(chosen: Chosen) -> dict[str, pd.DataFrame]:
    events = {event for frame in _FRAMES.values() for event, _ in frame.events}
    tables = open_trace(chosen.analysis.trace.place).tables(events)
    wanted = ChosenEvents(chosen)
    own = {event: wanted.of_processes(table) for event, table in tables.items()}
    found = {name: _frame(frame, own, wanted) for name, frame in _FRAMES.items()}
    return found | {"callback_instances": _callback_instances(chosen, wanted)}


def _frame(frame: _Frame, tables: Mapping[str, pa.Table], wanted: ChosenEvents) -> pd.DataFrame:
    import pandas as pd

    parts = []
    for event, columns in frame.events:
        if event in tables:
            table = tables[event]
            table = wanted.of_messages(table) if frame.runtime else table
            parts.append(pa.table({name: _plain(table, columns[name]) for name in columns}))
    columns = frame.events[0][1]
    table = pa.concat_tables(parts) if parts else _empty(columns)
    if len(parts) > 1:
        table = table.sort_by("timestamp")
    made: pd.DataFrame = table.to_pandas()
    if "taken" in made:
        made["taken"] = made["taken"] != 0
    if "gid" in made:
        made["gid"] = [list(gid or b"") for gid in made["gid"]]
    if frame.index:
        made.index = pd.Index(made.pop(next(iter(columns))))
    return made


def _plain(table: pa.Table, field: str) -> pa.ChunkedArray:
    """Return a field as tracetools_analysis has it: words for codes, int64 for handles."""
    column = table[field]
    if pa.types.is_dictionary(column.type):
        return pc.cast(column, pa.string())
    if pa.types.is_integer(column.type):
        # An address never has the upper bit; a depth of the middleware's choice may.
        return pc.cast(column, pa.int64(), safe=False)
    return column


def _empty(columns: Mapping[str, str]) -> pa.Table:
    kinds = {"gid": pa.binary()} | dict.fromkeys((*_TEXT, *_LABELS), pa.string())
    return pa.table({name: pa.array([], kinds.get(name, pa.int64())) for name in columns})


def _callback_instances(chosen: Chosen, wanted: ChosenEvents) -> pd.DataFrame:
    """Return the executions that ended, in the order in which they did."""
    import pandas as pd

    rows = chosen.analysis.rows("callback_instances")
    rows = rows.take(np.flatnonzero((rows["end_ns"] != NONE) & wanted.executions))
    rows = rows.take(np.lexsort((rows["start_ns"], rows["end_ns"])))
    address = chosen.analysis.rows("callback_objects")["address"]
    return pd.DataFrame(
        {
            "callback_object": address[rows["callback_id"]].astype(np.int64),
            "timestamp": rows["start_ns"].astype("datetime64[ns]"),
            "duration": (rows["end_ns"] - rows["start_ns"]).astype("timedelta64[ns]"),
            "intra_process": rows["is_intra_process"].astype(bool),
        }
    )
