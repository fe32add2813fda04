# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A real driver that reads too slowly, held against what it and its sensor wrote down."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_truth import check_blame, check_driver
from lttng_world import ROOT
from recorder import Recorder

pytestmark = pytest.mark.live

FRAMES = 20


def test_a_driver_that_reads_too_slowly_is_to_blame_and_its_losses_are_exact(
    recorded: Recorder,
) -> None:
    program = Path(__file__).parent / "programs/polled_driver.py"
    log = recorded.place / "truth.json"
    config = recorded.place / "driver.yaml"
    stock = (ROOT / "trace_configs/ros2.yaml").read_text()
    config.write_text(stock.replace('["ros2:*"]', '["ros2:*", "driver:*"]'))
    _, analysis = recorded.run(["python3", program, log, str(FRAMES)], config=config)
    check_driver(analysis, log)
    check_blame(analysis)
