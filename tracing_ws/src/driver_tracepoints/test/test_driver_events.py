# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What drivers emit by themselves, and the hooks beside them and beside those of DDS."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from driver_trace import (
    HOOKS,
    INSTALL,
    LIBRARY,
    PROGRAMS,
    compiled,
    free_ports,
    python,
    read,
    run,
    trace,
    with_api,
    with_hooks,
)
from traced_ros import alone

pytestmark = pytest.mark.live
DDS = INSTALL / "lib/dds_tracepoints/libdds_tracepoints.so"
FORK = "liblttng-ust-fork.so.1"
SOURCES = [
    ("source_init", [1, "udp", "lidar", "0.0.0.0:7502"]),
    ("source_init", [2, "appsink", "camera", "sink0"]),
]
EVENTS = [
    ("packet_received", [1, 2**64 - 1, 2**32 - 1, -1, 2**32 - 1]),
    ("packet_received", [1, 0, 12608, 2**62, 0]),
    ("frame_boundary", [1, 7, 128, 3, 1000, 1128]),
    ("buffer_pulled", [2, 8, 921600, -1, 12345, 2**63]),
    ("cloud_ready", [1, 7, 6291456]),
    ("copy_done", [2, 8, 921600]),
]


def test_every_field_of_every_event(lttng):
    environment = with_api() | {"LD_PRELOAD": FORK}
    printed, events = trace(lttng, python("emit.py"), environment)
    assert printed.split() == ["TypeError", "TypeError", "TypeError", "ValueError", "OSError"]
    parent = events[0].vpid
    told = [(event.name, list(event.fields.values())) for event in events if event.vpid == parent]
    assert told == SOURCES + EVENTS
    threads = [event.vtid for event in events if event.vpid == parent]
    assert threads[0] == threads[1] == parent and len(set(threads[2:])) == 1
    assert threads[2] != parent
    # A process of its own: it announces what it uses.
    child = [(event.name, list(event.fields.values())) for event in events if event.vpid != parent]
    assert [row for row in child if row[0] != "source_init"] == EVENTS
    assert child[0] == SOURCES[0] and child.index(SOURCES[1]) < child.index(EVENTS[3])
    assert len(child) == len(told)


def test_without_a_session_all_is_the_same(lttng):
    assert len(run(python("emit.py"), with_api(), lttng).split()) == 5
    assert len(run(python("emit.py"), with_api()).split()) == 5


WAITS = """
import socket, sys, threading, time
import driver_tracepoints
reader = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
reader.bind(("127.0.0.1", 0))
python = lambda reader, buffer, source: [reader.recv_into(buffer)]
for receive in (driver_tracepoints.receive, python):
    for timeout in (0, 0.1):
        reader.settimeout(timeout)
        began = time.monotonic()
        try:
            receive(reader, bytearray(9), 1)
        except OSError as error:
            print(type(error).__name__, error, time.monotonic() - began >= timeout)
    reader.settimeout(30)
    sender = threading.Timer(0.1, lambda: reader.sendto(b"123", reader.getsockname()))
    sender.start()
    print(receive(reader, bytearray(9), 1)[0])
    sender.join()
"""


def test_receive_waits_as_the_socket_does(lttng):
    told = run([*python("emit.py")[:1], "-c", WAITS], with_api()).splitlines()
    assert told[:3] == told[3:]
    assert told[1:3] == ["TimeoutError timed out True", "3"]
    assert told[0].startswith("BlockingIOError ")


def test_a_later_session_is_told_the_source_again(lttng):
    words = alone(python("sessions.py"), with_api(), lttng)
    program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert program.stdin is not None and program.stdout is not None

    def frame() -> None:
        program.stdin.write("frame\n")
        program.stdin.flush()
        assert program.stdout.readline() == "done\n"

    try:
        frame()
        for first in (1, 4):
            session, output = lttng.start("driver:*")
            frame()
            frame()
            lttng.stop(session)
            frame()
            told = [(event.name, event.fields.get("frame")) for event in read(output)]
            expected = [("source_init", None), ("cloud_ready", first), ("cloud_ready", first + 1)]
            assert told == expected
    finally:
        program.communicate()


