# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Transport names its reader, and says where no thread of the reader ran."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from message_results import message_results
from scene import BASE, Scene
from thread_samples import MS, samples

from strata.model.of_tables import model_of_tables
from strata.pipeline.messages import Wanted
from strata.read.thread_cpu import read_thread_cpu

COUNT = 10
SILENT = " (for all of it no thread of /filter was seen to run)"


def scene(transport: int, more: str = "", late_ns: int = 0) -> Scene:
    """Ten messages a second apart, received 200 ms after each send, which is so late."""
    made = Scene()
    made.publisher("/scan", node="/source", pid=1)
    made.subscription("/scan", node="/filter", pid=2, symbol="on_scan")
    made.reader("R", pid=2)
    # Before its first event nothing is known of a process.
    made.play(f"{900 * MS} 2.2 wait")
    for number in range(1, COUNT + 1):
        ns = number * 1000 * MS
        sent, thread = ns + late_ns, 3 if late_ns else 1
        end = sent + 200 * MS
        made.play(f"""
            {ns} 1.1 rmw_publish /scan {number}
            {ns + 10} 1.1 write_begin
            {ns + 20} 1.1 serialize_begin
            {ns + 30} 1.1 serialize_end size=40
            {ns + 40} 1.1 writer_history_add sample=A{number} stamp={number}
            {sent + 50} 1.{thread} send_begin sample=A{number} stamp={number} transport={transport}
            {sent + 60} 1.{thread} send_end transport={transport} port=7411 destinations=1 result=1
            {ns + 70} 1.1 write_end
            {end} 2.9 receive sample=A{number} stamp={number} transport={transport} port=7411
            {end + 10} 2.9 reader_notify sample=A{number} reader=R
            {end + 20} 2.2 execute on_scan
            {end + 30} 2.2 take_begin reader=R
            {end + 40} 2.2 take_end reader=R sample=A{number} stamp={number} taken=1
            {end + 50} 2.2 rmw_take on_scan {number}
            {end + 60} 2.2 callback_start on_scan
            {end + 70} 2.2 callback_end on_scan
        """)
    if more:
        made.play(more)
    return made


def blamed(made: Scene, place: Path | None = None) -> pd.Series:
    found = read_thread_cpu(place) if place else None
    model = model_of_tables(made.tables(), cpu=(found, BASE) if found else None)
    results = message_results(model, Wanted())
    (bottleneck,) = results.bottlenecks
    assert bottleneck.layer == "transport"
    assert f"transport of {bottleneck.where}" in bottleneck.text
    assert bottleneck.typical_ns == results.tables["messages"]["transport_ns"].median()
    said = re.search(r"for all of it no thread of /filter was seen to run", bottleneck.text)
    return bottleneck.where + (f" ({said[0]})" if said else "")


def test_a_stopped_reader_is_said_to_be_one() -> None:
    assert blamed(scene(16)) == f"/scan to /filter over SHM{SILENT}"


def test_over_a_socket_the_way_may_be_slow() -> None:
    assert blamed(scene(1)) == "/scan to /filter over UDPv4"


def test_a_process_that_emitted_all_the_time_ran() -> None:
    sent = [number * 1000 * MS for number in range(1, COUNT + 1)]
    busy = "\n".join(f"{ns + n * MS * 9 // 10} 2.3 wait" for ns in sent for n in range(223))
    assert blamed(scene(16, busy)) == "/scan to /filter over SHM"


@pytest.mark.parametrize(("ran", "said"), [(1, ""), (0, SILENT)])
def test_a_process_that_had_a_cpu_by_the_samples_ran(tmp_path: Path, ran: int, said: str) -> None:
    # A thread without events, sampled each 50 ms or so.
    rows = ["0 2.7 cpu 0 wait 0 slices 1"]
    for number in range(1, COUNT + 1):
        for part in (0, 100, 200):
            cpu = number * 3 + part // 100
            rows.append(f"{number * 1000 + part} 2.7 cpu {cpu * ran} wait {cpu} slices {cpu}")
    samples(tmp_path, "\n".join(rows))
    assert blamed(scene(16), tmp_path) == f"/scan to /filter over SHM{said}"


def test_history_names_the_reader_that_came_late() -> None:
    model = model_of_tables(scene(1, late_ns=11_000 * MS).tables())
    (bottleneck,) = message_results(model, Wanted()).bottlenecks
    assert (bottleneck.layer, bottleneck.where) == ("history", "/scan to /filter")
