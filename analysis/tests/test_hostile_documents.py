# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are no configuration, scenario, ...: one clear line each, at once."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from strata.campaign.load import load_campaign
from strata.comparison.gates.load import read_gates
from strata.documents import DocumentError, read_json
from strata.errors import StrataError
from strata.read.links import read_links
from strata.record.config import load_config
from strata.record.profiles import load_profile
from strata.scenario.load import load_scenario
from strata.yaml_document import parse_yaml

_AT_ONCE_S = 5.0
LAUGHS = "a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)
MERGED = "a0: &a0 {k: 1}\n" + "".join(
    f"a{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 10)}]}}\n" for n in range(1, 9)
)
YAML = {
    "aliases": (LAUGHS, "has more than 100,000 values, including aliases"),
    "merged aliases": (MERGED, "has more than 100,000 values, including aliases"),
    "an alias within itself": ("a: &a [*a]\n", r":1: \*a refers to itself"),
    "brackets": ("[" * 20_000, ":1: it is nested more than 60 deep"),
    "braces": ("{a: " * 20_000, ":1: it is nested more than 60 deep"),
    "dashes": ("- " * 20_000 + "a", ":1: it is nested more than 60 deep"),
    "a long number": (f"a: 1\nb: {'9' * 5_000}\n", ":2: a number has 5,000 digits"),
    "no date": ("a: 1\nb: 2001-99-99\n", ":2: '2001-99-99' is no timestamp"),
    "no number": ("a: !!int x\n", ":1: 'x' is no int"),
    "a tag": ("a: !!python/object/apply:os.system [true]\n", "not YAML: could not determine a con"),
    "a key twice": ("a: 1\nb: 2\na: 3\n", "(:3: key 'a' occurs twice|none of)"),
    "a list as a key": ("? [a]\n: 1\n", ":1: "),
    "a control character": ("a: \x01\n", "not YAML: "),
    "an open quote": ("a: 'b\n", ":2: not YAML: "),
    "a tab": ("a:\n\t- b\n", ":2: not YAML: "),
    "NUL": ("a: 1\nb: \0\n", ":2: it holds a NUL byte"),
    "no UTF-8": (b"a: 1\nb: \xff\n", ":2: byte 0xff is not UTF-8"),
    "a huge file": (b"#" * (2 << 20), "it has 2,097,152 bytes, and at most 1,048,576 are read"),
}
READERS: dict[str, Callable[[Path], Any]] = {
    "configuration": lambda path: load_config(str(path)),
    "scenario": lambda path: load_scenario(str(path)),
    "campaign": lambda path: load_campaign(str(path)),
    "gates": read_gates,
    "links": read_links,
}


def refusal(path: Path, read: Callable[[Path], Any]) -> str:
    """Give what is said of a file; it is one line, names the file, and comes at once."""
    begun = time.monotonic()
    with pytest.raises(StrataError) as caught:
        read(path)
    assert time.monotonic() - begun < _AT_ONCE_S
    said = str(caught.value)
    assert str(path) in said
    assert "\n" not in said
    assert len(said) < 900
    return said


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("kind", YAML)
def test_yaml(tmp_path: Path, reader: str, kind: str) -> None:
    content, fact = YAML[kind]
    said = refusal(written(tmp_path / "file.yaml", content), READERS[reader])
    if reader == "gates" and kind in ("no date", "no number", "a tag", "a long number"):
        # Their values are read as the texts that they are.
        assert "none of" in said
    else:
        assert re.search(fact, said)


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file(tmp_path: Path, reader: str) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    refusal(tmp_path / "pipe.yaml", READERS[reader])
    (tmp_path / "directory.yaml").mkdir()
    refusal(tmp_path / "directory.yaml", READERS[reader])
    refusal(tmp_path / "absent.yaml", READERS[reader])


def test_what_yaml_may_do_stays_possible() -> None:
    text = "base: &base {a: 1, b: [1.5, yes, ~]}\nmore:\n  <<: *base\n  b: 2001-01-01\n"
    content = parse_yaml(text)
    assert content["base"] == {"a": 1, "b": [1.5, True, None]}
    assert content["more"]["a"] == 1
    assert str(content["more"]["b"]) == "2001-01-01"


ENTITIES = '<!DOCTYPE x [<!ENTITY a "lol">{}]><profiles>&i;</profiles>'.format(
    "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
)
PROFILES = {
    "entities.xml": (ENTITIES, ":1: it declares an entity"),
    "outside.xml": (
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<profiles>&a;</profiles>',
        ":1: it declares an entity",
    ),
    "deep.xml": ("<profiles>" * 20_000, ":1: it is nested more than 60 deep"),
    "open.xml": ("<profiles>\n<a>\n</profiles>", ":3: not XML: mismatched tag"),
    "encoding.xml": ('<?xml version="1.0" encoding="no-such"?><profiles/>', "not XML: "),
    "nul.xml": (b"<profiles>\0</profiles>", ":1: not XML: "),
    "huge.xml": (b" " * (1 << 20), "it has 1,048,576 bytes, and at most 262,144 are read"),
    "deep.json5": ("[" * 20_000, "it is nested too deeply"),
    "long.json5": (f"{{mode: {'9' * 5_000}}}", "Cannot read profile"),
    "bytes.json5": (b"{mode: '\xff'}", ":1: byte 0xff is not UTF-8"),
    "twice.json5": ("{mode: 'peer', mode: 'client'}", "Cannot read profile"),
}


@pytest.mark.parametrize("name", PROFILES)
def test_profiles(tmp_path: Path, name: str) -> None:
    content, fact = PROFILES[name]
    said = refusal(written(tmp_path / name, content), lambda path: load_profile(str(path)))
    assert re.search(fact, said)


def test_a_profile_whose_parts_are_of_another_kind_is_left_to_zenoh(tmp_path: Path) -> None:
    text = "{mode: 'peer', connect: ['tcp/localhost:7447'], transport: 5}"
    assert load_profile(str(written(tmp_path / "own.json5", text))).broker is None


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        ("[" * 200_000, "nested too deeply"),
        ('{"a": ' + "9" * 5_000 + "}", "a number has 5,000 digits"),
        ('{"a": 1,\n"a": 2}', "key 'a' occurs twice"),
        ('{"a": 1,\n}', "not JSON: "),
        (b"\xff", "not UTF-8"),
        ("\0", "a NUL byte"),
    ],
)
def test_json(tmp_path: Path, content: str | bytes, fact: str) -> None:
    with pytest.raises(DocumentError, match=fact):
        read_json(written(tmp_path / "file.json", content))
    with pytest.raises(DocumentError, match="it has 9 bytes, and at most 8 are read"):
        read_json(written(tmp_path / "file.json", "[1, 2, 3]"), 8)
