# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What a subscriber measures of the images that it gets: in all, and a second at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from camera_pipeline.loss import Loss, SequenceLoss, StampLoss

SECOND_NS = 1_000_000_000
MB = 1e6
MIB = float(1 << 20)


@dataclass
class Window:
    """The images that arrived in one second, [begin, begin + 1 s); `lost` was found lost in it.

    The last of a run ends with the last image: `seconds` is how long it was.
    """

    begin_ns: int
    seconds: float = 1.0
    received: int = 0
    lost: int = 0
    bytes: int = 0
    latencies_ns: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Image:
    """What the metrics need of an image; times are ns since the epoch, `bytes` are its pixels'."""

    arrival_ns: int
    stamp_ns: int
    sequence: int | None
    bytes: int
    width: int
    height: int
    step: int
    encoding: str


def loss_percent(received: int, lost: int) -> float:
    """Give the share of the images that were published and not received, in percent."""
    return 100.0 * lost / (received + lost) if received + lost else 0.0


def statistics(values_ns: list[int]) -> dict[str, float | int] | None:
    """Give count, min, p50, p99, max and mean, in ns; null of no values.

    The quantiles are values that were measured (the least with at least that share at or below it).
    """
    if not values_ns:
        return None
    ordered = np.sort(np.asarray(values_ns, np.int64))
    p50, p99 = np.quantile(ordered, [0.5, 0.99], method="inverted_cdf")
    return {
        "count": len(ordered),
        "min": int(ordered[0]),
        "p50": int(p50),
        "p99": int(p99),
        "max": int(ordered[-1]),
        "mean": float(ordered.mean()),
    }


@dataclass(frozen=True)
class GridLoss:
    """Points of the grid of nominal periods, from the first stamp to the last: how many, and those
    of which no image came, wherever it was lost or whether it was made at all.
    """

    expected: int
    lost: int


_NEAR = 0.1
"""Of a period: a stamp that is so near to a point of the grid is on it."""
_MOST = 0.9
"""Of all stamps: so many on the grid make it one."""


def grid_loss(stamps_ns: list[int], fps: float) -> GridLoss | None:
    """Count points of the grid without an image; null where stamps are on none, or no rate is told.

    It is no count of what was published: it stands beside the loss, and is never added to it.
    """
    if not fps or len(stamps_ns) < 2:
        return None
    stamps = np.unique(np.asarray(stamps_ns, np.int64))
    places = (stamps - stamps[0]) * (fps / SECOND_NS)
    points = np.rint(places)
    if float((np.abs(places - points) <= _NEAR).mean()) < _MOST:
        return None
    taken = len(np.unique(points))
    expected = int(points[-1]) + 1
    return GridLoss(expected, expected - taken)


class Metrics:
    """Adds images up. Seconds begin with the first image's arrival; empty ones are windows too."""

    def __init__(self) -> None:
        """Begin with no image."""
        self.loss: Loss = StampLoss()
        self.received = 0
        self.bytes = 0
        self.latencies_ns: list[int] = []
        self.arrivals_ns: list[int] = []
        self.stamps_ns: list[int] = []
        self.last: Image | None = None
        self._window: Window | None = None
        # Of camera_info that came before the first image, ns.
        self._early_infos: list[int] = []

    def add(self, image: Image) -> Iterator[Window]:
        """Note an image; yields the windows that ended before it."""
        yield from self.roll(image.arrival_ns)
        window = self._window or self._begin(image)
        latency_ns = image.arrival_ns - image.stamp_ns
        window.received += 1
        window.bytes += image.bytes
        window.lost += self.loss.on_image(image.stamp_ns, image.sequence)
        window.latencies_ns.append(latency_ns)
        self.received += 1
        self.bytes += image.bytes
        self.latencies_ns.append(latency_ns)
        self.arrivals_ns.append(image.arrival_ns)
        self.stamps_ns.append(image.stamp_ns)
        self.last = image

    def _begin(self, first: Image) -> Window:
        # The middleware either numbers all publications or none.
        self.loss = SequenceLoss() if first.sequence else StampLoss()
        for stamp_ns in self._early_infos:
            self.loss.on_info(stamp_ns)
        self._window = Window(first.arrival_ns)
        return self._window

    def add_info(self, stamp_ns: int) -> None:
        """Note a camera_info."""
        if self._window is None:
            self._early_infos.append(stamp_ns)
        else:
            self._window.lost += self.loss.on_info(stamp_ns)

    def roll(self, now_ns: int) -> Iterator[Window]:
        """Yield the windows that have ended by now."""
        while self._window is not None and now_ns >= self._window.begin_ns + SECOND_NS:
            ended = self._window
            self._window = Window(ended.begin_ns + SECOND_NS)
            yield ended

    def give_up(self) -> None:
        """Count as lost what was published after the last image: nothing more will come."""
        lost = self.loss.give_up()
        if self._window is not None:
            self._window.lost += lost

    def finish(self) -> Iterator[Window]:
        """Yield the last window, which may be shorter than a second, when it holds an image."""
        window, self._window = self._window, None
        if window is not None and (window.received or window.lost):
            window.seconds = max(self.arrivals_ns[-1] - window.begin_ns, 1) / SECOND_NS
            yield window

    @property
    def counted(self) -> int:
        """Give how many images were received or lost."""
        return self.received + self.loss.lost

    @property
    def span_s(self) -> float:
        """Give the time from the first to the last arrival, in seconds."""
        if not self.arrivals_ns:
            return 0.0
        return (self.arrivals_ns[-1] - self.arrivals_ns[0]) / SECOND_NS

    @property
    def rate_hz(self) -> float:
        """Give the images a second: intervals over their span."""
        return (self.received - 1) / self.span_s if self.span_s else 0.0

    @property
    def bytes_per_s(self) -> float:
        """Give the bytes of pixels a second, at that rate."""
        return self.rate_hz * self.bytes / self.received if self.received else 0.0
