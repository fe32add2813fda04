# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Waits for a CPU within layers, of scenes with samples that some 100 ms lie between."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from message_results import MessageResults, message_results
from scene import BASE, Scene
from thread_samples import MS, samples

from strata.analysis import Bottleneck
from strata.model.build import Model
from strata.model.of_tables import model_of_tables
from strata.pipeline.messages import Wanted
from strata.read.thread_cpu import read_thread_cpu


def analyzed(scene: Scene, lines: str) -> tuple[Model, MessageResults]:
    with TemporaryDirectory() as place:
        samples(Path(place) / "s", lines)
        found = read_thread_cpu(Path(place) / "s")
    assert found is not None
    model = model_of_tables(scene.tables(), cpu=(found, BASE))
    return model, message_results(model, Wanted())


def waits(results: MessageResults) -> pd.DataFrame:
    rows = results.tables["layer_cpu_waits"]
    assert ((rows["least_ns"] <= rows["about_ns"]) & (rows["about_ns"] <= rows["most_ns"])).all()
    times = ["about_ns", "least_ns", "most_ns"]
    return rows.set_index(["message_id", "layer"])[times] / MS


def callbacks(*spans: tuple[float, float]) -> Scene:
    """Messages whose callbacks lie in spans of ms on thread 2.2, which waits for work else."""
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="f")
    before = 0
    for number, (begin, end) in enumerate(spans, 1):
        ns, until = round(begin * MS), round(end * MS)
        scene.play(f"""
            {before} 2.2 wait
            {ns - 500} 1.1 rmw_publish /t {number}
            {ns - 300} 2.2 ready
            {ns - 200} 2.2 execute f
            {ns - 100} 2.2 rmw_take f {number}
            {ns} 2.2 callback_start f
            {until} 2.2 callback_end f
        """)
        before = until + 1
    scene.play(f"{before} 2.2 wait\n{before + 500 * MS} 2.2 ready")
    return scene


def test_a_busy_thread_that_waits_for_nothing_else_waits_in_its_callbacks() -> None:
    scene = callbacks((110, 150), (210, 220))
    _, results = analyzed(
        scene,
        """
        100 2.2 cpu 1 wait 1 slices 3
        200 2.2 cpu 16 wait 26 slices 9
        300 2.2 cpu 26 wait 26 slices 10
        """,
    )
    found = waits(results)
    # 40 ms of work, of which it had 15 on a CPU. Where in 100 ms the waits were is not known.
    assert found.loc[(0, "callback")].tolist() == pytest.approx([25, 0, 25], abs=0.01)
    assert (1, "callback") not in found.index


def test_waits_are_spread_over_what_the_thread_did() -> None:
    _, results = analyzed(
        callbacks((110, 120), (150, 180)),
        """
        100 2.2 cpu 1 wait 1 slices 3
        200 2.2 cpu 21 wait 21 slices 9
        """,
    )
    found = waits(results)
    assert found.loc[(0, "callback"), "about_ns"] == pytest.approx(5, abs=0.01)
    assert found.loc[(1, "callback"), "about_ns"] == pytest.approx(15, abs=0.01)
    assert found.loc[(0, "callback"), "most_ns"] == 10


def test_a_wait_that_goes_over_many_samples_is_certain() -> None:
    # The kernel counts it when it ends.
    _, results = analyzed(
        callbacks((150, 550)),
        """
        100 2.2 cpu 1 wait 0 slices 3
        200 2.2 cpu 5 wait 0 slices 4
        600 2.2 cpu 6 wait 380 slices 5
        """,
    )
    about, least, most = waits(results).loc[(0, "callback")]
    assert least >= 325
    assert most <= 380
    assert least <= about <= most


def test_the_sentence_names_the_wait_and_says_that_it_is_estimated() -> None:
    spans = [(1000 * n + 110.0, 1000 * n + 150.0) for n in range(10)]
    lines = ["0 2.2 cpu 0 wait 0 slices 1"]
    for n in range(10):
        lines.append(f"{1000 * n + 100} 2.2 cpu {10 * n} wait {30 * n} slices {2 * n + 1}")
        lines.append(
            f"{1000 * n + 200} 2.2 cpu {10 * n + 10} wait {30 * n + 30} slices {2 * n + 2}"
        )
    _, results = analyzed(callbacks(*spans), "\n".join(lines))
    (found,) = results.bottlenecks
    assert isinstance(found, Bottleneck)
    assert found.where == "f [/t] (/sink)"
    assert found.text.startswith("callback of f [/t] (/sink): 40.0 ms of the typical 40.0 ms (100%")
    assert "; some 30.0 ms of it waiting for a CPU (estimated). In the slowest" in found.text
    assert found.cpu_wait_ns == found.tail_cpu_wait_ns == pytest.approx(30 * MS, rel=0.01)
    blame = results.tables["blame"]
    assert blame["share_p50"].sum() == pytest.approx(1)
    # What is estimated splits nothing: the callback is one cause, of its whole duration.
    whole = blame[blame["layer"] == "callback"]
    assert whole["typical_ns"].item() == 40 * MS
    assert whole["typical_cpu_wait_ns"].item() == pytest.approx(30 * MS, rel=0.01)


