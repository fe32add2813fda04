# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of the packages share: `traced_ros` beside this file, and one LTTng."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from traced_ros import Lttng


@pytest.fixture(scope="session")
def lttng() -> Iterator[Lttng]:
    # Short, and not pytest's: socket paths have 108 characters.
    home = Path(tempfile.mkdtemp(prefix="rt", dir="/tmp"))
    own = Lttng(home)
    try:
        yield own
    finally:
        own.close()
        shutil.rmtree(home)
