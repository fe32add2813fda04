# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What LTTng records of a program that knows how often it emitted what, in every kind of session.

The counts are the program's, the rows babeltrace2's (`oracle`).
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from lttng_world import World, wait_until
from oracle import assert_equal

from strata.read import open_trace

pytestmark = pytest.mark.live

PRODUCERS = Path(__file__).parent / "producers"
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")
USERS = ("vuid", "veuid", "vsuid", "vgid", "vegid", "vsgid")
# Application contexts are variants. Nobody provides the second one: "none" is chosen.
CONTEXTS = (
    *("vpid", "vtid", "procname", "pthread_id", "ip", "$app.every:kind", "$app.nobody:nothing"),
    *(f"{name}_ns" for name in NAMESPACES),
    *USERS,
)
FEW = ("vpid", "vtid", "procname")


class Session:
    """An LTTng session of one channel that records all user-space events."""

    def __init__(self, world: World, directory: Path) -> None:
        self.world = world
        self.directory = directory

    def start(
        self,
        *channel: str,
        create: tuple[str, ...] = (),
        contexts: tuple[str, ...] = FEW,
        events: tuple[str, ...] = ("--all",),
    ) -> None:
        self.world.start_daemon()
        self.world.lttng("create", "every", *create, "--output", str(self.directory))
        self.world.lttng("enable-channel", "-u", "-s", "every", "channel", *channel)
        self.world.lttng("enable-event", "-u", "-s", "every", "-c", "channel", *events)
        for name in contexts:
            self.world.lttng("add-context", "-u", "-s", "every", "-c", "channel", "-t", name)
        self.world.lttng("start", "every")

    def stop(self) -> None:
        self.world.lttng("stop", "every")
        self.world.lttng("destroy", "every")

    def produce(self, program: Path, *, rounds: int, threads: int, seed: str) -> Counter[str]:
        """Run the program to its end and return what it emitted."""
        return self.finish(self.launch(program, rounds, threads, seed))

    def launch(self, program: Path, *arguments: object) -> subprocess.Popen[str]:
        return self.world.popen(program, *map(str, arguments))

    @staticmethod
    def finish(process: subprocess.Popen[str]) -> Counter[str]:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
        return Counter(json.loads(out))


