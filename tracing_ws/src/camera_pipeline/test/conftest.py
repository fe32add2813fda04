# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of the package that need no ROS."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """Give a function that imports a module of camera_pipeline from its source."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    yield lambda name: importlib.import_module(f"camera_pipeline.{name}")
    for name in [name for name in sys.modules if name.split(".")[0] == "camera_pipeline"]:
        del sys.modules[name]
