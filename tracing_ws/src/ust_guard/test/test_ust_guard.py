# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""LTTng-UST's descriptors are out of a program's way, and it cannot take them away."""

from __future__ import annotations

import errno
import re
import subprocess
from pathlib import Path

import pytest
from traced_ros import ROOT, Lttng, alone

GUARD = ROOT / "tracing_ws/install/jazzy/lib/ust_guard/libust_guard.so"
PROGRAMS = Path(__file__).parent / "programs"
pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("owned") / "owned"
    linked = ["-Wl,--no-as-needed", "-llttng-ust"]
    subprocess.run(["cc", "-w", PROGRAMS / "owned.c", "-o", program, *linked], check=True)
    return program


def run(lttng: Lttng, program: Path, limit: int, *preloaded: Path) -> list[str]:
    session, _ = lttng.start()
    line = ["sh", "-c", f"ulimit -n {limit}; exec env LD_PRELOAD=$GUARD {program}"]
    try:
        words = alone(line, {"GUARD": ":".join(map(str, preloaded))}, lttng)
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    finally:
        lttng.stop(session)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.parametrize(("limit", "first"), [(1024, 768), (4096, 768), (256, 192)])
def test_descriptors_are_at_the_top_and_stay(lttng, owned, limit, first):
    *told, last, left, executed = run(lttng, owned, limit, GUARD)
    assert len(told) >= 6
    for line in told:
        fields = line.split()
        assert int(fields[1]) >= first
        assert fields[2] == "1", "a program that is executed would inherit it"
        bad = ["-1", str(errno.EBADF)]
        assert fields[3:] == ["close", *bad, "dup2", *bad, "dup3", *bad]
    # The program's own number is the lowest, and is closed with all others.
    assert last == (
        f"own 3 close_range 0 0 close -1 {errno.EBADF} closefrom 0 0 close -1 {errno.EBADF}"
        f" range -1 {errno.EINVAL}"
    )
    assert left == f"left {len(told)}"
    # The last is that of the directory which it lists.
    assert executed.split() == ["0", "1", "2", "3"]


def test_with_too_few_they_stay_where_they_are_and_are_kept_all_the_same(lttng, owned):
    *told, _, left, _ = run(lttng, owned, 32, GUARD)
    assert left == f"left {len(told)}"
    assert all(re.search(rf"close -1 {errno.EBADF}", line) for line in told)


def test_without_it_they_are_the_programs_to_close(lttng, owned):
    """What the guard is for."""
    session, _ = lttng.start()
    try:
        done = subprocess.run(
            alone([owned], {}, lttng), capture_output=True, text=True, timeout=60, check=False
        )
    finally:
        lttng.stop(session)
    assert "owned 3 " in done.stdout
    assert "close 0 0" in done.stdout
