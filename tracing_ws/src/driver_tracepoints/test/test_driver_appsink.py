# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Unmodified programs that pull from a GStreamer appsink."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from driver_trace import PROGRAMS, compiled, run, trace, with_hooks

pytestmark = pytest.mark.live
CAPS = "video/x-raw,format=RGB,width=64,height=48,framerate=50/1"
SIZE = 64 * 48 * 3
BUFFERS = 12


def pipeline(sink: str = "", *, live: bool = False) -> str:
    """A test picture whose buffers differ; at once, or in their own time."""
    source = f"videotestsrc pattern=ball num-buffers={BUFFERS} is-live={str(live).lower()}"
    return f"{source} ! {CAPS} ! appsink name=out sync={str(live).lower()} {sink}"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    asked = ["pkg-config", "--cflags", "--libs", "gstreamer-app-1.0"]
    found = subprocess.run(asked, capture_output=True, text=True)
    if found.returncode != 0:
        pytest.skip("GStreamer's headers are not installed (libgstreamer-plugins-base1.0-dev)")
    plugin = subprocess.run(
        ["pkg-config", "--variable=pluginsdir", "gstreamer-1.0"], capture_output=True, text=True
    )
    if not (Path(plugin.stdout.strip()) / "libgstvideotestsrc.so").exists():
        pytest.skip("no videotestsrc (gstreamer1.0-plugins-base)")
    place = tmp_path_factory.mktemp("pull")
    return compiled(place / "pull", PROGRAMS / "pull.c", *found.stdout.split())


def environment(program: Path) -> dict[str, str]:
    """A registry of the tests' own."""
    return {"GST_REGISTRY": str(program.parent / "registry")}


@pytest.mark.parametrize("way", ["pull", "try", "signal", "try-signal"])
def test_every_buffer_is_told_and_nothing_changes(lttng, program, way):
    line = [program, pipeline(), way, "0"]
    plain = run(line, environment(program))
    assert plain.endswith("end 1\n")
    assert run(line, environment(program) | with_hooks(), lttng) == plain
    printed, events = trace(lttng, line, environment(program) | with_hooks())
    assert printed == plain
    source, *pulls = events
    assert list(source.fields.values()) == [1, "appsink", "", "out"]
    truth = [list(map(int, row.split())) for row in plain.splitlines()[:-1]]
    assert len(truth) == BUFFERS
    assert [[event["bytes"], event["pts_ns"]] for event in pulls] == [row[:2] for row in truth]
    assert {event.name for event in pulls} == {"buffer_pulled"}
    assert [event["frame"] for event in pulls] == list(range(BUFFERS))
    assert {(event["source"], event["dropped"]) for event in pulls} == {(1, 0)}
    assert all(0 <= event["queue_ns"] < 30e9 for event in pulls)


def test_a_buffer_that_lies_in_the_sink_has_its_time(lttng, program):
    """All are there at once; each is pulled 50 ms after the one before it."""
    line = [program, pipeline(), "pull", "50"]
    _, (_, *pulls) = trace(lttng, line, environment(program) | with_hooks())
    assert len(pulls) == BUFFERS
    # The last one could have lain there for 11 pulls; the source may be slow to begin.
    assert pulls[-1]["queue_ns"] > 100e6
    # They came within a millisecond or so. An arrival is the event's time less the time in the
    # queue, and between the two readings of the clock a busy machine may run something else.
    arrivals = [event.arrival_ns for event in pulls]
    slack_ns = 20_000_000
    assert all(later > earlier - slack_ns for earlier, later in pairwise(arrivals))


def test_what_the_sink_drops_is_counted(lttng, program):
    """A live source of 50 frames a second, and a reader that takes its time."""
    line = [program, pipeline("max-buffers=2 drop=true", live=True), "pull", "100"]
    printed, (_, *pulls) = trace(lttng, line, environment(program) | with_hooks())
    assert len(pulls) == len(printed.splitlines()) - 1
    # Frame n of the source has the n-th time stamp; the sink gives them in order.
    numbers = [round(event["pts_ns"] / 20e6) for event in pulls]
    first = numbers[0] - pulls[0]["dropped"]
    assert [event["dropped"] for event in pulls] == [
        number - first - index for index, number in enumerate(numbers)
    ]
    assert pulls[-1]["dropped"] == BUFFERS - len(pulls) > 3


IN_PYTHON = """
import gi, sys
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
pipeline = Gst.parse_launch(sys.argv[1])
sink = pipeline.get_by_name("out")
pipeline.set_state(Gst.State.PLAYING)
while True:
    sample = sink.emit("pull-sample")
    if sample is None:
        break
    print(sample.get_buffer().get_size(), sample.get_buffer().pts)
pipeline.set_state(Gst.State.NULL)
"""


def test_a_python_program_that_emits_the_signal(lttng, program):
    try:
        import gi

        gi.require_version("Gst", "1.0")
    except (ImportError, ValueError) as error:
        pytest.skip(f"no GStreamer for Python: {error}")
    line = [sys.executable, "-c", IN_PYTHON, pipeline()]
    printed, (_, *pulls) = trace(lttng, line, environment(program) | with_hooks())
    told = [f"{event['bytes']} {event['pts_ns']}" for event in pulls]
    assert told == printed.splitlines()
    assert len(told) == BUFFERS and all(event["queue_ns"] >= 0 for event in pulls)
    assert {event["bytes"] for event in pulls} == {SIZE}


def test_a_sink_that_the_driver_announced_is_left_to_it(lttng, program, tmp_path):
    source = tmp_path / "announce.c"
    source.write_text(
        "#include <stdint.h>\n"
        "uint64_t strata_driver_source_init(const char*, const char*, const char*);\n"
        "__attribute__((constructor)) static void announce(void) {\n"
        '  strata_driver_source_init("appsink", "camera", "out");\n'
        "}\n"
    )
    announcing = compiled(tmp_path / "libannounce.so", "-shared", "-fPIC", source)
    line = [program, pipeline(), "pull", "0"]
    hooks = with_hooks([], announcing)
    _, events = trace(lttng, line, environment(program) | hooks)
    assert [list(event.fields.values()) for event in events] == [[1, "appsink", "camera", "out"]]
