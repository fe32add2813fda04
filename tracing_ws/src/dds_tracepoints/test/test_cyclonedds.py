# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The events of Cyclone DDS 0.10, from two real programs over UDP."""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from cyclone_peers import Peers, build, content
from dds_events import DdsEvent, Ended, read, run, start, trace
from traced_ros import Lttng

MESSAGES = 300
SIZE = 100
# Header, number and length before the bytes; all padded to 4.
OVERHEAD = 12
WRITER = [
    *("write_begin", "serialize_begin", "serialize_end"),
    *("send_begin", "send_end", "write_end"),
]
RECEIVER = ["receive", "reader_history_add", "reader_notify"]
READER = ["wait_end", "take_begin", "deserialize_begin", "deserialize_end", "take_end"]


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Peers:
    return build(tmp_path_factory.mktemp("peers"))


class Played:
    """A recorded game of ping-pong."""

    def __init__(
        self, lttng: Lttng, peers: Peers, directory: Path, count: int, size: int, **extra: str
    ) -> None:
        self.file = directory / "pong"
        programs = [
            peers.c("ping", count, size, directory / "ping", **extra),
            peers.c("pong", count, size, self.file, **extra),
        ]
        ended, self.events = trace(lttng, programs)
        self.ping, self.pong = ended

    def of(self, program: Ended, *names: str) -> list[DdsEvent]:
        return [e for e in self.events if e.vpid == program.pid and e.name in names]

    def writer(self, program: Ended) -> DdsEvent:
        (found,) = self.of(program, "create_writer")
        return found

    def samples(self, writer: Ended) -> list[tuple[bytes, int]]:
        """The samples that a program sent, in order."""
        guid = guid_of(self.writer(writer))
        return list(dict.fromkeys(e.sample for e in self.of(writer, "send_begin") if by(e, guid)))


def guid_of(created: DdsEvent) -> bytes:
    prefix, entity = created["gid_prefix"], created["gid_entity"]
    assert isinstance(prefix, bytes) and isinstance(entity, bytes)
    return prefix + entity


def by(event: DdsEvent, guid: bytes) -> bool:
    return event["writer_guid"] == guid


def lines(program: Ended) -> list[list[str]]:
    return [line.split() for line in program.out.splitlines()]


@pytest.fixture(scope="module")
def played(lttng: Lttng, peers: Peers, tmp_path_factory: pytest.TempPathFactory) -> Played:
    return Played(lttng, peers, tmp_path_factory.mktemp("played"), MESSAGES, SIZE)


def rows_of_writes(played: Played) -> list[list[DdsEvent]]:
    """The writer's events of each write of the pings: what lies within it on its thread."""
    rows: list[list[DdsEvent]] = []
    for event in played.of(played.ping, *WRITER):
        if event.vtid != played.writer(played.ping).vtid:
            continue  # the middleware sends again
        if event.name == "write_begin":
            rows.append([])
        rows[-1].append(event)
    return rows


def first(events: list[DdsEvent]) -> dict[tuple[bytes, int], DdsEvent]:
    """The first event of each sample."""
    found: dict[tuple[bytes, int], DdsEvent] = {}
    for event in events:
        found.setdefault(event.sample, event)
    return found


def rows_of_takes(played: Played) -> list[list[DdsEvent]]:
    """The reader's events of each take of a ping, from the wait before it."""
    (reader,) = played.of(played.pong, "create_reader")
    rows: list[list[DdsEvent]] = []
    for event in played.of(played.pong, *READER):
        if event.name == "wait_end":
            rows.append([])
        rows[-1].append(event)
    return [row for row in rows if any(e.fields.get("reader") == reader["reader"] for e in row)]


