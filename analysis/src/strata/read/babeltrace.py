# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Read events through babeltrace2's Python bindings: the reference reader.

bt2 comes with the distribution (python3-bt2), not from a package index.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from strata.errors import TraceError
from strata.read.columns import EventColumns
from strata.read.discover import CtfTrace
from strata.read.packets import StreamFile
from strata.schema.events import column_name

_PROGRESS_EVERY = 20_000


class BabeltraceReader:
    """The reader interface (strata.read.reader) over bt2."""

    name = "babeltrace2"

    def read(
        self, trace: CtfTrace, files: list[StreamFile] | None, progress: Callable[[int], None]
    ) -> list[EventColumns]:
        """Decode a trace; see strata.read.reader.Reader."""
        bt2 = _import_bt2()
        with _whole_packets(trace, files) as directory:
            try:
                return _decode(bt2, trace, directory, progress)
            except bt2._Error as error:
                raise TraceError(
                    f"Cannot read trace {trace.directory}: {_cause(error)}. "
                    f"`babeltrace2 {trace.directory}` tells more."
                ) from error


def _import_bt2() -> Any:
    try:
        import bt2
    except ImportError as error:
        raise TraceError(
            f"Cannot read traces: Python's module bt2 is not importable ({error}). Install the "
            "package python3-bt2 and use an environment that sees system packages (make setup)."
        ) from error
    return bt2


def _cause(error: Any) -> str:
    """First cause in bt2's stack, the most precise one, without its `name=value` details."""
    causes = [cause.message for cause in error]
    text = str(causes[0] if causes else error)
    return re.split(r": [a-z-]+=", text)[0].strip().rstrip(".")


@contextlib.contextmanager
def _whole_packets(trace: CtfTrace, files: list[StreamFile] | None) -> Iterator[Path]:
    """Give a directory in which every stream ends at a packet boundary.

    bt2 gives up on all streams of a trace when one ends inside a packet. A cut stream is copied up
    to its last whole packet into a temporary directory; the others are linked there.
    """
    if files is None or not any(file.truncated_bytes for file in files):
        yield trace.directory
        return
    with tempfile.TemporaryDirectory(prefix="strata-whole-packets-") as name:
        place = Path(name)
        (place / "metadata").symlink_to((trace.directory / "metadata").resolve())
        for file in files:
            copy = place / file.path.name
            if not file.truncated_bytes:
                copy.symlink_to(file.path.resolve())
            elif file.whole_bytes:
                _copy_head(file.path, copy, file.whole_bytes)
        yield place


def _copy_head(source: Path, target: Path, count: int) -> None:
    with source.open("rb") as reader, target.open("wb") as writer:
        while count > 0:
            block = reader.read(min(count, 1 << 20))
            if not block:
                break
            writer.write(block)
            count -= len(block)
    shutil.copystat(source, target)


def _decode(
    bt2: Any, trace: CtfTrace, directory: Path, progress: Callable[[int], None]
) -> list[EventColumns]:
    plugin = bt2.find_plugin("ctf")
    if plugin is None:
        raise TraceError("Cannot read traces: babeltrace2 has no ctf plugin. Install babeltrace2.")
    source = bt2.ComponentSpec(plugin.source_component_classes["fs"], {"inputs": [str(directory)]})
    columns: dict[str, EventColumns] = {}
    event_message = bt2._EventMessageConst
    seen = 0
    for message in bt2.TraceCollectionMessageIterator(source):
        if type(message) is not event_message:
            continue
        event = message.event
        name = event.name
        table = columns.get(name)
        if table is None:
            table = columns[name] = _columns_of(bt2, event, name, trace.hostname)
        _append(table, event, message.default_clock_snapshot.ns_from_origin)
        seen += 1
        if seen % _PROGRESS_EVERY == 0:
            progress(_PROGRESS_EVERY)
    progress(seen % _PROGRESS_EVERY)
    return list(columns.values())


def _columns_of(bt2: Any, event: Any, name: str, host: str) -> EventColumns:
    """Lay out the columns of an event class: contexts first, then fields in declared order."""
    table = EventColumns(name, host)
    for source, scope in (
        ("common", event.common_context_field),
        ("specific", event.specific_context_field),
    ):
        for field in scope or ():
            table.add(_plain(field), *_kind(bt2, scope[field]), source=(source, field))
    packet = event.packet.context_field if event.stream.cls.supports_packets else None
    if packet is not None and "cpu_id" in packet:
        table.add("cpu_id", "int64", int, source=("packet", "cpu_id"))
    for field in event.payload_field or ():
        kind = _kind(bt2, event.payload_field[field])
        table.add(column_name(name, _plain(field)), *kind, source=("payload", field))
    return table


def _plain(field: str) -> str:
    """Remove the one underscore that LTTng puts before every field name in TSDL."""
    return field[1:] if field.startswith("_") else field


def _kind(bt2: Any, field: Any) -> tuple[str, Callable[[Any], Any]]:
    if isinstance(field, bt2._StringFieldConst):
        return "dictionary", str
    if isinstance(field, bt2._UnsignedIntegerFieldConst):
        return "uint64", int
    if isinstance(field, (bt2._SignedIntegerFieldConst, bt2._BoolFieldConst)):
        return "int64", int
    if isinstance(field, bt2._RealFieldConst):
        return "float64", float
    if isinstance(field, bt2._ArrayFieldConst):
        element = field.cls.element_field_class
        if isinstance(element, bt2._UnsignedIntegerFieldClassConst):
            if element.field_value_range == 8:
                return "binary", lambda value: bytes(int(item) for item in value)
            return "list<uint64>", lambda value: [int(item) for item in value]
        if isinstance(element, bt2._SignedIntegerFieldClassConst):
            return "list<int64>", lambda value: [int(item) for item in value]
    # Structures, variants and arrays of them occur in no event of ROS 2: kept as text.
    return "dictionary", str


def _append(table: EventColumns, event: Any, timestamp: int) -> None:
    table.timestamps.append(timestamp)
    for scope_name, fields in table.by_source.items():
        if scope_name == "payload":
            scope = event.payload_field
        elif scope_name == "common":
            scope = event.common_context_field
        elif scope_name == "packet":
            scope = event.packet.context_field
        else:
            scope = event.specific_context_field
        for field, convert, values in fields:
            values.append(convert(scope[field]))
