# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Every message of real rclpy programs has its whole sequence of events, in both releases."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from dds_events import LIBRARY, DdsEvent, Program, read, run
from traced_ros import Lttng, Ros

pytestmark = pytest.mark.live
TALK = Path(__file__).parent / "programs/talk.py"
MESSAGES = 300
SIZE = 37
LARGE = 300_000
DOMAIN = "71"
TOPIC = "rt/numbers"
# CDR of a string: encapsulation, length, characters and a zero.
HEADER = 4 + 4 + 1
TRANSPORT = {"UDPv4": 1, "SHM": 16}
UDP, SHM = TRANSPORT["UDPv4"], TRANSPORT["SHM"]
# Bytes that the statistics module of Fast DDS adds to every message.
STATISTICS = 60

WRITE = [
    "ros2:rcl_publish",
    "ros2:rmw_publish",
    "write_begin",
    "write_pre",
    "serialize_begin",
    "serialize_end",
    "writer_history_add",
    "write",
    "send_begin",
    "send_end",
    "write_end",
]
RECEIVE = ["receive", "reader_history_add", "reader_notify"]
TAKE = [
    "take_begin",
    "deserialize_begin",
    "deserialize_end",
    "take_end",
    "read",
    "ros2:rmw_take",
    "ros2:rcl_take",
]


