# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A scene with four sources of sensor data, and which frames its publications were made of."""

from __future__ import annotations

from scene import Scene

from strata.model.build import Model
from strata.model.event_uses import UNEXPLAINED

CLOUD = """
    100 1.1 packet_received source=1 sequence=0 queue_ns=10 bytes=800
    200 1.1 packet_received source=1 sequence=1 queue_ns=20 bytes=800
    300 1.1 packet_received source=1 sequence=2 queue_ns=30 bytes=800
    310 1.1 frame_boundary source=1 frame=0 packets=2 first_sequence=0 last_sequence=2
    350 1.1 cloud_ready source=1 frame=0 bytes=5000
    360 1.1 rcl_publish /points
    361 1.1 rmw_publish /points 361
    370 1.1 rcl_publish /scan
    371 1.1 rmw_publish /scan 371
"""


def scene() -> Scene:
    made = Scene()
    for topic in ("/points", "/scan", "/imu", "/rosout"):
        made.publisher(topic, node="/driver", pid=1)
    made.subscription("/trigger", node="/driver", pid=1, symbol="on_trigger")
    made.timer(node="/driver", pid=1, symbol="poll")
    made.source(1, pid=1, kind="udp", name="lidar", address="0.0.0.0:7502")
    made.source(2, pid=1, kind="udp", name="imu", address="[::]:7503")
    made.source(3, pid=1, kind="appsink", address="sink0")
    made.source(4, pid=1, kind="udp", address="0.0.0.0:7600")
    return made


def played(lines: str) -> Model:
    made = scene()
    made.play(lines)
    model = made.model()
    assert not unexplained(model)
    return model


def unexplained(model: Model) -> list[str]:
    return [use.event for use in model.facts.event_uses() if use.text == UNEXPLAINED]


def frames_of(model: Model) -> list[tuple[str, int, str] | None]:
    """Place, number and topic of the frame of each publication; number -1 is an inferred one."""
    sources, frames, made_of = model.driver.sources, model.driver.frames, model.driver.made_of
    topics = model.entities.publishers.topic[model.publications.publisher]
    return [
        None
        if frame < 0
        else (
            str(sources.place[frames.source[frame]]),
            int(frames.number[frame]),
            str(topic),
        )
        for frame, topic in zip(made_of.frame, topics, strict=True)
    ]
