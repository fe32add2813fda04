# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Who is to blame when one end of a hop does not run: a sender in its send, or a reader.

What is planted is known by the nodes' own stamps and by the instants of the stops. A sender that
does not run inside its publish() is never the way's fault, wherever in it that was. All of the
reader's own waits for a CPU are allowed for.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from chain_truth import check_sums, clock_offset_ns, ns, of_topic, the_bottleneck, truth
from recorder import Recorder
from starved import CpuWaits
from stopping import StoppableProcess, StoppableThread, find_process

from strata.analysis import Analysis, Bottleneck
from strata.schema.layers import HOP_LAYERS

pytestmark = pytest.mark.live

PROGRAM = Path(__file__).parent / "programs/send_much.py"
TOPIC = "/data"
MS = 1_000_000
LONG_NS = 10 * MS
STOP_S = 0.04
STARVED_S = 2.5
PATIENCE_S = 10
OF_SENDER = [
    layer
    for layer in HOP_LAYERS
    if layer.name in ("client publish", "serialize", "dds write", "serialize + dds write")
]
Ints = npt.NDArray[np.int64]
Stoppable = StoppableProcess | StoppableThread
Plant = Callable[[int], None]


@dataclass(frozen=True)
class Run:
    """What was recorded of the program, and the processes of its nodes."""

    session: Path
    analysis: Analysis
    messages: pd.DataFrame
    pids: dict[str, int]

    def waited(self, node: str) -> Ints:
        """The most that a node's threads waited for a CPU during each message."""
        begin_ns = ns(self.messages["begin_ns"])
        waits = CpuWaits.of(self.session, self.pids[node])
        return waits.most(begin_ns, begin_ns + ns(self.messages["latency_ns"]))

    def of_sender(self) -> Ints:
        """What is the sender's of each message."""
        layers = self.messages[[layer.column for layer in OF_SENDER]]
        return layers.fillna(0).sum(axis=1).to_numpy(np.int64)

    def inside_publish(self) -> Ints:
        """For how long each publish() lasted until the reader had the message, by own stamps.

        From its first event on: what lies between the stamp and that is before the message.
        """
        left = ns(truth(self.session, "source", "published")["t_mono_ns"])
        came = ns(truth(self.session, "sink", "cb_start")["t_mono_ns"])
        return np.minimum(left, came) - ns(self.messages["publish_ns"])

    def bottleneck(self) -> Bottleneck:
        return the_bottleneck(self.analysis, TOPIC)


def record(recorded: Recorder, node: str, plant: Plant, *settings: str | Path) -> Run:
    """Record the program; `plant` does something to a node while it publishes.

    `settings` are the program's after LOG.
    """
    pids: dict[str, int] = {}

    def meanwhile(recording: Popen[str]) -> None:
        assert recording.stderr is not None
        while "all connected" not in recording.stderr.readline():
            assert recording.poll() is None
        for name in ("source", "sink"):
            pids[name] = find_process(recording.pid, PROGRAM.name, f"\0{name}\0")
        plant(pids[node])

    line = ["python3", PROGRAM, recorded.place / "session/truth", *settings]
    session, analysis = recorded.run(
        line, config="full", profile="fastdds_shm_large_segment", meanwhile=meanwhile
    )
    check_sums(analysis)
    found = of_topic(analysis, TOPIC)
    assert len(found) == int(settings[0])
    return Run(session, analysis, found, pids)


@contextmanager
def stoppable(pid: int, what: str) -> Iterator[Stoppable]:
    """The process, or its thread that publishes, which is its first."""
    if what == "process":
        yield StoppableProcess(pid)
    else:
        with StoppableThread.seized(pid) as thread:
            yield thread


def announced(fifo: Path) -> Iterator[bytes]:
    """Yield each byte that is written, until the writer closes or nothing comes for long."""
    file = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while select.select([file], [], [], PATIENCE_S)[0]:
            byte = os.read(file, 1)
            if not byte:
                return
            yield byte
    finally:
        os.close(file)


