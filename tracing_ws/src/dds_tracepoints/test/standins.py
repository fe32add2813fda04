# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds libraries that stand in for Fast DDS, from the table of hooked functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dds_events import HOOKS
from native import PROGRAMS, compiled

RMW = "librmw_fastrtps_shared_cpp.so"
BUILD = {"libfastrtps.so.2.14": "2_14", "libfastdds.so.3.2": "3_2", "libfastdds.so.9.9": "3_2"}

# What a function is given (letters: transparency.cpp), `this` first, and what it returns: `b` bool,
# `c` a return code, `p` an address, `v` nothing. By function, or by function and release.
_SIGNATURES = {
    "create_writer": ("pppppp", "p"),
    "create_reader": ("pppppp", "p"),
    "write_with_timestamp": ("pppp", "c"),
    "write_with_params 2_14": ("ppp", "b"),
    "write_with_params 3_2": ("ppp", "c"),
    "write_value 2_14": ("pp", "b"),
    "write_value 3_2": ("pp", "c"),
    "write_instance": ("ppp", "c"),
    "serialize 2_14": ("ppp", "b"),
    "serialize 3_2": ("ppph", "b"),
    "deserialize": ("ppp", "b"),
    "writer_history_add": ("ppp", "b"),
    "shm_send 2_14": ("pdlppp", "b"),
    "shm_send 3_2": ("pnlppp", "b"),
    "shm_push": ("ppp", "b"),
    "data_sharing_notify": ("p", "v"),
    "receive": ("pdlpp", "v"),
    "reader_history_add": ("pp", "b"),
    "reader_notify": ("pp", "b"),
    "wake_up": ("p", "v"),
    "wait": ("ppq", "c"),
    "take": ("pppihhh", "c"),
    "take_next_sample": ("ppp", "c"),
    "read_next_sample": ("ppp", "c"),
}


def rows(soname: str) -> list[tuple[str, str, str]]:
    """Give id, library and symbol of every hooked function of the release that `soname` bears."""
    table = re.findall(r'^HOOK\((\w+), (\w+), "([^"]+)", "([^"]+)"\)', HOOKS.read_text(), re.M)
    fast = [row for row in table if row[2].startswith(("libfast", RMW))]
    return [(name, lib, sym) for name, build, lib, sym in fast if BUILD[soname] in _builds(build)]


def _builds(build: str) -> list[str]:
    return build.split("_and_")


def _library(directory: Path, soname: str, table: Sequence[tuple[str, str, str]]) -> Path:
    build = next(build for name, build in BUILD.items() if name in directory.parts)
    lines = []
    for name, _, symbol in table:
        arguments, result = _SIGNATURES.get(name) or _SIGNATURES[f"{name} {build}"]
        lines.append(f'ROW({name}, "{symbol}", {arguments}, {result})\n')
    place = directory / f"{soname}.rows"
    place.mkdir(parents=True, exist_ok=True)
    (place / "rows.inc").write_text("".join(lines))
    guids = [] if soname == RMW else ["-DWITH_GUIDS"]
    options = [
        "-shared",
        "-fPIC",
        f"-Wl,-soname,{soname}",
        f"-I{place}",
        f'-DSONAME="{soname}"',
        *guids,
    ]
    return compiled(directory / soname, *options, PROGRAMS / "standin.cpp")


def build(directory: Path, soname: str, *, rmw: bool = True) -> Path:
    """Build the stand-ins of a release, and the library of all their functions; give this one."""
    directory = directory / soname
    table = rows(soname)
    assert len(table) == len({name.split(" ")[0] for name in _SIGNATURES})
    made = {soname: _library(directory, soname, [row for row in table if row[1] != RMW])}
    if rmw:
        made[RMW] = _library(directory, RMW, [row for row in table if row[1] == RMW])
    everything = directory / "all"
    everything.mkdir()
    texts = [(directory / f"{name}.rows/rows.inc").read_text() for name in made]
    (everything / "rows.inc").write_text("".join(texts))
    options = ["-shared", "-fPIC", f"-I{everything}", "-Wl,-rpath,$ORIGIN"]
    source = PROGRAMS / "standin_calls.cpp"
    return compiled(directory / "libcalls.so", *options, source, *made.values())
