# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The reader of RTPS messages: what it finds in good ones, and that broken ones do no harm."""

from __future__ import annotations

import random
import struct
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from native import PROGRAMS, compiled

SOURCES = Path(__file__).parent.parent / "src"
PREFIX = bytes(range(1, 13))
OTHER = bytes(range(101, 113))
WRITER = bytes.fromhex("00001303")
BUILTIN = bytes.fromhex("000100c2")
READER = bytes.fromhex("00001304")
INVALIDATE, INLINE_QOS, DATA_FLAG, KEY_FLAG = 0x02, 0x02, 0x04, 0x08
DATA, DATA_FRAG, INFO_TS, INFO_SRC, INFO_DST, HEARTBEAT = 0x15, 0x16, 0x09, 0x0C, 0x0E, 0x07
PAD = 0x01
FUZZED = 300_000


@dataclass(frozen=True)
class Sample:
    guid: bytes
    sequence: int
    stamp: int
    size: int
    fragment: int = 0
    fragment_count: int = 0
    fragment_size: int = 0


def header(prefix: bytes = PREFIX) -> bytes:
    return b"RTPS" + bytes([2, 3, 1, 15]) + prefix


def submessage(kind: int, flags: int, body: bytes, order: str, length: int | None = None) -> bytes:
    flags |= 1 if order == "<" else 0
    told = len(body) if length is None else length
    return struct.pack(f"{order}BBH", kind, flags, told) + body


