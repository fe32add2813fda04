# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A real driver that reads too slowly, held against what it and its sensor wrote down."""

from __future__ import annotations

import socket
from pathlib import Path

import numpy as np
import pytest
from chain_truth import check_sums
from driver_truth import check_blame, check_driver
from lttng_world import ROOT
from recorder import Recorder

pytestmark = pytest.mark.live

FRAMES = 20
MESSAGES = 30


def test_a_driver_that_reads_too_slowly_is_to_blame_and_its_losses_are_exact(
    recorded: Recorder,
) -> None:
    program = Path(__file__).parent / "programs/polled_driver.py"
    log = recorded.place / "truth.json"
    _, analysis = recorded.run(["python3", program, log, str(FRAMES)], config="full")
    check_driver(analysis, log)
    check_blame(analysis)


def test_what_hooks_see_of_an_unmodified_driver_begins_its_messages(recorded: Recorder) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = recorded.place / "full.yaml"
    full = (ROOT / "trace_configs/full.yaml").read_text()
    config.write_text(full.replace("driver_ports: [7502, 7503]", f"driver_ports: [{port}]"))
    program = Path(__file__).parent / "programs/plain_driver.py"
    _, analysis = recorded.run(["python3", program, str(port), str(MESSAGES)], config=config)
    check_sums(analysis)
    imu = analysis.messages[analysis.messages["topic"] == "/imu"]
    assert len(imu) == MESSAGES
    assert set(imu["driver_source"]) == {f"UDP port {port}"}
    assert set(imu["driver_method"]) == {"last read"}
    assert imu["frame_id"].is_unique
    # The first three lay in the socket until the driver began to read.
    queue = imu["driver_queue_ns"].to_numpy(np.int64)
    assert (queue[:3] > 40_000_000).all()
    assert (queue >= 0).all()
    counts = dict(zip(analysis.quality["code"], analysis.quality["count"], strict=True))
    assert counts["driver_links_inferred"] == MESSAGES
    assert not (analysis.event_uses["use"] == "unexplained").any()
