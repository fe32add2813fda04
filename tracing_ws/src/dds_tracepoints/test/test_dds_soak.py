# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A million messages with the hooks at work arrive byte for byte as they were sent."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bt2
import pytest
from dds_events import LIBRARY, Program, run
from native import PROGRAMS, compiled
from traced_ros import Lttng, Ros

pytestmark = pytest.mark.live
DOMAIN = "72"
DISTROS = ("jazzy", "kilted")
MODES = {"two processes": ["receive", "publish"], "one process": ["both"]}
WRITERS = 2
# SOAK_MESSAGES=... makes it longer.
MESSAGES = int(os.environ.get("SOAK_MESSAGES", "1000000")) // len(DISTROS) // len(MODES)

CALL = """
import ctypes, sys
words = [word.encode() for word in sys.argv[1:]]
sys.exit(ctypes.CDLL(sys.argv[1]).main(len(words), (ctypes.c_char_p * len(words))(*words)))
"""


@pytest.fixture(scope="module", params=DISTROS)
def ros(request: pytest.FixtureRequest) -> Ros:
    return Ros(request.param)


@pytest.fixture(scope="module")
def library(ros: Ros, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert ros.wheels is not None
    include = ros.wheels / "include"
    places = [f"-I{place}" for place in (include, *include.iterdir()) if place.is_dir()]
    names = ["rcl", "rmw", "rcutils", "rosidl_runtime_c"]
    names += [f"std_msgs__rosidl_{part}_c" for part in ("typesupport", "generator")]
    return compiled(
        tmp_path_factory.mktemp(ros.distro) / "libsoak.so",
        *["-shared", "-fPIC", "-pthread", *places, PROGRAMS / "soak.c"],
        *[f"-L{ros.wheels / 'lib'}", *(f"-l{name}" for name in names)],
        compiler="gcc",
    )


@contextmanager
def small_buffers(lttng: Lttng) -> Iterator[tuple[str, Path]]:
    """Record every event into small buffers that are written over again and again."""
    name = f"soak_{uuid.uuid4().hex[:8]}"
    output = lttng.home / name
    lttng.command("create", name, "--snapshot", f"--output={output}")
    lttng.command("enable-channel", "-u", "-s", name, "--overwrite", "--subbuf-size=64K", "all")
    lttng.command("enable-event", "-u", "-s", name, "-c", "all", "dds:*,ros2:*")
    lttng.command("add-context", "-u", "-s", name, "-t", "vpid", "-t", "vtid")
    lttng.command("start", name)
    try:
        yield name, output
    finally:
        lttng.command("destroy", name)


def names(output: Path) -> set[str]:
    messages = bt2.TraceCollectionMessageIterator(str(output))
    return {m.event.name for m in messages if type(m) is bt2._EventMessageConst}


@pytest.mark.parametrize("mode", MODES)
def test_what_arrives_is_what_was_sent(lttng: Lttng, ros: Ros, library: Path, mode: str):
    environment = ros.environment(hook=False) | {"ROS_DOMAIN_ID": DOMAIN}
    hooks = ros.install / "lib/dds_tracepoints" / LIBRARY.name
    environment["LD_PRELOAD"] += f":{hooks}"
    programs = [
        Program(ros.python("-c", CALL, library, role, str(MESSAGES // WRITERS)), environment)
        for role in MODES[mode]
    ]
    with small_buffers(lttng) as (session, output):
        ended = run(programs, lttng)
        lttng.command("snapshot", "record", "-s", session)
        recorded = names(output)
    assert [program.err for program in ended] == [""] * len(ended)
    # The receiver ends with status 1 at the first byte that differs.
    assert ended[0].out.startswith(f"{MESSAGES // WRITERS * WRITERS} messages, ")
    assert {
        "dds:write_begin",
        "dds:writer_history_add",
        "dds:take_end",
        "ros2:rmw_take",
    } <= recorded
    if mode == "two processes":
        assert {"dds:send_begin", "dds:receive", "dds:reader_history_add"} <= recorded