def fraction(ns: int) -> int:
    """Turn nanoseconds into 2^-32 s, rounded up, as Fast DDS does; Cyclone DDS does so too."""
    return -(-(ns << 32) // 10**9)


def info_ts(ns: int, order: str) -> bytes:
    body = struct.pack(f"{order}II", ns // 10**9, fraction(ns % 10**9))
    return submessage(INFO_TS, 0, body, order)


def qos(order: str, *parameters: tuple[int, bytes]) -> bytes:
    """A list of parameters, with its sentinel."""
    told = [struct.pack(f"{order}HH", pid, len(value)) + value for pid, value in parameters]
    return b"".join(told) + struct.pack(f"{order}HH", 1, 0)


def data(
    sequence: int,
    payload: bytes,
    order: str,
    *,
    writer: bytes = WRITER,
    inline: bytes = b"",
    more: int = 0,
    flags: int = DATA_FLAG,
    length: int | None = None,
) -> bytes:
    """`more`: bytes between the header and the inline QoS, of a later version of the protocol."""
    body = struct.pack(f"{order}HH", 0, 16 + more) + READER + writer
    body += struct.pack(f"{order}iI", sequence >> 32, sequence & 0xFFFFFFFF) + bytes(more)
    flags |= INLINE_QOS if inline else 0
    return submessage(DATA, flags, body + inline + payload, order, length)


def data_frag(
    sequence: int, first: int, count: int, size: int, total: int, order: str, inline: bytes = b""
) -> bytes:
    body = struct.pack(f"{order}HH", 0, 28) + READER + WRITER
    body += struct.pack(f"{order}iI", sequence >> 32, sequence & 0xFFFFFFFF)
    body += struct.pack(f"{order}IHHI", first, count, size, total)
    flags = INLINE_QOS if inline else 0
    return submessage(DATA_FRAG, flags, body + inline + bytes(count * size), order)


def heartbeat(order: str) -> bytes:
    return submessage(HEARTBEAT, 0, READER + WRITER + bytes(20), order)


NS = 1_700_000_000_123_456_789
QOS = {order: qos(order, (0x70, bytes(16)), (0x8007, bytes(8))) for order in "<>"}
GUID = PREFIX + WRITER
# More than 32 bits: both halves of a sequence number count.
FAR = 5 << 32 | 7


def messages(order: str) -> dict[str, tuple[bytes, list[Sample]]]:
    """Messages by what is special, and the samples in them."""
    stamp, value = info_ts(NS, order), bytes(20)
    info_dst = submessage(INFO_DST, 0, OTHER, order)
    info_src = submessage(INFO_SRC, 0, bytes(8) + OTHER, order)
    invalid = submessage(INFO_TS, INVALIDATE, b"", order)
    pad = submessage(PAD, 0, b"", order)
    key_only = data(8, value, order, flags=KEY_FLAG)
    rtcp = b"RTCP" + bytes(10)
    whole = Sample(GUID, 7, NS, 20)
    return {
        "one": (header() + info_dst + stamp + data(7, value, order), [whole]),
        "far": (header() + stamp + data(FAR, value, order), [Sample(GUID, FAR, NS, 20)]),
        "without a time": (header() + data(7, value, order), [Sample(GUID, 7, 0, 20)]),
        "invalidated time": (
            header() + stamp + data(7, value, order) + invalid + data(8, value, order),
            [whole, Sample(GUID, 8, 0, 20)],
        ),
        "inline qos": (header() + stamp + data(7, value, order, inline=QOS[order]), [whole]),
        "later version": (
            header() + stamp + data(7, value, order, inline=QOS[order], more=12),
            [whole],
        ),
        "several": (
            header() + stamp + b"".join(data(i, bytes(4 * i), order) for i in range(1, 101)),
            [Sample(GUID, i, NS, 4 * i) for i in range(1, 101)],
        ),
        "between others": (
            header() + heartbeat(order) + pad + stamp + data(7, value, order) + heartbeat(order),
            [whole],
        ),
        "of discovery": (header() + stamp + data(7, value, order, writer=BUILTIN), []),
        "discovery and ours": (
            header() + stamp + data(9, value, order, writer=BUILTIN) + data(7, value, order),
            [whole],
        ),
        "a key only": (header() + stamp + key_only + data(7, value, order), [whole]),
        "another source": (
            header() + stamp + info_src + data(7, value, order),
            [Sample(OTHER + WRITER, 7, 0, 20)],
        ),
        "fragments": (
            header() + stamp + data_frag(7, 3, 2, 100, 350, order),
            [Sample(GUID, 7, NS, 350, 3, 2, 100)],
        ),
        "fragments with qos": (
            header() + stamp + data_frag(7, 1, 1, 100, 350, order, QOS[order]),
            [Sample(GUID, 7, NS, 350, 1, 1, 100)],
        ),
        "endless last": (
            header() + stamp + data(7, bytes(70_000), order, length=0),
            [Sample(GUID, 7, NS, 70_000)],
        ),
        "over TCP": (rtcp + header() + stamp + data(7, value, order), [whole]),
        "empty": (header(), []),
    }


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    sources = [PROGRAMS / "rtps_driver.c", SOURCES / "rtps.c"]
    output = tmp_path_factory.mktemp("rtps") / "rtps_driver"
    return compiled(output, *sanitizers, f"-I{SOURCES}", *sources, compiler="gcc")


def parse(driver: Path, given: Iterable[Sequence[bytes]], *options: str) -> list:
    """Give the length and the samples of every message, or None for what is none."""
    text = "".join(",".join(part.hex() for part in parts) + "\n" for parts in given)
    done = subprocess.run(
        [driver, "parse", *options], input=text, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found: list = []
    for line in done.stdout.splitlines():
        if line == "none":
            found.append(None)
            continue
        length, *samples = line.split()
        told = [sample.split(":") for sample in samples]
        read = [Sample(bytes.fromhex(guid), *map(int, rest)) for guid, *rest in told]
        found.append((int(length), read))
    return found


CASES = [(order, name) for order in "<>" for name in messages(order)]


@pytest.mark.parametrize(("order", "name"), CASES)
def test_the_samples_of_a_message(driver, order, name):
    message, samples = messages(order)[name]
    assert parse(driver, [[message]]) == [(len(message), samples)]


@pytest.mark.parametrize("options", [[], ["buffers"]], ids=["iovecs", "buffers of Fast DDS"])
def test_wherever_a_message_is_cut_into_parts_it_is_the_same(driver, options):
    for order in "<>":
        for name, (message, samples) in messages(order).items():
            if len(message) > 2000:
                continue
            cuts = [[message[:at], message[at:]] for at in range(len(message) + 1)]
            cuts.append([message[at : at + 1] for at in range(len(message))])
            cuts.append([b"", message, b""])
            found = parse(driver, cuts, *options)
            assert found == [(len(message), samples)] * len(cuts), name


def test_a_message_that_is_cut_off_tells_no_other_samples(driver):
    for order in "<>":
        for name, (message, samples) in messages(order).items():
            if len(message) > 2000:
                continue
            begins = [[message[:at]] for at in range(len(message))]
            for at, told in enumerate(parse(driver, begins)):
                if at < 20:
                    assert told is None
                    continue
                if told is None:
                    assert message.startswith(b"RTCP")
                    continue
                length, found = told
                assert length == at
                # The last one may be there in part: its size is then what is there.
                assert found[:-1] == samples[: max(0, len(found) - 1)], (name, at)
                assert len(found) <= len(samples)
                for cut, whole in zip(
                    found[-1:], samples[len(found) - 1 : len(found)], strict=True
                ):
                    assert (cut.guid, cut.sequence) == (whole.guid, whole.sequence)
                    assert cut.size <= whole.size


@pytest.mark.parametrize("text", [b"", b"R", b"RTPX" + bytes(60), bytes(60), b"\xff" * 60])
def test_what_is_no_rtps_is_none(driver, text):
    assert parse(driver, [[text]]) == [None]


def test_a_time_comes_back_to_the_nanosecond(driver):
    rng = random.Random(1)
    times = [rng.randrange(1 << 32) * 10**9 + rng.randrange(10**9) for _ in range(20_000)]
    times += [0, 1, 10**9 - 1, 10**9, (1 << 32) * 10**9 - 1]
    sent = [[header() + info_ts(ns, "<") + data(1, b"", "<")] for ns in times]
    found = [samples[0].stamp for _, samples in parse(driver, sent)]
    assert found == times


@pytest.mark.parametrize("rounding", [lambda ns: (ns << 32) // 10**9, fraction])
def test_whichever_way_the_writer_rounded(driver, rounding):
    rng = random.Random(2)
    times = [rng.randrange(10**9) for _ in range(20_000)]
    sent = [
        [
            header()
            + submessage(INFO_TS, 0, struct.pack("<II", 0, rounding(ns)), "<")
            + data(1, b"", "<")
        ]
        for ns in times
    ]
    assert [samples[0].stamp for _, samples in parse(driver, sent)] == times


def test_broken_messages_are_read_within_their_bounds(driver):
    """Under the address and undefined-behaviour sanitizers; each part is memory of its own."""
    seeds = [m for order in "<>" for m, _ in messages(order).values() if len(m) < 4096]
    text = "".join(f"{seed.hex()}\n" for seed in seeds)
    done = subprocess.run(
        [driver, "fuzz", "1", str(FUZZED)], input=text, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    # Most are still messages: the fuzzing reaches the inside.
    assert int(done.stdout.split()[0]) > FUZZED / 2
