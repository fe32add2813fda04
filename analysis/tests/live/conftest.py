# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A recorder in a private LTTng world."""

from __future__ import annotations

from pathlib import Path

import pytest
from lttng_world import World
from recorder import Recorder


@pytest.fixture
def recorded(world: World, tmp_path: Path) -> Recorder:
    """Record runs of the relay chain, or of another command, and analyze them."""
    return Recorder(world, tmp_path)
