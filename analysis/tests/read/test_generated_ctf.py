# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of generated layouts are read as libbabeltrace2 and as their generator say.

What only CTF 2 has is written by hand, below.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import oracle
import pytest
from generated import recordings
from generated_bytes import Recording, expected_tables, write_trace
from generated_layout import ctf2, tsdl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from strata.read import open_trace

thorough = settings(
    derandomize=True,
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def assert_rows(path: Path, expected: dict[str, list[dict[str, Any]]]) -> None:
    trace = open_trace(path)
    tables = {name: table for name, table in trace.tables().items() if len(table)}
    assert {loss.code for loss in trace.losses} <= {"discarded_events"}
    assert set(tables) == set(expected)
    for event, rows in expected.items():
        found = [
            {name: value for name, value in row.items() if value is not None}
            for row in tables[event].to_pylist()
        ]
        # As text: NaN is equal to NaN there, and 0 is not -0.
        assert [repr(sorted(row.items())) for row in found] == [
            repr(sorted(row.items())) for row in rows
        ], event


def check(recording: Recording, metadata: bytes, babeltrace: bool = False) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "trace"
        write_trace(recording, path, metadata)
        assert_rows(path, expected_tables(recording))
        if babeltrace:
            oracle.assert_equal(path)


@given(recording=recordings())
@thorough
def test_generated_tsdl(recording: Recording) -> None:
    check(recording, tsdl(recording.layout))


@given(recording=recordings(tame=True))
@thorough
def test_generated_tsdl_as_babeltrace(recording: Recording) -> None:
    check(recording, tsdl(recording.layout), babeltrace=True)


@given(recording=recordings())
@thorough
def test_generated_ctf2(recording: Recording) -> None:
    check(recording, ctf2(recording.layout))


@given(recording=recordings(), data=st.data())
@thorough
def test_a_time_range_is_a_part_of_the_whole(recording: Recording, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "trace"
        write_trace(recording, path, tsdl(recording.layout))
        whole = {name: table.to_pylist() for name, table in open_trace(path).tables().items()}
        times = sorted({row["timestamp"] for rows in whole.values() for row in rows})
        bounds = st.sampled_from([t + d for t in times for d in (-1, 0, 1)] or [0])
        begin, end = data.draw(bounds), data.draw(bounds)
        part = open_trace(path).tables(begin_ns=begin, end_ns=end)
        for name, rows in whole.items():
            expected = [row for row in rows if begin <= row["timestamp"] < end]
            found = part[name].to_pylist() if name in part else []
            assert repr(found) == repr(expected), name


ULEB = {"type": "variable-length-unsigned-integer"}
SLEB = {"type": "variable-length-signed-integer"}
UTF16LE = {"type": "null-terminated-string", "encoding": "utf-16le"}
UTF16BE = {"type": "static-length-string", "length": 6, "encoding": "utf-16be"}
UTF32BE = {"type": "null-terminated-string", "encoding": "utf-32be"}


def bits(kind: str, length: int, **others: Any) -> dict[str, Any]:
    shape = {"type": f"fixed-length-{kind}", "length": length, "byte-order": "little-endian"}
    return shape | {name.replace("_", "-"): value for name, value in others.items()}


U8 = bits("unsigned-integer", 8)
S8 = bits("signed-integer", 8)
FLAG = bits("boolean", 1)


def at(*path: str | None) -> dict[str, Any]:
    """Return a location without origin."""
    return {"path": list(path)}


def dynamic(kind: str, location: dict[str, Any], **others: Any) -> dict[str, Any]:
    shape = {"type": f"dynamic-length-{kind}", "length-field-location": location}
    return shape | {name.replace("_", "-"): value for name, value in others.items()}


def optional(
    field: Any, location: dict[str, Any], ranges: list[list[int]] | None = None
) -> dict[str, Any]:
    shape = {"type": "optional", "field-class": field, "selector-field-location": location}
    return shape if ranges is None else shape | {"selector-field-ranges": ranges}


def structure(**members: Any) -> dict[str, Any]:
    parts = [{"name": name, "field-class": field} for name, field in members.items()]
    return {"type": "structure", "member-classes": parts}


def read(
    place: Path, payload: Any, data: str, aliases: dict[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Return the payloads that are in bytes, which are given in hexadecimal."""
    fragments: list[dict[str, Any]] = [{"type": "preamble", "version": 2}]
    for name, field in (aliases or {}).items():
        fragments.append({"type": "field-class-alias", "name": name, "field-class": field})
    fragments.append({"type": "data-stream-class"})
    fragments.append({"type": "event-record-class", "name": "e", "payload-field-class": payload})
    text = "".join(f"\x1e{json.dumps(part)}" for part in fragments)
    (place / "metadata").write_text(text)
    (place / "stream").write_bytes(bytes.fromhex(data))
    trace = open_trace(place)
    rows: list[dict[str, Any]] = trace.tables()["e"].to_pylist()
    assert not trace.losses
    contexts = ("timestamp", "host", "vpid", "vtid", "procname", "cpu_id")
    return [{name: row[name] for name in row if name not in contexts} for row in rows]


@pytest.mark.parametrize(
    ("data", "unsigned", "signed"),
    [
        ("00 00", 0, 0),
        ("7f 3f", 127, 63),
        ("8001 40", 128, -64),
        ("ac02 7e", 300, -2),
        ("8000 ff7f", 0, -1),  # a longer form than is needed
        ("ffffffffffffffffff01 8080808080808080807f", 2**64 - 1, -(2**63)),
        ("e58e26 ffffffffffffffffff00", 624485, 2**63 - 1),
    ],
)
def test_variable_length_integers(tmp_path: Path, data: str, unsigned: int, signed: int) -> None:
    assert read(tmp_path, structure(u=ULEB, s=SLEB), data) == [{"u": unsigned, "s": signed}]


def test_variable_length_integers_begin_on_a_byte(tmp_path: Path) -> None:
    payload = structure(few=bits("unsigned-integer", 3), u=ULEB, last=bits("signed-integer", 8))
    rows = read(tmp_path, payload, "05 8102 ff 03 01 07")
    assert rows == [{"few": 5, "u": 257, "last": -1}, {"few": 3, "u": 1, "last": 7}]


def test_dynamic_length_string(tmp_path: Path) -> None:
    payload = structure(n=ULEB, text=dynamic("string", at("n")))
    rows = read(tmp_path, payload, "02 6f6b 00 05 68c3a90078 02 ff41")
    assert [row["text"] for row in rows] == ["ok", "", "hé", "\ufffdA"]
    assert [row["n"] for row in rows] == [2, 0, 5, 2]


def test_wide_strings(tmp_path: Path) -> None:
    payload = structure(a=UTF16LE, b=UTF16BE, c=UTF32BE)
    first = "6100 3dd8 00de 0001 0000" + "0061 0000 0062" + "0001f600 00000100 00000000"
    second = "0000" + "0061 0062 0063" + "00000000"
    assert read(tmp_path, payload, first + second) == [
        {"a": "a😀Ā", "b": "a", "c": "😀Ā"},
        {"a": "", "b": "abc", "c": ""},
    ]


def test_wide_string_of_dynamic_length(tmp_path: Path) -> None:
    # The length is in bytes.
    payload = structure(n=U8, text=dynamic("string", at("n"), encoding="utf-16le"), end=U8)
    rows = read(tmp_path, payload, "04 6100 e900 07 00 08")
    assert rows == [{"n": 4, "text": "aé", "end": 7}, {"n": 0, "text": "", "end": 8}]


def test_wide_strings_with_half_a_character(tmp_path: Path) -> None:
    payload = structure(a=UTF16LE)
    rows = read(tmp_path, payload, "00d8 6100 0000 00dc 0000")
    assert rows == [{"a": "\ufffda"}, {"a": "\ufffd"}]


def test_optional_by_boolean(tmp_path: Path) -> None:
    value = optional(U8 | {"alignment": 8}, at("there"))
    payload = structure(there=FLAG, value=value, end=U8)
    assert read(tmp_path, payload, "01 2a 07") == [{"there": 1, "value": 42, "end": 7}]
    # What is absent does not align: `end` begins at the second bit.
    payload = structure(there=FLAG, value=value, end=bits("unsigned-integer", 7))
    assert read(tmp_path, payload, "0e 10") == [
        {"there": 0, "value": None, "end": 7},
        {"there": 0, "value": None, "end": 8},
    ]


def test_optional_by_ranges(tmp_path: Path) -> None:
    string = {"type": "null-terminated-string"}
    payload = structure(
        s=S8,
        low=optional(string, at("s"), [[-5, -1], [7, 7]]),
        u=U8,
        high=optional(structure(x=U8), at("u"), [[250, 255]]),
    )
    rows = read(tmp_path, payload, "fb 6100 00  ff 00 ff 01  07 6200 fa 02  fa f9  00 00")
    assert [row["low"] for row in rows] == ["a", "", "b", None, None]
    assert [row["high"] for row in rows] == [None, {"x": 1}, {"x": 2}, None, None]


def test_optional_in_array(tmp_path: Path) -> None:
    element = structure(there=bits("boolean", 8), value=optional(S8, at("there")))
    payload = structure(n=U8, items=dynamic("array", at("n"), element_field_class=element))
    (row,) = read(tmp_path, payload, "03 01 ff 00 02 05")
    items = [{"there": 1, "value": -1}, {"there": 0, "value": None}, {"there": 1, "value": 5}]
    assert row["items"] == items


def test_blobs(tmp_path: Path) -> None:
    fixed = {"type": "static-length-blob", "length": 2, "media-type": "image/png"}
    payload = structure(fixed=fixed, n=ULEB, blob=dynamic("blob", at("n")))
    rows = read(tmp_path, payload, "00ff 03 000102 8000 00")
    assert rows == [
        {"fixed": b"\x00\xff", "n": 3, "blob": b"\x00\x01\x02"},
        {"fixed": b"\x80\x00", "n": 0, "blob": b""},
    ]


def test_aliases(tmp_path: Path) -> None:
    aliases = {"byte": U8, "point": structure(x="byte", y="byte"), "all": structure(p="point")}
    array = {"type": "static-length-array", "element-field-class": "byte", "length": 2}
    aliases["all"] = structure(p="point", q=array, r="byte")
    assert read(tmp_path, "all", "01 02 0304 05", aliases) == [
        {"p": {"x": 1, "y": 2}, "q": b"\x03\x04", "r": 5}
    ]


def test_aliases_are_copies(tmp_path: Path) -> None:
    # The same class twice, where the location means another member each time.
    aliases = {"list": dynamic("array", at("n"), element_field_class=S8)}
    payload = structure(a=structure(n=U8, v="list"), b=structure(n=U8, v="list"))
    (row,) = read(tmp_path, payload, "01 ff 02 01 02", aliases)
    assert row == {"a": {"n": 1, "v": [-1]}, "b": {"n": 2, "v": [1, 2]}}


def test_location_in_the_parent(tmp_path: Path) -> None:
    inner = structure(n=U8, own=dynamic("string", at("n")), outer=dynamic("string", at(None, "n")))
    (row,) = read(tmp_path, structure(n=U8, inner=inner), "02 01 61 6263")
    assert row == {"n": 2, "inner": {"n": 1, "own": "a", "outer": "bc"}}


def test_location_with_origin(tmp_path: Path) -> None:
    place = {"origin": "event-record-payload", "path": ["head", "n"]}
    payload = structure(head=structure(n=U8), tail=structure(v=dynamic("blob", place)))
    (row,) = read(tmp_path, payload, "02 0506")
    assert row == {"head": {"n": 2}, "tail": {"v": b"\x05\x06"}}


def test_bits(tmp_path: Path) -> None:
    payload = structure(
        array=bits("bit-array", 3),
        map=bits("bit-map", 5, flags={"low": [[0, 1]]}),
        turned=bits("unsigned-integer", 8, bit_order="last-to-first"),
        signed=bits("signed-integer", 4, bit_order="last-to-first"),
        rest=bits("bit-array", 4),
    )
    # 0b01101_101; 0b00010110 turned is 0b01101000; 0b0001 turned is -8.
    (row,) = read(tmp_path, payload, "6d 16 a1")
    assert row == {"array": 5, "map": 13, "turned": 0b01101000, "signed": -8, "rest": 10}
