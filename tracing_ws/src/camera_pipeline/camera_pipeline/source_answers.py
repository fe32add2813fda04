# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""What camera_source_cpp asks of the camera in Python, so that both say and read the same.

    python3 -m camera_pipeline.source_answers calibration URL CAMERA_NAME
    python3 -m camera_pipeline.source_answers explain MESSAGE CODE DEBUG PIPELINE ENCODING

`calibration` prints `calibration`, width and height, the distortion model, how many numbers d has,
and those of d, k, r and p, each on a line; where there is none, a line `uncalibrated` with the
sentence to warn with. `explain` prints the sentence for a pipeline that failed.
"""

from __future__ import annotations

import sys

from camera_pipeline import calibration
from camera_pipeline.pipelines import explain


def calibration_answer(url: str, camera_name: str) -> str:
    """Give the lines for a camera's calibration."""
    try:
        info = calibration.load(calibration.resolve(url, camera_name))
    except FileNotFoundError as error:
        return f"uncalibrated No calibration at {error.filename}: uncalibrated"
    except calibration.CalibrationError as error:
        return f"uncalibrated {error} Going on uncalibrated."
    lines = ["calibration", f"{info.width} {info.height}", info.distortion_model, f"{len(info.d)}"]
    rows = (info.d, info.k, info.r, info.p)
    lines += [" ".join(repr(float(value)) for value in row) for row in rows]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Print the answer; the exit status."""
    match arguments:
        case ["calibration", url, name]:
            sys.stdout.write(calibration_answer(url, name) + "\n")
        case ["explain", message, code, debug, description, encoding]:
            told = (message or None, code or None, debug or None)
            sys.stdout.write(explain(told, description, encoding))
        case _:
            sys.stderr.write(f"{__doc__}\n")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
