# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Bad input gets an error that says what is wrong and what to do."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

import strata
from strata.errors import TraceError
from strata.read import open_trace

DIRECTORY = "ust/ust/uid/0/64-bit"


def test_no_such_directory(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"Cannot open trace .*/absent: there is no such direc"):
        open_trace(tmp_path / "absent")


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(TraceError, match=r"Cannot open trace .*/x: it is a file"):
        open_trace(tmp_path / "x")


def test_an_empty_directory(tmp_path: Path) -> None:
    with pytest.raises(
        TraceError, match=r"no directory at or below it contains a CTF `metadata` fi"
    ):
        open_trace(tmp_path)


def test_binary_rubbish_as_metadata(tmp_path: Path) -> None:
    (tmp_path / "metadata").write_bytes(b"\x00\xff\xfe" * 50)
    with pytest.raises(
        TraceError, match=r"Cannot read metadata .*/metadata: line 1, column 1: byte 0 begins no"
    ):
        open_trace(tmp_path)


def test_text_that_is_no_metadata(tmp_path: Path) -> None:
    (tmp_path / "metadata").write_text("hello, world")
    (tmp_path / "stream").write_bytes(b"\x00" * 100)
    with pytest.raises(
        TraceError, match="line 1, column 1: no block or type declaration of TSDL begins here"
    ):
        open_trace(tmp_path).tables()


def test_cut_metadata(own_sample: Callable[[str], Path]) -> None:
    directory = own_sample("fast_blocked_st")
    metadata = directory / DIRECTORY / "metadata"
    metadata.write_bytes(metadata.read_bytes()[:904])
    with pytest.raises(
        TraceError, match=r"byte 0: the packet needs \d+ bytes and the file has 904"
    ):
        open_trace(directory)


def test_one_unreadable_trace_among_several_is_counted(
    own_sample: Callable[[str], Path],
) -> None:
    directory = own_sample("fast_blocked_st")
    (directory / "other").mkdir()
    (directory / "other/metadata").write_bytes(b"\x00\xff\xfe" * 50)
    trace = open_trace(directory)
    assert trace.findings.counts == {"unreadable_traces": 1}
    assert len(trace.tables(["ros2:rmw_take"])["ros2:rmw_take"]) > 600


def test_a_trace_of_another_provider(own_sample: Callable[[str], Path]) -> None:
    directory = own_sample("fast_blocked_st")
    metadata = directory / DIRECTORY / "metadata"
    # As many bytes: the packets of the metadata stay whole.
    metadata.write_bytes(metadata.read_bytes().replace(b'"ros2:', b'"acme:'))
    with pytest.raises(
        TraceError, match=r"none of its 11177 events is a ros2:\* event.*belong to acme"
    ):
        strata.analyze(directory)


def test_a_trace_without_events(own_sample: Callable[[str], Path]) -> None:
    directory = own_sample("fast_blocked_st")
    for stream in (directory / DIRECTORY).glob("ros2_*"):
        stream.unlink()
    with pytest.raises(TraceError, match="the trace contains no events"):
        strata.analyze(directory)


# The files that are read: the index beside them is not.
@pytest.mark.parametrize("name", ["metadata", "ros2_0", "ros2_1"])
@pytest.mark.parametrize("seed", range(8))
def test_flipped_bits_give_a_result_or_an_error_and_nothing_else(
    own_sample: Callable[[str], Path], name: str, seed: int
) -> None:
    directory = own_sample("fast_throws") / DIRECTORY
    chance = random.Random(f"{name} {seed}")
    path = directory / name
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 5, 50])):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    assert content != path.read_bytes()
    path.write_bytes(content)
    try:
        strata.analyze(directory)
    except TraceError as error:
        assert str(error).startswith("Cannot ")
        assert "addr=" not in str(error)
