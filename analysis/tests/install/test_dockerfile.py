# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The Dockerfile fits the repository. It is not built here: that takes a Docker engine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]
FILE = ROOT / "docs/docker/Dockerfile"
# What `make setup` needs of the checkout (tracing_ws/setup/setup.sh).
NEEDED = {"analysis", "trace_configs", "tracing_ws/setup", "tracing_ws/src"}


def _instructions() -> list[tuple[str, str]]:
    text = re.sub(r"^#.*\n", "", FILE.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    return [
        (word, rest.strip())
        for word, _, rest in (line.partition(" ") for line in text.splitlines() if line)
    ]


def test_it_copies_what_is_there_and_all_that_setup_needs() -> None:
    copied = [rest.split() for word, rest in _instructions() if word == "COPY"]
    sources = {source for words in copied for source in words[:-1]}
    assert all((ROOT / source).exists() for source in sources)
    assert sources >= NEEDED
    for *names, target in copied:
        inside = target.removeprefix("/opt/strata/")
        assert inside in ("", names[0]), f"{names} would be in {target}"


def test_its_commands_are_shell() -> None:
    runs = [rest for word, rest in _instructions() if word == "RUN"]
    assert len(runs) == 2
    for run in runs:
        checked = subprocess.run(["sh", "-n", "-c", run], capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
    assert (ROOT / "tracing_ws/setup/setup.sh").stat().st_mode & 0o111
    assert "/opt/strata/tracing_ws/setup/setup.sh" in runs[1]


def test_it_begins_from_the_image_that_is_asked_for() -> None:
    words = _instructions()
    assert words[0][0] == "ARG" and words[0][1].startswith("ROBOT_IMAGE=")
    assert words[1] == ("FROM", "${ROBOT_IMAGE}")
    assert {word for word, _ in words} == {"ARG", "FROM", "RUN", "COPY", "VOLUME", "WORKDIR"}
