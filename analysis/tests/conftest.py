# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sample traces, unpacked once a run and never written to; a private LTTng world to record in."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from lttng_world import World, alive, private_namespace, wait_until
from page_browser import open_browser
from playwright.sync_api import Browser

import strata
from strata.analysis import Analysis

# How long an example takes is the machine's affair; benchmarks look after speed. Chance differs
# from run to run, so that few examples a run are many over time; HYPOTHESIS_EXAMPLES asks for more.
settings.register_profile(
    "strata", deadline=None, max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "50"))
)
settings.load_profile("strata")

# `nohup make test` has it ignored, and a recorder leaves a signal alone that was ignored before it.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

TRACES = Path(__file__).parent / "traces"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Unpack a sample trace by name; the same directory for all tests, which only read it."""
    place = tmp_path_factory.mktemp("traces")

    def unpack(name: str) -> Path:
        if not (place / name).exists():
            with tarfile.open(TRACES / f"{name}.tar.xz") as archive:
                archive.extractall(place)
        return place / name

    return unpack


@pytest.fixture
def own_sample(sample: Callable[[str], Path], tmp_path: Path) -> Callable[[str], Path]:
    """Copy a sample trace that the test may change."""

    def copy(name: str) -> Path:
        target = tmp_path / name
        shutil.copytree(sample(name), target, ignore=shutil.ignore_patterns(".strata-tables"))
        return target

    return copy


@pytest.fixture(scope="session")
def analysis_of(sample: Callable[[str], Path]) -> Callable[[str], Analysis]:
    """Analyze a sample trace, once a run."""
    done: dict[str, Analysis] = {}

    def analyze(name: str) -> Analysis:
        if name not in done:
            done[name] = strata.analyze(sample(name))
        return done[name]

    return analyze


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The system's Chromium, once a run."""
    with open_browser() as started:
        yield started


@pytest.fixture
def world() -> Iterator[World]:
    with own_world() as place:
        yield place


@pytest.fixture
def other_world() -> Iterator[World]:
    """A second world, of another machine."""
    with own_world() as place:
        yield place


@contextlib.contextmanager
def own_world() -> Iterator[World]:
    home = Path(tempfile.mkdtemp(prefix="st", dir="/tmp"))
    holder = private_namespace() if os.geteuid() == 0 else None
    prefix = ["nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", "--"] if holder else []
    place = World(home, prefix)
    if place.daemon_pid() is not None:
        pytest.skip("root's session daemon runs, and no mount namespace can be made beside it")
    try:
        yield place
    finally:
        left = place.daemon_pid()
        if left is not None:
            os.kill(left, signal.SIGTERM)
            wait_until(lambda: not alive(left), "end of the world's session daemon")
        if holder is not None:
            holder.kill()
            holder.communicate()
        shutil.rmtree(home)