def test_a_sender_without_a_cpu_is_its_own_cause() -> None:
    scene = Scene()
    scene.publisher("/t", node="/source", pid=1)
    scene.subscription("/t", node="/sink", pid=2, symbol="f")
    scene.reader("R", pid=2)
    scene.play(f"""
        {100 * MS} 1.1 rmw_publish /t 100
        {100 * MS + 10} 1.1 write_begin
        {100 * MS + 20} 1.1 serialize_begin
        {100 * MS + 30} 1.1 serialize_end size=40
        {100 * MS + 40} 1.1 writer_history_add sample=A5 stamp=100
        {100 * MS + 50} 1.1 send_begin sample=A5 stamp=100 transport=16
        {374 * MS} 2.9 receive sample=A5 stamp=100 transport=16
        {374 * MS + 10} 2.9 reader_notify sample=A5 reader=R
        {374 * MS + 20} 2.2 execute f
        {374 * MS + 30} 2.2 take_begin reader=R
        {374 * MS + 40} 2.2 take_end reader=R sample=A5 stamp=100 taken=1
        {374 * MS + 50} 2.2 rmw_take f 100
        {374 * MS + 60} 2.2 callback_start f
        {374 * MS + 70} 2.2 callback_end f
        {378 * MS} 1.1 send_end transport=16 destinations=1 result=1
        {378 * MS + 10} 1.1 write_end
    """)
    _, results = analyzed(
        scene,
        """
        100 1.1 cpu 1 wait 0 slices 3
        400 1.1 cpu 2 wait 277 slices 5
        400 2.9 cpu 1 wait 0 slices 1
        """,
    )
    about, least, _ = waits(results).loc[(0, "dds write")]
    assert 240 < least <= about
    (found,) = results.bottlenecks
    assert found.layer == "dds write"
    assert found.where == "/t (/source)"
    assert "dds write of /t (/source)" in found.text
    assert "of it waiting for a CPU (estimated)" in found.text


def test_executor_wait_has_what_lies_outside_of_callbacks() -> None:
    scene = callbacks((110, 150))
    # It waits behind the first message's callback, and for the executor until 190.
    scene.play(f"""
        {120 * MS} 1.1 rmw_publish /t 9
        {190 * MS} 2.2 execute f
        {190 * MS + 10} 2.2 rmw_take f 9
        {190 * MS + 20} 2.2 callback_start f
        {190 * MS + 30} 2.2 callback_end f
    """)
    for row in scene.rows["ros2:rclcpp_executor_wait_for_work"]:
        if row["timestamp"] > BASE + 140 * MS:
            row["timestamp"] = BASE + 195 * MS
    _, results = analyzed(
        scene,
        """
        100 2.2 cpu 1 wait 1 slices 3
        200 2.2 cpu 11 wait 71 slices 9
        """,
    )
    most = waits(results).loc[(1, "executor wait"), "most_ns"]
    assert most == pytest.approx(40, abs=0.01)


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.integers(1, 60), st.integers(1, 60)), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 250)), min_size=8, max_size=8),
)
def test_bounds_hold_and_nothing_is_given_out_twice(
    spans: list[tuple[int, int]], sampled: list[tuple[int, int]]
) -> None:
    at, placed = 101.0, []
    for pause, length in spans:
        placed.append((at + pause, at + pause + length))
        at += pause + length
    cpu = wait = 0
    lines = ["100 2.2 cpu 0 wait 0 slices 1"]
    for number, (ran, waited) in enumerate(sampled, 2):
        cpu, wait = cpu + ran, wait + waited
        lines.append(f"{number * 100} 2.2 cpu {cpu} wait {wait} slices {number}")
    found = waits(analyzed(callbacks(*placed), "\n".join(lines))[1])
    assert found["about_ns"].sum() <= wait + 0.001


def test_without_samples_there_is_nothing() -> None:
    scene = callbacks((110, 150))
    results = message_results(scene.model(), Wanted())
    assert results.tables["layer_cpu_waits"].empty
