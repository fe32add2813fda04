# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The package's page tells the events and variables that there are."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
README = (PACKAGE / "README.md").read_text()
SOURCES = PACKAGE / "src"


def declared() -> dict[str, list[str]]:
    """Give the fields of every event as events.h declares them."""
    text = (SOURCES / "events.h").read_text()
    field = r"lttng_ust_field_(?:integer|integer_hex|array|sequence)\(\s*\w+,\s*(\w+)"
    field += r"|lttng_ust_field_string\(\s*(\w+)|lttng_ust_field_enum\(\s*dds,\s*\w+, \w+,\s*(\w+)"
    classes: dict[str, list[str]] = {}
    events: dict[str, list[str]] = {}
    for block in text.split("LTTNG_UST_TRACEPOINT_EVENT")[1:]:
        fields = ["".join(found) for found in re.findall(field, block)]
        if match := re.match(r"_CLASS\(\s*dds, (\w+)", block):
            classes[match[1]] = fields
        elif match := re.match(r"_INSTANCE\(dds, (\w+), dds, (\w+)", block):
            events[match[2]] = classes[match[1]]
        elif match := re.match(r"\(\s*dds, (\w+)", block):
            events[match[1]] = fields
    return events


def told() -> dict[str, list[str]]:
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", README, re.MULTILINE)
    rows = [(name, rest.split("|")) for name, rest in rows if rest.count("|") == 3]
    return {name: re.findall(r"`(\w+)`", cells[2]) for name, cells in rows}


def test_the_table_has_every_event_with_its_fields():
    assert len(declared()) == 23
    assert all(declared().values())
    assert told() == declared()


def test_what_pairs_exists():
    rows = re.findall(r"^\| `(\w+)_begin` \|.*\| (.*) \|$", README, re.MULTILINE)
    assert sorted(rows) == sorted((name, f"`{name}_end`") for name, _ in rows)
    assert len(rows) == 1


def test_the_variables_are_those_that_are_read():
    sources = "".join(path.read_text() for path in SOURCES.rglob("*.c"))
    read = set(re.findall(r'getenv\("(\w+)"\)', sources))
    assert read == set(re.findall(r"`(DDS_TRACEPOINTS_\w+)=", README))


def test_the_releases_with_layouts_are_named():
    releases = re.findall(r'soname = "lib\w+\.so\.([\d.]+)"', (SOURCES / "real.c").read_text())
    (named,) = re.findall(r"^Hooked: the releases (.*) with `rmw_fastrtps`", README, re.MULTILINE)
    assert re.findall(r"\d+\.\d+", named) == releases
