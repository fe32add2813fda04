# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Range, intensity, noise and reflectivity as 8-bit images, in the 2020 driver's scales."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lidar_pipeline.driver.assembly import Scan
from lidar_pipeline.driver.points import used_channels
from lidar_pipeline.driver.projection import image_offsets
from lidar_pipeline.sensor.packet import RANGE_MASK

_FIELDS = {"intensity": "signal", "noise": "noise", "reflectivity": "reflectivity"}
NAMES = ("range", *_FIELDS)


def fill_image(image: npt.NDArray[np.uint8], scan: Scan, name: str) -> None:
    """Write an image (64, columns) of a scan; a pixel of row u and column v looks where v says.

    range: 255 less a step for each 200 mm, 0 where nothing came back; the others: cut at 255.
    """
    channels = used_channels(scan)
    columns = len(scan.columns)
    image[:] = 0
    looks = (np.arange(columns)[None, :] + image_offsets(columns)[channels, None]) % columns
    pixels = scan.columns["pixels"][looks, channels[:, None]]
    if name == "range":
        distance = pixels["range"] & RANGE_MASK
        steps = np.minimum(np.floor(distance * 5e-3 + 0.5), 255)
        image[channels] = np.where(distance == 0, 0, 255 - steps)
    else:
        image[channels] = np.minimum(pixels[_FIELDS[name]], 255)
