# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""guard.yaml is read strictly; what is wrong in it is told with its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from strata.errors import GuardError
from strata.guard.load import GuardFile, read_guard

Read = Callable[[str], GuardFile]
WHOLE = """\
config: full
ring: {memory: 64M}
snapshot: {before: 3 s, after: 500 ms}
limits: {every: 10 s, keep: 5, max_size: 1G}
when:
  - chain max > 50 ms
  - when: period max > 150 ms
    topic: /camera/*
    name: the camera stalls
  - {when: callback p99 > 2 ms, hop: /points}
  - {when: timer skipped > 0, node: /control}
  - event ros2:callback_start
"""


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read_text(text: str) -> GuardFile:
        path = tmp_path / "guard.yaml"
        path.write_text(text)
        return read_guard(path)

    return read_text


def test_all_that_a_file_may_say(read: Read) -> None:
    file = read(WHOLE)
    assert (file.config, file.memory) == ("full", 64 << 20)
    assert (file.before_ns, file.after_ns) == (3_000_000_000, 500_000_000)
    assert (file.every_ns, file.keep, file.max_size) == (10_000_000_000, 5, 1 << 30)
    assert [(one.kind, one.pattern, one.name, one.line) for one in file.when] == [
        ("chain", "*", "chain max > 50 ms", 6),
        ("topic", "/camera/*", "the camera stalls", 7),
        ("hop", "/points", "callback p99 > 2 ms", 10),
        ("node", "/control", "timer skipped > 0", 11),
        ("", "*", "event ros2:callback_start", 12),
    ]
    assert [one.whole for one in file.when] == [True, False, False, False, False]


def test_what_a_file_does_not_say(read: Read) -> None:
    file = read("when: [loss > 0 %]\nconfig:\n")
    assert file == GuardFile(file.path, file.when)
    assert file.config is None
    assert (file.memory, file.max_size, file.keep) == (128 << 20, 2 << 30, 20)
    assert (file.before_ns, file.after_ns, file.every_ns) == (5 * 10**9, 2 * 10**9, 60 * 10**9)


@pytest.mark.parametrize(
    ("conditions", "seconds"),
    [
        ("loss > 0 %", 2),
        ("chain max > 900 ms", 2),
        ("chain max > 3 s, loss > 0 %", 6),
        ("chain max > 3 s, executor busy > 90 % for 8 s", 9),
        ("period max > 15 s", 30),
    ],
)
def test_how_far_its_windows_look_back(read: Read, conditions: str, seconds: int) -> None:
    assert read(f"when: [{conditions}]").look_back_ns == seconds * 10**9


@pytest.mark.parametrize(
    ("before", "after", "line", "fact"),
    [
        ("config: full", "configs: full", 1, "key 'configs' is none of config, ring"),
        ("config: full", "config: [full]", 1, "a text is wanted there"),
        ("{memory: 64M}", "64M", 2, "`ring` is no mapping of memory"),
        ("{memory: 64M}", "{memory: 64Q}", 2, "'64Q' is no size: write it as 128M or 2G"),
        ("{memory: 64M}", "{memory: 0}", 2, "'0' is no size"),
        ("{memory: 64M}", "{size: 64M}", 2, "key 'size' is none of memory"),
        ("before: 3 s", "before: 3", 3, "'3' is no number with one of the units ns, us, ms, s"),
        ("after: 500 ms", "before: 1 s", 3, "key 'before' occurs twice, see line 3"),
        ("before: 3 s", "before: 30 s", 3, "more than 30 s together, of which ring buffers"),
        ("keep: 5", "keep: 0", 4, "'0' is no whole number of at least 1"),
        ("keep: 5", "keep: 2.5", 4, "'2.5' is no whole number"),
        ("every: 10 s", "every: often", 4, "'often' is no number"),
        ("  - chain max > 50 ms", "  - chain max > 50 m", 6, "'50 m' is no number"),
        ("  - chain max > 50 ms", "  - []", 6, "a condition is a text, or a mapping with the key"),
        ("  - chain max > 50 ms", "  - {hop: /a}", 6, "the condition has no key `when`"),
        ("topic:", "hop:", 7, "a condition on period has one scope of topic, node, not hop"),
        ("node: /control", "hop: /a", 11, "has one scope of callback, node, not hop"),
        ("hop: /points", "hop: /a, chain: /b", 10, "hop, chain, not chain, hop"),
        ("hop: /points", "hop: ''", 10, "a text is wanted there"),
        ("- event ros2:callback_start", "- {when: 'event a:b', node: /a}", 12, "no scope, not"),
        ("- event ros2:callback_start", "- {when: hold max > 1 s, hop: /a}", 12, "scope of chain"),
        ("    name: the camera", "    name: the camera\n\tstalls", 10, "not YAML"),
    ],
)
def test_what_is_refused_with_its_line(
    read: Read, before: str, after: str, line: int, fact: str
) -> None:
    assert before in WHOLE
    with pytest.raises(GuardError) as error:
        read(WHOLE.replace(before, after))
    assert f"guard.yaml:{line}: " in str(error.value)
    assert fact in str(error.value)
    assert str(error.value).endswith("See docs/guard.md.")


@pytest.mark.parametrize("text", ["", "[]", "config: full", "when: []", "when: chain max > 1 s"])
def test_a_file_without_conditions_is_refused(read: Read, text: str) -> None:
    with pytest.raises(GuardError, match=r":1: (the document has no key `when`|`when` is no list)"):
        read(text)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(GuardError, match="Cannot read conditions"):
        read_guard(tmp_path / "none.yaml")
