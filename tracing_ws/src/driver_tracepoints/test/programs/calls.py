# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls everything that reads a socket, in every way; prints what came of it, as JSON.

usage: calls.py PORT PORT6
What it prints does not depend on times, process ids or ports.
"""

import ctypes
import errno
import json
import os
import signal
import socket
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
for name in ("read", "recv", "recvfrom", "recvmsg", "__read_chk", "__recv_chk", "__recvfrom_chk"):
    getattr(libc, name).restype = ctypes.c_ssize_t
SO_TIMESTAMP, SO_TIMESTAMPNS, SO_TIMESTAMPING, SO_RXQ_OVFL = 29, 35, 37, 40
# Nothing is there.
BAD = ctypes.c_void_p(16)
told = []


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


class Message(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("parts", ctypes.c_void_p),
        ("count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    ]


class Many(ctypes.Structure):
    _fields_ = [("message", Message), ("length", ctypes.c_uint32)]


def call(what, function, *arguments):
    """Call with errno at 77; tell the result and what errno is then."""
    ctypes.set_errno(77)
    result = getattr(libc, function)(*arguments)
    told.append([what, function, result, ctypes.get_errno()])
    return result


class Buffers:
    """What a message is read into; filled with a pattern, so that every written byte shows."""

    def __init__(self, sizes, control, name):
        self.data = [ctypes.create_string_buffer(b"\xaa" * size, size) for size in sizes]
        self.parts = (Part * len(sizes))(
            *(Part(ctypes.addressof(part), len(part)) for part in self.data)
        )
        self.control = ctypes.create_string_buffer(b"\xaa" * control, control) if control else None
        self.name = ctypes.create_string_buffer(b"\xaa" * name, name) if name else None
        self.message = Message(
            ctypes.addressof(self.name) if name else None,
            name,
            ctypes.addressof(self.parts),
            len(sizes),
            ctypes.addressof(self.control) if control else None,
            control,
            0x5555,
        )

    def tell(self, what):
        """Everything but the sender's port, and the time in a stamp."""
        name = bytes(self.name) if self.name else b""
        control = bytearray(self.control) if self.control else bytearray()
        kinds = []
        at, end = 0, self.message.control_length
        while end - at >= 16:
            length, level, kind = struct.unpack_from("Qii", control, at)
            kinds.append([length, level, kind])
            if level == socket.SOL_SOCKET and kind in (SO_TIMESTAMP, SO_TIMESTAMPNS):
                control[at + 16 : at + length] = b"T" * (min(length, end - at) - 16)
            at += max(-(-length // 8) * 8, 16)
        told.append(
            [
                what,
                [bytes(part).hex() for part in self.data],
                name[:2].hex() + name[4:].hex(),
                control.hex(),
                self.message.name_length,
                self.message.control_length,
                self.message.flags,
                kinds,
            ]
        )


class Pair:
    """A socket on the port, and one that sends to it."""

    def __init__(self, family, port, **options):
        self.family, self.port = family, port
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        for option in options.get("before", ()):
            self.socket.setsockopt(socket.SOL_SOCKET, option, 1)
        host = "127.0.0.1" if family == socket.AF_INET else "::1"
        self.socket.bind((host, port))
        # No call of this program waits longer, even if one goes wrong.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("qq", 2, 0))
        self.sender = socket.socket(family, socket.SOCK_DGRAM)
        self.sender.bind((host, 0))
        self.sender.connect((host, port))

    @property
    def fd(self):
        return self.socket.fileno()

    def send(self, *sizes):
        for size in sizes:
            self.sender.send(bytes(i * 7 % 251 for i in range(size)))

    def close(self):
        self.socket.close()
        self.sender.close()


def simple(pair, fd):
    """Calls that have no message header."""
    data = ctypes.create_string_buffer(64)
    name = ctypes.create_string_buffer(64)
    ways = {
        "read": lambda size, _: ("read", fd, data, size),
        "__read_chk": lambda size, _: ("__read_chk", fd, data, size, 64),
        "recv": lambda size, flags: ("recv", fd, data, size, flags),
        "__recv_chk": lambda size, flags: ("__recv_chk", fd, data, size, 64, flags),
        "recvfrom": lambda size, flags: ("recvfrom", fd, data, size, flags, None, None),
        "__recvfrom_chk": lambda size, flags: (
            *("__recvfrom_chk", fd, data, size, 64, flags),
            *(None, None),
        ),
    }
    for function, way in ways.items():
        pair.send(40, 64, 100, 0, 30)
        for size, flags in ((64, 0), (64, 0), (64, 0), (64, 0), (10, 0)):
            ctypes.memset(data, 0xAA, 64)
            call("whole, cut, empty", *way(size, flags))
            told.append(bytes(data).hex())
        if "read" in function:
            continue
        pair.send(100, 20)
        ctypes.memset(data, 0xAA, 64)
        call("flags", *way(50, socket.MSG_TRUNC))
        call("peek", *way(64, socket.MSG_PEEK))
        call("peeked", *way(64, 0))
        told.append(bytes(data).hex())
        call("left", *way(64, socket.MSG_DONTWAIT))
    for given in (0, 4, 16, 28, 64):
        pair.send(8)
        length = ctypes.c_uint32(given)
        ctypes.memset(name, 0xAA, 64)
        call("address", "recvfrom", fd, data, 64, 0, name, ctypes.byref(length))
        sender = bytes(name)
        told.append([sender[:2].hex(), sender[4:].hex(), length.value])
    pair.send(5)
    call("no address", "recvfrom", fd, data, 64, 0, None, ctypes.byref(ctypes.c_uint32(9)))
    pair.send(5)
    call("nowhere", "recv", fd, None, 5, 0)
    call("of what is left", "recv", fd, data, 5, socket.MSG_DONTWAIT)
    for bad in (None, BAD):
        pair.send(5)
        call("no length", "recvfrom", fd, data, 64, 0, name, bad)
        call("of what is left", "recv", fd, data, 5, socket.MSG_DONTWAIT)
    call("nothing", "read", fd, data, 0)
    for function in ("read", "recv", "recvfrom"):
        rest = {"read": (), "recv": (64,), "recvfrom": (64, None, None)}[function]
        call("none there", function, fd, data, 64, *rest) if rest else None
        call("no descriptor", function, -1, data, 64, *rest)
        call("out of band", function, fd, data, 64, 65, *rest[1:]) if rest else None


def headers(pair, fd):
    """recvmsg and recvmmsg, with control data of the program's own or without."""
    for control in (0, 8, 16, 20, 24, 36, 64, 256, 20_000):
        for sizes, name in (([64], 0), ([5, 30], 16), ([10], 4)):
            buffers = Buffers(sizes, control, name)
            pair.send(48)
            call("message", "recvmsg", fd, ctypes.byref(buffers.message), 0)
            buffers.tell("message")
    for flags in (socket.MSG_PEEK, socket.MSG_TRUNC, 0x40000000):
        buffers = Buffers([20], 128, 28)
        pair.send(48)
        call("flags", "recvmsg", fd, ctypes.byref(buffers.message), flags)
        buffers.tell("flags")
        call("rest", "recvmsg", fd, ctypes.byref(buffers.message), socket.MSG_DONTWAIT)
    empty = Buffers([20], 128, 28)
    call("none", "recvmsg", fd, ctypes.byref(empty.message), socket.MSG_DONTWAIT)
    empty.tell("none")
    call("errors", "recvmsg", fd, ctypes.byref(empty.message), socket.MSG_ERRQUEUE)
    pair.send(5)
    call("no message", "recvmsg", fd, None, 0)
    call("bad message", "recvmsg", fd, BAD, 0)
    call("bad messages", "recvmmsg", fd, BAD, 3, socket.MSG_DONTWAIT, None)
    call("of what is left", "recvmsg", fd, ctypes.byref(empty.message), socket.MSG_DONTWAIT)
    call("no descriptor", "recvmsg", -1, ctypes.byref(empty.message), 0)
    for count, sent in ((4, 4), (6, 3), (300, 5)):
        buffers = [Buffers([32], 64 if i % 2 else 0, 28) for i in range(count)]
        many = (Many * count)(*(Many(each.message, 0x77) for each in buffers))
        pair.send(*range(20, 20 + sent))
        call("many", "recvmmsg", fd, many, count, socket.MSG_DONTWAIT, None)
        for each, result in zip(buffers, many, strict=True):
            each.message = result.message
            each.tell(result.length)
    call("none of many", "recvmmsg", fd, many, 3, socket.MSG_DONTWAIT, None)
    call("of none", "recvmmsg", fd, many, 0, socket.MSG_DONTWAIT, None)
    call("nowhere", "recvmmsg", fd, None, 2, socket.MSG_DONTWAIT, None)


def options(pair):
    """What the program sees of the options, and has of them."""
    every = (SO_TIMESTAMP, SO_TIMESTAMPNS, SO_TIMESTAMPING, SO_RXQ_OVFL)
    told.extend([option, pair.socket.getsockopt(socket.SOL_SOCKET, option)] for option in every)
    for option in (SO_TIMESTAMPNS, SO_TIMESTAMP, SO_RXQ_OVFL):
        for value in (1, 0):
            pair.socket.setsockopt(socket.SOL_SOCKET, option, value)
            others = (SO_TIMESTAMP, SO_TIMESTAMPNS, SO_RXQ_OVFL)
            told.append([pair.socket.getsockopt(socket.SOL_SOCKET, other) for other in others])
            buffers = Buffers([64], 128, 0)
            pair.send(10)
            call("option", "recvmsg", pair.fd, ctypes.byref(buffers.message), 0)
            buffers.tell("option")


def interrupted(pair):
    """A signal, and a time-out."""
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, True)
    data = ctypes.create_string_buffer(64)
    for function, rest in (("read", ()), ("recv", (0,)), ("recvfrom", (0, None, None))):
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        call("signal", function, pair.fd, data, 64, *rest)
        signal.setitimer(signal.ITIMER_REAL, 0)
    pair.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("qq", 0, 20_000))
    call("time is up", "recv", pair.fd, data, 64, 0)


