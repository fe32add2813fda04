# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Sample traces: unpacked once a run, never written to."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import strata
from strata.analysis import Analysis

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
