# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a recorded driver and its sensor wrote down, against the analysis of its trace.

The driver is `live/programs/polled_driver.py`: it reads a packet every 2 ms, its sensor sends one
every millisecond.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from strata.analysis import Analysis
from strata.schema.layers import HOP_LAYERS

PACKETS = 32


def check_driver(analysis: Analysis, log: Path) -> None:
    """Every packet, frame, message and loss is there exactly once."""
    truth = json.loads(log.read_text())
    (source,) = analysis.driver_sources.to_dict("records")
    assert source["place"] == f"UDP port {truth['port']}"
    assert source["name"] == "lidar"
    assert source["nodes"] == "/polled_driver"
    assert source["topics"] == "/points, /scan"
    assert source["reads"] == truth["received"]
    assert source["dropped"] == truth["dropped"] == truth["sent"] - truth["received"]
    assert source["dropped"] > 0
    assert source["unpublished"] == 0
    # A frame of which nothing came tells of no packet that was never sent; what the socket dropped
    # of it may stand for others.
    whole = truth["published"] == list(range(len(truth["published"])))
    assert source["missing"] <= truth["skipped"]
    assert source["missing"] == truth["skipped"] or not whole
    losses = analysis.driver_losses.groupby("cause")["count"].sum()
    assert losses["socket buffer full"] == truth["dropped"]
    assert losses.get("never came", 0) == source["missing"]

    frames = analysis.driver_frames
    assert frames["frame"].tolist() == truth["published"]
    assert (frames["publications"] == 2).all()
    assert frames["missing"].sum() == truth["missing"]
    assert (frames["packets"] + frames["missing"] == PACKETS).all()
    points = analysis.messages[analysis.messages["topic"] == "/points"]
    assert points["frame_id"].tolist() == frames["frame_id"].tolist()
    assert (points["driver_method"] == "frame").all()
    uses = analysis.event_uses
    assert uses.loc[uses["event"].str.startswith("driver:"), "used"].mean() > 0.5
    assert not (uses["use"] == "unexplained").any()


def check_blame(analysis: Analysis) -> None:
    """When the buffer is full, a packet waits for all others to be read, a tick of 2 ms each."""
    points = analysis.messages[analysis.messages["topic"] == "/points"]
    layers = points[[layer.column for layer in HOP_LAYERS]].astype("Int64").fillna(0)
    assert (layers.sum(axis=1) == points["latency_ns"]).all()
    queue = points["driver_queue_ns"].to_numpy(np.int64)
    assert (queue >= 0).all()
    assert queue.max() > 30_000_000
    place = analysis.driver_sources["place"].iloc[0]
    assert analysis.bottlenecks[0].text.startswith(f"driver queue of {place} (/polled_driver): ")