def check_sender(run: Run) -> None:
    """Assert that what a publish() took is the sender's, message by message and in the verdict."""
    inside_ns, sender_ns = run.inside_publish(), run.of_sender()
    held = inside_ns > LONG_NS
    # Enough to be the slowest 1 %.
    assert held.sum() >= 0.01 * len(held), f"{held.sum()} of {len(held)} were held up"
    missing = inside_ns - sender_ns - run.waited("sink")
    wrong = run.messages[held & (missing > 0.1 * inside_ns + MS)]
    columns = ["latency_ns", *(layer.column for layer in HOP_LAYERS)]
    assert wrong.empty, wrong[columns].dropna(axis=1, how="all").to_string()
    latency_ns = ns(run.messages["latency_ns"])
    slowest = latency_ns >= np.quantile(latency_ns, 0.99)
    # Others may have waited as long for a reader without a CPU.
    if not (held & (run.waited("sink") < 0.2 * latency_ns))[slowest].all():
        return
    found = run.bottleneck()
    assert found.tail_layer in [layer.name for layer in OF_SENDER], found.text
    assert "/source" in found.tail_where
    assert "of /sink was seen to run" not in found.text


@pytest.mark.parametrize("what", ["process", "thread"])
def test_a_sender_that_is_stopped_is_blamed_itself(
    recorded: Recorder, tmp_path: Path, what: str
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    def plant(pid: int) -> None:
        # At once and later, wherever that is inside of the publish().
        with stoppable(pid, what) as place:
            for number, _ in enumerate(announced(fifo)):
                time.sleep(0.00005 * (number % 6))
                place.stop(STOP_S)

    settings = ("300", "400000", "2", fifo)
    check_sender(record(recorded, "source", plant, *settings))


def test_a_sender_without_a_cpu_is_blamed_itself(recorded: Recorder) -> None:
    cpu = min(os.sched_getaffinity(0))

    def plant(pid: int) -> None:
        """Give it the lowest priority on a CPU that another program computes on, for a time."""
        tasks = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
        anywhere = os.sched_getaffinity(pid)
        with Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]) as rival:
            for task in tasks:
                os.sched_setaffinity(task, {cpu})
                os.setpriority(os.PRIO_PROCESS, task, 19)
            time.sleep(STARVED_S)
            rival.kill()
        for task in tasks:
            # On a busy machine some of its threads, or all, may have ended since.
            with suppress(ProcessLookupError):
                os.sched_setaffinity(task, anywhere)

    run = record(recorded, "source", plant, "300", "300000", "0")
    check_sender(run)
    assert "waiting for a CPU" in run.bottleneck().text


def test_a_reader_that_is_stopped_is_the_transport_to_it(recorded: Recorder) -> None:
    places: list[StoppableProcess] = []

    def plant(pid: int) -> None:
        places.append(StoppableProcess(pid))
        # It ends when it has all, and a busy machine is late.
        with suppress(ProcessLookupError, FileNotFoundError):
            for _ in range(16):
                time.sleep(0.02)
                places[0].stop(STOP_S)

    run = record(recorded, "sink", plant, "300", "1000", "4")
    sent = ns(truth(run.session, "source", "published")["t_mono_ns"])
    left = np.zeros(len(sent), np.int64)
    for begin_ns, end_ns in np.asarray(places[0].stops) + clock_offset_ns(run.session):
        during = (sent > begin_ns) & (sent < end_ns)
        left[during] = end_ns - sent[during]
    held = left > LONG_NS
    assert held.sum() > 0.2 * len(held)
    transport = ns(run.messages["transport_ns"].fillna(0))
    silent = ns(run.messages["reader_silent_ns"])
    allowed = 0.1 * left + MS + run.waited("sink") + run.waited("source")
    assert (np.abs(transport - left) <= allowed)[held].all()
    assert (np.abs(silent - left) <= allowed)[held].all()
    found = run.bottleneck()
    assert (found.layer, found.where) == ("transport", "/data to /sink over SHM")
    assert "no thread of /sink was seen to run" in found.text