def test_every_entity_is_told_with_its_names(played: Played) -> None:
    told = {
        (event.name, str(event["topic_name"]), str(event["type_name"]))
        for program in (played.ping, played.pong)
        for event in played.of(program, "create_writer", "create_reader")
    }

    assert told == {
        ("create_writer", "ping", "peer::Ping"),
        ("create_reader", "pong", "peer::Pong"),
        ("create_writer", "pong", "peer::Pong"),
        ("create_reader", "ping", "peer::Ping"),
    }


def test_the_guid_is_that_of_the_wire(played: Played) -> None:
    for program in (played.ping, played.pong):
        guid = guid_of(played.writer(program))

        assert {event["writer_guid"] for event in played.of(program, "send_begin")} == {guid}


def test_every_write_has_its_whole_row(played: Played) -> None:
    rows = rows_of_writes(played)
    addresses = [int(line[0], 16) for line in lines(played.ping)]

    assert [[event.name for event in row] for row in rows] == [WRITER] * MESSAGES
    assert [row[0]["data"] for row in rows] == addresses
    assert all(row[1]["data"] == row[2]["data"] == row[0]["data"] for row in rows)
    assert {row[2]["size"] for row in rows} == {SIZE + OVERHEAD}
    assert {row[3]["size"] for row in rows} == {SIZE + OVERHEAD}
    assert {row[0]["writer"] for row in rows} == {played.writer(played.ping)["writer"]}
    assert {row[5]["result"] for row in rows} == {0}
    assert [row[3].sample for row in rows] == played.samples(played.ping)
    assert [row[3]["sequence_number"] for row in rows] == list(range(1, MESSAGES + 1))


def test_every_take_has_its_whole_row(played: Played) -> None:
    rows = rows_of_takes(played)
    printed = lines(played.pong)

    assert [[event.name for event in row] for row in rows] == [READER] * MESSAGES
    assert [row[4]["buffer"] for row in rows] == [int(line[0], 16) for line in printed]
    assert [row[4]["source_timestamp"] for row in rows] == [int(line[1]) for line in printed]
    assert all(row[2]["data"] == row[3]["data"] == row[4]["buffer"] for row in rows)
    assert {row[3]["size"] for row in rows} == {SIZE + OVERHEAD}
    assert {(row[4]["taken"], row[4]["result"]) for row in rows} == {(1, 1)}
    assert [row[4].sample for row in rows] == played.samples(played.ping)


def test_every_sample_is_the_same_from_the_send_to_the_take(played: Played) -> None:
    wanted = played.samples(played.ping)
    seen = {name: first(played.of(played.pong, name)) for name in RECEIVER}
    (reader,) = played.of(played.pong, "create_reader")

    assert len(wanted) == MESSAGES
    for name in RECEIVER:
        assert list(seen[name]) == wanted, name
    for name in ("reader_history_add", "reader_notify"):
        assert len(played.of(played.pong, name)) == MESSAGES
    assert {e["reader_guid"] for e in seen["reader_notify"].values()} == {guid_of(reader)}
    assert {e["size"] for e in seen["reader_history_add"].values()} == {SIZE + OVERHEAD}


def test_the_source_timestamp_is_the_same_everywhere(played: Played) -> None:
    sent = {row[3].sample: row[3]["source_timestamp"] for row in rows_of_writes(played)}
    told = played.of(played.ping, "write")

    for name in ("receive", "reader_history_add"):
        seen = first(played.of(played.pong, name))
        assert {sample: event["source_timestamp"] for sample, event in seen.items()} == sent
    taken = {row[4].sample: row[4]["source_timestamp"] for row in rows_of_takes(played)}
    assert taken == sent
    # peer.c gives every second value a timestamp of its own, 5 ns in the past.
    assert [event["timestamp"] for event in told] == list(sent.values())[1::2]


