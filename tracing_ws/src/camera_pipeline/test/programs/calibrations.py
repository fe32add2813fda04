# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Prints what a calibration's URL gives: the camera's matrix, or the sentence."""

import sys

from camera_pipeline import calibration

for url in sys.argv[2:]:
    try:
        info = calibration.load(calibration.resolve(url, sys.argv[1]))
    except calibration.CalibrationError as error:
        print(error)
    except FileNotFoundError as error:
        print("none at", error.filename)
    else:
        matrix = [float(value) for value in info.k[:3]]
        print(info.width, info.height, info.distortion_model, list(info.d), matrix, info.p[3])
