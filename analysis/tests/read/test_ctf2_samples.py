# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""CTF 2 as LTTng 2.15 writes it, against what babeltrace 2.1 read in it.

Debian 12's babeltrace2 does not read CTF 2, so the samples carry `oracle.jsonl`, a line a message,
written by the Python bindings of babeltrace 2.1.2 when they were recorded; see traces/README.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strata.read import open_trace
from strata.schema.events import column_name

SAMPLES = [
    "ctf2_lttng",
    "ctf2_lttng_extra",
    "ctf2_kernel_style",
    "ctf2_babeltrace_sink",
    "ctf2_every_class",
    "ctf2_no_clock",
    "ctf18_lttng_extra",
]


def agree(ours: Any, theirs: Any) -> bool:
    """Compare a value of a table with one of the oracle's JSON."""
    if isinstance(theirs, dict):
        keys = set(theirs)
        if keys in ({"value", "labels"}, {"bits"}, {"bits", "flags"}):
            return bool(ours == theirs.get("value", theirs.get("bits")))
        if keys == {"#option", "value"}:
            options = list(ours.values())
            chosen = options.pop(theirs["#option"])
            return agree(chosen, theirs["value"]) and not any(x is not None for x in options)
        return set(ours) == keys and all(agree(ours[name], theirs[name]) for name in keys)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(agree, ours, theirs))
    if isinstance(theirs, str) and theirs.startswith("hex:"):
        return bool(ours == bytes.fromhex(theirs[4:]))
    if isinstance(ours, float):
        return repr(ours) == theirs
    return bool(ours == theirs)


def row_of(message: dict[str, Any], packet: dict[str, Any]) -> dict[str, Any]:
    row = {"timestamp": message.get("ns", 0), **packet}
    for scope in ("common_context_field", "specific_context_field"):
        row |= message.get(scope) or {}
    for name, value in (message.get("payload_field") or {}).items():
        column = column_name(message["name"], name)
        while column in row:
            column = f"_{column}"
        row[column] = value
    return row


@pytest.mark.parametrize("name", SAMPLES)
def test_every_field_is_what_babeltrace_read(sample: Callable[[str], Path], name: str) -> None:
    directory = sample(name)
    messages = [json.loads(line) for line in (directory / "oracle.jsonl").read_text().splitlines()]
    expected: dict[str, list[dict[str, Any]]] = {}
    for message in messages:
        if message["msg"] == "Event":
            expected.setdefault(message["name"], []).append(row_of(message, {}))
    assert expected
    tables = open_trace(directory / "trace").tables()
    assert set(tables) == set(expected)
    for event, rows in expected.items():
        found = tables[event].to_pylist()
        assert len(found) == len(rows)
        for ours, theirs in zip(found, rows, strict=True):
            for column, value in theirs.items():
                assert agree(ours[column], value), (event, column, ours[column], value)


@pytest.mark.parametrize("name", ["ctf2_lttng_extra", "ctf18_lttng_extra"])
def test_discarded_events_are_those_of_the_packets(
    sample: Callable[[str], Path], name: str
) -> None:
    directory = sample(name)
    messages = [json.loads(line) for line in (directory / "oracle.jsonl").read_text().splitlines()]
    reported = sum(m["count"] or 0 for m in messages if m["msg"] == "DiscardedEvents")
    assert reported > 0
    # babeltrace says nothing of what was discarded before the first packet of a stream ended.
    packets = open_trace(directory / "trace").decoder.packets
    first = [i for i, s in enumerate(packets["stream"]) if not i or packets["stream"][i - 1] != s]
    before = int(packets["discarded"][first].sum())
    counted = open_trace(directory / "trace").findings.counts["discarded_events"]
    assert counted == reported + before
