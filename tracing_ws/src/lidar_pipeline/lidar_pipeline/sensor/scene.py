# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What the emulated sensor sees: a room of 12 m x 8 m with a pillar, and a person who walks around.

Every value is a function of frame, column and channel alone, so that a reader can verify each pixel
of each packet. Distances are in mm, on the 3 mm grid that the firmware rounds to; each frame adds
its own small constants to all of them, so that every pixel of successive frames differs.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from lidar_pipeline.sensor.intrinsics import ALTITUDES, AZIMUTHS, USED_CHANNELS
from lidar_pipeline.sensor.packet import PIXEL

HALF_LENGTH, HALF_WIDTH = 6000.0, 4000.0
FLOOR, CEILING = 1200.0, 1500.0
"""Distances from the sensor, mm."""

PILLAR_AT, PILLAR_RADIUS = (3500.0, 1500.0), 300.0
PERSON_DISTANCE, PERSON_RADIUS = 2500.0, 250.0
PERSON_FRAMES = 200
"""Frames in which the person walks once around the sensor."""

GRID_MM = 3


def pixels(frame: int, begin: int, end: int, columns: int) -> npt.NDArray[np.void]:
    """Give the pixels of the columns [begin, end) of a scan of that many columns.

    The shape is (end - begin, 16): only the channels that an OS1-16 uses, in order
    (`intrinsics.USED_CHANNELS`).
    """
    found = _room(columns)[begin:end].copy()
    first, last = _person_columns(frame, columns)
    for low, high in ((first, last), (first - columns, last - columns)):
        low, high = max(low, begin), min(high, end)
        if low < high:
            found[low - begin : high - begin] = _with_person(frame, low, high, columns)
    found["range"] += GRID_MM * (frame % 7)
    found["signal"] += frame % 5
    found["reflectivity"] += frame % 32
    found["noise"] += 3 * frame % 50
    return found


@functools.cache
def _angles(columns: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Directions of the used beams: azimuth (columns, 16) and altitude (16), in radians."""
    turn = 2 * np.pi * np.arange(columns)[:, None] / columns
    azimuth = -(turn + np.radians(AZIMUTHS[USED_CHANNELS])[None, :])
    return azimuth, np.radians(ALTITUDES[USED_CHANNELS])


@functools.cache
def _room_distances(columns: int) -> npt.NDArray[np.float64]:
    """Distances of walls, floor, ceiling and pillar: (columns, 16)."""
    azimuth, altitude = _angles(columns)
    east, north = np.cos(azimuth), np.sin(azimuth)
    with np.errstate(divide="ignore"):
        walls = np.minimum(HALF_LENGTH / np.abs(east), HALF_WIDTH / np.abs(north))
        level = np.where(altitude < 0, FLOOR, CEILING) / np.abs(np.sin(altitude))
    flat = np.minimum(walls, _circle(azimuth, PILLAR_AT, PILLAR_RADIUS))
    return np.minimum(flat / np.cos(altitude), level)


@functools.cache
def _room(columns: int) -> npt.NDArray[np.void]:
    return _measured(_room_distances(columns), 0, columns)


def _measured(distance: npt.NDArray[np.float64], begin: int, columns: int) -> npt.NDArray[np.void]:
    """Make pixels of distances, for columns from `begin` on."""
    column = np.arange(begin, begin + len(distance))[:, None]
    pattern = column * 3 + USED_CHANNELS[None, :]
    found = np.zeros(distance.shape, PIXEL)
    found["range"] = np.round(distance / GRID_MM).astype(np.int64) * GRID_MM + pattern % 7 * GRID_MM
    found["signal"] = 20 + 4e6 / (distance + 2000) + pattern % 5
    found["reflectivity"] = 10 + column * 64 // columns + USED_CHANNELS[None, :]
    found["noise"] = 100 + pattern * 7 % 150
    return found


def _walked(frame: int) -> float:
    """Give the direction of the person, in turns of the lidar's rotation (clockwise)."""
    return (frame % PERSON_FRAMES) / PERSON_FRAMES


def _person_columns(frame: int, columns: int) -> tuple[int, int]:
    """Give the columns that may see the person; the end may lie past the scan's last."""
    half = math.asin(PERSON_RADIUS / PERSON_DISTANCE) / (2 * math.pi)
    beside = float(np.abs(AZIMUTHS).max()) / 360
    middle = _walked(frame)
    first = math.floor((middle - half - beside) * columns)
    last = math.ceil((middle + half + beside) * columns) + 1
    return first % columns, first % columns + last - first


def _with_person(frame: int, begin: int, end: int, columns: int) -> npt.NDArray[np.void]:
    """Make the pixels of columns that may see the person."""
    azimuth, altitude = _angles(columns)
    angle = -2 * np.pi * _walked(frame)
    at = (PERSON_DISTANCE * math.cos(angle), PERSON_DISTANCE * math.sin(angle))
    person = _circle(azimuth[begin:end], at, PERSON_RADIUS) / np.cos(altitude)
    return _measured(np.minimum(_room_distances(columns)[begin:end], person), begin, columns)


def _circle(
    azimuth: npt.NDArray[np.float64], at: tuple[float, float], radius: float
) -> npt.NDArray[np.float64]:
    """Distance in the plane to an upright cylinder; very far where the beam misses it."""
    along = at[0] * np.cos(azimuth) + at[1] * np.sin(azimuth)
    beside = radius**2 - (at[0] ** 2 + at[1] ** 2 - along**2)
    hit = (along > 0) & (beside > 0)
    return np.where(hit, along - np.sqrt(np.maximum(beside, 0)), 1e6)
