# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Pools of Zenoh's shared memory, against processes that map files as Zenoh does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from scenario_files import run, shell

from strata.scenario.zenoh_pools import ZenohPools

MAPPING = """
import mmap, sys
kept = []
for path in sys.argv[1:]:
    with open(path, "r+b") as file:
        kept.append(mmap.mmap(file.fileno(), 0))
print("mapped", flush=True)
sys.stdin.read()
"""
POOL, BOOKKEEPING, LEAST = 4 << 20, 1310720, 2 << 20


def made(place: Path, name: str, size: int) -> Path:
    path = place / name
    with path.open("wb") as file:
        file.truncate(size)
    return path


@contextmanager
def mapping(*paths: Path) -> Iterator[int]:
    """A process that has these files mapped."""
    command = [sys.executable, "-c", MAPPING, *map(str, paths)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "mapped\n"
        yield process.pid
        assert process.stdin is not None
        process.stdin.close()


def test_a_pool_is_read_when_a_second_process_maps_it(tmp_path: Path) -> None:
    former = made(tmp_path, "1.zenoh", POOL)
    pools = ZenohPools(tmp_path)
    one, other = made(tmp_path, "2.zenoh", POOL), made(tmp_path, "3.zenoh", 2 * POOL)
    small, foreign = made(tmp_path, "4.zenoh", BOOKKEEPING), made(tmp_path, "5.shm", POOL)
    with ExitStack() as open_ones:
        first = open_ones.enter_context(mapping(one, former, small, foreign))
        second = open_ones.enter_context(mapping(other, former, small, foreign))
        pools.look([first, second])
        assert pools.as_json() == {"made": 2, "bytes": 3 * POOL, "shared": 0, "least_bytes": LEAST}
        third = open_ones.enter_context(mapping(one))
        pools.look([first, second, third])
        assert pools.as_json() == {"made": 2, "bytes": 3 * POOL, "shared": 1, "least_bytes": LEAST}
    # What was seen once stays, without the files and the processes.
    for path in (one, other):
        path.unlink()
    pools.look([first, second, third])
    assert pools.as_json() == {"made": 2, "bytes": 3 * POOL, "shared": 1, "least_bytes": LEAST}


def test_a_place_that_is_not_there_has_no_pools(tmp_path: Path) -> None:
    pools = ZenohPools(tmp_path / "none")
    pools.look([1])
    assert pools.as_json() == {"made": 0, "bytes": 0, "shared": 0, "least_bytes": LEAST}


def test_a_run_notes_the_pools_of_its_processes(tmp_path: Path) -> None:
    """Two processes that map one file in /dev/shm, as a publisher and a subscription do."""
    program = tmp_path / "map.py"
    program.write_text(MAPPING.replace("sys.stdin.read()", "import time; time.sleep(1.5)"))
    name = Path("/dev/shm") / f"strata_test_{tmp_path.parent.name}_{tmp_path.name}.zenoh"
    text = "resources: {every_s: 0.1}\nduration: {messages: 1}\nprocesses:\n"
    text += shell("maker", f"truncate -s {POOL} {name}; exec {sys.executable} {program} {name}")
    reader = f"while [ ! -s {name} ]; do sleep 0.1; done; exec {sys.executable} {program} {name}"
    text += shell("reader", reader, "ends: true")
    try:
        ran = run(tmp_path, text)
        pools = ran.outcome["resources"]["zenoh_pools"]
    finally:
        name.unlink(missing_ok=True)
    # Others on this machine may make some meanwhile.
    assert pools["made"] >= 1
    assert pools["bytes"] >= POOL
    assert pools["shared"] == 1
