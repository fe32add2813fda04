# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows and arrays keep what they hold, whether they are in memory or in the file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from engine_runs import run_engine
from hypothesis import given, settings
from hypothesis import strategies as st

from strata.engine import memory
from strata.engine._model import memory_usage, set_memory
from strata.engine.memory import bytes_of, within_bound
from strata.errors import StrataError
from strata.read import open_trace

MB = 1 << 20
LARGE = 3 * MB // 8
"""Numbers of an array that lies in a block."""


@pytest.fixture
def bound(tmp_path: Path) -> Iterator[Callable[[int], None]]:
    """Sets the bound of this process, which is what it was afterwards."""

    def set_to(megabytes: int) -> None:
        with within_bound():
            pass  # What the environment says is set once.
        set_memory(megabytes * MB, str(tmp_path))

    yield set_to
    set_memory(memory.DEFAULT_BYTES, "/var/tmp")


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("make", "zeros", "write", "drop", "resize", "look")),
        st.integers(0, 30),
        st.integers(LARGE // 2, 5 * LARGE),
    ),
    max_size=40,
)


@settings(max_examples=20)
@given(steps=STEPS)
def test_arrays_hold_what_was_written(steps: list[tuple[str, int, int]]) -> None:
    arrays: list[np.ndarray] = []
    wanted: list[tuple[int, int]] = []
    with within_bound():
        set_memory(8 * MB, "/var/tmp")
        for number, (step, which, size) in enumerate(steps):
            at = which % len(arrays) if arrays else 0
            if step == "make" or not arrays:
                arrays.append(np.full(size, number, np.int64))
                wanted.append((number, size))
            elif step == "zeros":
                arrays.append(np.zeros(size, np.int64))
                wanted.append((0, size))
            elif step == "write":
                arrays[at][:] = number
                wanted[at] = (number, wanted[at][1])
            elif step == "drop":
                del arrays[at], wanted[at]
            elif step == "resize":
                old, (value, before) = arrays.pop(at), wanted.pop(at)
                old.resize(size, refcheck=False)
                old[before:] = value
                arrays.append(old)
                wanted.append((value, size))
            for array, (value, count) in zip(arrays, wanted, strict=True):
                assert len(array) == count
                assert np.all(array == value)
    in_memory, in_file, spare, error = memory_usage()
    assert error == 0
    assert in_memory + spare <= 8 * MB or in_file == 0
    del arrays
    set_memory(memory.DEFAULT_BYTES, "/var/tmp")


def test_more_than_the_bound_is_in_the_file(bound: Callable[[int], None]) -> None:
    bound(8)
    with within_bound():
        arrays = [np.arange(LARGE) + number for number in range(20)]
        in_memory, in_file, _, error = memory_usage()
    assert in_memory <= 8 * MB
    assert in_memory + in_file >= 20 * LARGE * 8
    assert error == 0
    for number, array in enumerate(arrays):
        assert np.array_equal(array, np.arange(LARGE) + number)
    before = memory_usage()[1]
    del arrays, array
    assert memory_usage()[1] < before


LOOK_AT_MUCH = """
import os, time
import numpy as np
from strata.engine._model import set_memory
from strata.engine.memory import within_bound
with within_bound():
    set_memory(8 << 20, "/var/tmp")
    arrays = [np.full(5 << 20, number) for number in range(20)]
    wanted = [number * (5 << 20) for number in range(20)]
    for _ in range(4):
        assert [int(array.sum()) for array in arrays] == wanted
    child = os.fork()
    if child == 0:
        arrays.clear()
        more = [np.full(5 << 20, 7) for _ in range(3)]
        os._exit(0 if all((array == 7).all() for array in more) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert [int(array.sum()) for array in arrays] == wanted
    for _ in range(1000):
        resident = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        if resident < 400 << 20:
            break
        time.sleep(0.01)
print(resident)
"""
"""Looks at 800 MiB, of which 8 MiB may be in memory, forks meanwhile, and waits for a time."""


def test_what_is_looked_at_does_not_stay_in_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOK_AT_MUCH], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 400 * MB


def repeated(tables: dict[str, pa.Table], times: int) -> dict[str, pa.Table]:
    """The events of some tables one time after the other."""
    stamps = [table["timestamp"].to_numpy() for table in tables.values()]
    span_ns = max(int(one.max()) for one in stamps) - min(int(one.min()) for one in stamps) + 1
    out = {}
    for name, table in tables.items():
        parts = []
        for number in range(times):
            part = table
            for column in ("timestamp", "source_timestamp"):
                if column in part.column_names:
                    place = part.column_names.index(column)
                    moved = pc.add(part[column], number * span_ns)
                    part = part.set_column(place, column, moved)
            parts.append(part)
        out[name] = pa.concat_tables(parts).combine_chunks()
    return out


def test_rows_do_not_depend_on_the_bound(
    sample: Callable[[str], Path], bound: Callable[[int], None]
) -> None:
    tables = repeated(open_trace(sample("fast_relay1p_mt")).tables(), 60)
    wanted = {
        (table, name): values.copy()
        for table, columns in run_engine(tables).rows.items()
        for name, values in columns.items()
    }
    bound(1)
    found = run_engine(tables).rows
    assert memory_usage()[1] > 4 * MB
    for (table, name), values in wanted.items():
        np.testing.assert_array_equal(found[table][name], values, f"{table}.{name}")


WITHOUT_A_DISK = f"""
import numpy as np
from strata.engine._model import set_memory
from strata.engine.memory import within_bound

with within_bound():
    pass  # What the environment says is set once.
set_memory({8 * MB}, "/proc")
with within_bound():
    arrays = [np.full({LARGE}, number) for number in range(20)]
assert all(np.all(array == number) for number, array in enumerate(arrays))
"""


def test_without_a_disk_rows_stay_in_memory() -> None:
    # In a process of its own: one whose earlier analyses have a file already keeps to that.
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", WITHOUT_A_DISK],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "RuntimeWarning: Cannot keep rows of the trace in a file" in done.stderr


@pytest.mark.parametrize(
    ("text", "size"), [("500M", 500 * MB), ("2g", 2048 * MB), ("64 KiB", 65536), ("7", 7)]
)
def test_sizes(text: str, size: int) -> None:
    assert bytes_of(text) == size


def test_what_is_no_size_is_said(sample: Callable[[str], Path]) -> None:
    with pytest.raises(StrataError, match="this is not a size"):
        bytes_of("much")
    done = subprocess.run(
        [sys.executable, "-m", "strata", "analyze", sample("fast_relay1p_mt")],
        env=os.environ | {"STRATA_MEMORY": "much"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("strata: Cannot keep the analysis within STRATA_MEMORY='much'")
