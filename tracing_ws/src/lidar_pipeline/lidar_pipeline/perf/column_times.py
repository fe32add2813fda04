# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""When the points of a cloud were measured, as the cloud says: the times of some of its columns.

An Ouster driver's points have a field `t`, ns since the scan's first column, and a field `ring`.
The points of a column have one time; it is read at the second ring, as a column that did not come
is all zero. The 2020 driver declared rows and wrote columns, so the rings show how points lie.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from typing import Any

_TIME = struct.Struct("<I")
_RING = 1
_UINT8, _UINT16, _UINT32 = 2, 4, 6
"""Of sensor_msgs/PointField."""

NAMES = ("scan", "column", "t_ns")


class ColumnTimes:
    """Collects them: of every `step`-th column from 0, and of the last; none with a step of 0."""

    def __init__(self, step: int) -> None:
        self._step = step
        self._layout: tuple[Any, ...] = ()
        self._places: tuple[tuple[int, int], ...] = ()
        self._fields = (0, 0)
        self._values = array("q")

    def take(self, scan: int, cloud: Any) -> None:
        """Note the times of a PointCloud2, the `scan`-th of its topic; of another message none."""
        if not self._step or not hasattr(cloud, "point_step"):
            return
        layout = (cloud.width, cloud.height, cloud.point_step)
        if layout != self._layout:
            self._layout, self._places = (), ()
            if not self._find(cloud):
                return
            self._layout = layout
        elif not _is_whole(cloud):
            return
        ring, time = self._fields
        data = cloud.data
        for column, at in self._places:
            if data[at + ring] == _RING:
                self.add(scan, column, _TIME.unpack_from(data, at + time)[0])

    def _find(self, cloud: Any) -> bool:
        """Find where the points of the second ring lie; false where the cloud does not show it."""
        known = {one.name: one for one in cloud.fields}
        ring, time = known.get("ring"), known.get("t")
        if ring is None or time is None or cloud.is_bigendian or cloud.height < 2:
            return False
        if ring.datatype not in (_UINT8, _UINT16) or time.datatype != _UINT32:
            return False
        if ring.offset >= cloud.point_step or time.offset + _TIME.size > cloud.point_step:
            return False
        if not _is_whole(cloud):
            return False
        columns = sorted({*range(0, cloud.width, self._step), cloud.width - 1})
        size = cloud.point_step
        by_row = [(cloud.width + column) * size for column in columns]
        by_column = [(column * cloud.height + 1) * size for column in columns]
        self._fields = (ring.offset, time.offset)
        for places in (by_row, by_column):
            if all(cloud.data[at + ring.offset] in (0, _RING) for at in places) and any(
                cloud.data[at + ring.offset] == _RING for at in places
            ):
                self._places = tuple(zip(columns, places, strict=True))
                return True
        return False

    def add(self, scan: int, column: int, time_ns: int) -> None:
        """Note one."""
        self._values.extend((scan, column, time_ns))

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """Give what was noted, columns as in NAMES: `t_ns` since the scan's first column."""
        values = iter(self._values)
        return zip(values, values, values, strict=True)


def _is_whole(cloud: Any) -> bool:
    """Tell whether a cloud has the data of all its points, and has points."""
    return 0 < cloud.width * cloud.height * cloud.point_step <= len(cloud.data)
