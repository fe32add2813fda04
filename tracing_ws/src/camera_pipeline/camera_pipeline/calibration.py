# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""A camera's calibration: the YAML that camera_info_manager reads, by the URLs that it knows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from sensor_msgs.msg import CameraInfo

_DEFAULT_URL = "file://${ROS_HOME}/camera_info/${NAME}.yaml"


class CalibrationError(Exception):
    """A calibration cannot be read; the text is the whole sentence."""


def resolve(url: str, camera_name: str) -> Path:
    """Give the file of a URL: file:///PATH or package://PACKAGE/PATH, with ${NAME}, ${ROS_HOME}.

    An empty URL means where camera_info_manager looks then: ~/.ros/camera_info/NAME.yaml.
    Raises CalibrationError for another kind of URL, or an unknown package.
    """
    home = os.environ.get("ROS_HOME", str(Path.home() / ".ros"))
    full = (url or _DEFAULT_URL).replace("${NAME}", camera_name).replace("${ROS_HOME}", home)
    scheme, _, rest = full.partition("://")
    if scheme == "file" and rest.startswith("/"):
        return Path(rest)
    if scheme == "package" and "/" in rest:
        package, _, inside = rest.partition("/")
        try:
            return Path(get_package_share_directory(package)) / inside
        except PackageNotFoundError as error:
            raise CalibrationError(
                f"Cannot read calibration {url}: no package {package} is installed."
            ) from error
    raise CalibrationError(
        f"Cannot read calibration {url}: it is neither file:///PATH nor package://PACKAGE/PATH."
    )


def load(path: Path) -> CameraInfo:
    """Read a calibration.

    Raises CalibrationError when the file is none; FileNotFoundError when there is no file.
    """
    try:
        document = yaml.safe_load(path.read_text())
        return _camera_info(document)
    except yaml.YAMLError as error:
        where = " ".join(str(error).split())
        raise CalibrationError(f"Cannot read calibration {path}: {where}.") from error
    except KeyError as error:
        raise CalibrationError(f"Cannot read calibration {path}: {error} is missing.") from error
    except (TypeError, ValueError, AssertionError) as error:
        raise CalibrationError(f"Cannot read calibration {path}: {error}.") from error


def _camera_info(document: dict[str, Any]) -> CameraInfo:
    return CameraInfo(
        width=document["image_width"],
        height=document["image_height"],
        distortion_model=document.get("distortion_model", document.get("camera_model", "")),
        d=_matrix(document, "distortion_coefficients", None),
        k=_matrix(document, "camera_matrix", 9),
        r=_matrix(document, "rectification_matrix", 9),
        p=_matrix(document, "projection_matrix", 12),
    )


def _matrix(document: dict[str, Any], name: str, length: int | None) -> list[float]:
    data = [float(value) for value in document[name]["data"]]
    if length is not None and len(data) != length:
        raise ValueError(f"{name} has {len(data)} values, not {length}")
    return data
