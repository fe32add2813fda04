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
from dds_events import Program, run
from traced_ros import Lttng, Ros
from wheels import built, hooked, line

pytestmark = pytest.mark.live
DOMAIN = "72"
DISTROS = ("jazzy", "kilted")
MODES = {"two processes": ["receive", "publish"], "one process": ["both"]}
WRITERS = 2
# SOAK_MESSAGES=... makes it longer.
MESSAGES = int(os.environ.get("SOAK_MESSAGES", "1000000")) // len(DISTROS) // len(MODES)


@pytest.fixture(scope="module", params=DISTROS)
def ros(request: pytest.FixtureRequest) -> Ros:
    return Ros(request.param)


@pytest.fixture(scope="module")
def library(ros: Ros, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ros, "soak.c", tmp_path_factory.mktemp(ros.distro))


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
    programs = [
        Program(line(ros, library, role, str(MESSAGES // WRITERS)), hooked(ros, DOMAIN))
        for role in MODES[mode]
    ]
    with small_buffers(lttng) as (session, output):
        ended = run(programs, lttng)
        lttng.command("snapshot", "record", "-s", session)
        recorded = names(output)
    assert [program.err for program in ended] == [""] * len(ended)
    # The receiver ends with status 1 at the first byte that differs.
    assert ended[0].out.startswith(f"{MESSAGES // WRITERS * WRITERS} messages, ")
    assert {"dds:written", "dds:taken", "ros2:rmw_take"} <= recorded
    if mode == "two processes":
        assert {"dds:sent", "dds:received"} <= recorded
    else:
        assert {"dds:reader_history_add", "dds:reader_notify"} <= recorded
