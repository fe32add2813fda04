# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The packages of tracing_ws/src name what they need, so that `rosdep install` finds all of it."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

SOURCES = Path(__file__).parents[2] / "tracing_ws" / "src"
PACKAGES = sorted(path.parent for path in SOURCES.glob("*/package.xml"))
NAMES = {package.name for package in PACKAGES}
# The keys of rosdep by what a CMakeLists.txt looks for; null for what comes with the build tool.
FOUND_BY_CMAKE = {
    "PkgConfig": "pkg-config",
    "Development.Module": "python3-dev",
    "lttng-ust": "liblttng-ust-dev",
    "nlohmann_json": "nlohmann-json-dev",
    "gstreamer-app-1.0": "libgstreamer-plugins-base1.0-dev",
    "gstreamer-video-1.0": "libgstreamer-plugins-base1.0-dev",
    "TRACETOOLS_LIBRARY": "tracetools",
}
IMPORTED = {
    "numpy": "python3-numpy",
    "yaml": "python3-yaml",
}
# Of the packages that ROS 2 itself releases.
ROS_PACKAGES = {
    "ament_cmake", "ament_cmake_python", "ament_index_python", "builtin_interfaces",
    "geometry_msgs", "lifecycle_msgs",
    "rcl_interfaces", "rclcpp", "rclcpp_components", "rclcpp_lifecycle", "rclpy",
    "rosidl_default_generators", "rosidl_default_runtime", "sensor_msgs", "service_msgs",
    "std_msgs", "std_srvs", "tf2_msgs", "tracetools",
}  # fmt: skip
# Of rosdep's base.yaml and python.yaml (https://github.com/ros/rosdistro).
SYSTEM_KEYS = {
    "cmake", "gstreamer1.0-plugins-base", "gstreamer1.0-plugins-good", "libgstreamer1.0-dev",
    "libgstreamer-plugins-base1.0-dev", "liblttng-ust-dev", "lttng-tools", "nlohmann-json-dev",
    "pkg-config", "python3", "python3-dev", "python3-numpy", "python3-yaml",
}  # fmt: skip


def _keys(package: Path) -> set[str]:
    root = ElementTree.parse(package / "package.xml").getroot()
    return {each.text or "" for each in root if each.tag.endswith("depend")}


def _looked_for(package: Path) -> Iterator[str]:
    """List the keys of what the package's CMake files look for."""
    for file in [package / "CMakeLists.txt", *package.glob("src/*.cmake")]:
        text = re.sub(r"#.*", "", file.read_text())
        for name, rest in re.findall(r"find_package\((\w+)([^)]*)\)", text):
            if name in FOUND_BY_CMAKE:
                yield FOUND_BY_CMAKE[name]
            elif name == "Python3":
                yield from (FOUND_BY_CMAKE[part] for part in rest.split() if part in FOUND_BY_CMAKE)
            else:
                yield name
        for modules in re.findall(r"pkg_check_modules\(([^)]*)\)", text):
            names = (re.split("[<>=]", word)[0] for word in modules.split())
            yield from (FOUND_BY_CMAKE[name] for name in names if name in FOUND_BY_CMAKE)
        for name in re.findall(r"find_library\((\w+)", text):
            yield FOUND_BY_CMAKE[name]


def _imported(package: Path) -> Iterator[str]:
    """List the keys of what the package's installed Python modules import."""
    for file in sorted((package / package.name).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            for top in {name.partition(".")[0] for name in names}:
                if top != package.name and top not in sys.stdlib_module_names:
                    yield IMPORTED.get(top, top)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_a_package_names_what_it_builds_with_and_imports(package: Path) -> None:
    needed = {*_looked_for(package), *_imported(package)}
    assert needed - _keys(package) == set()


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_every_key_is_one_that_rosdep_knows(package: Path) -> None:
    assert _keys(package) - ROS_PACKAGES - SYSTEM_KEYS - NAMES == set()


def test_all_packages_are_looked_at() -> None:
    assert len(PACKAGES) > 10
    assert any(list(_imported(package)) for package in PACKAGES)
    assert sum(1 for package in PACKAGES for _ in _looked_for(package)) > 20
