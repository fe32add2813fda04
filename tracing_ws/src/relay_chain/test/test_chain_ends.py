# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""However a chain is ended, none of its processes stays."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from chain_process import (
    CLIENTS,
    JAZZY,
    alive,
    children,
    finish,
    read_until,
    stamps,
    truth,
    wait_until,
)

FOR_EVER = 1_000_000


@contextmanager
def sending(
    log: Path, client: str, processes: str
) -> Iterator[tuple[subprocess.Popen[str], dict[int, str]]]:
    """Start a chain and wait until its source sends: the process and its children."""
    options = f"--client {client} --messages {FOR_EVER} --processes {processes}"
    chain = JAZZY.chain(*options.split(), "--log", log)
    mine: dict[int, str] = {}
    try:
        read_until(chain, f"source: all connected, sending {FOR_EVER} messages")
        mine = children(chain.pid)
        assert len(mine) == {"one": 0, "two": 2, "each": 5}[processes]
        yield chain, mine
    finally:
        for pid in [chain.pid, *mine]:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)
        chain.wait()


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("processes", ["one", "two", "each"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_all_and_keeps_the_stamps(
    tmp_path: Path, client: str, processes: str, number: signal.Signals
) -> None:
    with sending(tmp_path, client, processes) as (chain, mine):
        chain.send_signal(number)
        status, errors = finish(chain)
        assert status == 128 + number, errors
        assert not [line for pid, line in mine.items() if alive(pid)]
    assert "Traceback" not in errors
    nodes = truth(tmp_path)
    assert set(nodes) == {"source", "relay_0", "relay_1", "relay_2", "sink"}
    assert len(stamps(nodes["source"], "publish")) < FOR_EVER


def test_a_dead_relay_ends_the_chain(tmp_path: Path, client: str) -> None:
    with sending(tmp_path, client, "each") as (chain, mine):
        victim = next(pid for pid, line in mine.items() if "__node:=relay_1 " in line)
        os.kill(victim, signal.SIGKILL)
        status, errors = finish(chain)
        assert not [line for pid, line in mine.items() if alive(pid)]
    assert status == 1
    assert "did not end cleanly: relay_1 (exit status -9)\n" in errors


def test_a_dead_half_ends_the_chain(tmp_path: Path, client: str) -> None:
    with sending(tmp_path, client, "two") as (chain, mine):
        victim = next(pid for pid, line in mine.items() if " relay_0 " in line)
        os.kill(victim, signal.SIGKILL)
        status, errors = finish(chain)
        assert not [line for pid, line in mine.items() if alive(pid)]
    assert status == 1
    assert "did not end cleanly: relay_0 + relay_2 (exit status -9)\n" in errors


@pytest.mark.parametrize("processes", ["two", "each"])
def test_children_do_not_outlive_a_killed_chain(
    tmp_path: Path, client: str, processes: str
) -> None:
    with sending(tmp_path, client, processes) as (chain, mine):
        chain.kill()
        wait_until(lambda: not any(alive(pid) for pid in mine), "end of the children", 60.0)


def test_a_signal_at_the_very_start_ends_it(tmp_path: Path, client: str) -> None:
    chain = JAZZY.chain("--client", client, "--messages", str(FOR_EVER), "--log", tmp_path)
    wait_until(lambda: len(children(chain.pid)) == 5, "children")
    mine = children(chain.pid)
    chain.send_signal(signal.SIGINT)
    status, errors = finish(chain)
    assert status == 128 + signal.SIGINT, errors
    assert not [line for pid, line in mine.items() if alive(pid)]


def test_a_node_that_is_done_and_hangs_is_ended_and_no_failure() -> None:
    """As where the middleware waits for itself: one node was done before, the other was not."""
    status, errors = finish(JAZZY.start("python3", "-c", _HANGING))
    assert status == 0, errors
    assert errors == (
        "relay_chain: done was done, but its middleware did not end\n"
        f"['stuck (exit status -{signal.SIGKILL})']\n"
    )


_HANGING = """
import subprocess, sys
from relay_chain.chain import _end

hang = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\\n{}\\n"
hang += "print(flush=True); time.sleep(60)"
done = "from relay_chain.stop import end_in_time; end_in_time()"
children = {
    name: subprocess.Popen(["python3", "-c", hang.format(last)], stdout=subprocess.PIPE)
    for name, last in {"done": done, "stuck": ""}.items()
}
for child in children.values():
    child.stdout.readline()
print(_end(children), file=sys.stderr)
"""


def test_a_node_that_cannot_run_leaves_no_files(tmp_path: Path, client: str) -> None:
    program = "sink_cpp" if client == "rclcpp" else "sink"
    settings = (f"log:={tmp_path}", "executor:=wrong")
    status, errors = finish(JAZZY.executable(program, *settings))
    assert status == 1
    assert "Cannot use parameter executor: 'wrong' is" in errors
    assert list(tmp_path.iterdir()) == []
