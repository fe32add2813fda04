# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Decoded memory is handed to Arrow and NumPy as it is, and lives as long as they look at it."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from strata.read import open_trace
from strata.read.decoder import EVERYTHING

Sample = Callable[[str], Path]


def test_arrow_and_numpy_read_the_memory_of_the_decoder(sample: Sample) -> None:
    reading = open_trace(sample("fast_throws")).decoder.read(EVERYTHING, 1 << 18)
    batch = next(iter(next(reading._reader)))
    first, second = pa.record_batch(batch), pa.record_batch(batch)
    for one, other in zip(first.columns, second.columns, strict=True):
        addresses = [
            [buffer and buffer.address for buffer in array.buffers()] for array in (one, other)
        ]
        assert addresses[0] == addresses[1]
    times = first.column("timestamp")
    assert times.to_numpy(zero_copy_only=True).ctypes.data == times.buffers()[1].address


def test_what_is_kept_of_a_chunk_outlives_it_and_the_trace(sample: Sample) -> None:
    trace = open_trace(sample("fast_relay1p_st"))
    expected = trace.tables(["ros2:rmw_take"])["ros2:rmw_take"]["timestamp"].to_numpy()
    views = [
        batch.column("timestamp").to_numpy(zero_copy_only=True)
        for chunk in trace.chunks(chunk_rows=500)
        for batch in chunk.get("ros2:rmw_take", [])
    ]
    del trace
    gc.collect()
    # Blocks of later chunks would have overwritten those of earlier ones.
    assert len(views) > 10
    assert np.array_equal(np.concatenate(views), expected)
