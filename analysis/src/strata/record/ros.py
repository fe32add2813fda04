# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""Find a ROS 2 installation and make the environment in which its programs emit events.

Wheels need our provider preloaded, because theirs speaks a protocol that LTTng 2.13 does not
serve; a system installation emits by itself and only gets our install space.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from strata.errors import SessionError
from strata.record.guard import guard_libraries, preload
from strata.record.places import install_space, sourced_spaces

PREFIX_VARIABLE = "STRATA_ROS_PREFIX"
DEFAULT_RMW = "rmw_fastrtps_cpp"
SYSTEM_ROOT = Path("/opt/ros")
WHEELS = "wheels"
SYSTEM = "system"
SOURCED = "sourced"
STATEDUMP = "lib/ros2_statedump/libros2_statedump.so"
_UNKNOWN = "unknown"
_BOOTSTRAPPED = "_ROS_WHEELS_BOOTSTRAP_COMPLETE"
_SOURCE_TIMEOUT_S = 30.0
# rclpy's major version by distribution, for a prefix that bears no other name of its own.
_RCLPY_DISTRO = {"3": "humble", "4": "iron", "7": "jazzy", "9": "kilted"}


@dataclass(frozen=True)
class Ros:
    """One ROS 2 installation.

    `prefix` holds `lib/librcl.so`. `spaces` are the prefixes that hold the packages of
    `tracing_ws/src`: the install space that `make setup` builds, else those of a sourced colcon
    workspace; empty when they were not built.
    """

    kind: str
    distro: str
    prefix: Path
    spaces: tuple[Path, ...]

    @property
    def provider(self) -> Path | None:
        """Give the library to preload; null when it is not built. Only wheels need one."""
        return self._built("lib/tracetools_provider/libtracetools.so")

    @property
    def statedump(self) -> Path | None:
        """Give the library that announces entities again when a session starts; null unbuilt."""
        return self._built(STATEDUMP)

    @property
    def rclpy_tracepoints(self) -> Path | None:
        """Give the directory whose sitecustomize traces rclpy; null when it is not built."""
        site = self._built("lib/rclpy_tracepoints/sitecustomize.py")
        return site.parent if site else None

    @property
    def prefixes(self) -> list[Path]:
        """List the directories whose libraries LTTng's own tools must not load."""
        return [self.prefix, *self.spaces]

    def package_versions(self, *packages: str) -> dict[str, str | None]:
        """Read packages' versions from their package.xml; null for one that is not there."""
        return {package: self._package_version(package) for package in packages}

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Give the environment for a command, `base` being the caller's.

        Raises SessionError when the provider that wheels need is not built.
        """
        if self.kind == SYSTEM:
            base = _sourced(self.prefix / "setup.bash", base)
        return self._wheels_environment(base) if self.kind == WHEELS else self._with_space(base)

    def _wheels_environment(self, base: Mapping[str, str]) -> dict[str, str]:
        if self.provider is None:
            raise SessionError(
                f"Cannot trace ROS 2 {self.distro} in {self.prefix}: the event provider of its "
                f"wheels is not built (no lib/tracetools_provider/libtracetools.so below "
                f"tracing_ws/install/{self.distro}). Run `make setup`."
            )
        preloads = [self.provider]
        stub = self._built("lib/tracetools_provider/libnoust.so")
        if stub is not None:
            preloads.append(stub)
        environment = dict(base)
        prepend(environment, "LD_LIBRARY_PATH", [self.prefix / "lib", *_bundled(self.prefix)])
        prepend(environment, "AMENT_PREFIX_PATH", [self.prefix])
        prepend(environment, "PYTHONPATH", site_packages(self.prefix))
        prepend(environment, "PATH", [self.prefix / "bin"])
        environment = self._with_space(environment)
        preload(environment, [*([self.statedump] if self.statedump else []), *preloads])
        # Without it the wheels' start-up code executes Python again with other libraries.
        environment[_BOOTSTRAPPED] = "1"
        return environment

    def _with_space(self, base: Mapping[str, str]) -> dict[str, str]:
        environment = dict(base)
        if self.distro != _UNKNOWN:
            environment["ROS_DISTRO"] = self.distro
        if not self.spaces:
            return environment
        prepend(environment, "LD_LIBRARY_PATH", [space / "lib" for space in self.spaces])
        prepend(environment, "AMENT_PREFIX_PATH", list(self.spaces))
        modules = [path for space in self.spaces for path in site_packages(space)]
        prepend(environment, "PYTHONPATH", modules)
        if self.rclpy_tracepoints is not None:
            prepend(environment, "PYTHONPATH", [self.rclpy_tracepoints])
        guards = guard_libraries(self.spaces)
        if guards:
            preload(environment, guards)
        # Before any libtracetools, which it calls.
        if self.statedump is not None:
            preload(environment, [self.statedump])
        return environment

    def _built(self, relative: str) -> Path | None:
        paths = (space / relative for space in self.spaces)
        return next((path for path in paths if path.is_file()), None)

    def _package_version(self, package: str) -> str | None:
        try:
            document = ElementTree.parse(self.prefix / "share" / package / "package.xml")
        except (OSError, ElementTree.ParseError):
            return None
        return document.getroot().findtext("version")


def caller_environment(current: Mapping[str, str]) -> dict[str, str]:
    """Give the environment as the caller had it.

    In a virtual environment with the wheels their start-up code has executed Strata's Python
    again, with that environment's libraries on LD_LIBRARY_PATH: they are neither the caller's nor
    good for another ROS 2, or for a command without.
    """
    environment = dict(current)
    if environment.pop(_BOOTSTRAPPED, None) is None:
        return environment
    own = Path(sys.prefix)
    paths = environment.pop("LD_LIBRARY_PATH", "").split(":")
    kept = [path for path in paths if path and not Path(path).is_relative_to(own)]
    if kept:
        environment["LD_LIBRARY_PATH"] = ":".join(kept)
    return environment


def find_ros(base: Mapping[str, str] | None = None) -> Ros:
    """Find the ROS 2 to trace.

    In this order: `STRATA_ROS_PREFIX`, a sourced environment, the one below /opt/ros, the wheels
    in the virtual environment that runs Strata. Raises SessionError when there is none, or when
    /opt/ros holds several and none was chosen.
    """
    environment = os.environ if base is None else base
    stated = environment.get(PREFIX_VARIABLE)
    if stated:
        return _stated(Path(stated), environment)
    for prefix in ament_prefixes(environment):
        if _has_rcl(prefix):
            return _at(prefix, SOURCED, environment.get("ROS_DISTRO"), environment)
    system = [path.parent for path in sorted(SYSTEM_ROOT.glob("*/setup.bash"))]
    system = [path for path in system if _has_rcl(path)]
    if len(system) > 1:
        names = ", ".join(str(path) for path in system)
        raise SessionError(
            f"Cannot choose a ROS 2: {len(system)} are installed ({names}). Source the setup.bash "
            f"of one, or set {PREFIX_VARIABLE} to it."
        )
    if system:
        return _at(system[0], SYSTEM, system[0].name, environment)
    if _has_rcl(Path(sys.prefix)):
        return _at(Path(sys.prefix), WHEELS, None, environment)
    raise SessionError(
        f"Cannot find ROS 2: no sourced environment, nothing below {SYSTEM_ROOT}, no wheels in "
        f"{sys.prefix}. Run `make setup`, or set {PREFIX_VARIABLE}; --no-ros records without ROS "
        "2."
    )


def _stated(prefix: Path, environment: Mapping[str, str]) -> Ros:
    prefix = prefix.absolute()
    if not _has_rcl(prefix):
        raise SessionError(
            f"Cannot use {PREFIX_VARIABLE}={prefix}: it has no lib/librcl.so. Set it to a ROS 2 "
            "prefix or a virtual environment with the ROS 2 wheels."
        )
    kind = SYSTEM if (prefix / "setup.bash").is_file() else WHEELS
    return _at(prefix, kind, None, environment)


def _at(prefix: Path, kind: str, distro: str | None, environment: Mapping[str, str]) -> Ros:
    if kind == SOURCED and _wheel_distro(prefix) is not None:
        # A virtual environment whose variables were exported by hand still needs the provider.
        kind, distro = WHEELS, None
    distro = distro or _wheel_distro(prefix) or _name_as_distro(prefix) or _UNKNOWN
    own = install_space(distro)
    spaces = (own,) if own else sourced_spaces(environment)
    return Ros(kind=kind, distro=distro, prefix=prefix, spaces=spaces)


def _has_rcl(prefix: Path) -> bool:
    return any((prefix / "lib").glob("librcl.so")) or any((prefix / "lib").glob("*/librcl.so"))


def _wheel_distro(prefix: Path) -> str | None:
    for site in site_packages(prefix):
        for info in site.glob("ros_*_rclpy-*.dist-info"):
            return info.name.split("_")[1]
        for info in site.glob("ros_rclpy-*.dist-info"):
            version = re.match(r"ros_rclpy-(\d+)\.", info.name)
            if version:
                return _RCLPY_DISTRO.get(version[1], _UNKNOWN)
    return None


def _name_as_distro(prefix: Path) -> str | None:
    return prefix.name if prefix.parent == SYSTEM_ROOT else None


def site_packages(prefix: Path) -> list[Path]:
    """List the directories of Python modules of a prefix."""
    return sorted(prefix.glob("lib/python3*/site-packages"))


def _bundled(prefix: Path) -> list[Path]:
    """List the directories of the libraries that wheels bundle; some need those of another."""
    return sorted(path for site in site_packages(prefix) for path in site.glob("ros_*.libs"))


def ament_prefixes(environment: Mapping[str, str]) -> list[Path]:
    """List the prefixes that an environment names."""
    return [Path(one) for one in environment.get("AMENT_PREFIX_PATH", "").split(":") if one]


def prepend(environment: dict[str, str], variable: str, paths: list[Path]) -> None:
    """Put paths before those of a variable; each stands in it once."""
    old = [path for path in environment.get(variable, "").split(":") if path]
    new = [str(path) for path in paths]
    environment[variable] = ":".join([*new, *(path for path in old if path not in new)])


def _sourced(script: Path, base: Mapping[str, str]) -> dict[str, str]:
    """Give the environment that a setup.bash makes of `base`."""
    return dict(_variables_of(script, tuple(sorted(base.items()))))


@functools.lru_cache(maxsize=64)
def _variables_of(script: Path, base: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    # A campaign asks for each of its cells, and a script takes a third of a second.
    try:
        done = subprocess.run(
            ["bash", "-c", 'source "$1" >&2 && env -0', "bash", str(script)],
            env=dict(base),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SOURCE_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise SessionError(
            f"Cannot source {script}: {error}. Source it in your shell to see its output."
        ) from error
    pairs = (line.partition("=") for line in done.stdout.decode().split("\0") if line)
    return tuple((name, value) for name, _, value in pairs if name not in ("_", "SHLVL", "PWD"))
