# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A recording of which the oldest parts are dropped, analyzed chunk by chunk while it goes on."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from subprocess import PIPE

import pytest
from lttng_world import World, manifest
from watched_system import CHAIN, program, ready_environment

import strata

pytestmark = pytest.mark.live

MESSAGES = 800
KEPT_S = 10


def analyzers_of(session: Path) -> list[int]:
    """Return the processes that analyze the chunks of a session."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"strata.results.beside" in line and os.fsencode(session) in line:
                found.append(int(entry.name))
    return found


def windows_in(session: Path) -> int:
    try:
        return int(json.loads((session / "results/results.json").read_text())["windows"])
    except (FileNotFoundError, ValueError):
        return 0


def test_results_are_complete_though_the_trace_is_not(world: World, tmp_path: Path) -> None:
    session = tmp_path / "session"
    options = ["--results", "--rotate", "5s", "--keep", f"{KEPT_S}s", "-c", "full"]
    line = [sys.executable, "-m", "strata", "record", *options, "-o", session]
    environment = ready_environment(world)
    recorder = world.popen(
        *line, "--", *program(MESSAGES), env=environment, stderr=PIPE, stdout=PIPE
    )
    until = time.monotonic() + 60
    while windows_in(session) < 2 and time.monotonic() < until:
        time.sleep(0.2)
    (analyzer,) = analyzers_of(session)
    os.kill(analyzer, signal.SIGKILL)
    shown = world.run(
        *(sys.executable, "-m", "strata", "live", session, "--once", "--format", "json"),
        env=environment,
        timeout_s=60,
    )
    _, said = recorder.communicate(timeout=120)
    assert recorder.returncode == 0, said
    assert "it is started again" in said
    assert "session/results\n" in said
    assert not analyzers_of(session)
    live = json.loads(shown.stdout)
    assert CHAIN in {chain["name"] for chain in live["total"]["chains"]}

    rotation = manifest(session)["rotation"]
    assert rotation["chunks_dropped"] >= 1
    found, left = strata.analyze(session / "results"), strata.analyze(session)
    hops = found.hops.set_index("topic")
    # Both wait for a reader, which may not know its writer yet when the first message comes.
    of_a, of_b = hops.loc["/a"], hops.loc["/b"]
    assert (of_a["received"], of_a["lost"], of_b["lost"]) == (MESSAGES, 0, 0)
    assert of_b["received"] + of_b["before_first"] == MESSAGES
    assert of_b["before_first"] < MESSAGES / 10
    (chain,) = found.chains.loc[found.chains["name"] == CHAIN].to_dict("records")
    assert chain["count"] == of_b["received"]
    own = found.messages[found.messages["topic"].isin(["/a", "/b"])]
    assert len(own) == of_a["received"] + of_b["received"]
    assert found.counts.unmatched_take == 0
    assert {"/source", "/worker", "/sink"} <= set(found.nodes["name"])
    # What the trace has, the results have, to the nanosecond.
    assert 0 < len(left.messages) < len(found.messages)
    columns = ["publish_ns", "callback_end_ns", "latency_ns"]
    in_trace = left.messages.loc[left.messages["topic"] == "/b", columns]
    inside = own.loc[own["topic"] == "/b", columns]
    assert len(in_trace.merge(inside, on=columns)) == len(in_trace)
    assert found.trace.events > left.trace.events
