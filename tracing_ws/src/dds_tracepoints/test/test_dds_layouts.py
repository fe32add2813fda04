# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The offsets that the hooks of Fast DDS use are those of the releases' headers."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from traced_ros import Ros

TEST = Path(__file__).parent
SOURCES = TEST.parent / "src"
SONAME = {"jazzy": "libfastrtps.so.2.14", "kilted": "libfastdds.so.3.2"}


def headers(distro: str) -> dict[str, int]:
    """Let the compiler tell what the headers of a distribution say."""
    wheels = Ros(distro).wheels
    assert wheels is not None
    include = wheels / "include"
    places = [include, *(path for path in include.iterdir() if (path / path.name).is_dir())]
    options = ["-std=c++17", "-O2", "-S", "-o-", "-fno-access-control", "-Wno-invalid-offsetof"]
    if distro == "jazzy":
        options += ["-DFASTDDS_2", "-Wno-deprecated-declarations"]
    places_given = [f"-I{place}" for place in places]
    done = subprocess.run(
        ["g++", *options, *places_given, TEST / "programs/layouts.cpp"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    # `name:` and its number; a number of zero is zeros without a number.
    rows = re.findall(r"^(\w+):\n\s+\.(quad|zero|xword)\s+(\d+)$", done.stdout, re.MULTILINE)
    return {name: 0 if kind == "zero" else int(number) for name, kind, number in rows}


def layout(soname: str) -> dict[str, int]:
    """Read a release's row of the table in real.c."""
    text = (SOURCES / "real.c").read_text()
    (row,) = re.findall(rf'\{{\.soname = "{re.escape(soname)}",(.*?)\}}', text, re.DOTALL)
    return {name: int(number) for name, number in re.findall(r"\.(\w+) = (\d+)", row)}


def constants() -> dict[str, int]:
    """Read the offsets that are the same in all releases."""
    text = "".join((SOURCES / f"fastdds/{name}").read_text() for name in ("fastdds.h", "objects.c"))
    return {name: int(number) for name, number in re.findall(r"\b([A-Z_]{6,}) = (\d+)\b", text)}


@pytest.fixture(scope="module", params=SONAME)
def release(request: pytest.FixtureRequest) -> tuple[str, dict[str, int]]:
    return SONAME[request.param], headers(request.param)


def test_the_table_is_what_the_headers_say(release):
    soname, told = release
    known = layout(soname)
    assert len(known) == 11
    assert known == {name: told.get(name) for name in known}


def test_the_offsets_of_all_releases_are_what_the_headers_say(release):
    told = release[1]
    known = constants()
    for name in ("COLLECTION_LENGTH", "COLLECTION_ELEMENTS", "PAYLOAD_LENGTH", "LOCATOR_KIND"):
        assert known[name] == told[name], name
    for name in ("LOCATOR_PORT", "SERIALIZED_DATA_MESSAGE"):
        assert known[name] == told[name], name


def test_what_is_read_in_one_go_is_in_one_piece(release):
    told = release[1]
    assert (told["guid_bytes"], told["guid_entity"]) == (16, 12)
    assert (told["identity_guid"], told["identity_sequence"]) == (0, 16)
    assert (told["sequence_high"], told["sequence_low"]) == (0, 4)
    assert (told["time_seconds"], told["time_nanoseconds"]) == (0, 8)
    assert 16 <= told["kind_shm"] < 32


def test_arguments_and_results_are_passed_as_the_hooks_pass_them(release):
    soname, told = release
    assert (told["code_bytes"], told["code_in_register"]) == (4, 1)
    assert (told["duration_bytes"], told["duration_in_register"]) == (8, 1)
    assert told["mask_bytes"] == 2
    # They compile with the types that the hooks have.
    assert told["write_value"] == told["write_with_params"] == told["write_instance"] == 1
    if soname == "libfastdds.so.3.2":
        assert (told["buffer_data"], told["buffer_size"], told["buffer_bytes"]) == (0, 8, 16)
