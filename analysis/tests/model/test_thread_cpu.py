# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of threads' waits for a CPU become windows of the trace's threads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scene import BASE, Scene
from thread_samples import MS, samples

from strata.model.build import Model
from strata.model.columns import NONE
from strata.model.of_tables import model_of_tables
from strata.model.thread_cpu_frames import bounds_of_traffic, thread_cpu_rows
from strata.read.thread_cpu import read_thread_cpu


def model_with(place: Path, lines: str) -> Model:
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.play("100 1.1 rmw_publish /t 100\n 200 1.5 rmw_publish /t 200")
    samples(place, lines)
    found = read_thread_cpu(place)
    assert found is not None
    return model_of_tables(scene.tables(), cpu=(found, BASE))


def test_rows_are_windows_since_the_sample_before(tmp_path: Path) -> None:
    model = model_with(
        tmp_path,
        """
        0     1.1 cpu 5 wait 1 slices 3
        100   1.1 cpu 9 wait 2 slices 4
        200   1.5 cpu 1 wait 0 slices 1
        400   1.1 cpu 9 wait 92 slices 5
        """,
    )
    windows = pd.DataFrame(vars(model.cpu.windows)).set_index("thread")
    threads = model.cpu.threads
    (first,), (other,) = (threads.number[threads.vtid == tid] for tid in (1, 5))
    own = windows.loc[first]
    # Whole since its begin; since its row before; not since then, but since the last sample.
    assert ((own["begin_ns"] - BASE) / MS).tolist() == [-6, 0, 300]
    assert ((own["end_ns"] - BASE) / MS).tolist() == [0, 100, 400]
    assert (own["cpu_ns"] / MS).tolist() == [5, 4, 0]
    assert (own["wait_ns"] / MS).tolist() == [1, 1, 90]
    assert own["slices"].tolist() == [3, 1, 1]
    assert windows.loc[[other], "begin_ns"].tolist() == [BASE + 100 * MS]
    of_model = model.events.processes.thread_vtid[threads.model_thread]
    assert of_model.tolist() == threads.vtid.tolist()


def test_the_table_has_sums_of_threads_traced_or_not(tmp_path: Path) -> None:
    model = model_with(
        tmp_path,
        """
        0     1.1 cpu 5 wait 1 slices 3
        100   1.7 cpu 0 wait 0 slices 1
        100   2.2 cpu 1 wait 0 slices 1
        200   2.2 cpu 1 wait 3 slices 2
        """,
    )
    table = thread_cpu_rows(model).frame().set_index("vtid")
    assert (table["on_cpu_ns"] / MS).to_dict() == {1: 5, 7: 0, 2: 1}
    assert (table["cpu_wait_ns"] / MS).to_dict() == {1: 1, 7: 0, 2: 3}
    assert table["wait_share"].drop(7).to_dict() == {1: 1 / 6, 2: 3 / 4}
    assert table["wait_share"].isna()[7]
    assert table.loc[2, "longest_wait_ns"] == 3 * MS
    # A thread without events is of its process; a process without events is of none.
    assert table["process_id"].isna().to_dict() == {1: False, 7: False, 2: True}
    assert set(table["host"]) == {"h"}


def test_threads_are_sampled_where_nothing_was_traced(tmp_path: Path) -> None:
    samples(tmp_path, "0 2.2 cpu 1 wait 3 slices 2")
    found = read_thread_cpu(tmp_path)
    assert found is not None
    model = model_of_tables(Scene().tables(), cpu=(found, BASE))
    (row,) = thread_cpu_rows(model).frame().to_dict("records")
    assert (row["on_cpu_ns"], row["cpu_wait_ns"]) == (1 * MS, 3 * MS)
    assert (row["traffic_on_cpu_ns"], row["traffic_cpu_wait_ns"]) == (0, 0)


def test_what_a_process_needs_to_start_is_not_of_its_traffic(tmp_path: Path) -> None:
    scene = Scene()
    scene.publisher("/parameter_events", node="/source", pid=1)
    scene.subscription("/parameter_events", node="/sink", pid=2, symbol="on_parameters")
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="on_t")
    # The internal topic's message is early; those of the application are at 1000 and 2000 ms.
    for at, topic, name in [(50, "/parameter_events", "on_parameters"), (1000, "/t", "on_t")]:
        scene.play(
            f"{at * MS} 1.1 rmw_publish {topic} {at}\n{at * MS + 9} 2.2 rmw_take {name} {at}"
        )
    scene.play(f"{2000 * MS} 1.1 rmw_publish /t 2000\n{2000 * MS + 9} 2.2 rmw_take on_t 2000")
    samples(
        tmp_path,
        """
        0    1.1 cpu 1   wait 0   slices 1
        900  1.1 cpu 400 wait 450 slices 9
        1100 1.1 cpu 410 wait 460 slices 11
        1500 1.1 cpu 430 wait 465 slices 20
        1900 1.1 cpu 450 wait 470 slices 30
        2500 1.1 cpu 900 wait 900 slices 99
        """,
    )
    found = read_thread_cpu(tmp_path)
    assert found is not None
    model = model_of_tables(scene.tables(), cpu=(found, BASE))
    # Samples are 100 ms apart: a thread without a row in one had not changed.
    row = thread_cpu_rows(model).frame().iloc[0]
    assert (row["on_cpu_ns"], row["cpu_wait_ns"]) == (900 * MS, 900 * MS)
    assert (row["traffic_on_cpu_ns"], row["traffic_cpu_wait_ns"]) == (50 * MS, 20 * MS)


@pytest.mark.parametrize(
    "torn",
    ["1,5", "1,x,1,1,1,1", f"1,{1 << 70},1,1,1,1", "1,,1,1,1,1", '"', "1,1,1,1,1,1,1,1", "\x00"],
)
def test_rows_that_are_not_whole_are_left_out(tmp_path: Path, torn: str) -> None:
    samples(tmp_path, "0 1.1 cpu 5 wait 1 slices 3\n 100 1.1 cpu 9 wait 2 slices 4")
    whole = read_thread_cpu(tmp_path)
    file = tmp_path / "thread_cpu/samples.csv"
    file.write_text(file.read_text() + torn)
    found = read_thread_cpu(tmp_path)
    assert found is not None and whole is not None
    assert len(found.samples["thread"]) > 0
    for name, values in whole.samples.items():
        assert found.samples[name].tolist() == values.tolist()


def test_files_without_a_sample_have_none(tmp_path: Path) -> None:
    samples(tmp_path, "0 1.1 cpu 5 wait 1 slices 3")
    file = tmp_path / "thread_cpu/samples.csv"
    file.write_text(file.read_text().splitlines()[0] + "\n")
    found = read_thread_cpu(tmp_path)
    assert found is not None
    assert not len(found.samples["thread"])
    file.write_text("")
    assert read_thread_cpu(tmp_path) is None


def test_the_bounds_of_traffic_of_no_process_are_none() -> None:
    process, ns = np.asarray([1, 1, 0]), np.asarray([5, 3, 9])
    first, last = bounds_of_traffic([(process, ns), (process[:1], ns[:1] + 10)], 3)
    far = np.iinfo(np.int64).max
    assert first.tolist() == [9, 3, far, far]
    assert last.tolist() == [9, 15, NONE, NONE]
