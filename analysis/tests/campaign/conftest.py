# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Campaigns with cells that were measured from recorded sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from measured_campaign import LIDAR, RELAY, make_campaign

from strata.study.campaign_results import Results


@pytest.fixture(scope="module")
def relay(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """All four cells of one study, two of four of the other."""
    session = sample("cell_relay")
    sessions = {"qos/": session, "chains/100.0": session}
    return make_campaign(tmp_path_factory.mktemp("relay"), RELAY, sessions)


@pytest.fixture(scope="module")
def lidar(sample: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Results:
    """One of two cells."""
    sessions = {"test_cases/tc2": sample("cell_lidar")}
    return make_campaign(tmp_path_factory.mktemp("lidar"), LIDAR, sessions)
