# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A real driver that reads too slowly, held against what it and its sensor wrote down."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from chain_truth import check_sums
from recorder import Recorder

pytestmark = pytest.mark.live

FRAMES = 60


def test_a_driver_that_reads_too_slowly_is_to_blame_and_its_losses_are_exact(
    recorded: Recorder,
) -> None:
    program = Path(__file__).parent / "programs/polled_driver.py"
    log = recorded.place / "truth.json"
    command = ["python3", program, log, str(FRAMES)]
    _, analysis = recorded.run(command, config="../../driver_cfg")
    truth = json.loads(log.read_text())
    check_sums(analysis)
    assert not (analysis.event_uses["use"] == "unexplained").any()

    (source,) = analysis.driver_sources.to_dict("records")
    assert source["place"] == f"UDP port {truth['port']}"
    assert source["nodes"] == "/polled_driver"
    assert source["topics"] == "/points, /scan"
    assert source["reads"] == truth["received"]
    assert source["dropped"] == truth["dropped"] == truth["sent"] - truth["received"]
    assert source["dropped"] > 0
    assert source["unpublished"] == 0
    frames = analysis.driver_frames
    assert frames["frame"].tolist() == truth["published"]
    assert (frames["publications"] == 2).all()
    assert frames["missing"].sum() == truth["missing"]
    assert (frames["packets"] + frames["missing"] == 8).all()

    points = analysis.messages[analysis.messages["topic"] == "/points"]
    assert points["frame_id"].tolist() == frames["frame_id"].tolist()
    assert (points["driver_method"] == "frame").all()
    # The last packet of the first frame came at once; when the buffer is full, packets wait for
    # all others to be read, a tick of 2 ms each.
    queue = points["driver_queue_ns"].to_numpy(np.int64)
    assert (queue >= 0).all()
    assert queue.max() > 30_000_000
    bottleneck = analysis.bottlenecks[0]
    assert bottleneck.text.startswith(
        f"driver queue of UDP port {truth['port']} (/polled_driver): "
    )
