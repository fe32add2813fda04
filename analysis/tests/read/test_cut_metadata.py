# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Of metadata that a killed recorder left cut the whole declarations count; the cut is told."""

from __future__ import annotations

import random
import re
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from small_trace import write_trace

from strata.errors import TraceError
from strata.read import open_trace

DIRECTORY = "ust/ust/uid/0/64-bit"
PACKET = 4096  # bytes: LTTng's metadata packets
SIZES_AT = 24  # content and packet size of a metadata packet, in bits
HEADER_SIZE = 37


@pytest.fixture
def directory(own_sample: Callable[[str], Path]) -> Path:
    return own_sample("fast_throws") / DIRECTORY


def text_of(metadata: bytes) -> str:
    """The text of packets as far as they are there, unpacked by other means than the decoder's."""
    text = b""
    at = 0
    while at + HEADER_SIZE < len(metadata):
        content, packet = struct.unpack_from("<II", metadata, at + SIZES_AT)
        text += metadata[at + HEADER_SIZE : at + content // 8]
        at += packet // 8
    return text.decode()


def declared(text: str) -> set[str]:
    """Names of the events whose blocks are whole."""
    return set(re.findall(r'^event \{\n\tname = "([^"]+)";.*?^\};', text, re.DOTALL | re.MULTILINE))


def counts(directory: Path) -> Counter[str]:
    tables = open_trace(directory).tables()
    return Counter({event: len(table) for event, table in tables.items()})


@pytest.mark.parametrize("seed", range(10))
def test_metadata_cut_anywhere_are_read_up_to_the_last_whole_declaration(
    directory: Path, seed: int
) -> None:
    metadata = directory / "metadata"
    whole, all_counts = metadata.read_bytes(), counts(directory)
    cut = random.Random(seed).randrange(PACKET + 1, len(whole) - PACKET)
    metadata.write_bytes(whole[:cut])
    trace = open_trace(directory)
    assert trace.declared_events == declared(text_of(whole[:cut]))
    tables = trace.tables()
    assert set(tables) <= trace.declared_events
    read = Counter({event: len(table) for event, table in tables.items()})
    assert read <= all_counts
    assert trace.findings.counts["cut_metadata"] == 1
    unread = set(all_counts) - trace.declared_events
    assert bool(unread) == ("unreadable_bytes" in trace.findings.counts)
    (loss,) = [loss for loss in trace.losses if loss.code == "cut_metadata"]
    assert loss.where.startswith(f"{directory}: byte {cut // PACKET * PACKET}: the packet needs")


def test_metadata_cut_between_packets_lack_what_a_packet_began(directory: Path) -> None:
    metadata = directory / "metadata"
    whole = metadata.read_bytes()
    metadata.write_bytes(whole[: 2 * PACKET])
    trace = open_trace(directory)
    trace.tables()
    assert trace.declared_events == declared(text_of(whole[: 2 * PACKET]))
    assert trace.findings.counts["cut_metadata"] == 1


def test_rubbish_behind_whole_packets_is_told(directory: Path) -> None:
    metadata = directory / "metadata"
    events = counts(directory)
    metadata.write_bytes(metadata.read_bytes() + bytes(PACKET))
    trace = open_trace(directory)
    assert counts(directory) == events
    assert trace.findings.counts == {"cut_metadata": 1}
    assert "no metadata packet of CTF 1.8 begins here" in trace.losses[0].where


def test_plain_text_that_is_cut(tmp_path: Path) -> None:
    place = write_trace(tmp_path / "trace", [b""] * 5)
    with (place / "metadata").open("a") as file:
        file.write('event { id = 1; name = "made:second"; fields := struct { int32')
    trace = open_trace(place)
    assert len(trace.tables()["made:event"]) == 5
    assert trace.findings.counts == {"cut_metadata": 1}


def test_ctf2_that_is_cut(own_sample: Callable[[str], Path]) -> None:
    (metadata,) = own_sample("ctf2_lttng").rglob("metadata")
    whole = metadata.read_bytes()
    last = whole.rfind(b"\x1e")
    metadata.write_bytes(whole[: last + 40])
    trace = open_trace(metadata.parent)
    trace.tables()
    assert trace.findings.counts["cut_metadata"] == 1


def test_a_mistake_before_the_end_is_no_cut(tmp_path: Path) -> None:
    place = write_trace(tmp_path / "trace", [b""])
    text = (place / "metadata").read_text()
    (place / "metadata").write_text(text.replace("struct {", "struct {{", 1) + "event { na")
    with pytest.raises(TraceError, match="Cannot read metadata"):
        open_trace(place)


def test_metadata_of_gigabytes_are_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "metadata").open("wb") as file:
        file.write(b"/* CTF 1.8 */")
        file.truncate(1 << 34)
    with pytest.raises(TraceError, match=r"it has 17,179,869,184 bytes, and at most 64 MiB"):
        open_trace(tmp_path)


@pytest.mark.parametrize("ctf2", [False, True])
def test_too_many_event_types_are_refused(tmp_path: Path, *, ctf2: bool) -> None:
    place = write_trace(tmp_path / "trace", [b""])
    if ctf2:
        fragments = ['{"type":"preamble","version":2}', '{"type":"data-stream-class"}']
        fragments += [f'{{"type":"event-record-class","id":{n}}}' for n in range(65537)]
        (place / "metadata").write_text("".join(f"\x1e{one}" for one in fragments))
    else:
        with (place / "metadata").open("a") as file:
            file.writelines(f'event {{ id = {n}; name = "e"; }};\n' for n in range(1, 65537))
    with pytest.raises(TraceError, match="more than 65,536 event types are not supported"):
        open_trace(place)


@pytest.mark.parametrize(
    "deep", ["\x1e[", '\x1e{"type":', "struct { ", "trace { x := variant <x> { "]
)
def test_deep_nesting_is_refused(tmp_path: Path, deep: str) -> None:
    count = 300_000
    head = "\x1e" if deep.startswith("\x1e") else "/* CTF 1.8 */"
    (tmp_path / "metadata").write_text(head + deep.lstrip("\x1e") * count)
    with pytest.raises(TraceError, match=r"^Cannot read metadata .*\.$") as error:
        open_trace(tmp_path)
    assert len(str(error.value)) < 600
