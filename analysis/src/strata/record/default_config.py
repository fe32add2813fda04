# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
"""The session configuration of a recording for which the user chose none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from strata.errors import SessionError
from strata.record.dds import find_hooks, plan_dds
from strata.record.driver import LIBRARY as DRIVER_LIBRARY
from strata.record.preload import built_library
from strata.record.profiles import RmwProfile
from strata.record.ros import DEFAULT_RMW, Ros, caller_environment
from strata.record.traced_processes import any_with_dds_hooks

FULL = "full"
STOCK = "ros2"


@dataclass(frozen=True)
class Choice:
    """A shipped configuration by name, and why it was chosen."""

    config: str
    reason: str


def default_config(
    ros: Ros | None, base: Mapping[str, str], rmw_profile: RmwProfile | None = None
) -> Choice:
    """Choose `full` where the DDS hooks bind in the middleware in use, and `ros2` elsewhere.

    `ros` is null for a command that runs in `base`, the caller's environment, as it is. Raises
    SessionError where the environment of a command cannot be made.
    """
    if ros is None:
        return Choice(STOCK, "without a ROS 2 it is not known whether the DDS hooks bind")
    if find_hooks(ros) is None:
        return Choice(STOCK, "the DDS hooks are not built (`make setup`)")
    if built_library(DRIVER_LIBRARY, ros) is None:
        return Choice(STOCK, "driver_tracepoints is not built (`make setup`)")
    environment = ros.environment(caller_environment(base))
    if rmw_profile:
        environment = rmw_profile.environment(environment, ros)
    try:
        dds = plan_dds(ros, environment)
    except SessionError:
        dds = None
    if dds is None or not dds.preflights:
        rmw = environment.get("RMW_IMPLEMENTATION") or DEFAULT_RMW
        return Choice(STOCK, f"no DDS library was found of {rmw} that hooks are known for")
    names = ", ".join(each.soname for each in dds.preflights)
    count = f"{dds.bound} of {dds.wanted} DDS hooks bind in {names}"
    return Choice(FULL if dds.bound else STOCK, count)


def attached_config() -> Choice | None:
    """Choose by what the processes that run already have; null when none of them is traced."""
    hooked = any_with_dds_hooks()
    if hooked is None:
        return None
    if hooked:
        return Choice(FULL, "processes that run have the hooks of the DDS layer")
    return Choice(STOCK, "no process that runs has the hooks of the DDS layer")