@pytest.fixture(scope="session")
def every_field(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the traced program that uses every field class."""
    program = tmp_path_factory.mktemp("every_field") / "every_field"
    sources = [PRODUCERS / f"{name}.c" for name in ("every_field", "app_context", "values")]
    line = ["cc", "-O1", "-I", PRODUCERS, *sources, "-o", program]
    subprocess.run([*line, "-llttng-ust", "-ldl", "-lpthread"], check=True)
    return program


@pytest.fixture
def session(world: World, tmp_path: Path) -> Session:
    return Session(world, tmp_path / "trace")


def counts(path: Path) -> Counter[str]:
    """Count the rows of the program's events; LTTng's own (its state dump) are left out."""
    tables = open_trace(path).tables()
    return Counter({name: len(rows) for name, rows in tables.items() if name.startswith("every:")})


def check(path: Path, emitted: Counter[str]) -> None:
    assert counts(path) == emitted
    assert_equal(path)


def test_per_user_buffers_with_every_context(session: Session, every_field: Path) -> None:
    session.start("--buffers-uid", "--subbuf-size=64k", "--num-subbuf=16", contexts=CONTEXTS)
    emitted = session.produce(every_field, rounds=40, threads=3, seed="contexts")
    session.stop()
    assert len(emitted) > 31
    assert set(emitted.values()) == {120}
    check(session.directory, emitted)


@pytest.mark.parametrize("events", [("every:empty",), ("every:integers,every:texts",)])
def test_a_few_event_types_alone(
    session: Session, every_field: Path, events: tuple[str, ...]
) -> None:
    session.start("--buffers-uid", "--subbuf-size=64k", events=events, contexts=())
    emitted = session.produce(every_field, rounds=100, threads=2, seed="few")
    session.stop()
    check(session.directory, Counter({name: emitted[name] for name in events[0].split(",")}))


def test_per_process_buffers_of_two_processes(session: Session, every_field: Path) -> None:
    session.start("--buffers-pid", "--subbuf-size=64k", "--num-subbuf=8")
    both = [session.launch(every_field, 30, 2, seed, 100) for seed in ("one", "two")]
    emitted = [session.finish(process) for process in both]
    session.stop()
    directories = sorted(session.directory.glob("ust/pid/*/metadata"))
    assert len(directories) == 2
    # One by one: together they get one clock offset, and babeltrace2 leaves each its own.
    for metadata in directories:
        assert_equal(metadata.parent)
    assert counts(session.directory) == emitted[0] + emitted[1]
    assert len(set(open_trace(session.directory).clock_offsets_ns.values())) == 1


def test_size_limited_trace_files(session: Session, every_field: Path) -> None:
    limits = ("--tracefile-size=64k", "--tracefile-count=1000")
    session.start("--buffers-uid", "--subbuf-size=16k", "--num-subbuf=64", *limits)
    emitted = session.produce(every_field, rounds=100, threads=2, seed="files")
    session.stop()
    assert len(list(session.directory.glob("ust/uid/*/64-bit/channel_?_[1-9]*"))) > 2
    check(session.directory, emitted)


def test_rotated_session(session: Session, every_field: Path) -> None:
    session.start("--buffers-uid", "--subbuf-size=64k", "--num-subbuf=16")
    emitted: Counter[str] = Counter()
    for seed in ("first", "second", "third"):
        emitted += session.produce(every_field, rounds=20, threads=2, seed=seed)
        session.world.lttng("rotate", "every")
    session.stop()
    assert len(list(session.directory.glob("archives/*/ust/uid/*/64-bit/metadata"))) >= 3
    check(session.directory, emitted)


def test_chunks_of_a_rotated_session_count_each_loss_once(
    session: Session, every_field: Path
) -> None:
    """Counts of what was discarded, and numbers of packets, go on from chunk to chunk."""
    session.start("--buffers-uid", "--discard", "--subbuf-size=4k", "--num-subbuf=2")
    emitted = 0
    for seed in ("first", "second", "third"):
        emitted += session.produce(every_field, rounds=100, threads=2, seed=seed).total()
        session.world.lttng("rotate", "every")
    session.stop()
    found = open_trace(session.directory)
    discarded = found.findings.counts["discarded_events"]
    read = sum(map(len, found.tables().values()))
    # LTTng's own events may be among the discarded.
    assert emitted <= counts(session.directory).total() + discarded <= read + discarded
    assert found.findings.counts == {"discarded_events": discarded}
    assert_equal(session.directory)

    oldest = min(session.directory.glob("archives/*"), key=lambda path: int(path.name[-1]))
    before = packets_of(oldest)
    shutil.rmtree(oldest)
    rest = open_trace(session.directory)
    rest.tables()
    assert set(rest.findings.counts) == {"discarded_events", "packets_before_trace"}
    assert rest.findings.counts["packets_before_trace"] == before


def packets_of(directory: Path) -> int:
    """Count the packets of a chunk by its indexes."""
    return sum(len(index_of(path)) for path in directory.glob("ust/uid/*/*/channel_*"))


def test_all_killed_while_timers_flush(session: Session, every_field: Path, tmp_path: Path) -> None:
    """Of a recording whose daemons are killed, what a timer flushed is there, with metadata."""
    world = session.world
    world.start_daemon()
    world.lttng("create", "every", "--output", str(session.directory))
    line = ("enable-channel", "-u", "-s", "every", "--switch-timer=100000")
    world.lttng(*line, "metadata")
    world.lttng(*line, "channel", "--subbuf-size=256k", "--num-subbuf=8")
    world.lttng("enable-event", "-u", "-s", "every", "-c", "channel", "--all")
    world.lttng("start", "every")
    process = session.launch(every_field, 10**9, 2, "timers", 500, tmp_path / "counters")
    wait_until(lambda: min(sizes(session.directory), default=0) > 2**16, "flushed sub-buffers")
    kill_family(world.daemon_pid())
    process.kill()
    process.communicate(timeout=60)
    found = open_trace(session.directory)
    assert sum(map(len, found.tables().values())) > 1000
    # Killed at any moment: what is half written is told, and nothing counts as damaged.
    half_written = {"truncated_streams", "truncated_bytes", "cut_metadata", "unreadable_bytes"}
    assert set(found.findings.counts) <= half_written


def test_overlapping_snapshots_hold_each_event_once(session: Session, every_field: Path) -> None:
    session.start("--buffers-uid", "--subbuf-size=256k", "--num-subbuf=8", create=("--snapshot",))
    first = session.produce(every_field, rounds=20, threads=2, seed="first")
    session.world.lttng("snapshot", "record", "-s", "every")
    second = session.produce(every_field, rounds=20, threads=2, seed="second")
    session.world.lttng("snapshot", "record", "-s", "every")
    session.stop()
    early, late = sorted(session.directory.glob("snapshot-*"))
    assert counts(early) == first
    assert counts(late) == first + second
    check(session.directory, first + second)
    twice = sum(size > 0 for size in sizes(early))  # the first snapshot's: a packet a stream
    assert lost(session.directory, "duplicate_packets") == twice


def test_discarded_events(session: Session, every_field: Path) -> None:
    session.start("--buffers-uid", "--discard", "--subbuf-size=4k", "--num-subbuf=2")
    emitted = session.produce(every_field, rounds=400, threads=3, seed="discarded")
    session.stop()
    # babeltrace2 tells a count that goes back as an unsigned difference.
    reported = warned_of(r"discarded (\d+) events? between", session.directory) % (1 << 64)
    assert lost(session.directory, "discarded_events") == reported > 0
    # LTTng's own events may be among the discarded.
    assert counts(session.directory).total() + reported >= emitted.total()
    assert_equal(session.directory)


def test_overwritten_packets(session: Session, every_field: Path) -> None:
    session.start("--buffers-uid", "--overwrite", "--subbuf-size=4k", "--num-subbuf=4")
    emitted = session.produce(every_field, rounds=400, threads=3, seed="overwritten")
    session.stop()
    reported = warned_of(r"discarded (\d+) packets? between", session.directory)
    indices = map(index_of, session.directory.glob("ust/uid/*/*/channel_*"))
    before_the_first = [packets[0][-1] for packets in indices if packets]
    assert lost(session.directory, "lost_packets") == reported
    assert lost(session.directory, "packets_before_trace") == sum(before_the_first)
    assert 0 < counts(session.directory).total() < emitted.total()
    assert_equal(session.directory)


def warned_of(pattern: str, path: Path) -> int:
    """Sum a number over babeltrace2's warnings."""
    line = ["babeltrace2", "--output", "/dev/null", path]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stderr
    return sum(map(int, re.findall(pattern, said)))


def lost(path: Path, code: str) -> int:
    return open_trace(path).findings.counts.get(code, 0)


def test_killed_producer(session: Session, every_field: Path, tmp_path: Path) -> None:
    """What an idle producer had not flushed is in the shared memory, and none of it is lost."""
    session.start("--buffers-uid", "--subbuf-size=64k", "--num-subbuf=8")
    process = session.launch(every_field, 30, 2, "killed", 0, tmp_path / "counters")
    assert process.stdout is not None
    emitted: Counter[str] = Counter(json.loads(process.stdout.readline()))
    process.kill()
    process.communicate(timeout=60)
    session.stop()
    check(session.directory, emitted)


def test_all_killed_while_an_event_is_written(
    session: Session, every_field: Path, tmp_path: Path
) -> None:
    """Sub-buffers that were not full are lost; of a session that waits for one there is no end."""
    session.start("--buffers-uid", "--subbuf-size=16k", "--num-subbuf=64")
    threads, counters = 2, tmp_path / "counters"
    process = session.launch(every_field, 10**9, threads, "killed", 20, counters)
    wait_until(lambda: sum(sizes(session.directory)) > 2**18, "full sub-buffers")
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: at_rest(session.directory), "the consumer daemon")
    kill_family(session.world.daemon_pid())
    emitted = sum(n for (n,) in struct.iter_unpack("=Q", counters.read_bytes()))
    assert 1_000 < counts(session.directory).total() <= emitted + threads
    assert_equal(session.directory)


