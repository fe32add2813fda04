# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The events of Cyclone DDS 11, as PyPI's `cyclonedds` package bundles it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from cyclone_peers import SOURCES, Peers, build, content, python
from dds_events import DdsEvent, Program, trace
from traced_ros import Lttng

MESSAGES = 50
PAYLOAD = 16  # header, number, length, 4 bytes


@pytest.fixture(scope="module")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Peers:
    return build(tmp_path_factory.mktemp("peers"))


def pinging(role: str, directory: Path) -> Program:
    return python(SOURCES / "ping.py", role, str(MESSAGES), directory / "known")


def named(events: list[DdsEvent], name: str, pid: int) -> list[DdsEvent]:
    return [event for event in events if event.name == name and event.vpid == pid]


def test_what_is_seen_of_the_python_package(lttng: Lttng, tmp_path: Path) -> None:
    (writer, reader), events = trace(lttng, [pinging(role, tmp_path) for role in ("write", "read")])
    taken = [line.split() for line in reader.out.splitlines()]
    sent = named(events, "send_begin", writer.pid)
    wanted = list(dict.fromkeys(event.sample for event in sent))

    assert [line[0] for line in taken] == [str(number) for number in range(MESSAGES)]
    assert [line[2] for line in taken] == [f"{number:02x}010203" for number in range(MESSAGES)]
    # It creates by addresses of functions that it has looked up itself, past every hook: writer and
    # reader are told at their first use.
    (created,) = named(events, "create_writer", writer.pid)
    (reading,) = named(events, "create_reader", reader.pid)
    for event in (created, reading):
        assert (event["topic_name"], event["type_name"]) == ("python", "peer::Ping")
    assert {guid for guid, _ in wanted} == {bytes_of(created)}
    assert [sequence for _, sequence in wanted] == list(range(1, MESSAGES + 1))
    counts = Counter(event.name for event in events if event.vpid == writer.pid)
    for name in ("write_begin", "write_end", "write_pre", "serialize_begin", "serialize_end"):
        assert counts.pop(name) == MESSAGES, name
    assert counts.pop("send_begin") == counts.pop("send_end") >= MESSAGES
    assert counts == {"create_writer": 1}
    assert {event["size"] for event in named(events, "serialize_end", writer.pid)} == {PAYLOAD}


def bytes_of(created: DdsEvent) -> bytes:
    prefix, entity = created["gid_prefix"], created["gid_entity"]
    assert isinstance(prefix, bytes) and isinstance(entity, bytes)
    return prefix + entity


def test_what_is_seen_of_a_python_reader(lttng: Lttng, tmp_path: Path) -> None:
    (writer, reader), events = trace(lttng, [pinging(role, tmp_path) for role in ("write", "read")])
    stamps = [int(line.split()[1]) for line in reader.out.splitlines()]
    sent = [event.sample for event in named(events, "send_begin", writer.pid)]
    (created,) = named(events, "create_reader", reader.pid)

    # Some may be sent, and arrive, again.
    received = {e.sample: e["source_timestamp"] for e in named(events, "receive", reader.pid)}
    assert list(received) == list(dict.fromkeys(sent))
    assert list(received.values()) == stamps
    # A history of 11 is out of reach: it has no reader_history_add.
    assert not named(events, "reader_history_add", reader.pid)
    notified = [e for e in named(events, "reader_notify", reader.pid) if e["sequence_number"]]
    assert len(notified) == MESSAGES and {e.sample for e in notified} <= set(sent)
    # Which reader it is, is known from its first use on.
    assert {event["reader_guid"] for event in notified} <= {bytes(16), bytes_of(created)}
    taken = [e for e in named(events, "take_end", reader.pid) if e["taken"]]
    assert [event["source_timestamp"] for event in taken] == stamps
    assert {(e["writer_guid"], e["sequence_number"]) for e in taken} == {(bytes(16), 0)}
    assert {event["buffer"] for event in taken} <= {0, *(e["buffer"] for e in taken)}
    for name in ("deserialize_begin", "deserialize_end"):
        assert len(named(events, name, reader.pid)) == MESSAGES
    assert {e["size"] for e in named(events, "deserialize_end", reader.pid)} == {PAYLOAD}


def test_two_releases_in_one_process_stay_apart(lttng: Lttng, peers: Peers, tmp_path: Path) -> None:
    count = 20
    both = tmp_path / "both"
    program = tmp_path / "two.py"
    program.write_text(
        f"""
import ctypes, sys, threading
sys.path.insert(0, {str(SOURCES)!r})
import ping
peer = ctypes.CDLL({str(peers.library)!r})
line = (ctypes.c_char_p * 5)(b"peer", b"both", b"{count}", b"100", {str(both).encode()!r})
ended = []
thread = threading.Thread(target=lambda: ended.append(peer.peer_main(5, line)))
thread.start()
ping.main()
thread.join()
sys.exit(ended != [0])
"""
    )
    two = python(program, "read", str(MESSAGES), tmp_path / "known")
    ended, events = trace(lttng, [two, pinging("write", tmp_path)])
    counts = Counter(event.name for event in events if event.vpid == ended[0].pid)

    assert both.read_bytes() == content(count, 100)
    assert [program.err for program in ended] == ["", ""]
    assert counts["write_begin"] == counts["reader_history_add"] == 2 * count
    assert counts["reader_notify"] >= 2 * count + MESSAGES
    assert counts["create_reader"] == 3
