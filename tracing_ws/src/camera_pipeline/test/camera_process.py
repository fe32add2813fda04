# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the installed camera and subscriber as a user would, in a ROS domain of their own."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from traced_ros import Ros, free_domain

JAZZY = Ros("jazzy")
PROGRAMS = Path(__file__).parent / "programs"
BOUND_S = 60.0
_DOMAIN = free_domain()


def _in_both(name: str) -> list[object]:
    """Give a program in Python and in C++; that is skipped where there is no rclcpp."""
    compiled = JAZZY.install / f"lib/camera_pipeline/{name}_cpp"
    skip = pytest.mark.skipif(
        not compiled.exists(),
        reason="camera_pipeline was built without rclcpp: only its Python nodes",
    )
    return [name, pytest.param(compiled.name, marks=skip)]


SUBSCRIBERS = _in_both("image_subscriber")
SOURCES = _in_both("camera_source")
# In C++ it is started as Python starts scripts: in the same environment.
_EXECUTE = "import os, sys; os.execv(sys.argv[1], sys.argv[1:])"


@dataclass(frozen=True)
class Ended:
    status: int
    errors: str


def packages() -> Path:
    """Give the directory of the workspace's Python packages, with the camera's built part."""
    found = list(JAZZY.install.glob("lib/python3.*/site-packages/camera_pipeline/_capture*.so"))
    if not found and subprocess.run(["pkg-config", "--exists", "gstreamer-app-1.0"]).returncode:
        pytest.skip("GStreamer is not installed (libgstreamer-plugins-base1.0-dev)")
    if not found:
        pytest.fail(
            f"{JAZZY.install} holds no camera_pipeline with GStreamer: run make setup",
            pytrace=False,
        )
    return found[0].parents[1]


def environment(**variables: str) -> dict[str, str]:
    found = JAZZY.environment(hook=False, preload=False, path=(packages(),))
    return {**found, "ROS_DOMAIN_ID": str(_DOMAIN), **variables}


def words_of(program: str | Path) -> list[str | Path]:
    """Give the words for Python that run an executable of the package."""
    path = JAZZY.install / "lib/camera_pipeline" / program
    return ["-c", _EXECUTE, path] if path.name.endswith("_cpp") else [path]


def start(
    program: str | Path, *settings: str, remappings: Sequence[str] = (), **variables: str
) -> subprocess.Popen[str]:
    """Start an executable, `settings` being `parameter:=value`; `remappings` are words for it."""
    words = [*remappings, *(word for setting in settings for word in ("-p", setting))]
    return subprocess.Popen(
        JAZZY.python(*words_of(program), "--ros-args", *words),
        env=environment(**variables),
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> Ended:
    try:
        _, errors = process.communicate(timeout=BOUND_S)
    except subprocess.TimeoutExpired:
        process.terminate()
        _, errors = process.communicate()
        pytest.fail(f"did not end within {BOUND_S} s:\n{errors}")
    return Ended(process.returncode, errors)


def end(process: subprocess.Popen[str]) -> Ended:
    process.send_signal(signal.SIGTERM)
    return finish(process)


def run(program: str, *settings: str, **variables: str) -> Ended:
    return finish(start(program, *settings, **variables))


def run_program(name: str, *arguments: str | Path, **variables: str) -> str:
    """Run a program of these tests in the ROS environment; returns its stdout."""
    done = subprocess.run(
        JAZZY.python(PROGRAMS / name, *arguments),
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=BOUND_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def pictures(images: int, width: int = 320, height: int = 240, rate: int = 100) -> str:
    """Give the pipeline parameter of so many test pictures."""
    return (
        f"gscam_config:=videotestsrc num-buffers={images} pattern=black ! "
        f"video/x-raw,width={width},height={height},framerate={rate}/1 ! videoconvert"
    )
