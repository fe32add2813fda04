# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Names of a trace that make a terminal or a reader see something else: no verb shows them."""

from __future__ import annotations

import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from strata_command import STRATA, strata

# As long as what they replace: a topic's name, of which part is read backwards; and a clear screen.
NAMES = {b"fast": b"f\xe2\x80\xae", b"slow": b"\x1b[2J"}
UNSEEN = {"\u202e", "\x1b"}


@pytest.fixture
def hostile(own_sample: Callable[[str], Path]) -> Path:
    session = own_sample("fast_blocked_st")
    replaced = 0
    for stream in session.rglob("ros2_?"):
        content = stream.read_bytes()
        for name, other in NAMES.items():
            replaced += content.count(name)
            content = content.replace(name, other)
        stream.write_bytes(content)
    assert replaced
    return session.rename(session.with_name("a\u202eb"))


@pytest.mark.parametrize(
    "verb",
    [
        ("info",),
        ("analyze",),
        ("analyze", "--format", "json"),
        ("links",),
        ("path",),
        ("hops",),
    ],
    ids=" ".join,
)
def test_a_verb_shows_what_can_be_seen(hostile: Path, verb: tuple[str, ...]) -> None:
    done = strata(*verb, hostile)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert not UNSEEN & set(done.stdout + done.stderr)


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_so_does_a_comparison(hostile: Path, form: str) -> None:
    done = strata("compare", hostile, hostile, "--format", form, "--all")
    assert done.returncode == 0, done.stderr
    assert "f\ufffd" in done.stdout or form == "json"
    assert not UNSEEN & set(done.stdout + done.stderr)


def test_so_does_a_page(hostile: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert strata("report", hostile, "-o", page).returncode == 0
    assert "f\ufffd" in page.read_text(encoding="utf-8")
    assert not UNSEEN & set(page.read_text(encoding="utf-8"))


def test_csv_has_names_as_they_are_but_on_a_terminal(hostile: Path) -> None:
    arguments = ("analyze", hostile, "--format", "csv", "--table", "hops")
    assert set(strata(*arguments).stdout) >= UNSEEN
    ours, theirs = pty.openpty()
    command = [*STRATA, *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 1 << 16):
                shown += piece
        except OSError:
            # So the other end of a terminal is told to be closed.
            pass
        os.close(ours)
    assert process.returncode == 0
    assert b"publisher" in shown
    assert not UNSEEN & set(shown.decode())
