# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Socket calls of a DDS library do what they did, and are told with where they went."""

from __future__ import annotations

import errno
import json
import socket
import sys
from pathlib import Path

import pytest
from dds_events import LIBRARY, DdsEvent, Program, read, run
from native import PROGRAMS, compiled
from traced_ros import Lttng

pytestmark = pytest.mark.live
GUID = bytes([*range(1, 13), 0, 0, 19, 3])
# An RTPS message with a sample, number 7.
MESSAGE = (
    b"RTPS\x02\x03\x01\x0f"
    + GUID[:12]
    + bytes([0x15, 5, 28, 0, 0, 0, 16, 0, 0, 0, 0, 4])
    + GUID[12:]
    + bytes([0, 0, 0, 0, 7, 0, 0, 0, 0, 1, 0, 0, 42, 0, 0, 0])
)

# Calls the library's functions by ctypes; prints every result with its errno.
CALLS = """
import ctypes, json, socket, struct, sys
library = ctypes.CDLL(sys.argv[1], use_errno=True)
message = bytes.fromhex(sys.argv[2])
data = ctypes.create_string_buffer(message, len(message))
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("name_length", ctypes.c_uint32),
                ("parts", ctypes.POINTER(Part)), ("count", ctypes.c_size_t),
                ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t),
                ("flags", ctypes.c_int)]
def address(family, host, port):
    if family == socket.AF_INET:
        packed = struct.pack("=H2s4s8x", family, struct.pack(">H", port), socket.inet_aton(host))
    else:
        ipv6 = socket.inet_pton(family, host)
        packed = struct.pack("=H2sI16sI", family, struct.pack(">H", port), 0, ipv6, 0)
    return ctypes.create_string_buffer(packed, len(packed))
told = []
def call(name, *arguments):
    ctypes.set_errno(77)
    result = getattr(library, "standin_" + name)(*arguments)
    told.append([name, result, ctypes.get_errno()])
def send_all(fd, to, split):
    parts = (Part * 2)(Part(ctypes.addressof(data), split),
                       Part(ctypes.addressof(data) + split, len(message) - split))
    name = ctypes.addressof(to) if to else None
    whole = Message(name, len(to) if to else 0, parts, 2, None, 0, 0)
    call("sendmsg", fd, ctypes.byref(whole), 0)
    call("sendto", fd, data, len(message), 0, to, len(to) if to else 0)
    if not to:
        call("send", fd, data, len(message), 0)
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    receiver = socket.socket(family, socket.SOCK_DGRAM)
    receiver.bind((host, 0))
    receiver.settimeout(10)
    port = receiver.getsockname()[1]
    sender = socket.socket(family, socket.SOCK_DGRAM)
    send_all(sender.fileno(), address(family, host, port), 10)
    sender.connect((host, port))
    send_all(sender.fileno(), None, 30)
    arrived = [receiver.recv(1000) == message for _ in range(5)]
    told.append([host, port, all(arrived)])
    listener = socket.create_server((host, 0), family=family)
    stream = socket.create_connection(listener.getsockname()[:2])
    peer, _ = listener.accept()
    send_all(stream.fileno(), None, 20)
    got = b""
    while len(got) < 3 * len(message):
        got += peer.recv(1000)
    told.append([host, listener.getsockname()[1], got == 3 * message])
send_all(-1, None, 10)
call("sendmsg", sender.fileno(), None, 0)
call("sendto", sender.fileno(), None, 10, 0, None, 0)
call("sendmsg", sender.fileno(), ctypes.byref(Message(None, 0, None, 2, None, 0, 0)), 0)
call("sendto", sender.fileno(), data, len(message), 0, address(socket.AF_INET, "127.0.0.1", 9), 4)
empty = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
call("send", empty.fileno(), data, len(message), 0)
call("recvmsg", empty.fileno(), None, 64)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def standin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("sockets")
    (place / "rows.inc").write_text("")
    options = ["-shared", "-fPIC", "-DWITH_GUIDS", f"-I{place}"]
    return compiled(place / "libfastdds.so.3.2", *options, PROGRAMS / "standin.cpp")


def call(
    lttng: Lttng, standin: Path, environment: dict[str, str], *, record: bool
) -> tuple[list, list[DdsEvent]]:
    program = Program([sys.executable, "-c", CALLS, standin, MESSAGE.hex()], environment)
    if not record:
        (ended,) = run([program], lttng)
        return json.loads(ended.out), []
    session, output = lttng.start("dds:*")
    try:
        (ended,) = run([program], lttng)
    finally:
        lttng.stop(session)
    return json.loads(ended.out), list(read(output))


def without_ports(told: list) -> list:
    return [
        [name, 0, more] if name in ("127.0.0.1", "::1") else [name, n, more]
        for name, n, more in told
    ]


@pytest.mark.parametrize("record", [False, True])
def test_results_errno_and_bytes_are_those_of_the_calls_themselves(lttng, standin, record):
    plain, _ = call(lttng, standin, {}, record=False)
    hooked, _ = call(lttng, standin, {"LD_PRELOAD": str(LIBRARY)}, record=record)
    assert without_ports(hooked) == without_ports(plain)
    failures = [code for _, result, code in plain if result == -1]
    expected = {errno.EBADF, errno.EFAULT, errno.EINVAL, errno.EDESTADDRREQ}
    assert set(failures) == expected
    assert all(code == 77 for name, result, code in plain if result == len(MESSAGE))


def test_every_send_is_told_with_its_destination_and_result(lttng, standin):
    told, events = call(lttng, standin, {"LD_PRELOAD": str(LIBRARY)}, record=True)
    begins = [event for event in events if event.name == "send_begin"]
    ends = [event for event in events if event.name == "send_end"]
    assert {event.sample for event in begins} == {(GUID, 7)}
    assert {(event["bytes"], event["size"]) for event in begins} == {(len(MESSAGE), 8)}
    assert [event["transport"] for event in begins] == [event["transport"] for event in ends]
    expected = []
    places = [row for row in told if row[0] in ("127.0.0.1", "::1")]
    for (host, port, right), kind, count in zip(places, (1, 4, 2, 8), (5, 3, 5, 3), strict=True):
        assert right
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        packed = socket.inet_pton(family, host)
        expected += [(kind, packed, port, 1, len(MESSAGE))] * count
    # What follows fails: on no socket, with a cut address, without a destination.
    names = ("transport", "address", "port", "destinations", "result")
    found = [tuple(event[name] for name in names) for event in ends]
    assert found[: len(expected)] == expected
    rest = [result for *_, result in found[len(expected) :]]
    assert rest == [-errno.EBADF] * 3 + [-errno.EINVAL, -errno.EDESTADDRREQ]
