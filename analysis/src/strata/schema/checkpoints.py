# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The checkpoints of a message, in the order in which it meets them.

A checkpoint is an instant defined by events: which events, on whose thread, by whose clock. Layers
lie between checkpoints (strata.schema.layers). The preflight's list of layers that a recording can
separate, and the drawing of the probes, also come from here.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Side(Enum):
    """Where a checkpoint is on a message's path, and so which host's clock measures it."""

    SENSOR = "sensor"
    SENDER = "sender"
    READER = "reader"


class Thread(Enum):
    """Whose thread: each value is what that thread does."""

    DRIVER = "reads the sensor's data"
    PUBLISHER = "publishes"
    RECEIVER = "notifies the reader"
    TAKER = "takes"
    RUNNER = "runs the callback"


@dataclass(frozen=True)
class Checkpoint:
    """One instant on a message's path.

    `shown` is its source, as labelled in the drawing of the probes; `column` is its column in the
    table `messages`, null if the table has none. `hooks` are the events of the middleware hooks
    that show it, any one of which is enough; `over_iceoryx` the same for Cyclone DDS over iceoryx,
    null: the same events. `height` is its y in the drawing, 0 at the top; null: not drawn.
    """

    name: str
    side: Side
    thread: Thread | None
    shown: str
    column: str | None = None
    hooks: tuple[str, ...] = ()
    over_iceoryx: tuple[str, ...] | None = None
    height: int | None = None

    def __hash__(self) -> int:
        """Names are unique."""
        return hash(self.name)


ARRIVED = Checkpoint(
    "arrived",
    Side.SENSOR,
    None,
    "the frame's last data are at the host: kernel's receive stamp, or the appsink",
    "arrival_ns",
    height=420,
)
READ = Checkpoint(
    "read",
    Side.SENSOR,
    Thread.DRIVER,
    "driver: packet_received or buffer_pulled",
    "read_ns",
    height=66,
)
PUBLISH = Checkpoint(
    "publish",
    Side.SENDER,
    Thread.PUBLISHER,
    "ros2: rclcpp_publish, without it rcl_publish",
    "publish_ns",
    height=66,
)
RMW_PUBLISH = Checkpoint(
    "rmw_publish",
    Side.SENDER,
    Thread.PUBLISHER,
    "ros2: rmw_publish",
    "rmw_publish_ns",
    height=206,
)
SENDABLE = Checkpoint(
    "sendable",
    Side.SENDER,
    None,
    "dds: first send after the reader became reachable",
)
SERIALIZE_BEGIN = Checkpoint(
    "serialize_begin",
    Side.SENDER,
    Thread.PUBLISHER,
    "dds: serialize_begin",
    "serialize_begin_ns",
    height=250,
)
SERIALIZE_END = Checkpoint(
    "serialize_end",
    Side.SENDER,
    Thread.PUBLISHER,
    "dds: serialize_end",
    "serialize_end_ns",
    hooks=("serialize_end",),
    # The value goes into shared memory without a call of the hooks for serializations.
    over_iceoryx=(),
    height=306,
)
SEND = Checkpoint(
    "send",
    Side.SENDER,
    Thread.PUBLISHER,
    "dds: first send_begin",
    "sent_ns",
    hooks=("send_begin",),
    # Nothing goes through a socket.
    over_iceoryx=(),
    height=354,
)
RECEIVE = Checkpoint(
    "receive",
    Side.READER,
    Thread.RECEIVER,
    "dds: receive of the last fragment",
    "received_ns",
    hooks=("receive",),
    over_iceoryx=("reader_history_add",),
    height=354,
)
NOTIFY = Checkpoint(
    "notify",
    Side.READER,
    Thread.RECEIVER,
    "dds: reader_notify",
    "notified_ns",
    hooks=("reader_notify",),
    height=256,
)
WOKE = Checkpoint(
    "woke",
    Side.READER,
    Thread.TAKER,
    "ros2: the executor's wait has returned",
    hooks=("wait_end", "take_begin"),
    height=212,
)
"""Not an instant but an amount, because an executor may wait several times: the previous
checkpoint plus the time that the executor was idle until the pick (strata.layers.waiting)."""
PICKED = Checkpoint(
    "picked",
    Side.READER,
    Thread.TAKER,
    "ros2: rclcpp_executor_execute",
    "picked_ns",
    height=178,
)
TAKE = Checkpoint("take", Side.READER, Thread.TAKER, "ros2: rmw_take", "rmw_take_ns", height=140)
START = Checkpoint(
    "start",
    Side.READER,
    Thread.RUNNER,
    "ros2: callback_start",
    "callback_start_ns",
    height=84,
)
END = Checkpoint(
    "end", Side.READER, Thread.RUNNER, "ros2: callback_end", "callback_end_ns", height=66
)

CHECKPOINTS: tuple[Checkpoint, ...] = (
    ARRIVED,
    READ,
    PUBLISH,
    RMW_PUBLISH,
    SENDABLE,
    SERIALIZE_BEGIN,
    SERIALIZE_END,
    SEND,
    RECEIVE,
    NOTIFY,
    WOKE,
    PICKED,
    TAKE,
    START,
    END,
)
"""In the order in which a message meets them."""
