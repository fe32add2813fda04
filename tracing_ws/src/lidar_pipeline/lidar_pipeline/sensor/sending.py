# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Datagrams at absolute deadlines, some lost on purpose, and how late the sender was."""

from __future__ import annotations

import ctypes
import random
import socket
import time
from array import array
from dataclasses import dataclass
from typing import Any

import numpy as np

from lidar_pipeline.sensor.capture import CaptureWriter

_PR_SET_TIMERSLACK = 29


@dataclass(frozen=True)
class Faults:
    """Probabilities of a lidar packet to be left out, or to change places with the next one."""

    loss: float = 0.0
    reorder: float = 0.0
    seed: int = 0


class Sender:
    """Sends lidar and IMU datagrams to a host's two ports, and counts them."""

    def __init__(self, faults: Faults, capture: CaptureWriter | None = None) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._random = random.Random(faults.seed)
        self._faults = faults
        self._capture = capture
        self._held: memoryview | bytes | None = None
        self.lidar_to = self.imu_to = ("127.0.0.1", 0)
        self.lidar_packets = self.imu_packets = self.lost = self.reordered = self.errors = 0
        self.lateness = array("q")

    def aim(self, host: str, lidar_port: int, imu_port: int) -> None:
        """Set the destinations."""
        self.lidar_to, self.imu_to = (host, lidar_port), (host, imu_port)
        broadcast = host == "255.255.255.255"
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, int(broadcast))

    def lidar(self, payload: memoryview | bytes) -> None:
        """Send a lidar packet, unless its lot is another."""
        faults = self._faults
        if faults.loss and self._random.random() < faults.loss:
            self.lost += 1
            return
        if self._held is None and faults.reorder and self._random.random() < faults.reorder:
            self._held = bytes(payload)
            self.reordered += 1
            return
        self._lidar(payload)
        self.finish()

    def _lidar(self, payload: memoryview | bytes) -> None:
        self.lidar_packets += self._send(payload, self.lidar_to)

    def imu(self, payload: memoryview | bytes) -> None:
        """Send an IMU packet."""
        self.imu_packets += self._send(payload, self.imu_to)

    def _send(self, payload: memoryview | bytes, to: tuple[str, int]) -> bool:
        try:
            self._socket.sendto(payload, to)
        except OSError:
            # A destination that is not there (yet) is none of the sensor's business.
            self.errors += 1
            return False
        if self._capture is not None:
            self._capture.write(time.time_ns(), to[1], bytes(payload))
        return True

    def finish(self) -> None:
        """Send what is still held back."""
        if self._held is not None:
            held, self._held = self._held, None
            self._lidar(held)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def summary(self) -> dict[str, Any]:
        """Tell what was sent, and the lateness of sends against their deadlines, in ns."""
        late = np.asarray(self.lateness, np.int64)
        p50, p99 = (
            np.percentile(late, [50, 99], method="inverted_cdf") if len(late) else (None,) * 2
        )
        return {
            "lidar_packets": self.lidar_packets,
            "imu_packets": self.imu_packets,
            "lost": self.lost,
            "reordered": self.reordered,
            "send_errors": self.errors,
            "lateness_ns": {
                "count": len(late),
                "p50": None if p50 is None else int(p50),
                "p99": None if p99 is None else int(p99),
                "max": int(late.max()) if len(late) else None,
            },
        }


def wait_until(deadline_ns: int) -> int:
    """Sleep until a time of CLOCK_MONOTONIC; return how late it is, in ns."""
    rest = deadline_ns - time.monotonic_ns()
    if rest > 0:
        time.sleep(rest / 1e9)
    return max(time.monotonic_ns() - deadline_ns, 0)


def take_no_slack() -> None:
    """Have the kernel wake this thread at its deadlines, and not up to 50 us later."""
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
