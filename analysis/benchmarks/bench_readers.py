# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The readers that bench_read.py measures, each to be run in a process of its own.

usage: bench_readers.py {chunks,again,tables,dicts,memory,parquet} TRACE
Prints JSON. `cpu_s` is the CPU time of reading alone: without the interpreter's start and imports,
but with finding the trace and parsing its metadata.
"""

from __future__ import annotations

import json
import mmap
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHUNK_ROWS = 1 << 18
# More events as Python dicts would fill the memory.
MOST_DICTS = 2_000_000
_ROUNDS = 7
_LEAST_BYTES = 64 << 20


def chunks(path: str, rounds: int = 1) -> dict[str, float]:
    """Decode to columns, a chunk at a time, each dropped; the best of some rounds."""
    from strata.read import open_trace

    best = float("inf")
    for _ in range(rounds):
        events = 0
        begin = time.process_time()
        for chunk in open_trace(path).chunks(chunk_rows=CHUNK_ROWS):
            events += sum(len(batch) for batches in chunk.values() for batch in batches)
        best = min(best, time.process_time() - begin)
    return {"events": events, "cpu_s": best}


def again(path: str) -> dict[str, float]:
    """Decode in chunks where the process has the memory already: the rounds after the first."""
    return chunks(path, _ROUNDS)


def tables(path: str) -> dict[str, float]:
    """Decode to whole tables; also tell how many bytes go in and come out."""
    from strata.read import open_trace

    begin = time.process_time()
    trace = open_trace(path)
    found = trace.tables()
    cpu_s = time.process_time() - begin
    return {
        "events": sum(len(table) for table in found.values()),
        "cpu_s": cpu_s,
        "bytes_in": int(trace.decoder.packets["content_bits"].sum()) // 8,
        "bytes_out": sum(table.nbytes for table in found.values()),
    }


def dicts(path: str) -> dict[str, float]:
    """Read with babeltrace2's Python to a list of dicts, at most MOST_DICTS."""
    import bt2

    begin = time.process_time()
    rows: list[dict[str, Any]] = []
    for message in bt2.TraceCollectionMessageIterator(path):
        if type(message) is not bt2._EventMessageConst:
            continue
        rows.append(_event_dict(message))
        if len(rows) == MOST_DICTS:
            break
    return {"events": len(rows), "cpu_s": time.process_time() - begin}


def _event_dict(message: Any) -> dict[str, Any]:
    event = message.event
    row = {
        "_name": event.name,
        "_timestamp": message.default_clock_snapshot.ns_from_origin,
        "cpu_id": int(event.packet.context_field["cpu_id"]),
    }
    for fields in (event.common_context_field, event.specific_context_field, event.payload_field):
        if fields is not None:
            for name, value in fields.items():
                row[name] = _plain(value)
    return row


def _plain(value: Any) -> Any:
    import bt2

    if isinstance(value, bt2._IntegerFieldConst):
        return int(value)
    if isinstance(value, bt2._StringFieldConst):
        return str(value)
    if isinstance(value, bt2._ArrayFieldConst):
        return [_plain(item) for item in value]
    return float(value)


def parquet(path: str) -> dict[str, float]:
    """Read back what `strata convert` wrote."""
    import pyarrow.parquet as pq

    begin = time.process_time()
    found = [pq.read_table(file) for file in Path(path).glob("*.parquet")]
    return {"events": sum(map(len, found)), "cpu_s": time.process_time() - begin}


def memory(path: str) -> dict[str, float]:
    """Measure the memory, in bytes a second of CPU time: the floor of any reader."""
    import numpy as np

    streams = [file for file in sorted(Path(path).iterdir()) if file.name.startswith("ros2_")]
    stored = np.concatenate([np.fromfile(file, np.uint8) for file in streams])
    loaded = np.tile(stored, -(-_LEAST_BYTES // len(stored)))
    loaded = loaded[: len(loaded) // 8 * 8].view(np.uint64)
    size = loaded.nbytes
    reused = np.zeros_like(loaded)

    def touch_small_pages() -> None:
        with mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as fresh:
            np.frombuffer(fresh, np.uint64).fill(1)

    return {
        "copy": 2 * size / _least(lambda: np.copyto(reused, loaded)),
        "read": size / _least(loaded.sum),
        "reused": size / _least(lambda: reused.fill(1)),
        "fresh": size / _least(touch_small_pages),
        "fresh_huge": size / _least(lambda: np.empty_like(loaded).fill(1)),
    }


def _least(work: Callable[[], Any]) -> float:
    found = float("inf")
    for _ in range(_ROUNDS):
        begin = time.process_time()
        work()
        found = min(found, time.process_time() - begin)
    return found


READERS = {
    "chunks": chunks,
    "again": again,
    "tables": tables,
    "dicts": dicts,
    "memory": memory,
    "parquet": parquet,
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(READERS[sys.argv[1]](sys.argv[2])))
