# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of recordings, made once a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from recorded_pages import RecordedPages


@pytest.fixture(scope="session")
def recorded(
    sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> RecordedPages:
    """The pages of recordings, by name."""
    return RecordedPages(sample, tmp_path_factory.mktemp("pages"))