def test_a_driver_that_emits_is_not_traced_twice(lttng):
    (port,) = free_ports(1)
    code = (
        "import socket, sys, driver_tracepoints as driver\n"
        "sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "sock.bind(('127.0.0.1', int(sys.argv[1])))\n"
        "source = driver.source_init('udp', 'imu', f'127.0.0.1:{sys.argv[1]}')\n"
        "sock.sendto(b'123', sock.getsockname())\n"
        "sock.sendto(b'1234', sock.getsockname())\n"
        "assert driver.receive(sock, bytearray(9), source)[::3] == (3, 0)\n"
        "data, control, *_ = sock.recvmsg(9, 100)\n"
        "driver.packet_received(source, 1, len(data), -1, 0)\n"
    )
    line = [*python("emit.py")[:1], "-c", code, str(port)]
    _, events = trace(lttng, line, with_api() | with_hooks([port]))
    assert [event.name for event in events] == ["source_init", "packet_received", "packet_received"]
    assert [event.fields.get("bytes") for event in events] == [None, 3, 4]


# An RTPS message with a sample.
RTPS = (
    b"RTPS\x02\x03\x01\x0f"
    + bytes(range(1, 13))
    + bytes([0x15, 5, 28, 0, 0, 0, 16, 0, 0, 0, 0, 4, 0, 0, 19, 3])
    + bytes([0, 0, 0, 0, 7, 0, 0, 0, 0, 1, 0, 0, 42, 0, 0, 0])
)


@pytest.mark.parametrize("order", [[DDS, HOOKS], [HOOKS, DDS]], ids=["dds first", "driver first"])
def test_beside_the_dds_hooks(lttng, tmp_path, order):
    source = PROGRAMS / "reads_rtps.c"
    library = compiled(tmp_path / "libddsc.so.0.10.5", "-shared", "-fPIC", source)
    (port,) = free_ports(1)
    environment = with_hooks([port]) | {
        "LD_PRELOAD": ":".join(map(str, order)),
        "DDS_TRACEPOINTS_QUIET": "1",
    }
    line = python("both.py", library, port, RTPS.hex())
    _, events = trace(lttng, line, environment, "driver:*,dds:*")
    counts = {(event.provider, event.name) for event in events}
    assert counts == {("driver", "source_init"), ("driver", "packet_received"), ("dds", "receive")}
    assert len(events) == 1 + 5 + 5


def symbols(library: Path) -> set[str]:
    done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    names = {line.split()[-1] for line in done.stdout.splitlines()}
    return {name for name in names if not re.fullmatch(r"(__start_|__stop_)?_*lttng_ust_\w+", name)}


def needed(library: Path) -> set[str]:
    done = subprocess.run(["readelf", "-d", library], capture_output=True, text=True)
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout))


def test_the_hooks_replace_what_they_should_and_need_next_to_nothing():
    exported = symbols(HOOKS)
    sockets = {"read", "recv", "recvfrom", "recvmsg", "recvmmsg", "bind"}
    sockets |= {"setsockopt", "getsockopt", "__read_chk", "__recv_chk", "__recvfrom_chk"}
    pulls = {"pull_sample", "try_pull_sample", "get_type"}
    assert exported in (sockets, sockets | {f"gst_app_sink_{name}" for name in pulls})
    assert needed(HOOKS) <= {"libdriver_tracepoints.so", "libc.so.6", "ld-linux-x86-64.so.2"}
    assert needed(LIBRARY) <= {"libc.so.6", "ld-linux-x86-64.so.2"}
    assert "liblttng-ust.so.1" in needed(LIBRARY.with_name("libdriver_tracepoints_probes.so"))
    assert all(name.startswith("strata_driver_") for name in symbols(LIBRARY))


def test_the_c_api_is_that_of_the_header(tmp_path):
    header = (INSTALL / "include/driver_tracepoints/driver.h").read_text()
    declared = set(re.findall(r"\b(strata_driver_\w+)\(", header))
    assert declared == {name for name in symbols(LIBRARY) if "_hook_" not in name}
    program = tmp_path / "program.c"
    program.write_text(
        "#include <driver_tracepoints/driver.h>\n"
        'int main(void) { return strata_driver_source_init("udp", "a", "b") != 1; }\n'
    )
    place = LIBRARY.parent
    flags = [f"-I{INSTALL}/include", f"-L{place}", "-ldriver_tracepoints", f"-Wl,-rpath,{place}"]
    built = compiled(tmp_path / "program", program, *flags)
    assert subprocess.run([built], env=dict(os.environ)).returncode == 0