def test_the_checkpoints_of_every_message_are_in_order(played: Played) -> None:
    receiving = {name: first(played.of(played.pong, name)) for name in RECEIVER}
    taking = {row[4].sample: row for row in rows_of_takes(played)}

    for row in rows_of_writes(played):
        sample = row[3].sample
        received = [receiving[name][sample] for name in RECEIVER]
        # What a thread does after it has woken another one may be later than what that one does.
        across = [*row[:4], *received, *taking[sample]]
        for events in (row, across):
            times = [event.time_ns for event in events]
            assert times == sorted(times), [event.name for event in events]
        assert len({event.vtid for event in received}) == 1


def test_what_arrives_is_what_was_sent(played: Played) -> None:
    assert played.file.read_bytes() == content(MESSAGES, SIZE)


def test_nothing_else_is_told(played: Played) -> None:
    counts = {
        program.pid: Counter(e.name for e in played.events if e.vpid == program.pid)
        for program in (played.ping, played.pong)
    }
    # Either side writes and takes as many; sends may be repeated.
    exact = {"create_writer": 1, "create_reader": 1, "write": MESSAGES // 2}
    each = {*WRITER, *RECEIVER, *READER, "wait_begin", "write_pre", "read"}
    for pid, count in counts.items():
        assert set(count) - set(exact) == each, count
        for name in each - {"send_begin", "send_end", "receive"}:
            assert count[name] == MESSAGES, (name, count)
        assert count["send_begin"] == count["send_end"] >= MESSAGES
        assert count["write"] == (MESSAGES // 2 if pid == played.ping.pid else 0)


def test_who_waits_for_a_condition_goes_on_after_the_notification(
    lttng: Lttng, peers: Peers, tmp_path: Path
) -> None:
    """As rmw_cyclonedds waits. On one CPU whoever is woken often runs before its waker goes on."""
    cpu = str(min(os.sched_getaffinity(0)))
    one = Played(lttng, peers, tmp_path, MESSAGES, SIZE, PEER_CONDITIONS="1", PEER_CPU=cpu)
    names = ("receive", "reader_history_add", "reader_notify", *READER)
    rows: list[list[str]] = []
    for event in one.of(one.pong, *names):
        if event.name == "receive":
            rows.append([])
        if rows:
            rows[-1].append(event.name)

    assert one.file.read_bytes() == content(MESSAGES, SIZE)
    # A sample that was sent again comes twice, and is stored once.
    rows = [row for row in rows if row != ["receive"]]
    # Whose the condition is, is not known before its first signal.
    assert rows[1:] == [[*RECEIVER, *READER]] * (MESSAGES - 1)
    assert Counter(rows[0]) == Counter([*RECEIVER, *READER])
    (reader,) = one.of(one.pong, "create_reader")
    told = one.of(one.pong, "reader_notify")
    assert [event.sample for event in told] == one.samples(one.ping)
    assert {event["reader_guid"] for event in told} == {guid_of(reader)}


def test_large_messages_are_followed_fragment_by_fragment(
    lttng: Lttng, peers: Peers, tmp_path: Path
) -> None:
    count, size = 20, 300_000
    large = Played(lttng, peers, tmp_path, count, size)
    wanted = large.samples(large.ping)

    assert large.file.read_bytes() == content(count, size)
    assert len(wanted) == count
    for program, name in ((large.ping, "send_begin"), (large.pong, "receive")):
        fragments: dict[Any, set[int]] = defaultdict(set)
        for event in large.of(program, name):
            if by(event, wanted[0][0]):
                begin, many, length = (
                    int(event[field]) for field in ("fragment", "fragment_count", "fragment_size")
                )
                fragments[event.sample] |= set(range(begin, begin + many))
                assert event["size"] == size + OVERHEAD
        whole = set(range(1, -(-(size + OVERHEAD) // length) + 1))
        assert fragments == dict.fromkeys(wanted, whole)
    # Told when the last fragment is there; with the timestamp that came with the first.
    for name in ("reader_history_add", "reader_notify", "take_end"):
        seen = large.of(large.pong, name)
        assert [event.sample for event in seen] == wanted
    complete = first(large.of(large.pong, "reader_history_add"))
    begun = first(large.of(large.ping, "send_begin"))
    for sample in wanted:
        assert complete[sample]["source_timestamp"] == begun[sample]["source_timestamp"] != 0
        assert complete[sample]["size"] == size + OVERHEAD


def test_within_one_process_the_network_is_not_there(
    lttng: Lttng, peers: Peers, tmp_path: Path
) -> None:
    count = 50
    (both,), events = trace(lttng, [peers.c("both", count, SIZE, tmp_path / "both")])
    seen = Counter(event.name for event in events)
    writers = {guid_of(event) for event in events if event.name == "create_writer"}

    assert (tmp_path / "both").read_bytes() == content(count, SIZE)
    assert {event.vpid for event in events} == {both.pid}
    assert not {"send_begin", "receive"} & set(seen)
    for name in ("write_begin", "serialize_end", "reader_history_add", "reader_notify", "take_end"):
        assert seen[name] == 2 * count, name
    for event in events:
        if event.name in ("reader_history_add", "reader_notify", "take_end"):
            # Writer and timestamp are known; the number is told by sends alone.
            assert event["writer_guid"] in writers and event["sequence_number"] == 0
            assert event.fields.get("source_timestamp", 1) != 0
    sizes = {event["size"] for event in events if event.name == "reader_history_add"}
    assert sizes == {SIZE + OVERHEAD, 20}


def test_hooks_without_a_recording_change_nothing(peers: Peers, tmp_path: Path) -> None:
    for name, extra in (("plain", {"LD_PRELOAD": ""}), ("hooked", {})):
        directory = tmp_path / name
        directory.mkdir()
        ended = run(
            [
                peers.c("ping", 50, SIZE, directory / "ping", **extra),
                peers.c("pong", 50, SIZE, directory / "pong", **extra),
            ]
        )
        assert (directory / "pong").read_bytes() == content(50, SIZE)
        assert [program.err for program in ended] == ["", ""]


def test_what_was_made_before_the_recording_is_told_in_it(
    lttng: Lttng, peers: Peers, tmp_path: Path
) -> None:
    file = tmp_path / "both"
    process = start(peers.c("both", 100_000_000, 4, file), lttng)
    try:
        assert process.stdout is not None and process.stdout.readline()
        session, output = lttng.start("dds:create_*,dds:serialized,dds:deserialized")
        # The program has made everything, and goes on. Lines alone give it no time: the pipe holds
        # thousands that are older than the session.
        for _ in range(1000):
            assert process.stdout.readline()
            time.sleep(0.002)
        lttng.stop(session)
    finally:
        process.kill()
        process.communicate()
    seen = Counter(event.name for event in read(output))

    assert seen["create_writer"] == seen["create_reader"] == 2
    assert seen["serialize_end"] > 0 and seen["deserialize_end"] > 0


def test_objects_of_an_unknown_release_are_left_alone(
    lttng: Lttng, peers: Peers, tmp_path: Path
) -> None:
    unknown = Played(lttng, peers, tmp_path, 20, SIZE, DDS_TRACEPOINTS_LAYOUTS="none")
    seen = Counter(event.name for event in unknown.of(unknown.pong, *WRITER, *RECEIVER, *READER))
    wanted = unknown.samples(unknown.ping)

    assert unknown.file.read_bytes() == content(20, SIZE)
    assert "libddsc.so.0.10" in unknown.pong.err and "stay untold" in unknown.pong.err
    for name in ("write_begin", "write_end", "wait_end", "take_begin", "take_end"):
        assert seen[name] == 20, name
    for name in ("serialize_begin", "deserialize_end", "reader_history_add"):
        assert seen[name] == 0, name
    # Without the history a reader is told of what its thread has just received.
    assert list(first(unknown.of(unknown.pong, "receive"))) == wanted
    assert set(wanted) <= {event.sample for event in unknown.of(unknown.pong, "reader_notify")}
