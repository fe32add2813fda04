# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Pulls images of every encoding and checks each pixel; then what a failing pipeline says."""

import sys
import time

from camera_pipeline._capture import Capture, CaptureError
from camera_pipeline.pipelines import CAPS, explain

COLOR = "videotestsrc num-buffers=4 pattern=solid-color foreground-color=0xff204080"
SIZE = "video/x-raw,width=641,height=33,framerate=50/1"


def check_rgb8() -> None:
    capture = Capture(f"{COLOR} ! {SIZE} ! videoconvert", CAPS["rgb8"], sync=True)
    assert capture.name.startswith("appsink"), capture.name
    frames = []
    began_ns = time.monotonic_ns()
    capture.play(5.0)
    while not capture.ended:
        frame = capture.pull(5.0)
        if frame is not None:
            assert frame.arrived_ns <= time.monotonic_ns()
            assert frame.arrived_ns >= (frames[-1].arrived_ns if frames else began_ns)
            frames.append(frame)
    capture.close()
    # Frames outlive their pipeline.
    assert [frame.pts_ns for frame in frames] == [0, 20_000_000, 40_000_000, 60_000_000]
    assert len({frame.clock_ns - frame.pts_ns for frame in frames}) == 1
    for frame in frames:
        assert (frame.width, frame.height, frame.step, len(frame)) == (641, 33, 1924, 1924 * 33)
        view = memoryview(frame)
        assert view.readonly
        for row in range(33):
            assert view[row * 1924 : row * 1924 + 1923] == bytes((0x20, 0x40, 0x80)) * 641


def check_others() -> None:
    # Made in that format, not converted: a conversion dithers.
    for encoding, step, unit in (("mono8", 644, 1), ("yuv422", 1284, 4)):
        capture = Capture(f"{COLOR} ! {SIZE} ! identity", CAPS[encoding], sync=False)
        capture.play(5.0)
        frame = capture.pull(5.0)
        assert (frame.width, frame.height, frame.step) == (641, 33, step), encoding
        pixels = bytes(frame)[:640]
        assert len(set(pixels)) > (unit > 1), encoding
        assert pixels == pixels[:unit] * (640 // unit), encoding
        capture.close()
    capture = Capture(f"{COLOR} ! {SIZE} ! jpegenc", CAPS["jpeg"])
    capture.play(5.0)
    frame = capture.pull(5.0)
    assert (frame.width, frame.height, frame.step) == (641, 33, 0)
    assert bytes(frame)[:2] == b"\xff\xd8"
    capture.close()
    try:
        capture.pull(1.0)
    except ValueError as error:
        assert str(error) == "the Capture is closed"
    else:
        raise AssertionError("a closed Capture was pulled from")


def check_limit() -> None:
    """Above the limit the oldest are dropped, and counted."""
    capture = Capture(
        f"videotestsrc num-buffers=20 ! {SIZE} ! videoconvert", CAPS["rgb8"], False, 3
    )
    capture.play(5.0)
    time.sleep(1)
    got = []
    while (frame := capture.pull(5.0)) is not None:
        got.append((frame.pts_ns // 20_000_000, frame.dropped))
    assert capture.ended
    assert got == [(17, 17), (18, 17), (19, 17)], got


def failure(description: str, encoding: str) -> str:
    try:
        capture = Capture(description, CAPS[encoding])
        capture.play(0.5)
        while capture.pull(0.5) is not None:
            pass
    except CaptureError as error:
        return explain(error.args, description, encoding)
    return "no failure"


if len(sys.argv) == 1:
    check_rgb8()
    check_others()
    check_limit()
for given in sys.argv[1:]:
    print(failure(*given.split(" as ")))