def sizes(directory: Path) -> list[int]:
    return [stream.stat().st_size for stream in directory.glob("ust/uid/*/*/channel_*")]


def at_rest(directory: Path) -> bool:
    before = sizes(directory)
    time.sleep(0.3)
    return sizes(directory) == before


def kill_family(pid: int | None) -> None:
    """Kill a process and what it started."""
    lists = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    for child in " ".join(lists).split():
        kill_family(int(child))


def test_streams_cut_anywhere_keep_their_whole_packets(
    session: Session, every_field: Path, tmp_path: Path
) -> None:
    session.start("--buffers-uid", "--subbuf-size=4k", "--num-subbuf=256")
    session.produce(every_field, rounds=30, threads=2, seed="cut")
    session.stop()
    for seed in range(6):
        draw = random.Random(seed)
        cut, whole = tmp_path / f"cut{seed}", tmp_path / f"whole{seed}"
        for copy in (cut, whole):
            shutil.copytree(session.directory, copy)
        for stream in sorted(cut.glob("ust/uid/*/*/channel_*")):
            at = draw.randrange(stream.stat().st_size + 1)
            ends = [end for end in packet_ends(stream) if end <= at]
            truncate(stream, at)
            truncate(whole / stream.relative_to(cut), max(ends, default=0))
        shutil.rmtree(next(whole.glob("ust/uid/*/*/index")))
        assert rows(cut) == rows(whole)
        assert_equal(whole)


def packet_ends(stream: Path) -> list[int]:
    return [offset + bits // 8 for offset, bits, *_ in index_of(stream)]


def index_of(stream: Path) -> list[tuple[int, ...]]:
    """Read LTTng's index of a stream file: a packet's offset, bits, ..., and sequence number."""
    index = (stream.parent / "index" / f"{stream.name}.idx").read_bytes()
    magic, _, _, size = struct.unpack_from(">4I", index)
    assert (magic, size) == (0xC1F1DCC1, 72)
    return list(struct.iter_unpack(">9Q", index[16:]))


def truncate(path: Path, size: int) -> None:
    with path.open("r+b") as file:
        file.truncate(size)


def rows(path: Path) -> dict[str, str]:
    """Return the tables as text: a NaN equals itself there."""
    tables = open_trace(path).tables()
    return {name: repr(table.to_pylist()) for name, table in tables.items()}
