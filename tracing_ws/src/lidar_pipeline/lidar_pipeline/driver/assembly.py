# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""From packets to scans: which packets belong together, which are missing, and when a scan closes.

Policy "complete" closes a scan when its last missing packet came, else when a packet of a later
scan came. Policy "next" always waits for a packet of a later scan, as the 2020 driver did.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lidar_pipeline.sensor.packet import COLUMN, COLUMNS, GOOD, LIDAR_BYTES, LidarMode

POLICIES = ("complete", "next")
_IDS = struct.Struct("<HH")
_IDS_AT = 8
_FRAME_IDS = 1 << 16


@dataclass
class Scan:
    """The packets of one rotation.

    `columns` are all columns of the rotation, by measurement id; `valid` says which came and are
    good, the others are zero. `stamp_ns` is the time of the first column that came, by the
    sensor's clock. `last_sequence` is of the packet that closed the scan, perhaps one of the next.
    """

    number: int
    frame_id: int
    columns: npt.NDArray[np.void]
    valid: npt.NDArray[np.bool_]
    packets: int
    missing: int
    stamp_ns: int
    first_sequence: int
    last_sequence: int

    @property
    def missing_columns(self) -> int:
        """Columns that did not come, or came marked bad."""
        return int(len(self.valid) - np.count_nonzero(self.valid))


@dataclass
class AssemblyCounts:
    """Packets that are in no scan, and scans of which nothing came."""

    late: int = 0
    duplicate: int = 0
    wrong: int = 0
    before_first: int = 0
    lost_scans: int = 0


class ScanAssembler:
    """Takes packets one by one, where they lie: receive into `slot()`, then `accept`.

    A slot has a byte more than a packet, as a longer datagram would be cut to a good one's size.
    It is the next slot's first, which is written later.
    """

    def __init__(self, mode: LidarMode, policy: str) -> None:
        self._mode = mode
        self._at_once = policy == "complete"
        self._bytes = bytearray(LIDAR_BYTES * (mode.packets + 1) + 1)
        self._slots = [
            memoryview(self._bytes)[LIDAR_BYTES * at : LIDAR_BYTES * (at + 1) + 1]
            for at in range(mode.packets + 1)
        ]
        self._order: list[int] = []
        self._seen = bytearray(mode.packets)
        self._frame_id: int | None = None
        self._closed_id: int | None = None
        self._started = False
        self._first_sequence = 0
        self._next_number = 0
        self.counts = AssemblyCounts()

    def slot(self) -> memoryview:
        """Give the memory for the next packet."""
        return self._slots[len(self._order)]

    def accept(self, size: int, sequence: int) -> Scan | None:
        """Take the packet in `slot()`, of that many bytes; give the scan that it closed."""
        if size != LIDAR_BYTES:
            self.counts.wrong += 1
            return None
        measurement, frame_id = _IDS.unpack_from(self.slot(), _IDS_AT)
        index = measurement // COLUMNS
        if measurement >= self._mode.columns or not self._is_wanted(frame_id, index):
            self.counts.wrong += measurement >= self._mode.columns
            return None
        closed = None
        if self._frame_id is not None and frame_id != self._frame_id:
            packet = bytes(self.slot())
            closed = self._close(sequence)
            self.slot()[:] = packet
        if self._frame_id is None:
            self._begin(frame_id, sequence)
        if self._seen[index]:
            self.counts.duplicate += 1
            return closed
        self._seen[index] = 1
        self._order.append(index)
        if self._at_once and len(self._order) == self._mode.packets:
            # A scan of one packet does not exist, so nothing was closed above.
            closed = self._close(sequence)
        return closed

    def _is_wanted(self, frame_id: int, index: int) -> bool:
        """Tell whether a packet is of the current scan or another new one."""
        if not self._started:
            # Whoever connects amid a rotation begins with the next one.
            if index:
                self.counts.before_first += 1
                self._closed_id = frame_id
                return False
            self._started = True
            self._closed_id = (frame_id - 1) % _FRAME_IDS
        reference = self._frame_id if self._frame_id is not None else self._closed_id
        assert reference is not None
        ahead = (frame_id - reference) % _FRAME_IDS
        # Swapped packets are one scan late; a jump further back is a sensor that began anew.
        is_late = ahead == _FRAME_IDS - 1 or (ahead == 0 and self._frame_id is None)
        self.counts.late += is_late
        return not is_late

    def _begin(self, frame_id: int, sequence: int) -> None:
        assert self._closed_id is not None
        skipped = (frame_id - self._closed_id - 1) % _FRAME_IDS
        if skipped < _FRAME_IDS // 2:
            self.counts.lost_scans += skipped
        self._frame_id = frame_id
        self._first_sequence = sequence

    def _close(self, sequence: int) -> Scan:
        frame_id = self._frame_id
        assert frame_id is not None
        came = np.frombuffer(self._bytes, COLUMN, len(self._order) * COLUMNS)
        columns = np.zeros(self._mode.columns, COLUMN)
        at = (np.asarray(self._order)[:, None] * COLUMNS + np.arange(COLUMNS)).ravel()
        good = (came["status"] == GOOD) & (came["frame"] == frame_id) & (came["measurement"] == at)
        if good.all() and self._order == list(range(self._mode.packets)):
            columns[:] = came
        else:
            columns[at[good]] = came[good]
        valid = np.zeros(self._mode.columns, np.bool_)
        valid[at[good]] = True
        scan = Scan(
            number=self._next_number,
            frame_id=frame_id,
            columns=columns,
            valid=valid,
            packets=len(self._order),
            missing=self._mode.packets - len(self._order),
            stamp_ns=int(came["timestamp"][0]),
            first_sequence=self._first_sequence,
            last_sequence=sequence,
        )
        self._next_number += 1
        self._closed_id, self._frame_id = frame_id, None
        self._order = []
        self._seen = bytearray(self._mode.packets)
        return scan
