# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Samples of threads' waits for a CPU, of real processes that wait for one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from strata.read.thread_cpu import SAMPLER, ThreadCpu, read_thread_cpu
from strata.record.directory import THREAD_CPU
from strata.record.thread_cpu import ThreadSampling, why_not

pytestmark = pytest.mark.skipif(why_not() is not None, reason=str(why_not()))

MS = 1_000_000
# Two busy threads of one CPU, in a child of the process that is followed; each says what it waited
# and ran by its own schedstat and CPU clock. They stay while the last sample is taken.
_RIVALS = """
import os, sys, threading, time
os.sched_setaffinity(0, {int(sys.argv[1])})
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
    sys.exit()
def work(begin):
    while time.thread_time() - begin < 0.4:
        pass
    tid = threading.get_native_id()
    ran, waited, _ = open(f"/proc/self/task/{tid}/schedstat").read().split()
    # At once: both threads write.
    os.write(1, f"{os.getpid()} {tid} {ran} {waited}\\n".encode())
    time.sleep(0.6)
threads = [threading.Thread(target=lambda: work(time.thread_time())) for _ in range(2)]
# Python's lock would make them take turns of their own.
sys.setswitchinterval(1e-4)
[t.start() for t in threads]
[t.join() for t in threads]
"""


@pytest.fixture
def sampling(tmp_path: Path) -> Iterator[ThreadSampling]:
    found = ThreadSampling(tmp_path, os.environ)
    yield found
    found.stop()


def started(*arguments: str) -> subprocess.Popen[str]:
    line = [sys.executable, "-c", _RIVALS, *arguments]
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True)


def samples_of(place: Path) -> tuple[ThreadCpu, pd.DataFrame]:
    found = read_thread_cpu(place)
    assert found is not None
    rows = pd.DataFrame(found.samples).merge(
        pd.DataFrame({**found.threads, **found.names}), on="thread"
    )
    return found, rows


def test_waits_of_threads_of_a_child_are_what_the_kernel_counts(
    sampling: ThreadSampling, tmp_path: Path
) -> None:
    process = started(str(min(os.sched_getaffinity(0))))
    sampling.follow(process.pid)
    output, _ = process.communicate(timeout=60)
    sampling.stop()
    found, rows = samples_of(tmp_path)
    truth = [tuple(map(int, line.split())) for line in output.splitlines()]
    assert len(truth) == 2
    for pid, tid, ran_ns, waited_ns in truth:
        own = rows[rows["tid"] == tid]
        assert set(own["pid"]) == set(own["vpid"]) == {pid}
        assert set(own["vtid"]) == {tid}
        # Each takes its turn with the other, at least.
        assert waited_ns > 100 * MS
        last = own.iloc[-1]
        assert last["wait_ns"] == pytest.approx(waited_ns, abs=60 * MS)
        assert last["cpu_ns"] == pytest.approx(ran_ns, abs=60 * MS)
        for column in ("monotonic_ns", "cpu_ns", "wait_ns", "slices"):
            assert own[column].is_monotonic_increasing
    instants = rows.loc[rows["thread"] == SAMPLER, "monotonic_ns"]
    assert len(instants) >= 5
    assert time.monotonic_ns() - 60_000 * MS < instants.min() < instants.max() < time.monotonic_ns()
    assert process.pid in set(found.threads["pid"].tolist())


def test_nothing_but_the_tree_of_the_command_is_sampled(
    sampling: ThreadSampling, tmp_path: Path
) -> None:
    process = started(str(min(os.sched_getaffinity(0))))
    sampling.follow(process.pid)
    process.communicate(timeout=60)
    sampling.stop()
    _, rows = samples_of(tmp_path)
    own = rows[rows["thread"] != SAMPLER]
    assert os.getpid() not in set(own["pid"])
    assert own["pid"].nunique() == 2


def test_it_ends_with_the_recorder_and_leaves_whole_rows(
    sampling: ThreadSampling, tmp_path: Path
) -> None:
    script = (
        "import os, sys, time\n"
        "from pathlib import Path\n"
        "from strata.record.thread_cpu import ThreadSampling\n"
        "s = ThreadSampling(Path(sys.argv[1]), os.environ)\n"
        "s.follow(os.getpid())\n"
        "print(s._process.pid, flush=True)\n"
        "while True: pass\n"
    )
    place = tmp_path / "killed"
    place.mkdir()
    recorder = subprocess.Popen(
        [sys.executable, "-c", script, str(place)], stdout=subprocess.PIPE, text=True
    )
    assert recorder.stdout is not None
    sampler = int(recorder.stdout.readline())
    time.sleep(0.5)
    recorder.kill()
    recorder.wait()
    deadline = time.monotonic() + 20
    while Path(f"/proc/{sampler}/fd").is_dir() and time.monotonic() < deadline:
        if Path(f"/proc/{sampler}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
            break
        time.sleep(0.05)
    assert time.monotonic() < deadline
    # As if it had been killed while it wrote.
    with (place / THREAD_CPU / "samples.csv").open("a") as file:
        file.write("1,23")
    _, rows = samples_of(place)
    busy = rows[rows["pid"] == recorder.pid]
    assert busy["cpu_ns"].max() > 0
    assert (rows["monotonic_ns"] > 1000).all()


def test_the_cost_of_sampling_is_bounded(sampling: ThreadSampling, tmp_path: Path) -> None:
    # 200 threads: more than a system of 24 nodes has.
    program = (
        "import threading, time\n"
        "[threading.Thread(target=time.sleep, args=(1.5,)).start() for _ in range(200)]\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    sampling.follow(process.pid)
    process.wait(timeout=60)
    sampling.stop()
    found, rows = samples_of(tmp_path)
    assert len(found.threads["pid"]) >= 201
    own = rows[rows["thread"] == SAMPLER]
    # From the second on: the first finds everything.
    cost = own["cpu_ns"].iloc[-1] - own["cpu_ns"].iloc[1]
    elapsed = own["monotonic_ns"].iloc[-1] - own["monotonic_ns"].iloc[1]
    assert cost < 0.1 * elapsed


def test_more_processes_are_followed_as_they_are_named(
    sampling: ThreadSampling, tmp_path: Path
) -> None:
    busy = "import time\nwhile time.process_time() < 0.5: pass\ntime.sleep(0.5)"
    processes = []
    for _ in range(3):
        processes.append(subprocess.Popen([sys.executable, "-c", busy]))
        sampling.follow(processes[-1].pid)
        # One that is followed already stays so.
        sampling.follow(processes[0].pid)
        time.sleep(0.3)
    for process in processes:
        process.wait(timeout=60)
    sampling.stop()
    found, rows = samples_of(tmp_path)
    for process in processes:
        own = rows[rows["pid"] == process.pid]
        assert own["cpu_ns"].max() > 300 * MS
    threads = [pid for pid in found.threads["pid"].tolist() if pid == processes[0].pid]
    assert len(threads) == 1
