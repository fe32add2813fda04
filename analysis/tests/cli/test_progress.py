# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Progress on a terminal, and none elsewhere."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from strata_command import strata

from strata.cli.program import suggested

Sample = Callable[[str], Path]


def on_a_terminal(*arguments: str | Path) -> tuple[str, str]:
    """Return what a run writes to stdout, a file, and to stderr, a terminal."""
    ours, theirs = pty.openpty()
    written = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed below
    run = subprocess.Popen(
        [sys.executable, "-m", "strata", *map(str, arguments)],
        stdout=written,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert run.wait() == 0
    with written:
        written.seek(0)
        return written.read(), shown.decode()


def test_a_terminal_shows_the_stages(sample: Sample) -> None:
    path = sample("ref_multi_full")
    written, shown = on_a_terminal("analyze", path, "--format", "json")
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    places = [text.find(stage) for stage in ("reading events", "following chains", "statistics")]
    assert -1 not in places
    assert places == sorted(places)
    # And the result is as if nobody had looked.
    plain = strata("analyze", path, "--format", "json")
    assert plain.stderr == ""
    assert written == plain.stdout


def test_the_page_is_a_stage(sample: Sample, tmp_path: Path) -> None:
    written, shown = on_a_terminal("report", sample("cell_relay"), "-o", tmp_path / "page.html")
    assert "writing the page" in shown
    assert written == f"Wrote {tmp_path / 'page.html'}\n"


def test_a_suggested_command_can_be_pasted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "bin" / "strata"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    place = tmp_path / "sessions" / "my own"
    monkeypatch.setattr(sys, "argv", ["/anywhere/__main__.py"])
    assert suggested("analyze", place) == "strata analyze 'sessions/my own'"
    monkeypatch.setattr(sys, "argv", ["bin/strata"])
    assert suggested("analyze", place) == "bin/strata analyze 'sessions/my own'"
    monkeypatch.setenv("PATH", str(program.parent))
    assert suggested("info", Path("/x")) == "strata info /x"