def preloading(ros: Ros, **variables: str) -> dict[str, str]:
    """Give the environment of a program of this distribution, with the hooks."""
    own = ros.environment(hook=False)
    library = ros.install / "lib/dds_tracepoints" / LIBRARY.name
    preloaded = f"{own['LD_PRELOAD']}:{library}"
    # With another range than this, rmw_fastrtps chooses transports itself.
    own["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"
    return own | {"ROS_DOMAIN_ID": DOMAIN, "LD_PRELOAD": preloaded} | variables


@dataclass
class Scene:
    """A traced talker and listener; the messages are in the order in which they were published."""

    ros: Ros
    transport: int
    size: int
    events: list[DdsEvent]
    talker: int
    listener: int
    told: dict[str, list]

    def __post_init__(self) -> None:
        self.threads: dict[int, list[DdsEvent]] = {}
        for event in self.events:
            self.threads.setdefault(event.vtid, []).append(event)
        (self.writer,) = [e for e in self.of("create_writer") if e["topic_name"] == TOPIC]
        (self.reader,) = [e for e in self.of("create_reader") if e["topic_name"] == TOPIC]

    def of(self, name: str) -> list[DdsEvent]:
        return [event for event in self.events if event.name == name]

    def ours(self, name: str) -> list[DdsEvent]:
        """Events of that name that tell a sample of our writer."""
        return [e for e in self.of(name) if e["writer_guid"] == guid(self.writer)]


def guid(created: DdsEvent) -> bytes:
    return created["gid_prefix"] + created["gid_entity"]


def record(lttng: Lttng, ros: Ros, transport: str, count: int, size: int) -> Scene:
    environment = preloading(ros, FASTDDS_BUILTIN_TRANSPORTS=transport)
    programs = [
        Program(ros.python(TALK, role, str(count), str(size)), environment)
        for role in ("talk", "listen")
    ]
    session, output = lttng.start("ros2:*,dds:*")
    try:
        talker, listener = run(programs, lttng)
    finally:
        lttng.stop(session)
    assert (talker.err, listener.err) == ("", "")
    told = json.loads(listener.out)
    published = [str(i).ljust(size, ".").encode() for i in range(count)]
    assert told["received"] == [hashlib.sha256(text).hexdigest() for text in published]
    events = list(read(output))
    return Scene(ros, TRANSPORT[transport], size, events, talker.pid, listener.pid, told)


@pytest.fixture(scope="module", params=["jazzy", "kilted"])
def ros(request: pytest.FixtureRequest) -> Ros:
    found = Ros(request.param)
    library = found.install / "lib/dds_tracepoints" / LIBRARY.name
    assert library.is_file(), f"{library} is not built; run make setup and make setup-kilted"
    return found


@pytest.fixture(scope="module", params=["SHM", "UDPv4"])
def scene(request: pytest.FixtureRequest, ros: Ros, lttng: Lttng) -> Scene:
    return record(lttng, ros, request.param, MESSAGES, SIZE)


@pytest.fixture(scope="module")
def large(request: pytest.FixtureRequest, ros: Ros, lttng: Lttng) -> Scene:
    return record(lttng, ros, "UDPv4", 10, LARGE)


@pytest.fixture(scope="module")
def alone(ros: Ros, lttng: Lttng) -> list[DdsEvent]:
    """Writer and reader in one process: the message does not leave it."""
    line = ros.python(TALK, "both", "20", str(SIZE))
    session, output = lttng.start("ros2:*,dds:*")
    try:
        run([Program(line, preloading(ros))], lttng)
    finally:
        lttng.stop(session)
    return list(read(output))


def sections(scene: Scene, pid: int, begin: str, *ends: str) -> list[list[DdsEvent]]:
    """Cut every thread of a process into what lies from `begin` to one of `ends`, in order."""
    found = []
    for events in scene.threads.values():
        section: list[DdsEvent] | None = None
        for event in events:
            if event.vpid != pid:
                continue
            if event.name == begin:
                section = []
            if section is not None:
                section.append(event)
                if event.name in ends:
                    found.append(section)
                    section = None
    return sorted(found, key=lambda section: section[0].time_ns)


def one(section: list[DdsEvent], name: str) -> DdsEvent:
    (found,) = [event for event in section if event.name == name]
    return found


def writes(scene: Scene) -> list[list[DdsEvent]]:
    found = sections(scene, scene.talker, "ros2:rcl_publish", "write_end")
    return [s for s in found if one(s, "write_end")["writer"] == scene.writer["writer"]]


def takes(scene: Scene) -> list[list[DdsEvent]]:
    found = sections(scene, scene.listener, "take_begin", "ros2:rcl_take")
    return [
        section
        for section in found
        if section[0]["reader"] == scene.reader["reader"] and one(section, "take_end")["taken"]
    ]


def receives(scene: Scene) -> list[list[DdsEvent]]:
    """What the receiving threads did for every sample that was new to the reader."""
    found = sections(scene, scene.listener, "receive", "reader_notify")
    return [s for s in found if s[-1]["writer_guid"] == guid(scene.writer)]


def names(section: list[DdsEvent]) -> list[str]:
    return [event.name for event in section]


def test_every_message_has_the_whole_sequence_on_one_thread_a_side(scene):
    for cut, expected in ((writes, WRITE), (receives, RECEIVE), (takes, TAKE)):
        found = cut(scene)
        assert len(found) == MESSAGES
        assert [names(section) for section in found] == [expected] * MESSAGES
        assert len({event.vtid for section in found for event in section}) == 1
    assert scene.writer.vtid == writes(scene)[0][0].vtid
    assert receives(scene)[0][0].vtid != takes(scene)[0][0].vtid


def test_the_layers_follow_each_other_in_time(scene):
    for write, receive, take in zip(writes(scene), receives(scene), takes(scene), strict=True):
        assert one(write, "send_begin").time_ns < receive[0].time_ns
        assert receive[-1].time_ns < one(take, "take_end").time_ns


def test_a_sample_is_named_alike_everywhere(scene):
    for i, (write, receive, take) in enumerate(
        zip(writes(scene), receives(scene), takes(scene), strict=True)
    ):
        added = one(write, "writer_history_add")
        assert added.sample == (guid(scene.writer), i + 1)
        named = [one(write, "send_begin"), *receive, one(take, "take_end")]
        assert {event.sample for event in named} == {added.sample}
        stamped = [one(write, "send_begin"), *receive[:2], one(take, "take_end")]
        stamps = {event["source_timestamp"] for event in [added, *stamped]}
        stamps |= {one(write, "ros2:rmw_publish")["timestamp"], one(write, "write")["timestamp"]}
        assert stamps == {one(take, "ros2:rmw_take")["source_timestamp"]}
        assert receive[-1]["reader_guid"] == guid(scene.reader)


def test_addresses_are_those_of_the_ros_events(scene):
    for write, take in zip(writes(scene), takes(scene), strict=True):
        message = one(write, "ros2:rmw_publish")["message"]
        writer = scene.writer["writer"]
        for name in ("write_begin", "write_pre", "write"):
            assert (one(write, name)["writer"], one(write, name)["data"]) == (writer, message)
        assert (
            one(write, "serialize_begin")["data"] == one(write, "serialize_end")["data"] == message
        )
        message = one(take, "ros2:rmw_take")["message"]
        reader = scene.reader["reader"]
        for name in ("take_end", "read"):
            assert (one(take, name)["reader"], one(take, name)["buffer"]) == (reader, message)
        assert (
            one(take, "deserialize_begin")["data"]
            == one(take, "deserialize_end")["data"]
            == message
        )


def test_sizes_are_exact(scene):
    for write, receive, take in zip(writes(scene), receives(scene), takes(scene), strict=True):
        size = HEADER + scene.size
        assert one(write, "serialize_end")["size"] == size
        assert one(write, "writer_history_add")["size"] == size
        # RTPS pads to four bytes, and the pad is part of what the reader gets.
        padded = (size + 3) // 4 * 4
        assert one(write, "send_begin")["size"] == receive[0]["size"] == padded
        assert receive[1]["size"] == one(take, "deserialize_end")["size"] == padded
        sent, received = one(write, "send_begin")["bytes"], receive[0]["bytes"]
        # Header, INFO_DST, INFO_TS, DATA. Fast DDS adds statistics, and takes them off again.
        assert received >= 20 + 12 + 24 + padded
        assert sent - received in (0, STATISTICS)
        if scene.transport == UDP:
            assert one(write, "send_end")["result"] == sent


def test_every_call_succeeds_and_whole_samples_have_no_fragments(scene):
    for write, receive, take in zip(writes(scene), receives(scene), takes(scene), strict=True):
        assert one(write, "write_end")["result"] == one(take, "take_end")["result"] == 0
        assert one(take, "take_end")["taken"] == 1
        for event in (one(write, "send_begin"), receive[0]):
            fields = ("fragment", "fragment_count", "fragment_size")
            assert [event[name] for name in fields] == [0, 0, 0]


def test_what_is_sent_goes_to_a_port_of_the_listener(scene):
    for write, receive in zip(writes(scene), receives(scene), strict=True):
        end = one(write, "send_end")
        transports = {one(write, "send_begin")["transport"], end["transport"]}
        assert transports | {receive[0]["transport"]} == {scene.transport}
        assert end["destinations"] == 1
        assert end["port"] == receive[0]["port"]
        if scene.transport == SHM:
            assert end["port"] in scene.told["shm"]
            assert end["result"] == 1
        else:
            assert end["port"] in scene.told["udp"]
            assert len(end["address"]) == 4
            assert end["address"][0] != 0


def test_entities_bear_the_gids_and_names_that_ros_knows(scene):
    for created, name, pid in (
        (scene.writer, "ros2:rmw_publisher_init", scene.talker),
        (scene.reader, "ros2:rmw_subscription_init", scene.listener),
    ):
        gids = [event["gid"][:16] for event in scene.of(name) if event.vpid == pid]
        assert guid(created) in gids
        assert created["type_name"] == "std_msgs::msg::dds_::String_"
    # Every entity of ROS is seen, discovery's own too.
    for name, ros_name in (("create_writer", "rmw_publisher_init"), ("create_reader", "rmw_sub")):
        created = {guid(event) for event in scene.of(name)}
        made = {e["gid"][:16] for e in scene.events if e.name.startswith(f"ros2:{ros_name}")}
        assert made <= created


def test_waits_pair_and_are_ended_by_a_wake_up(scene):
    waits = [e for e in scene.events if e.name in ("wait_begin", "wait_end")]
    for thread in {event.vtid for event in waits}:
        own = [event.name for event in waits if event.vtid == thread]
        assert own[: len(own) // 2 * 2] == ["wait_begin", "wait_end"] * (len(own) // 2)
    woken = [event for event in scene.of("wake_up") if event.vpid == scene.listener]
    assert receives(scene)[0][0].vtid in {event.vtid for event in woken}
    assert {event["waitset"] for event in woken} != {0}


def test_the_middlewares_own_samples_are_left_out(scene):
    for name in ("writer_history_add", "send_begin", "receive", "reader_history_add"):
        entities = {event["writer_guid"][15] & 0xC0 for event in scene.of(name)}
        assert entities == {0}


def test_every_fragment_of_a_large_message_is_told(large):
    size = HEADER + LARGE
    assert len(writes(large)) == len(takes(large)) == 10
    for sequence in range(1, 11):
        for name in ("send_begin", "receive"):
            parts = [e for e in large.ours(name) if e["sequence_number"] == sequence]
            told = set()
            for part in parts:
                assert part["size"] in (size, (size + 3) // 4 * 4)
                told |= set(range(part["fragment"], part["fragment"] + part["fragment_count"]))
            (length,) = {part["fragment_size"] for part in parts}
            assert told == set(range(1, -(-size // length) + 1)), (name, sequence)
        (added,) = [e for e in large.ours("reader_history_add") if e["sequence_number"] == sequence]
        (notified,) = [e for e in large.ours("reader_notify") if e["sequence_number"] == sequence]
        arrived = [e for e in large.ours("receive") if e["sequence_number"] == sequence]
        assert arrived[0].time_ns < added.time_ns < notified.time_ns
        assert added["size"] == size


def test_within_a_process_the_sample_is_added_by_the_writing_thread(alone):
    (writer,) = [e for e in alone if e.name == "create_writer" and e["topic_name"] == TOPIC]
    ours = [e for e in alone if e.fields.get("writer_guid") == guid(writer)]
    expected = ["writer_history_add", "reader_history_add", "reader_notify", "take_end"]
    for sequence in range(1, 21):
        found = [e for e in ours if e["sequence_number"] == sequence]
        assert names(found) == expected
        assert {event.vtid for event in found} == {writer.vtid}
        assert len({e["source_timestamp"] for e in found if "source_timestamp" in e.fields}) == 1


BLIND = 40


@pytest.mark.parametrize("transport", TRANSPORT)
@pytest.mark.parametrize("quiet", ["0", "1"])
def test_an_unknown_release_is_told_once_and_sends_and_receives_are_named(
    ros, lttng, transport, quiet
):
    environment = preloading(
        ros,
        FASTDDS_BUILTIN_TRANSPORTS=transport,
        DDS_TRACEPOINTS_LAYOUTS="none",
        DDS_TRACEPOINTS_QUIET=quiet,
    )
    lines = [ros.python(TALK, role, str(BLIND), str(SIZE)) for role in ("talk", "listen")]
    session, output = lttng.start("dds:*")
    try:
        ended = run([Program(line, environment) for line in lines], lttng)
    finally:
        lttng.stop(session)
    for program in ended:
        told = program.err.splitlines()
        assert len(told) == (0 if quiet == "1" else 1)
        assert all("The layout of objects of libfast" in line for line in told)
    events = list(read(output))
    # Its writer is the one with most samples: writers have no names here, but GUIDs.
    created = {guid(event) for event in events if event.name == "create_writer"}
    sent = [e for e in events if e.name == "send_begin" and e["writer_guid"] in created]
    (talked,) = {e["writer_guid"] for e in sent if e["sequence_number"] == BLIND}
    expected = {(talked, i + 1) for i in range(BLIND)}
    for name in ("send_begin", "receive", "reader_history_add", "reader_notify"):
        assert expected <= {event.sample for event in events if event.name == name}, name
    for event in events:
        if event.name in ("writer_history_add", "take_end"):
            assert event.sample == (bytes(16), 0)
            assert event["source_timestamp"] == 0
        if event.name in ("create_writer", "create_reader"):
            assert (event["topic_name"], event["type_name"]) == ("", "")
