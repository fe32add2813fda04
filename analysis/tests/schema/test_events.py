# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of events is that of the installed tracepoint headers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from strata.schema.events import CATALOGUE, Kind

_EVENT = re.compile(r"^TRACEPOINT_EVENT\((.*?)^\)", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^\s*ctf_(\w+)\(([^,]+),\s*([^,)]+)", re.MULTILINE)


def header_events(path: Path) -> dict[str, list[tuple[str, Kind]]]:
    events = {}
    for body in _EVENT.findall(path.read_text()):
        name = body.split(",")[1].strip()
        fields = body[body.index("TP_FIELDS") :]
        events[f"ros2:{name}"] = [kind_of(*match) for match in _FIELD.findall(fields)]
    return events


def kind_of(macro: str, first: str, second: str) -> tuple[str, Kind]:
    if macro == "string":
        return first.strip(), Kind.STRING
    if macro == "array":
        return second.strip(), Kind.BYTES
    if macro == "integer_hex":
        return second.strip(), Kind.HANDLE
    type_name = first.replace("const", "").strip()
    kinds = {"int": Kind.FLAG, "int64_t": Kind.INT, "uint64_t": Kind.UINT, "size_t": Kind.UINT}
    return second.strip(), kinds[type_name]


@pytest.mark.parametrize(
    ("environment", "count"), [(".venv", 35), (".venv-kilted", 40)], ids=["jazzy", "kilted"]
)
def test_every_event_of_the_header_is_declared_with_its_fields(
    root: Path, environment: str, count: int
) -> None:
    header = root / environment / "include/tracetools/tracetools/tp_call.h"
    events = header_events(header)
    assert len(events) == count
    declared = {
        name: [(field.name, field.kind) for field in CATALOGUE[name].fields] for name in events
    }
    assert declared == events


def test_what_only_the_newer_header_has_is_said_to_be_newer(root: Path) -> None:
    header = root / ".venv/include/tracetools/tracetools/tp_call.h"
    jazzy = set(header_events(header))
    newer = {name for name, event in CATALOGUE.items() if event.since == "kilted"}
    assert newer == set(CATALOGUE) - jazzy
