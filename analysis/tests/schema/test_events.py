# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The catalogue of events is that of the installed tracepoint headers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from strata.schema.event import Kind
from strata.schema.events import CATALOGUE

_EVENT = re.compile(r"^TRACEPOINT_EVENT\((.*?)^\)", re.MULTILINE | re.DOTALL)
_HOOK_EVENT = re.compile(
    r"^LTTNG_UST_TRACEPOINT_EVENT(_CLASS|_INSTANCE|)\((.*?)(?=^LTTNG_UST|^#endif)",
    re.MULTILINE | re.DOTALL,
)
_HOOK_FIELD = re.compile(
    r"lttng_ust_field_(string|array|sequence|enum|integer_hex|integer)\(\s*([\w ]+),\s*([\w ]+)"
    r"(?:,\s*\w+,\s*(\w+))?"
)
_FIELD = re.compile(r"^\s*ctf_(\w+)\(([^,]+),\s*([^,)]+)", re.MULTILINE)


def header_events(path: Path) -> dict[str, list[tuple[str, Kind]]]:
    events = {}
    for body in _EVENT.findall(path.read_text()):
        name = body.split(",")[1].strip()
        fields = body[body.index("TP_FIELDS") :]
        events[f"ros2:{name}"] = [kind_of(*match) for match in _FIELD.findall(fields)]
    return events


def hook_events(path: Path, provider: str) -> dict[str, list[tuple[str, Kind]]]:
    """Events of our own header, whose macros have longer names."""
    text = re.sub(r"//[^\n]*", "", path.read_text())
    events, classes = {}, {}
    for kind, arguments in _HOOK_EVENT.findall(text):
        names = [item.strip() for item in arguments.split("(")[0].split(",")]
        fields = [kind_of(*match) for match in _HOOK_FIELD.findall(arguments)]
        if kind == "_CLASS":
            classes[names[1]] = fields
        elif kind == "_INSTANCE":
            events[f"{provider}:{names[3]}"] = classes[names[1]]
        else:
            events[f"{provider}:{names[1]}"] = fields
    return events


def kind_of(macro: str, first: str, second: str, fourth: str = "") -> tuple[str, Kind]:
    if macro == "enum":
        return fourth, Kind.INT
    if macro == "string":
        return first.strip(), Kind.STRING
    if macro in ("array", "sequence"):
        return second.strip(), Kind.BYTES
    if macro == "integer_hex":
        return second.strip(), Kind.HANDLE
    type_name = first.replace("const", "").strip()
    kinds = {"int": Kind.FLAG, "size_t": Kind.UINT}
    for bits in (8, 16, 32, 64):
        kinds |= {f"int{bits}_t": Kind.INT, f"uint{bits}_t": Kind.UINT}
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
    ros2 = {name for name, event in CATALOGUE.items() if event.provider == "ros2"}
    newer = {name for name, event in CATALOGUE.items() if event.since in ("kilted", "lyrical")}
    assert newer == ros2 - jazzy


@pytest.mark.parametrize(("provider", "count"), [("dds", 23), ("driver", 6)])
def test_every_event_of_the_hooks_is_declared_with_its_fields(
    root: Path, provider: str, count: int
) -> None:
    events = hook_events(root / f"tracing_ws/src/{provider}_tracepoints/src/events.h", provider)
    declared = {
        name: [(field.name, field.kind) for field in event.fields]
        for name, event in CATALOGUE.items()
        if event.provider == provider and not event.step_of
    }
    assert len(events) == count
    assert declared == events


def test_steps_are_of_operations_that_hooks_emit(root: Path) -> None:
    emitted = hook_events(root / "tracing_ws/src/dds_tracepoints/src/events.h", "dds")
    steps = [event for event in CATALOGUE.values() if event.step_of]
    assert {f"dds:{event.step_of}" for event in steps} == {"dds:written", "dds:sent", "dds:taken"}
    assert {f"dds:{event.step_of}" for event in steps} <= set(emitted)
    assert {event.full_name for event in steps}.isdisjoint(emitted)