def descriptors(pair):
    """Duplicates, a closed and reused number, a child."""
    data = ctypes.create_string_buffer(64)
    twin = os.dup(pair.fd)
    pair.send(11, 12)
    call("one", "recv", pair.fd, data, 64, 0)
    call("other", "recv", twin, data, 64, 0)
    number = pair.fd
    pair.socket.close()
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    os.dup2(one.fileno(), number)
    other.send(b"x" * 13)
    call("reused", "recv", number, data, 64, 0)
    os.close(number)
    call("closed", "recv", number, data, 64, 0)
    pair.send(14, 15)
    child = os.fork()
    if child == 0:
        os._exit(libc.recv(twin, data, 64, 0))
    told.append(["child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])])
    call("parent", "recv", twin, data, 64, 0)
    pair.sender.close()
    os.close(twin)


def stopped(pair):
    pair.sender.close()
    told.append(["shut", pair.socket.connect_ex(("127.0.0.1", pair.port))])
    pair.socket.shutdown(socket.SHUT_RD)
    data = ctypes.create_string_buffer(64)
    call("shut", "recv", pair.fd, data, 64, 0)


def main():
    port, port6 = map(int, sys.argv[1:])
    for family, number in ((socket.AF_INET, port), (socket.AF_INET6, port6)):
        for before in ((), (SO_TIMESTAMPNS,), (SO_TIMESTAMP, SO_RXQ_OVFL)):
            pair = Pair(family, number, before=before)
            level, option = (
                (socket.IPPROTO_IP, 12)
                if family == socket.AF_INET
                else (socket.IPPROTO_IPV6, socket.IPV6_RECVHOPLIMIT)
            )
            simple(pair, pair.fd)
            headers(pair, pair.fd)
            pair.socket.setsockopt(level, option, 1)
            headers(pair, pair.fd)
            options(pair)
            pair.close()
    again = Pair(socket.AF_INET, port)
    interrupted(again)
    descriptors(again)
    stopped(Pair(socket.AF_INET, port))
    failures = {row[3] for row in told if len(row) == 4 and row[2] == -1}
    assert {errno.EBADF, errno.EFAULT, errno.EAGAIN, errno.EINTR} <= failures, failures
    print(json.dumps(told))


main()
