# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The camera's driver events, in a trace, against its own stamps."""

from __future__ import annotations

import csv
import re
import subprocess
from pathlib import Path

import pytest
from camera_process import JAZZY, SOURCES, environment, pictures, words_of
from traced_ros import Lttng

_EVENT = re.compile(
    r"^\[(?P<ns>\d+)\] .*?(?P<name>\w+:\w+): .*vtid = (?P<tid>\d+) \}, \{(?P<rest>.*)\}$"
)
_FIELD = re.compile(r'(\w+) = ("[^"]*"|-?\w+)')
MS = 1_000_000


def read(trace: Path) -> list[tuple[str, int, dict[str, str]]]:
    """Give name, thread and fields of the events, in order."""
    done = subprocess.run(
        ["babeltrace2", "--clock-cycles", str(trace)], capture_output=True, text=True, check=True
    )
    found = [_EVENT.match(line) for line in done.stdout.splitlines()]
    return [
        (one["name"], int(one["tid"]), dict(_FIELD.findall(one["rest"]))) for one in found if one
    ]


@pytest.mark.parametrize("source_program", SOURCES)
def test_each_image_has_its_driver_events_before_its_publish(
    lttng: Lttng, tmp_path: Path, source_program: str
) -> None:
    log = tmp_path / "camera.csv"
    variables = environment()
    # A full ROS 2 has tracepoints of its own: there nothing is preloaded.
    if preload := JAZZY.environment().get("LD_PRELOAD"):
        variables["LD_PRELOAD"] = preload
    session, output = lttng.start("driver:*")
    lttng.command("enable-event", "-u", "-s", session, "-c", "all", "ros2:rcl_publish")
    try:
        settings = ["-p", pictures(5), "-p", f"log:='{log}'"]
        done = lttng.run(
            JAZZY, *words_of(source_program), "--ros-args", *settings, environment=variables
        )
    finally:
        lttng.stop(session)
    assert done.returncode == 0, done.stderr
    events = read(output)
    with log.open() as file:
        stamps = [{name: int(text) for name, text in row.items()} for row in csv.DictReader(file)]

    ((_, thread, made),) = [one for one in events if one[0] == "driver:source_init"]
    assert (made["kind"], made["name"]) == ('"appsink"', '"camera"')
    assert made["address"].startswith('"appsink')
    # The publishing thread's, but for what rcl publishes of its own before and after.
    names = [name.partition(":")[2] for name, tid, _ in events if tid == thread]
    first, last = names.index("buffer_pulled"), len(names) - names[::-1].index("copy_done")
    image = ["buffer_pulled", "copy_done", "rcl_publish", "rcl_publish"]
    assert names[first : last + 2] == image * 5

    pulled = [fields for name, _, fields in events if name == "driver:buffer_pulled"]
    copied = [fields for name, _, fields in events if name == "driver:copy_done"]
    for number, (pull, copy, row) in enumerate(zip(pulled, copied, stamps, strict=True)):
        assert pull["source"] == copy["source"] == made["source"]
        assert pull["frame"] == copy["frame"] == str(number)
        assert pull["bytes"] == copy["bytes"] == str(320 * 240 * 3)
        assert (pull["pts_ns"], pull["dropped"]) == (str(number * 10 * MS), "0")
        assert int(pull["queue_ns"]) == row["pulled_mono_ns"] - row["arrived_mono_ns"] >= 0
